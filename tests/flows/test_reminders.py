"""What people are told of runs on Prefect's server, where anybody who may write there chooses the names."""

import json
from datetime import UTC, datetime, timedelta

import pytest

import tasks.runs
from flows.desk.desk import AccessLog
from flows.reminders import _of_desk, _of_runs
from tasks.runs import Run
from tests.flows.house import House
from tests.golden import golden

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


NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)


def tries(house: House, *minutes_ago: float, who: str = "amara") -> None:
    """Lines of the desk's record, as wrong passwords leave them."""
    log = AccessLog.of(house.home)
    log.file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with log.file.open("a") as file:
        for ago in sorted(minutes_ago, reverse=True):
            at = (NOW - timedelta(minutes=ago)).isoformat(timespec="milliseconds")
            file.write(json.dumps({"at": at, "who": who, "did": "refused", "what": "sign-in"}) + "\n")


@pytest.mark.parametrize(
    ("minutes_ago", "told"),
    [
        ([1, 2, 3, 4, 5], 1),
        ([1, 2, 3, 4], 0),
        ([1, 10, 20, 30, 40, 50], 0),
        ([60, 61, 62, 63, 64, 1], 1),
        ([1500, 1501, 1502, 1503, 1504], 0),
    ],
    ids=["held back", "mistyped", "now and then", "an hour ago", "told yesterday"],
)
def test_the_head_is_told_of_wrong_passwords_that_hold_a_name_back(
    house: House, minutes_ago: list[float], told: int
) -> None:
    tries(house, *minutes_ago)
    assert len([*_of_desk(house.workspace(), NOW)]) == told


def test_a_thousand_wrong_passwords_are_one_notice_a_day_and_name(house: House) -> None:
    tries(house, *(number / 10 for number in range(1000)))
    tries(house, *(number / 10 for number in range(1000)), who="?")
    found = {notice.id: notice for notice in _of_desk(house.workspace(), NOW)}
    assert [*found] == ["sign-in-?-2026-11-23", "sign-in-amara-2026-11-23"]
    golden([notice.says for notice in found.values()])


def test_of_a_long_record_the_end_is_read(house: House) -> None:
    """A line is read whole wherever a block ends."""
    tries(house, *range(5000))
    log = AccessLog.of(house.home)
    assert len([*log.newest()]) == 5000
    assert [*log.newest()] == sorted(log.newest(), key=lambda access: access.at, reverse=True)
