"""Schema edition: the tables of a release in a public database, and the views that show the current edition.

The ledger has an entry before the first table is written and one when the views were swapped. In between the release is
`publishing`: the next run finds what is missing and finishes it.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from sluice.custody.ledger import Entry, Ledger
from sluice.custody.states import LOADED, LOADING, UNLOADED, State, state_of
from sluice.custody.workspace import Workspace
from sluice.publication.schema_change import SchemaChange
from sluice.publication.separate_writing import carry_out_apart
from sluice.sources.permitted_schema import permitted_schema
from tasks.release.account import account
from tasks.release.release import DocumentedRelease, last

_LONGEST_VIEW, _LONGEST_TABLE = (
    55,
    40,
)  # characters; with the digest and a draft's ending 59, of 63 that a name may have


def publish_into_schema(release: DocumentedRelease, folder: Path, files: Iterable[str], current: str) -> None:
    """Put the Parquet files of a published folder into the schema of `publish_to`, where the definition has one.

    files   : names of the approved files in the folder
    current : the release that is the current edition once this one is published; the views show it
    raises  : as `permitted_schema` and `carry_out_apart`; the release stays `publishing`
    """
    asked = release.product.definition.publish_to
    if asked is None:
        return
    views = _views(release, files)
    place = {"definition": release.product.definition.name, "connection": asked.connection, "into": asked.into}
    tables = {view: table for view, (table, _) in views.items()}
    body = place | {"views": tables}
    ledger = release.product.workspace.ledger
    if new := sorted(views.keys() - _own_views(ledger, place)):
        _carry_out(ledger, place, free=tuple(new))  # before the ledger says that they are ours
    begun = last(release.entries(), LOADING)
    if begun is None or begun.body != body:
        release.record(LOADING, **body)
    shown = tables if current == release.id else _loaded(ledger.entries(current), place)
    _carry_out(
        ledger,
        place,
        tables={table: folder / file for table, file in views.values()},
        views={view: shown.get(view) for view in views},
    )
    done = last(release.entries(), LOADED)
    if done is None or done.body != body:
        release.record(LOADED, **body)


def withdraw_from_schema(workspace: Workspace, release_id: str, current: str | None = None) -> None:
    """Drop the tables of a withdrawn release; its views show the edition that is current then, or are gone.

    current : the edition that takes its place; None: the latest of those in the schema that are still published
    raises  : as `publish_into_schema`; asked for again, it is finished
    """
    ledger = workspace.ledger
    entries = ledger.entries(release_id)
    begun, gone = last(entries, LOADING), last(entries, UNLOADED)
    if begun is None or (gone and gone.seq > begun.seq):
        return
    place = {name: begun.body[name] for name in ("definition", "connection", "into")}
    others = {
        other: loaded
        for other, found in ledger.histories().items()
        if other != release_id
        and state_of(entry.event for entry in found) is State.PUBLISHED
        and (loaded := _loaded(found, place))
    }
    shown = others.get(current, {}) if current else next(reversed(others.values()), {})
    of_others = {table for loaded in others.values() for table in loaded.values()}
    tables = begun.body["views"]
    _carry_out(
        ledger,
        place,
        views={view: shown.get(view) for view in tables},
        gone=tuple(table for table in tables.values() if table not in of_others),
    )
    ledger.append(release_id, UNLOADED, account(), place)


def _carry_out(ledger: Ledger, place: Mapping[str, str], **change: Any) -> None:
    own = tuple(sorted(_own_views(ledger, place)))
    url = permitted_schema(place["connection"], place["into"])
    carry_out_apart(SchemaChange(url=url, into=place["into"], own_views=own, **change))


def _own_views(ledger: Ledger, place: Mapping[str, str]) -> set[str]:
    """The views that editions of this definition have, or began to have, in this schema: no other may replace them."""
    return {
        view
        for entries in ledger.histories().values()
        for entry in entries
        if entry.event == LOADING and place.items() <= entry.body.items()
        for view in entry.body["views"]
    }


def _loaded(entries: list[Entry], place: Mapping[str, str]) -> dict[str, str]:
    """View -> table of a release that stands in this schema; empty for one that does not, or not any more."""
    loaded, gone = last(entries, LOADED), last(entries, UNLOADED)
    there = loaded is not None and place.items() <= loaded.body.items() and not (gone and gone.seq > loaded.seq)
    return dict(loaded.body["views"]) if loaded and there else {}


def _views(release: DocumentedRelease, files: Iterable[str]) -> dict[str, tuple[str, str]]:
    """View -> table and file: a file that is called as the definition gives the definition's name alone."""
    name, digest = release.product.definition.name, release.id.rpartition("-")[2]
    views = {}
    for file in sorted(files):
        if file.endswith(".parquet"):
            own = Path(file).stem
            said = name if own == name else own if own.startswith(f"{name}-") else f"{name}-{own}"
            views[_identifier(said, _LONGEST_VIEW)] = (f"{_identifier(said, _LONGEST_TABLE)}_{digest}", file)
    return views


def _identifier(said: str, longest: int) -> str:
    """A name that every database takes; if more than its dashes must change, with a digest of what it was."""
    plain = re.sub(r"[^a-z0-9_]", "_", said.lower())
    if plain == said.replace("-", "_") and len(plain) <= longest:
        return plain
    return f"{plain[: longest - 9]}_{hashlib.sha256(said.encode()).hexdigest()[:8]}"
