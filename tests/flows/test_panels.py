"""The groups of `sluice --help`."""

from itertools import chain

import pytest

from flows.cli.main import command_line, main
from flows.cli.panels import PANELS


def test_every_command_is_in_one_group_and_no_group_names_another() -> None:
    named = list(chain.from_iterable(PANELS.values()))
    assert len(named) == len(set(named))
    assert set(named) == set(command_line().commands)


def test_help_shows_the_groups_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    places = [shown.index(f"─ {panel} ─") for panel in PANELS]
    assert places == sorted(places)
