"""Verification: whether what was recorded and what was published are still what they were."""

import json
from contextlib import suppress
from pathlib import Path

from sluice.custody.durable import sha256_of
from sluice.custody.states import State, state_of
from sluice.custody.workspace import Workspace
from sluice.errors import SluiceError
from tasks.release.definition import target_of
from tasks.release.release import last
from tasks.release.waiting import definition_of


def what_was_altered(workspace: Workspace) -> list[str]:
    """What is wrong with the ledger, or else with the published folders that can be reached, in words.

    A folder is found through the release's definition; where either is gone, there is nothing to compare.
    Cost: O(entries), and one pass over the published files.
    """
    problems = workspace.ledger.verify()
    if problems:  # nothing that it says can be held against the folders
        return problems
    for release_id, entries in workspace.ledger.histories().items():
        published = last(entries, State.PUBLISHED)
        if published is None or state_of(entry.event for entry in entries) is State.WITHDRAWN:
            continue
        with suppress(SluiceError):
            definition = definition_of(workspace, release_id)
            folder = target_of(definition) / release_id
            if folder.is_dir():
                problems += [
                    f"{folder / file} is not the one that was published"
                    for file in _altered(folder, published.body["manifest"])
                ]
    return problems


def _altered(folder: Path, manifest_sha256: str) -> list[str]:
    """The ledger vouches for the manifest, and the manifest for the files that hold records."""
    if _sha256(folder / "manifest.json") != manifest_sha256:
        return ["manifest.json"]
    listed = json.loads((folder / "manifest.json").read_bytes())["files"]
    return [file["path"] for file in listed if _sha256(folder / file["path"]) != file["sha256"]]


def _sha256(path: Path) -> str | None:
    """None where there is no such file."""
    if not path.is_file():
        return None
    with path.open("rb") as file:
        return sha256_of(file)
