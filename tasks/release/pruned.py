"""What was deleted from the vault by rule, as the ledger knows it: what is missing otherwise was lost or taken."""

from sluice.custody.states import PRUNED
from sluice.custody.workspace import Workspace


def recorded_as_pruned(workspace: Workspace) -> frozenset[str]:
    """Names in the store of all objects of which a deletion is recorded. Cost: one reading of the ledger."""
    found = (entry for entry in workspace.ledger.entries() if entry.event == PRUNED)
    return frozenset(name for entry in found for name in entry.body["objects"])


def is_pruned(workspace: Workspace, sha256: str, suffix: str) -> bool:
    """Whether an object is gone, by a recorded rule. The same data may have come again since: then it is not."""
    name = f"{sha256}{suffix}"
    return not (workspace.vault.objects / name).is_file() and name in recorded_as_pruned(workspace)
