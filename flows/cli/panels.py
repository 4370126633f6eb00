"""What `sluice --help` shows: what a person does, in the order in which most come to it; the rest one level below.

A command keeps the name by which it was first known, which scripts may use and help does not show.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

from typer.core import TyperGroup

PANELS: Mapping[str, Sequence[str]] = {
    "Begin": ("tutorial", "init"),
    "A release": ("check", "suggest", "tune", "release"),
    "Decide": ("board", "review", "approve", "decide", "published"),
    "Without a release": ("assess", "table", "data"),
    "The house": ("office", "ledger", "desk", "run", "docs"),
}
"""Panel -> the commands and groups of it, in their order."""


@dataclass(frozen=True)
class Below:
    """A group: what it is for, and its commands by their names in it and those that they have of old."""

    help: str
    commands: Mapping[str, str]


GROUPS: Mapping[str, Below] = {
    "decide": Below(
        "Decide on a release that is under review.",
        {"approve": "approve", "request-changes": "request-changes", "reject": "reject", "conflicted": "conflicted"},
    ),
    "published": Below(
        "Verify, convert, withdraw and judge again what was published.",
        {
            "verify": "verify", "convert": "convert", "withdraw": "withdraw", "end-series": "end-series",
            "reassess": "reassess", "catalogue": "catalogue",
        },
    ),
    "table": Below(
        "Protect, audit and redesign tables outside a release.",
        {"protect": "protect-table", "audit": "audit-table", "redesign": "redesign-table"},
    ),
    "data": Below(
        "Mask files outside a release, compare plans, and make hierarchies.",
        {"mask": "mask", "compare": "compare", "camouflage": "camouflage", "hierarchy": "hierarchy"},
    ),
    "office": Below(
        "Found the office, if no command of it is named; and say who and what counts in it.",
        {"found": "office", "adopt": "adopt", "people": "people", "sign": "sign", "key": "key"},
    ),
    "ledger": Below("The append-only record of every release.", {"status": "status"}),
    "run": Below(
        "Run releases in production, and see that all is well.",
        {
            "new": "new", "deployments": "deployments", "worker": "worker", "poll": "poll", "remind": "remind",
            "vault": "vault", "doctor": "doctor",
        },
    ),
    "docs": Below(
        "Print what is documented by the program itself.",
        {
            "explain": "explain", "methods": "methods", "rules": "rules", "codes": "codes", "schemas": "schemas",
            "commands": "commands", "man": "man",
        },
    ),
}  # fmt: skip


class _Office(TyperGroup):
    """The group of the office, which is founded where no command of it is named."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        named = args and (args[0] in self.commands or args[0] in ctx.help_option_names)
        return super().parse_args(ctx, args if named else ["found", *args])


def arrange(group: Any) -> Any:
    """The same commands in their groups and panels; those that no panel names are hidden."""
    of_old = dict(group.commands)
    for name, below in GROUPS.items():
        commands = {word: _called(of_old[old], word) for word, old in below.commands.items()}
        if name == "ledger":
            commands |= of_old[name].commands
        kind = _Office if name == "office" else TyperGroup
        group.commands[name] = kind(name=name, help=below.help, commands=commands, no_args_is_help=name != "office")
    places = {name: panel for panel, names in PANELS.items() for name in names}
    for name, command in group.commands.items():
        command.rich_help_panel, command.hidden = places.get(name), name not in places
    order = [*places, *(name for name in group.commands if name not in places)]
    group.commands = {name: group.commands[name] for name in order}
    return group


def _called(command: Any, name: str) -> Any:
    """The same command by another name, to be shown where the first one is hidden."""
    renamed = copy(command)
    renamed.name = name
    return renamed
