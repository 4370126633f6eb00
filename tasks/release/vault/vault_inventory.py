"""Holdings: what each release has in the vault, by the ledger alone.

Objects are named by their content, so releases of the same data share them: one is nobody's to delete while another
needs it.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from policies.retention import Part
from sluice.custody.ledger_entry import Entry, last
from sluice.custody.states import PRUNED, SEED_DESTROYED, State, state_of
from sluice.custody.vault import Vault
from sluice.custody.workspace import Workspace
from sluice.ground.errors import DataError
from tasks.release.vault.seed_names import as_text, dice_of, seed_name

_EVIDENCE_OF: Mapping[str, Mapping[str, str]] = {
    State.RECEIVED: {"contract": ".json", "policy": ".json", "plan": ".json", "variables": ".json"},
    State.PUBLISHED: {"profile": ".json"},
    # What a release waits for is recorded with the same report and dossier as its evaluation.
    **{event: {"report": ".html", "dossier": ".json"} for event in (State.EVALUATED, State.BLOCKED, "note")},
}
_WITHOUT_COPIES = {"data", "csv", "rows", "sample", "seed"}  # of what is recorded of a masked file


@dataclass(frozen=True)
class Holding:
    """What one release has of one part.

    objects : names in the store; of seeds, their names among the seeds
    deleted : when a deletion of it was last recorded
    """

    release: str
    state: State | None
    part: Part
    objects: tuple[str, ...]
    deleted: str | None = None


def holdings(workspace: Workspace, histories: Mapping[str, Sequence[Entry]]) -> list[Holding]:
    """What every release has that its policy may let be deleted. Cost: one reading of each different plan.

    histories : release -> its entries
    """
    found, dice = [], _Dice(workspace.vault)
    for release, entries in histories.items():
        state = state_of(entry.event for entry in entries)
        deleted_in = [entry for entry in entries if entry.event in (PRUNED, SEED_DESTROYED)]
        parts: dict[Part, Iterable[str]] = {
            "staged_data": _staged(entries),
            "masked_files": _masked(workspace.vault, entries),
            "seeds": dice.seeds(entries),
        }
        for part, objects in parts.items():
            deletions = [entry for entry in deleted_in if _is_deletion(entry, part)]
            recorded = {name for entry in deletions for name in entry.body.get("objects", ())}
            if names := {*objects, *recorded}:
                deleted = deletions[-1].at if deletions else None
                found.append(Holding(release, state, part, tuple(sorted(names)), deleted))
    return found


def evidence(entries: Sequence[Entry]) -> set[str]:
    """Names in the store of what is kept for ever: the documents, the report and the dossier of each judgement."""
    found = set()
    for entry in entries:
        if named := _EVIDENCE_OF.get(entry.event):
            found |= {f"{entry.body[field]}{suffix}" for field, suffix in named.items() if entry.body.get(field)}
    return found


def pruned_in(entries: Iterable[Entry]) -> frozenset[str]:
    """Names in the store of all objects of which these record a deletion."""
    return frozenset(name for entry in entries if entry.event == PRUNED for name in entry.body["objects"])


def _is_deletion(entry: Entry, part: Part) -> bool:
    if part == "seeds":
        return entry.event == SEED_DESTROYED
    return entry.event == PRUNED and entry.body["part"] == part


def _staged(entries: Sequence[Entry]) -> set[str]:
    """The records as received, the parts that they were divided into, the sums over them, and who was sampled."""
    found = set()
    for entry in entries:
        if entry.event == State.RECEIVED:
            tables = (entry.body.get(table) for table in ("data", "original", "holdout"))
            found |= {f"{table['sha256']}.parquet" for table in tables if table}
        elif entry.event == State.MASKED:
            found |= _named(entry.body, {"cells": ".npz", "sample": ".rows"})
    return found


def _masked(vault: Vault, entries: Sequence[Entry]) -> set[str]:
    found = set()
    for entry in entries:
        if entry.event != State.MASKED or "data" not in entry.body:
            continue
        if "csv" in entry.body:
            found |= _named(entry.body, {"data": ".parquet", "csv": ".csv", **_copies(entry.body)})
            continue
        found |= _named(entry.body, {"data": ".json", "published_cells": ".npz", "proofs": ".npz"})
        try:
            listed = json.loads(vault.verify(entry.body["data"], ".json").read_bytes())
        except DataError:  # deleted, with its files before it; what was is in the record of that
            continue
        found |= {f"{sha256}{Path(file).suffix}" for file, sha256 in listed.items()}
    return found


def _copies(body: Mapping[str, Any]) -> Mapping[str, str]:
    """The endings of the copies for statistics packages, where there are any."""
    if body.keys() <= _WITHOUT_COPIES:
        return {}
    from sluice.publication.copies import COPIES  # with libraries that a look into the vault does without

    return {name: copy.ending for name, copy in COPIES.items()}


def _named(body: dict[str, Any], suffixes: dict[str, str]) -> set[str]:
    return {f"{body[field]}{suffix}" for field, suffix in suffixes.items() if body.get(field)}


@dataclass(frozen=True)
class _Dice:
    """What draws, by the plans of a vault: releases of one definition share theirs, which is read once."""

    vault: Vault
    read: dict[str, str | None] = field(default_factory=dict)

    def seeds(self, entries: Sequence[Entry]) -> set[str]:
        """The seed of a release, where its vault has it or destroyed it."""
        received = last(entries, State.RECEIVED)
        if received is None or "plan" not in received.body:
            return set()
        plan = received.body["plan"]
        if plan not in self.read:
            try:
                self.read[plan] = as_text(dice_of(json.loads(self.vault.verify(plan, ".json").read_bytes())))
            except (DataError, KeyError):
                self.read[plan] = None
        dice = self.read[plan]
        if dice is None:
            return set()
        name = seed_name(self.vault, received.body["data"]["sha256"], dice)
        return {name} if self.vault.has_seed(name) else set()
