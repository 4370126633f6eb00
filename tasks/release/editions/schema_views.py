"""Schema views: which edition the views of public databases show, by the ledger alone, and bringing them there.

Like pointer and catalogue of a shelf they follow from the order of editions (`sluice.custody.edition_order`): a view
shows the table of the current edition, and where that has none in this schema there is no view. What was carried out is
recorded, so that a run that changes nothing asks no database. It can be done again after any crash.

Tables of withdrawn editions are to be dropped, and views to be swapped, for as long as the ledger says that they are
there. Where a database is gone for good an operator says so, and why. It is recorded with each edition; should the
database come back, `sluice ledger verify` finds what is in it.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sluice.custody.edition_order import ON_SHELF, Edition, current, lines_of_editions
from sluice.custody.ledger_entry import Entry, last
from sluice.custody.shelf_documents import is_same_shelf
from sluice.custody.states import LOADED, LOADING, SHOWN, UNLOADED, State
from sluice.custody.workspace import Workspace
from sluice.ground.databases import database_url
from sluice.ground.durable import locked, sha256_of
from sluice.ground.errors import SluiceError, did_you_mean
from sluice.publication.schema_change import SchemaChange
from sluice.publication.separate_writing import carry_out_apart, differences_apart
from sluice.sources.permission import permitted_schema, schemas_of_sources
from tasks.release.decisions.signing_in import account, refuse_unseen

DATABASE_GONE = "database_gone"  # in the entry of tables that are due no more: why


@dataclass(frozen=True)
class PublicPlace:
    """Where the editions of one name on one shelf are tables, too."""

    name: str
    shelf: Path
    connection: str
    into: str

    def __str__(self) -> str:
        return f"the views of {self.name} in '{self.into}' of '{self.connection}'"

    def holds(self, body: Mapping[str, Any]) -> bool:
        return (self.connection, self.into) == (body["connection"], body["into"])


@dataclass(frozen=True)
class WantedViews:
    """What should hold of a place, and what the ledger says was carried out."""

    place: PublicPlace
    views: Mapping[str, str | None]  # and the table that each should show; None: no such view
    shown: Mapping[str, str]  # what they showed when they were last swapped
    recorded_by: str  # the release by which a swap is recorded
    gone: Mapping[str, tuple[str, ...]]  # withdrawn release -> its tables, which should not be there
    dropped: tuple[str, ...]  # tables of releases that were withdrawn, and are gone
    is_lost: bool  # all that was in it went with its database
    tables: Mapping[str, tuple[Path, str]]  # of editions on the shelf: file, SHA-256

    @property
    def is_done(self) -> bool:
        return not self.gone and self.shown == self.existing

    @property
    def existing(self) -> dict[str, str]:
        return {view: table for view, table in self.views.items() if table}


def wanted_views(histories: Mapping[str, Sequence[Entry]]) -> list[WantedViews]:
    """For each place that tables were ever read back in, what should hold of it. Cost: one pass over the entries."""
    return [wanted for line in lines_of_editions(histories) for wanted in _of_line(line)]


def write_views(workspace: Workspace, *, everything: bool = False) -> dict[PublicPlace, str]:
    """Bring the views of public databases in line with the ledger, and drop the tables of withdrawn releases.

    everything : ask also the databases that are in line by the ledger, and write tables that are missing there
    returns    : place -> why it could not be done
    """
    failed = {}
    for wanted in wanted_views(workspace.ledger.histories()):
        if not (wanted.views or wanted.gone) or (wanted.is_done and not everything):
            continue
        schema = (wanted.place.connection, wanted.place.into)  # not of one name: names of two can ask for one view
        lock = hashlib.sha256(repr(schema).encode()).hexdigest()[:16]
        with locked(workspace.home / f"views-{lock}.lock"):  # another run may bring about what is newer by now
            for now in wanted_views(workspace.ledger.histories()):
                if now.place == wanted.place and (everything or not now.is_done):
                    try:
                        _carry_out(workspace, now, everything)
                    except SluiceError as error:
                        failed[now.place] = str(error)
    return failed


def view_problems(workspace: Workspace) -> tuple[list[str], list[str]]:
    """How public databases differ from what the ledger says, in words; and what could not be looked at.

    Cost: one pass over each table, and one over its file.
    """
    problems: list[str] = []
    unchecked: list[str] = []
    for wanted in wanted_views(workspace.ledger.histories()):
        title = f"'{wanted.place.into}' of '{wanted.place.connection}'"
        if not wanted.views and not wanted.dropped:
            continue
        try:
            tables, lost = _whole_files(wanted)
            unchecked += [f"{title}: {each}" for each in lost]
            views = dict(wanted.views) if wanted.is_done else {}
            change = change_of(workspace, wanted.place, tables=tables, views=views, gone=wanted.dropped)
            problems += [f"{wanted.place.connection}: {each}" for each in differences_apart(change)]
        except SluiceError as error:
            if not wanted.is_lost:
                unchecked.append(f"{title} could not be looked at: {error}")
        if not wanted.is_done:
            unchecked.append(f"{title}: what is current or withdrawn is not brought there yet; run: sluice catalogue")
    return problems, unchecked


def change_of(workspace: Workspace, place: PublicPlace, **change: Any) -> SchemaChange:
    """A change of a place, with its address and what in it is ours. Raises as `permitted_schema`."""
    url = permitted_schema(place.connection, place.into)
    own = tuple(sorted(_own_tables(workspace.ledger.histories(), place)))
    return SchemaChange(
        url=url, into=place.into, own_tables=own, sources=schemas_of_sources(database_url(url)), **change
    )


def loaded_in(entries: Sequence[Entry]) -> Mapping[str, Any] | None:
    """Where the tables of a release were read back; None where they were not, or were dropped since."""
    done, gone = last(entries, LOADED), last(entries, UNLOADED)
    return None if done is None or (gone and gone.seq > done.seq) else done.body


def _of_line(line: Sequence[Edition]) -> Iterator[WantedViews]:
    places: dict[tuple[str, str], list[tuple[Edition, Mapping[str, Any]]]] = {}
    for edition in line:
        if (done := last(edition.entries, LOADED)) is not None:
            places.setdefault((done.body["connection"], done.body["into"]), []).append((edition, done.body))
    latest = current(line)
    for (connection, into), ever in places.items():
        place = PublicPlace(line[0].name, line[0].shelf, connection, into)
        loaded = [(edition, body) for edition, body in ever if loaded_in(edition.entries)]
        showing: Mapping[str, str] = next((body["views"] for edition, body in loaded if edition is latest), {})
        swaps = [entry for edition in line for entry in edition.entries if entry.event == SHOWN]
        swapped = max((e for e in swaps if place.holds(e.body)), key=lambda entry: entry.seq, default=None)
        yield WantedViews(
            place,
            {view: showing.get(view) for _, body in loaded for view in body["views"]},
            swapped.body["views"] if swapped else {},
            latest.release if latest else ever[-1][0].release,
            {
                edition.release: tuple(body["views"].values())
                for edition, body in loaded
                if edition.state is State.WITHDRAWN
            },
            tuple(table for edition, body in ever if not loaded_in(edition.entries) for table in body["files"]),
            all(_went_with_database(edition.entries) for edition, _ in ever),
            {table: file for edition, body in loaded for table, file in _files(edition, body)},
        )


def _went_with_database(entries: Sequence[Entry]) -> bool:
    gone = last(entries, UNLOADED)
    return loaded_in(entries) is None and gone is not None and DATABASE_GONE in gone.body


def _files(edition: Edition, body: Mapping[str, Any]) -> Iterator[tuple[str, tuple[Path, str]]]:
    """The tables of an edition on the shelf: file and its SHA-256 of each."""
    published = last(edition.entries, State.PUBLISHED)
    if edition.state in ON_SHELF and published is not None:
        for table, file in body["files"].items():
            yield table, (Path(published.body["folder"]) / file, published.body["files"][file])


def _carry_out(workspace: Workspace, wanted: WantedViews, everything: bool) -> None:
    place, ledger = wanted.place, workspace.ledger
    gone = tuple(table for tables in wanted.gone.values() for table in tables)
    tables = _whole_files(wanted)[0] if everything else {}
    carry_out_apart(change_of(workspace, place, tables=tables, views=dict(wanted.views), gone=gone))
    where = {"connection": place.connection, "into": place.into}
    if wanted.shown != wanted.existing:
        ledger.append(wanted.recorded_by, SHOWN, account(), where | {"views": wanted.existing})
    for release in wanted.gone:
        ledger.append(release, UNLOADED, account(), where)


def _whole_files(wanted: WantedViews) -> tuple[dict[str, Path], list[str]]:
    """Table -> file, of those that are what was published; and the tables whose files are not."""
    whole, lost = {}, []
    for table, (path, sha256) in wanted.tables.items():
        try:
            with path.open("rb") as file:
                same = sha256_of(file) == sha256
        except OSError:
            same = False
        if same:
            whole[table] = path
        else:
            lost.append(f"{table} cannot be held against {path}, which is not what was published")
    return whole, lost


def _own_tables(histories: Mapping[str, Sequence[Entry]], place: PublicPlace) -> set[str]:
    """The tables that editions of this line have, had, or began to have in this place."""
    return {
        table
        for line in lines_of_editions(histories)
        if line[0].name == place.name and is_same_shelf(line[0].shelf, place.shelf)
        for edition in line
        for entry in edition.entries
        if entry.event == LOADING and place.holds(entry.body)
        for table in entry.body["views"].values()
    }


def declare_lost(workspace: Workspace, connection: str, into: str, reason: str) -> list[str]:
    """Record that a schema of a public database is gone for good; returns the releases that had tables in it.

    raises : SluiceError for a schema that nothing of ours is in, without a reason, and for one that answers
    cost   : what one look into that database takes, up to the patience for connections that fail
    """
    refuse_unseen("reason", reason)
    if not reason.strip():
        raise SluiceError("--reason must say what became of the database; it stays in the ledger")
    histories = workspace.ledger.histories()
    wanted = [each for each in wanted_views(histories) if each.views or each.gone]
    known = sorted({f"{each.place.connection}/{each.place.into}" for each in wanted})
    named = f"{connection}/{into}"
    if named not in known:
        there = ", ".join(known) or "none"
        raise SluiceError(f"no tables are due in '{named}'.{did_you_mean(named, known)} Where there are some: {there}")
    lost = [each for each in wanted if (each.place.connection, each.place.into) == (connection, into)]
    if any(_answers(workspace, each.place) for each in lost):
        raise SluiceError(f"'{into}' of '{connection}' answers, so it is not gone; what is due in it: sluice catalogue")
    where = {"connection": connection, "into": into}
    found = []
    for each in lost:
        for edition in _loaded(workspace, each.place):
            workspace.ledger.append(edition.release, UNLOADED, account(), where | {DATABASE_GONE: reason})
            found.append(edition.release)
        _end_views(workspace, each, where)
    return found


def _answers(workspace: Workspace, place: PublicPlace) -> bool:
    try:
        differences_apart(change_of(workspace, place))
    except SluiceError:
        return False
    return True


def _loaded(workspace: Workspace, place: PublicPlace) -> Iterator[Edition]:
    """The editions whose tables the ledger has there."""
    for line in lines_of_editions(workspace.ledger.histories()):
        if line[0].name == place.name and is_same_shelf(line[0].shelf, place.shelf):
            for edition in line:
                if (body := loaded_in(edition.entries)) and place.holds(body):
                    yield edition


def _end_views(workspace: Workspace, wanted: WantedViews, where: dict[str, str]) -> None:
    if wanted.shown:
        workspace.ledger.append(wanted.recorded_by, SHOWN, account(), where | {"views": {}})
