"""Searches for a plan, as the ledger knows them: who tries many plans on data has learned from them what passes."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from sluice.custody.ledger_entry import Entry
from sluice.custody.states import SEARCH_BEGUN, SEARCH_ENDED, SEARCHES
from sluice.custody.workspace import Workspace
from tasks.release.decisions.signing_in import account

if TYPE_CHECKING:  # who asks what the vault keeps does without what reads data
    from tasks.release.documented_release import StagedTable


@dataclass(frozen=True)
class SearchEntry:
    """One search as the ledger knows it.

    name   : a keyed hash of its space, documents and data; taken up again it keeps its name
    trials : those that were taken; of one that was killed those that it might have taken
    judged : of its best plans, those that were judged again with other seeds
    """

    name: str
    received: Entry  # its body names the data as that of a release does
    trials: int
    judged: int = 0


def record_begun(
    workspace: Workspace, name: str, dataset: str, data: "StagedTable", variables: str, trials: int
) -> None:
    """Before the first trial. `variables` is the hash under which the vault keeps them."""
    body = {"search": name, "dataset": dataset, "data": asdict(data), "variables": variables, "trials": trials}
    workspace.ledger.append(SEARCHES, SEARCH_BEGUN, account(), body)


def record_ended(workspace: Workspace, name: str, trials: int, judged: int, passed: bool) -> None:
    """After the last trial, or when somebody stopped it."""
    body = {"search": name, "trials": trials, "judged": judged, "passed": passed}
    workspace.ledger.append(SEARCHES, SEARCH_ENDED, account(), body)


def searches(workspace: Workspace) -> list[SearchEntry]:
    """Every search once, with all that it took however often it was taken up again. Cost: one reading of the ledger."""
    begun: dict[str, Entry] = {}
    trials: dict[str, int] = {}
    judged: dict[str, int] = {}
    open_: dict[str, int] = {}
    for entry in workspace.ledger.entries(SEARCHES):
        name = entry.body["search"]
        if entry.event == SEARCH_BEGUN:
            begun[name] = entry
            open_[name] = max(entry.body["trials"], open_.get(name, 0))
        else:
            trials[name] = max(entry.body["trials"], trials.get(name, 0))
            judged[name] = judged.get(name, 0) + entry.body["judged"]
            open_.pop(name, None)
    return [
        SearchEntry(name, entry, max(trials.get(name, 0), open_.get(name, 0)), judged.get(name, 0))
        for name, entry in begun.items()
    ]
