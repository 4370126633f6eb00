"""Load state: what a definition's source looked like when it was last polled, so that a load is noticed once.

Kept are keyed hashes of the number of records and of the latest value: neither stands in the workspace, in a log or on
the screen, where a small count could tell of people.
"""

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sluice.custody.workspace import Workspace
from sluice.ground.durable import locked, make_folder, replace
from sluice.ground.errors import DocumentError
from sluice.settings import settings
from sluice.sources.connections import Secret
from sluice.sources.figures_source import Figure, FiguresSource
from sluice.sources.permission import permitted_source
from sluice.sources.separate_reading import read_apart
from sluice.sources.sources import ConnectionSource, DatabaseFile
from sluice.sources.sql_source import SqlSource
from tasks.release.release_definition import Definition, Poll
from tasks.release.run_notes import read_note


@dataclass(frozen=True)
class LoadState:
    """What is known of the loads of one definition. `load` names the present one; the same load has the same name."""

    load: str
    loaded: bool  # whether there is one that is whole and was not announced
    is_announced: bool  # whether it was announced before
    _note: Path

    def announced(self) -> None:
        """Remember that the load was announced. To be called when it was: a crash before announces it again."""
        _write(self._note, self.load, self.load)


@contextmanager
def load_state(
    path: Path, definition: Definition, workspace: Workspace, secret: Secret = os.environ.get
) -> Iterator[LoadState]:
    """Look at the source of a definition; alone among all who poll it, as long as the context lasts.

    A source that is looked at itself may be in the midst of a load of many transactions: it counts as loaded when it is
    the same as the last time. A table of loads says by itself that a load is whole.

    path   : of the definition
    raises : DocumentError for a source that is no database; DataError when it cannot be read
    cost   : one select without groups in the database; half a second of CPU
    """
    poll = definition.poll or Poll()
    source = definition.source
    if not isinstance(source, ConnectionSource | DatabaseFile):
        raise DocumentError(f"{path}: only a database is polled; of files whoever brings them starts the release")
    if poll.table:
        source = source.model_copy(update={"table": poll.table, "query": None})
    permitted = permitted_source(source, path.parent, secret)
    assert isinstance(permitted, SqlSource)
    figures = (Figure(what="records"), *((Figure(what="largest", column=poll.column),) if poll.column else ()))
    asked = FiguresSource(of=permitted, figures=figures)
    folder = workspace.home / "polls"
    make_folder(folder, 0o700)
    # By its place, too: another project may have a definition of this name, on other data or on the same.
    called = f"{definition.name}-{hashlib.sha256(_place(path).encode()).hexdigest()[:12]}"
    with locked(folder / f"{called}.lock"):
        note = folder / f"{called}.json"
        [found] = read_apart(asked, [figure.name for figure in figures])
        said = json.dumps([definition.name, source.model_dump(mode="json"), *(str(value) for value in found.iloc[0])])
        load, before = workspace.vault.pseudonym("load", said), read_note(note)
        whole = poll.table is not None or before.get("seen") == load
        _write(note, load, before.get("announced"))
        is_announced = before.get("announced") == load
        yield LoadState(load, whole and not is_announced, is_announced, note)


def _place(path: Path) -> str:
    """The file of a definition; one in the project is the same wherever that lies."""
    place, project = path.resolve(), settings().project
    return str(place.relative_to(project) if place.is_relative_to(project) else place)


def _write(note: Path, seen: str, announced: str | None) -> None:
    replace(note, json.dumps({"seen": seen, "announced": announced}).encode(), 0o600)
