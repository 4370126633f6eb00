"""The names of seeds: releases of the same data by the same plan draw alike, whatever they are called and held to."""

import json
from collections.abc import Mapping
from typing import Any

from sluice.custody.vault import Vault

_NO_PART_OF_THE_DICE = {
    "name", "title", "owner", "source", "contract", "policy", "target", "publish_to", "schedule", "trigger", "poll",
    "seed", "analyses", "publisher", "doi", "license", "copies",
}  # fmt: skip


def seed_name(vault: Vault, data: str, dice: str) -> str:
    """The name of the seed of all releases of these data (a SHA-256) by the same plan; `dice` as of `as_text`."""
    return f"seed-{vault.pseudonym('seed', chr(10).join([data, dice]))}"


def as_text(dice: Mapping[str, Any]) -> str:
    """What draws in a plan, as of `dice_of`, as the name of its seed has it."""
    return json.dumps(dict(dice), sort_keys=True)


def dice_of(definition: Mapping[str, Any]) -> dict[str, Any]:
    """The same of a definition that was read from JSON."""
    kept: dict[str, Any] = _without_titles({k: v for k, v in definition.items() if k not in _NO_PART_OF_THE_DICE})
    return kept


def _without_titles(content: Any) -> Any:
    if isinstance(content, dict):
        return {key: _without_titles(value) for key, value in content.items() if key != "title"}
    return [_without_titles(value) for value in content] if isinstance(content, list | tuple) else content
