"""The commands of `sluice` as a page, from what they say of themselves: `sluice docs commands` prints it."""

import re
from collections.abc import Iterator
from typing import Any

import typer

commands_app = typer.Typer()

HEAD = """# Commands

Written by `sluice docs commands` from the commands themselves; do not edit. `sluice COMMAND --help` says the same.

Exit codes: 0 published, passed or done; 1 an error; 2 blocked, or held until somebody decides; 3 waiting for approval;
4 not all could be verified; 130 stopped by Ctrl-C. `SLUICE_HOME` is the workspace (default `./.sluice`).
"""


@commands_app.command("commands")
def commands(context: typer.Context) -> None:
    """Print all commands with their arguments and options, as Markdown."""
    print(commands_page(context.find_root().command), end="")


def commands_page(group: Any) -> str:
    """Markdown with a heading for each command, in the groups and the order of `sluice --help`.

    The same commands give the same text.
    """
    lines, panel = [HEAD], ""
    for word, command in group.commands.items():
        if not command.hidden and command.rich_help_panel != panel:
            panel = command.rich_help_panel
            lines.append(f"## {panel}\n")
        lines += _sections(command, f"sluice {word}")
    return "\n".join(lines)


def _sections(command: Any, name: str) -> Iterator[str]:
    if command.hidden:
        return
    below = getattr(command, "commands", {})
    if not below or getattr(command, "invoke_without_command", False):
        yield _section(command, name)
    for word, each in below.items():
        yield from _sections(each, f"{name} {word}")


def _section(command: Any, name: str) -> str:
    context = command.make_context(name, [], resilient_parsing=True)
    usage = command.get_usage(context).removeprefix("Usage: ")
    lines = [f"### {name}", "", _plain(command.help or ""), "", f"    {usage}", ""]
    rows = [record for each in command.params if (record := each.get_help_record(context))]
    if rows:
        lines += [
            "| argument or option | meaning |",
            "|---|---|",
            *(f"| `{_bar(left)}` | {_cell(right)} |" for left, right in rows),
        ]
    return "\n".join([*lines, ""])


def _plain(text: str) -> str:
    return re.sub(r"\n[ \t]+", "\n", text.replace("\b", "").replace("\f", "")).strip()


def _bar(text: str) -> str:
    return text.replace("|", "\\|")


def _cell(text: str) -> str:
    """Help is plain text: what Markdown would take for a sign of its own is not one."""
    return re.sub(r"([|>*_\[\]])", r"\\\1", " ".join(text.split()).replace("<", "&lt;"))
