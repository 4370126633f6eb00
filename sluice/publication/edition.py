"""An edition: what is said of every publication, whether it holds records or tables, for citations and archives."""

from dataclasses import dataclass

from sluice.publication.study import Study


@dataclass(frozen=True, kw_only=True)
class Edition:
    """One publication, as its documents name it.

    published  : ISO 8601, UTC
    files      : names of the data files
    """

    release: str
    title: str
    dataset: str
    description: str
    published: str
    software: str
    files: tuple[str, ...]
    publisher: str | None = None
    doi: str | None = None
    license: str | None = None
    study: Study | None = None
