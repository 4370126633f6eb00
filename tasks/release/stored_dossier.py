"""The dossier of a release as the vault keeps it: what was judged last, whatever became of its documents; and what
`sluice suggest` found for its plan, kept in the workspace for the next report.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sluice.custody.ledger_entry import Entry
from sluice.custody.workspace import Workspace
from sluice.ground.durable import make_folder, replace
from sluice.report.dossier import Dossier
from tasks.release.release_definition import Definition
from tasks.release.release_documents import Documents


@dataclass(frozen=True)
class Reported:
    """A dossier, and by which SHA-256 the vault keeps it (`dossier`) and the page made of it (`report`)."""

    dossier: Dossier
    kept: Mapping[str, str]


def keep_reported(workspace: Workspace, dossier: Dossier) -> Reported:
    """Keep a dossier and the page made of it in the vault, and put the page where people read it."""
    from sluice.report.report_page import render  # what draws it, which nobody needs who only looks at a dossier

    page, vault = render(dossier).encode(), workspace.vault
    kept = {
        "report": vault.keep_bytes(page, ".html"),
        "dossier": vault.keep_bytes(dossier.model_dump_json().encode(), ".json"),
    }
    replace(workspace.reports / f"{dossier.release}.html", page, 0o600)
    return Reported(dossier, kept)


def kept_dossier(workspace: Workspace, entries: Sequence[Entry]) -> Dossier | None:
    """The dossier of the last judgement among a release's entries; None before the first.

    raises : SluiceError when the vault does not hold it as it was
    """
    judged = next((entry for entry in reversed(entries) if "dossier" in entry.body), None)
    if judged is None:
        return None
    return Dossier.model_validate_json(workspace.vault.verify(judged.body["dossier"], ".json").read_bytes())


def keep_suggestions(product: Documents[Definition], suggestions: tuple[str, ...]) -> None:
    """Remember them for these documents: under another contract, policy or plan they say nothing."""
    path = _path(product)
    make_folder(path.parent, 0o700)
    replace(path, json.dumps(list(suggestions), ensure_ascii=False).encode(), 0o600)


def kept_suggestions(product: Documents[Definition]) -> tuple[str, ...]:
    """Those for these documents, as sentences; none where nobody asked for any."""
    path = _path(product)
    return tuple(json.loads(path.read_text("utf-8"))) if path.exists() else ()


def _path(product: Documents[Definition]) -> Path:
    workspace: Workspace = product.workspace
    parts = "\n".join(product.hashes[name] for name in sorted(product.hashes))
    return workspace.home / "tuning" / f"suggested-{workspace.vault.pseudonym('suggestions', parts)[:24]}.json"
