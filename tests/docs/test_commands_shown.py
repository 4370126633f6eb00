"""Every command that README and docs show has a name and options that Sluice has."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from flows.cli.main import command_line

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
_BLOCK = re.compile(r"^```\w*[^\n]*\n(.*?)^```$|((?:^ {4}[^\n]*\n)+)", re.MULTILINE | re.DOTALL)
_LINE = re.compile(r"^\s*(?:\$ |sudo -u sluice |SLUICE\w*=\S+ |/\S+/bin/)*\bsluice ([a-z][^\n]*)$")
_END = re.compile(r"\s#|\s[>|]\s|;|\s&&")
_INLINE = re.compile(r"`sluice\s+([a-z][^`]*)`")


def shown(text: str) -> Iterator[str]:
    """The commands of a page in code, without the program's name; continued lines are joined."""
    joined = re.sub(r"\\\n\s*", " ", text)
    lines = [line for block in _BLOCK.findall(joined) for part in block for line in part.splitlines()]
    yield from (_END.split(found[1])[0] for line in lines if (found := _LINE.match(line)))
    yield from _INLINE.findall(joined)


def faults(command: str) -> Iterator[str]:
    """What it names that is not there: a command, or an option of the command."""
    words, at = command.split(), command_line()
    while (below := getattr(at, "commands", {})) and words and not words[0].startswith(("-", "[")):
        if words[0] in below:
            at = below[words.pop(0)]
        elif "found" in below:  # an office is founded where no command of it is named
            at = below["found"]
        else:
            yield words[0]
            break
    known = {name for each in at.params for name in (*each.opts, *each.secondary_opts)} | {"--help"}
    named = (re.split(r"[=,.)]", word)[0] for word in words if re.match(r"--\w", word))
    yield from (option for option in named if option not in known)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_that_is_shown_is_there(page: Path) -> None:
    found = list(shown(page.read_text(encoding="utf-8")))
    assert [(each, fault) for each in found for fault in faults(each)] == []


def test_commands_are_found_in_blocks_and_in_sentences() -> None:
    assert sum(len(list(shown(page.read_text(encoding="utf-8")))) for page in PAGES) > 300


def test_a_command_or_option_that_is_not_there_would_be_found() -> None:
    text = (
        "Run `sluice chekc FILE`:\n\n"
        "    $ sluice ledger verify --manifets COPY   # all\n"
        "    sluice verify \\\n        DIR --kesy K\n"
    )
    assert [fault for each in shown(text) for fault in faults(each)] == ["--manifets", "--kesy", "chekc"]
