"""Lost schema: a public database that is gone for good, so that nothing is due in it any more.

Tables of withdrawn editions are to be dropped, and views to be swapped, for as long as the ledger says that they are
there. Where nobody can do that any more an operator says so, and why. It is recorded with each edition; should the
database come back, `sluice ledger verify` finds what is in it.
"""

from collections.abc import Iterator

from sluice.custody.editions import Edition, lines_of_editions
from sluice.custody.shelf_places import is_same_shelf
from sluice.custody.states import SHOWN, UNLOADED
from sluice.custody.workspace import Workspace
from sluice.ground.errors import SluiceError, did_you_mean
from sluice.publication.separate_writing import differences_apart
from tasks.release.account import account
from tasks.release.acting import refuse_unseen
from tasks.release.schema_views import DATABASE_GONE, PublicPlace, WantedViews, change_of, loaded_in, wanted_views


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
