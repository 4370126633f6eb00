"""What people are told of runs on Prefect's server, where anybody who may write there chooses the names."""

from datetime import UTC, datetime

import pytest

import tasks.runs
from flows.reminders import _of_runs
from tasks.runs import Run
from tests.flows.house import House

PAGE = "http://prefect.internal/runs/flow-run/1"


def run(number: int, name: str = "people-puf") -> Run:
    return Run(str(number), name, "people-puf", "late", datetime(2026, 11, 23, tzinfo=UTC), "look", PAGE)


@pytest.fixture(autouse=True)
def on_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:9/api")


def test_a_thousand_runs_of_a_deployment_are_one_notice(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks.runs, "runs_of_interest", lambda _: [run(number) for number in range(1000)])
    [notice] = _of_runs(house.workspace())
    assert notice.id == "run-0-late", "the first: the next reminder is of the same one"


def test_no_name_of_a_run_makes_a_line_of_the_board(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    forged = "x\nCurrent\n  people-puf-0123\x1b]0;title\x07"
    monkeypatch.setattr(tasks.runs, "runs_of_interest", lambda _: [run(1, forged)])
    told = house.sluice("board")
    assert "Current" not in [line.strip() for line in told.out.splitlines()]
    assert "\x1b" not in told.out
