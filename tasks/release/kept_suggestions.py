"""What `sluice suggest` found for a plan, kept in the workspace for the report on the next run of it."""

import json
from pathlib import Path

from sluice.custody.workspace import Workspace
from sluice.ground.durable import make_folder, replace
from tasks.release.definition import Definition
from tasks.release.documents import Documents


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
