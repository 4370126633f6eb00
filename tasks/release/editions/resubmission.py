"""Rounds: a release that people sent back comes again, and its report says what changed since."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from sluice.custody.ledger_entry import Entry, last
from sluice.custody.states import State, state_of
from sluice.custody.vault import Vault
from sluice.report.dossier import Returned
from tasks.release.documented_release import DocumentedRelease

_DOCUMENTS = ("contract", "policy", "plan")
_MOST = 20  # changes that are listed; who changes more has written another release


def returned(release: DocumentedRelease) -> Returned | None:
    """What came back as this release: the latest of its definition that was sent back since one was published.

    None where none was. Cost: one reading of the ledger, and of three documents.
    """
    back: list[tuple[str, Sequence[Entry]]] = []
    for other, entries in release.product.workspace.ledger.histories().items():
        received = last(entries, State.RECEIVED)
        if other == release.id or received is None or received.body["definition"] != release.product.definition.name:
            continue
        match state_of(entry.event for entry in entries):
            case State.PUBLISHED | State.SUPERSEDED | State.WITHDRAWN:
                back.clear()
            case State.CHANGES_REQUESTED:
                back.append((other, entries))
    if not back:
        return None
    name, before = back[-1]
    asked = (entry for entry in before if entry.body.get("decision") in ("request_changes", "refuse_finding"))
    found = _changes(release, before)
    more = (f"and {len(found) - _MOST} more",) if len(found) > _MOST else ()
    return Returned(
        release=name,
        round=len(back) + 1,
        asked=tuple(f"{entry.actor}: {entry.body['comment']}" for entry in asked),
        changes=(*found[:_MOST], *more),
    )


def _changes(release: DocumentedRelease, entries: Sequence[Entry]) -> list[str]:
    """What differs between the documents and data of this release and those of another, a sentence each."""
    received = last(entries, State.RECEIVED)
    assert received is not None
    product = release.product
    now = dict(zip(_DOCUMENTS, (product.contract, product.policy, product.written), strict=True))
    documents = {name: document.model_dump(mode="json") for name, document in now.items()}
    return _differ(kept_documents(release.vault, received), documents, received.body["data"], release.data.sha256)


def changes_between(vault: Vault, before: Entry, now: Entry) -> list[str]:
    """What differs between two releases as they were received, a sentence each. Raises DataError for lost documents."""
    was, documents = kept_documents(vault, before), kept_documents(vault, now)
    return _differ(was, documents, before.body["data"], now.body["data"]["sha256"])


def kept_documents(vault: Vault, received: Entry) -> dict[str, JsonValue]:
    """Contract, policy and definition (as `plan`) of a release, as the vault keeps them. Raises DataError."""
    return {name: json.loads(vault.verify(received.body[name], ".json").read_bytes()) for name in _DOCUMENTS}


def _differ(
    before: Mapping[str, JsonValue], now: Mapping[str, JsonValue], data: Mapping[str, Any], sha256: str
) -> list[str]:
    found = []
    for name in _DOCUMENTS:
        called = "definition" if name == "plan" else name
        found += [f"{called}, {change}" for change in differences(before[name], now[name])]
    same = "are the same" if data["sha256"] == sha256 else f"are others: {data['rows']:,} records before"
    return [*found, f"the data {same}"]


def differences(before: JsonValue, now: JsonValue, path: str = "") -> list[str]:
    """What differs between two JSON values, as 'path: old, now new'; entries of lists are compared by their place."""
    if isinstance(before, dict) and isinstance(now, dict):
        keys = [*before, *(key for key in now if key not in before)]
        return [
            change
            for key in keys
            for change in differences(before.get(key), now.get(key), f"{path}.{key}" if path else key)
        ]
    if isinstance(before, list) and isinstance(now, list):
        longest = range(max(len(before), len(now)))
        pairs = ((before[i] if i < len(before) else None, now[i] if i < len(now) else None) for i in longest)
        return [change for i, pair in enumerate(pairs) for change in differences(*pair, f"{path}.{i}")]
    return [] if before == now else [f"{path}: {_shown(before)}, now {_shown(now)}"]


def _shown(value: JsonValue) -> str:
    return "not there" if value is None else json.dumps(value, ensure_ascii=False)
