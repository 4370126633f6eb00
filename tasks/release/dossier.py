"""The dossier of a release as the vault keeps it: what was judged last, whatever became of its documents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sluice.custody.ledger import Entry
from sluice.custody.workspace import Workspace
from sluice.report.dossier import Dossier


@dataclass(frozen=True)
class Reported:
    """A dossier, and by which SHA-256 the vault keeps it (`dossier`) and the page made of it (`report`)."""

    dossier: Dossier
    kept: Mapping[str, str]


def kept_dossier(workspace: Workspace, entries: Sequence[Entry]) -> Dossier | None:
    """The dossier of the last judgement among a release's entries; None before the first.

    raises : SluiceError when the vault does not hold it as it was
    """
    judged = next((entry for entry in reversed(entries) if "dossier" in entry.body), None)
    if judged is None:
        return None
    return Dossier.model_validate_json(workspace.vault.verify(judged.body["dossier"], ".json").read_bytes())
