"""The groups of `sluice --help`: commands by what a person wants, in the order in which most people come to it."""

from collections.abc import Mapping, Sequence
from typing import Any

PANELS: Mapping[str, Sequence[str]] = {
    "Begin": ("tutorial", "new", "init", "hierarchy", "rules", "methods", "codes", "schemas"),
    "Judge and improve a release": ("check", "explain", "suggest", "tune", "compare"),
    "Release and decide": (
        "release", "status", "review", "approve", "request-changes", "reject", "conflicted",
        "sign", "desk", "key", "adopt", "people",
    ),
    "After publication": ("verify", "convert", "withdraw", "end-series", "reassess", "catalogue", "ledger"),
    "Tables": ("protect-table", "audit-table", "redesign-table"),
    "Try without a release": ("mask", "assess", "camouflage"),
    "Run in production": (
        "office", "worker", "poll", "remind", "board", "vault", "doctor", "deployments", "man",
    ),
}  # fmt: skip


def arrange(group: Any) -> Any:
    """The same group of commands, each in its panel and in this order; one that no panel names comes last."""
    place = {name: panel for panel, names in PANELS.items() for name in names}
    for name, command in group.commands.items():
        command.rich_help_panel = place.get(name)
    order = [*place, *(name for name in group.commands if name not in place)]
    group.commands = {name: group.commands[name] for name in order if name in group.commands}
    return group
