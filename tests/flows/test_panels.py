"""The commands as `sluice --help` shows them, those of old that it does not show, and the page on all of them."""

from itertools import chain
from pathlib import Path

import pytest

from flows.cli.main import command_line, main
from flows.cli.manual import GROUPS, PANELS, commands_page

PAGE = Path(__file__).resolve().parents[2] / "docs" / "commands.md"


def test_every_command_is_shown_once_at_the_top_or_in_a_group() -> None:
    shown = [*chain.from_iterable(PANELS.values())]
    below = [old for each in GROUPS.values() for old in each.commands.values()]
    assert len(shown) == len(set(shown))
    assert len(below) == len(set(below))
    assert {*shown, *below} == {*command_line().commands}


def test_help_shows_the_panels_in_order_and_no_name_of_old(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    places = [shown.index(f"─ {panel} ─") for panel in PANELS]
    assert places == sorted(places)
    assert "protect-table" not in shown


@pytest.mark.parametrize(
    ("group", "word", "old"), [(g, w, o) for g, b in GROUPS.items() for w, o in b.commands.items()]
)
def test_a_command_is_the_same_by_both_names(group: str, word: str, old: str) -> None:
    one, other = command_line().commands[group].commands[word], command_line().commands[old]
    if old != group:  # else the group has the name that its first command had
        assert one.callback is other.callback
        assert one.params == other.params


def test_an_office_is_founded_where_no_command_of_it_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["office", "--people", "absent/people.yaml", "absent.yaml"]) == 1
    assert "absent" in capsys.readouterr().err


def test_the_page_is_what_the_commands_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == commands_page(command_line()), (
        "write it anew: sluice docs commands > docs/commands.md"
    )


def test_every_option_of_every_command_is_on_the_page() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for command in command_line().commands.values():
        if not getattr(command, "commands", {}):
            assert all(option in text for each in command.params for option in each.opts if option.startswith("--"))
