"""What is wrong with a vault by the ledger: what was lost or taken, and what came back that was deleted."""

from sluice.custody.states import State
from sluice.custody.workspace import Workspace
from tasks.release.holdings import evidence
from tasks.release.pruned import recorded_as_pruned
from tasks.release.retention import Inventory


def vault_problems(workspace: Workspace, found: Inventory) -> list[str]:
    """A sentence for each, in the order of the releases. Cost: a reading of the ledger; no object is read.

    What is missing without a record of its deletion was not deleted by Sluice: somebody took it, or the vault is older
    than its ledger. Objects of a run that stopped before it was judged are no evidence, and are not missed.
    """
    pruned, there, problems = recorded_as_pruned(workspace), found.objects, []
    histories = workspace.ledger.histories()
    for release, entries in histories.items():
        lost = evidence(entries) - there.keys()
        if lost:
            problems.append(f"{release}: {len(lost)} of its documents and reports are missing from the vault")
    for keeping in found.keepings:
        holding = keeping.holding
        part = f"{holding.release}: {holding.part.replace('_', ' ')}"
        if holding.part == "seeds":
            if holding.deleted and any(map(workspace.vault.holds_seed, holding.objects)):
                problems.append(f"{part} were destroyed, and are there again; destroy them: sluice vault prune")
            continue
        judged = any(entry.event == State.EVALUATED for entry in histories[holding.release])
        lost = set(holding.objects) - there.keys() - pruned
        if lost and judged:
            problems.append(f"{part} are missing from the vault ({len(lost)} objects), and no deletion is recorded")
        back = [name for name in holding.objects if name in pruned and name in there and found.is_due(name)]
        if back and holding.deleted:
            problems.append(f"{part} were deleted, and are there again; delete them: sluice vault prune")
    return problems
