"""What the shelves say of their editions: made from the ledger, and brought to the disk."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

from sluice.custody.edition_order import ON_SHELF, Edition, current, lines_of_editions
from sluice.custody.ledger_entry import Entry, last
from sluice.custody.shelf import SUPERSEDED_NOTICE, WITHDRAWN_NOTICE, withdraw, withdrawn_of
from sluice.custody.shelf_documents import ShelfDocuments, write_documents
from sluice.custody.states import State
from sluice.custody.workspace import Workspace
from sluice.ground.durable import locked
from sluice.ground.errors import SluiceError
from sluice.publication.catalogue_of_shelf import (
    JSON_LD,
    PACKAGES,
    PAGE,
    CataloguedEdition,
    CurrentPointer,
    EditionNotice,
    as_json_ld,
    as_package_catalogue,
    as_page,
    unsigned_bytes,
)
from sluice.publication.study import Study
from tasks.release.editions.current_edition import publishing_lock


def write_catalogues(workspace: Workspace) -> dict[Path, str]:
    """Bring pointers, catalogue and notices of every shelf in line with the ledger, and take off it what was withdrawn
    and came back, as with a backup, or a disk that was away.

    returns : shelf -> why it could not be written
    cost    : one pass over the entries; what is right already is read, and not written
    """
    failed = {}
    with locked(publishing_lock(workspace)):
        histories = workspace.ledger.histories()
        steps = [*_returned(histories)]
        steps += [(s, partial(write_documents, s, says)) for s, says in documents_of_shelves(histories).items()]
        for shelf, step in steps:
            try:
                step()
            except OSError as error:
                failed[shelf] = error.strerror or type(error).__name__
            except SluiceError as error:
                failed[shelf] = str(error)
    return failed


def _returned(histories: Mapping[str, Sequence[Entry]]) -> Iterator[tuple[Path, Callable[[], Any]]]:
    """Shelf, and what takes off it each folder that was withdrawn and is there."""
    for line in lines_of_editions(histories):
        for edition in line:
            withdrawn, published = last(edition.entries, State.WITHDRAWN), last(edition.entries, State.PUBLISHED)
            if withdrawn and published and (folder := Path(published.body["folder"])).is_dir():
                yield edition.shelf, partial(withdraw, folder, withdrawn.body["reason"])


def documents_of_shelves(histories: Mapping[str, Sequence[Entry]]) -> dict[Path, ShelfDocuments]:
    """What each shelf should say, by the ledger alone."""
    found: dict[Path, dict[str, list[Edition]]] = defaultdict(dict)
    for line in lines_of_editions(histories):
        if public := [edition for edition in line if edition.state in (*ON_SHELF, State.WITHDRAWN)]:
            found[public[0].shelf][public[0].name] = public[::-1]
    return {shelf: _documents(lines) for shelf, lines in found.items()}


def _documents(lines: Mapping[str, Sequence[Edition]]) -> ShelfDocuments:
    files: dict[str, bytes] = {}
    links: dict[str, str] = {}
    absent: set[str] = set()
    for name, line in lines.items():
        latest = current(line)
        files[f"{name}.current.json"] = unsigned_bytes(_pointer(name, latest))
        if latest:
            links[f"{name}.current"] = latest.release
        else:
            absent.add(f"{name}.current")
        for edition in line:
            _add_notices(edition, files, absent)
    series = {name: [_catalogued(edition) for edition in line] for name, line in lines.items()}
    files |= {JSON_LD: as_json_ld(series), PAGE: as_page(series)}
    if (packages := as_package_catalogue(series)) is None:
        absent.add(PACKAGES)
    else:
        files[PACKAGES] = packages
    return ShelfDocuments(files, links, frozenset(absent))


def _add_notices(edition: Edition, files: dict[str, bytes], absent: set[str]) -> None:
    folder = edition.release
    if edition.state is State.WITHDRAWN:
        gone = withdrawn_of(Path(folder)).name
        files[f"{gone}/{WITHDRAWN_NOTICE}"] = unsigned_bytes(_notice(edition, "withdrawn"))
        absent.add(f"{gone}/{SUPERSEDED_NOTICE}")
    elif edition.state is State.SUPERSEDED:
        files[f"{folder}/{SUPERSEDED_NOTICE}"] = unsigned_bytes(_notice(edition, "superseded"))
    else:
        absent.add(f"{folder}/{SUPERSEDED_NOTICE}")


def _notice(edition: Edition, state: Literal["superseded", "withdrawn"]) -> EditionNotice:
    entry = last(edition.entries, state)
    assert entry is not None
    by = entry.body.get("by")
    pointer = f"../{edition.name}.current.json"
    return EditionNotice(release=edition.release, state=state, by=by, at=entry.at, current=pointer)


def _pointer(name: str, latest: Edition | None) -> CurrentPointer:
    published = last(latest.entries, State.PUBLISHED) if latest else None
    return CurrentPointer(
        name=name,
        current=latest.release if latest else None,
        period=latest.period if latest else None,
        published=published.at if published else None,
        manifest=published.body["files"]["manifest.json"] if published else None,
    )


def _catalogued(edition: Edition) -> CataloguedEdition:
    published, superseded = last(edition.entries, State.PUBLISHED), last(edition.entries, State.SUPERSEDED)
    withdrawn = last(edition.entries, State.WITHDRAWN)
    assert published is not None
    body, state = published.body, edition.state
    return CataloguedEdition(
        release=edition.release,
        name=edition.name,
        title=body.get("title", edition.name),
        description=body.get("description", ""),
        state="withdrawn" if withdrawn else "superseded" if state is State.SUPERSEDED else "current",
        published=published.at,
        period=edition.received.get("period"),
        files=body["files"],
        by=superseded.body["by"] if superseded and state is State.SUPERSEDED else None,
        reason=withdrawn.body["reason"] if withdrawn else None,
        publisher=body.get("publisher"),
        doi=body.get("doi"),
        license=body.get("license"),
        study=Study.model_validate(body["study"]) if body.get("study") else None,
    )
