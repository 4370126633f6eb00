"""The man page: up to date, and read by `man` without a complaint."""

import shutil
import subprocess
from pathlib import Path

import pytest

from flows.cli.main import command_line
from flows.cli.manual import _text, man_page

PAGE = Path(__file__).resolve().parents[2] / "docs" / "sluice.1"


def test_it_is_what_the_commands_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == man_page(command_line()), "write it anew: sluice man > docs/sluice.1"


def test_every_command_and_option_is_in_it() -> None:
    text = man_page(command_line()).replace("\\-", "-")
    for name, command in command_line().commands.items():
        assert command.hidden or f'.SS "sluice {name}' in text
        assert all(option in text for each in command.params for option in each.opts if option.startswith("--"))


def test_no_help_text_is_read_as_a_macro_or_an_escape() -> None:
    assert _text(".so /etc/passwd") == r"\&.so /etc/passwd"
    assert _text("'br") == r"\&'br"
    assert _text("a\nb \\n--c") == r"a b \en\-\-c"


@pytest.mark.servers
@pytest.mark.skipif(shutil.which("man") is None, reason="no man on this machine")
def test_man_reads_it_without_a_warning() -> None:
    done = subprocess.run(
        ["man", "--warnings", "-E", "UTF-8", "-l", PAGE], capture_output=True, text=True, check=True,
        env={"MANWIDTH": "80", "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
    )  # fmt: skip
    assert done.stderr == ""
    assert "sluice table protect" in done.stdout
