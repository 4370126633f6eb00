"""The manual, from what the commands say of themselves: `sluice --help`, a man page (docs/sluice.1), docs/commands.md.

Help shows what a person does, in the order in which most come to it; the rest one level below.

A command keeps the name by which it was first known, which scripts may use and help does not show.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import typer
from typer.core import TyperGroup

PANELS: Mapping[str, Sequence[str]] = {
    "Begin": ("tutorial", "init", "explore"),
    "A release": ("check", "suggest", "tune", "release"),
    "Decide": ("board", "review", "approve", "decide", "published"),
    "Without a release": ("assess", "table", "data"),
    "The house": ("office", "ledger", "desk", "run", "docs"),
}
"""Panel -> the commands and groups of it, in their order."""

man_app = typer.Typer()

_Record = tuple[str, str]  # of an option or argument: what it is called, and what it says
_SEVERAL = 3  # commands from which on an option that they share is explained once


_EXIT = (
    ("0", "published, passed or done"),
    ("1", "an error"),
    ("2", "blocked: a rule does not hold, or somebody refused"),
    ("3", "waiting for a decision on what was found, or for approval"),
    ("4", "not all could be verified, or delivered yet"),
    ("130", "stopped by Ctrl-C; what was done is kept, and the same command goes on from there"),
)
EXIT_CODES = "Exit codes: " + "; ".join(f"{code} {meaning.partition('; ')[0]}" for code, meaning in _EXIT) + "."
HEAD = f"""# Commands

Written by `sluice docs commands` from the commands themselves; do not edit. `sluice COMMAND --help` says the same.

{EXIT_CODES}
`SLUICE_HOME` is the workspace (default `./.sluice`). An option with `...` may be given several times.
"""
_ENVIRONMENT = (
    ("SLUICE_HOME", "the workspace: vault, ledger and reports; default ./.sluice"),
    ("SLUICE_WORKERS", "processes that search, protect and audit beside each other; default the processors"),
    ("SLUICE_LEDGER_URL", "the database of the ledger, where it is not a file of the workspace"),
    ("SLUICE_CONNECTIONS", "the file that says what releases may be read from; default connections.yaml there"),
    ("NO_COLOR", "no colours in the terminal"),
)


@man_app.command("man")
def man(context: typer.Context) -> None:
    """Print this manual as a man page: `sluice docs man > sluice.1`, to be read by `man -l sluice.1`."""
    print(man_page(context.find_root().command), end="")


def man_page(group: Any) -> str:
    """The man page of a group of commands, in the man(7) macros. The same commands give the same text."""
    lines = ['.TH SLUICE 1 "" "Sluice" "User Commands"', ".SH NAME"]
    lines += [r"sluice \- release confidential records safely, or not at all"]
    lines += [".SH SYNOPSIS", ".B sluice", r"[\-\-version] [\-\-help]", ".I COMMAND", "[ARGUMENTS]"]
    lines += [".SH DESCRIPTION", _text(group.help or "")]
    lines += [_text("Every command answers to --help; those with --json answer machines on standard output.")]
    context = typer.Context(group, info_name="sluice")
    for panel, names in PANELS.items():
        lines += [f".SH {_text(panel.upper())}"]
        for name in names:
            command = group.commands[name]
            lines += _command(name, command, typer.Context(command, info_name=name, parent=context))
    for title, pairs in (("EXIT STATUS", _EXIT), ("ENVIRONMENT", _ENVIRONMENT)):
        lines += [f".SH {title}"]
        for what, says in pairs:
            lines += [".TP", f".B {_text(what)}", _text(says)]
    lines += [
        ".SH SEE ALSO",
        _text("The documentation in docs/ of the project: first-release.md, documents.md, rules.md."),
    ]
    return "\n".join(lines) + "\n"


def _command(name: str, command: Any, context: typer.Context) -> Iterator[str]:
    within = getattr(command, "commands", {})
    if within and not command.invoke_without_command:
        yield from _commands_within(name, within, context)
        return
    usage = " ".join(_text(piece) for piece in command.collect_usage_pieces(context))
    yield from (f'.SS "sluice {_text(name)}"', usage, ".PP", _text(" ".join((command.help or "").split())))
    for parameter in command.get_params(context):
        if (record := _record(parameter, context)) is not None:
            yield from (".TP", f".B {_text(record[0])}", _text(record[1]))
    yield from _commands_within(name, within, context)


def _commands_within(name: str, commands: dict[str, Any], context: typer.Context) -> Iterator[str]:
    for each, command in commands.items():
        yield from _command(f"{name} {each}", command, typer.Context(command, info_name=each, parent=context))


def _record(parameter: Any, context: typer.Context) -> tuple[str, str] | None:
    """What it is called and what it says; None of --help, which all have."""
    record: tuple[str, str] | None = None if parameter.name == "help" else parameter.get_help_record(context)
    return record


def _text(text: str) -> str:
    """A text in which roff reads no macro and no escape."""
    escaped = text.replace("\\", r"\e").replace("-", r"\-").replace("\n", " ")
    return rf"\&{escaped}" if escaped.startswith((".", "'")) else escaped


@man_app.command("commands")
def commands(context: typer.Context) -> None:
    """Print all commands with their arguments and options, as Markdown."""
    print(commands_page(context.find_root().command), end="")


def commands_page(group: Any) -> str:
    """Markdown with a heading for each command, in the groups and the order of `sluice --help`.

    An option that several commands have in the same words is explained once: at the head, or by the first of two. The
    same commands give the same text.
    """
    shown = [*_shown(group)]
    of = {name: _records(command, name) for _, name, command in shown}
    counted = Counter(record for records in of.values() for record in records)
    common = {record for record, commands in counted.items() if commands >= _SEVERAL}
    nearly_all = {record for record in common if counted[record] > len(shown) / 2}
    lines = [HEAD, "## Options of several commands", ""]
    for record in filter(common.__contains__, counted):
        without = [f"`{name.removeprefix('sluice ')}`" for name in of if record not in of[name]]
        lines += [_item(*record) + (f"; of all commands but {', '.join(without)}" if record in nearly_all else "")]
    lines += [""]
    of_panel, named, explained = "", dict[Any, str](), dict.fromkeys(common, "")
    for panel, name, command in shown:
        if panel != of_panel:
            lines += [f"## {panel}", ""]
            of_panel = panel
        same = named.setdefault(command.callback, name)
        lines += [f"### {name}", ""]
        if same != name:
            lines += [f"Does the same as `{same}`.", ""]
            continue
        lines += _section(command, name, [record for record in of[name] if record not in nearly_all], explained)
    return "\n".join(lines)


def _shown(group: Any) -> Iterator[tuple[str, str, Any]]:
    """Panel, name and command, in the order of help."""
    for word, command in group.commands.items():
        if not command.hidden:
            yield from ((command.rich_help_panel, name, each) for name, each in _below(command, f"sluice {word}"))


def _below(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    if command.hidden:
        return
    below = getattr(command, "commands", {})
    if not below or getattr(command, "invoke_without_command", False):
        yield name, command
    for word, each in below.items():
        yield from _below(each, f"{name} {word}")


def _context(command: Any, name: str) -> typer.Context:
    context: typer.Context = command.make_context(name, [], resilient_parsing=True)
    return context


def _records(command: Any, name: str) -> list[_Record]:
    context = _context(command, name)
    return [record for each in command.params if (record := each.get_help_record(context))]


def _section(command: Any, name: str, records: Sequence[_Record], explained: dict[_Record, str]) -> Iterator[str]:
    """The text of a command, and its options; one that was explained before is named, with the command that has it."""
    starts = {
        record: left if each.required or left.startswith("[") else f"[{left}]"
        for each in command.params
        if each.param_type_name == "argument" and (record := each.get_help_record(_context(command, name)))
        for left in [record[0].split(" <")[0]]
    }
    yield from (_plain(command.help or ""), "")
    yield from [f"    {' '.join((name, *starts.values()))}", ""] if starts else []
    own = [
        _item(starts.get(record, record[0]), record[1].removesuffix("[required]" if record in starts else "").rstrip())
        for record in records
        if explained.setdefault(record, name) == name
    ]
    yield from [*own, ""] if own else ()
    places = dict.fromkeys(explained[record] for record in records if explained[record] != name)
    shared = [
        ", ".join(f"`{left.split(' ')[0].rstrip(',')}`" for left, right in records if explained[left, right] == place)
        + (f" (as for `{place}`)" if place else "")
        for place in sorted(places)
    ]
    yield from [f"Also takes {'; '.join(shared)}.", ""] if shared else ()


_TYPES = {"int": "N", "float": "X", "str": "TEXT", "path": "PATH", "Path": "PATH"}  # of a value -> its name on the page


def _item(left: str, right: str) -> str:
    return f"- `{_in_gnu_style(left)}`: {_cell(right)}"


def _in_gnu_style(option: str) -> str:
    """`--trials <int range>` as `--trials=N`; `...` marks what may be given several times."""
    name, _, value = option.removeprefix("-o, ").partition(" ") if option.startswith("-") else (option, "", "")
    kind = re.fullmatch(r"<(list\[)?(\w+)(?: range)?\]?>", value)
    value = _TYPES.get(kind[2], kind[2]) + "..." * bool(kind[1]) if kind else value.strip("<>")
    return ("-o, " if option.startswith("-o, ") else "") + name + (f"={value}" if value else "")


def _plain(text: str) -> str:
    return re.sub(r"\n[ \t]+", "\n", text.replace("\b", "").replace("\f", "")).strip()


def _cell(text: str) -> str:
    """Help is plain text: what Markdown would take for a sign of its own is not one."""
    return re.sub(r"([>*_\[\]])", r"\\\1", " ".join(text.split()).replace("<", "&lt;"))


@dataclass(frozen=True)
class Below:
    """A group: what it is for, and its commands by their names in it and those that they have of old."""

    help: str
    commands: Mapping[str, str]


GROUPS: Mapping[str, Below] = {
    "decide": Below(
        "Decide on a release that is under review, or on a finding that needs a decision.",
        {
            "accept-finding": "accept-finding", "refuse-finding": "refuse-finding", "approve": "approve",
            "request-changes": "request-changes", "reject": "reject", "conflicted": "conflicted",
        },
    ),
    "published": Below(
        "Verify, convert, withdraw and judge again what was published.",
        {
            "verify": "verify", "convert": "convert", "withdraw": "withdraw", "end-series": "end-series",
            "reassess": "reassess", "catalogue": "catalogue",
        },
    ),
    "table": Below(
        "Protect, audit and redesign tables outside a release, and run batches of tau-ARGUS.",
        {"protect": "protect-table", "audit": "audit-table", "redesign": "redesign-table", "argus": "argus"},
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
