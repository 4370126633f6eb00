"""Schema edition: the tables of a release in a public database.

Whether they can be written there is tried before a publication begins, and taken back: what cannot be finished must not
be begun. The ledger has an entry before the first table is written and one when all were read back. In between the
release is `publishing`: the next run finds what is missing and finishes it. Which edition the views show follows from
the order of editions, see `schema_views`.
"""

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

from sluice.custody.ledger_entry import last
from sluice.custody.states import LOADED, LOADING
from sluice.publication.separate_writing import carry_out_apart
from tasks.release.documented_release import DocumentedRelease
from tasks.release.editions.schema_views import PublicPlace, change_of, loaded_in

# Characters. With the digest and a draft's ending a name has 59, of 63 that it may have.
_LONGEST_VIEW, _LONGEST_TABLE = 55, 40


def rehearse_in_schema(release: DocumentedRelease, files: Mapping[str, Path]) -> None:
    """Try to put files of a release into the schema of `publish_to`, where the definition has one, and take it back.

    files  : name -> path; of Parquet files each is a table
    raises : as `permitted_schema` and `carry_out_apart`
    """
    if place := _place(release):
        views = _views(release, files)
        tables = {table: files[file] for table, file in views.values()}
        carry_out_apart(change_of(release.product.workspace, place, tables=tables, own_names=(*views,)), rehearse=True)


def load_into_schema(release: DocumentedRelease, files: Mapping[str, Path]) -> None:
    """Write the tables, read them back, and record it; where that was done already, nothing is done.

    files  : as of `rehearse_in_schema`
    raises : as `rehearse_in_schema`; the release stays `publishing`
    """
    place = _place(release)
    if not place or loaded_in(release.entries()):
        return
    views = _views(release, files)
    body = {
        "connection": place.connection,
        "into": place.into,
        "views": {view: table for view, (table, _) in views.items()},
    }
    if last(release.entries(), LOADING) is None:
        release.record(LOADING, **body)
    tables = {table: files[file] for table, file in views.values()}
    carry_out_apart(change_of(release.product.workspace, place, tables=tables, own_names=(*views,)))
    release.record(LOADED, files=dict(views.values()), **body)


def _place(release: DocumentedRelease) -> PublicPlace | None:
    definition = release.product.definition
    if (asked := definition.publish_to) is None:
        return None
    return PublicPlace(definition.name, release.shelf, asked.connection, asked.into)


def _views(release: DocumentedRelease, files: Mapping[str, Path]) -> dict[str, tuple[str, str]]:
    """View -> table and file: a file that is called as the definition gives the definition's name alone."""
    name, digest = release.product.definition.name, release.id.rpartition("-")[2]
    views: dict[str, tuple[str, str]] = {}
    for file in sorted(files):
        if file.endswith(".parquet"):
            own = Path(file).stem
            said = name if own == name else own if own.startswith(f"{name}-") else f"{name}-{own}"
            taken = _identifier(said, _LONGEST_VIEW) in views  # 'a-b' and 'a_b' are two files
            view = _identifier(said, _LONGEST_VIEW, whole=not taken)
            views[view] = (f"{_identifier(said, _LONGEST_TABLE, whole=not taken)}_{digest}", file)
    return views


def _identifier(said: str, longest: int, *, whole: bool = True) -> str:
    """A name that every database takes; if more than its dashes must change, with a digest of what it was."""
    plain = re.sub(r"[^a-z0-9_]", "_", said.lower())
    if whole and plain == said.replace("-", "_") and len(plain) <= longest:
        return plain
    return f"{plain[: longest - 9]}_{hashlib.sha256(said.encode()).hexdigest()[:8]}"
