"""The tags of a run follow the state of its release, and leave those of others alone."""

from pathlib import Path
from typing import Any
from unittest.mock import MagicMock, patch
from uuid import UUID, uuid4

from prefect.client.schemas.filters import FlowRunFilter
from prefect.client.schemas.objects import FlowRun
from prefect.settings import PREFECT_API_URL, temporary_settings

from sluice.custody.ledger_entry import Entry
from sluice.custody.workspace import Workspace
from tasks.runs_on_server import tag_runs, tags_of


def history(*events: str) -> list[Entry]:
    return [
        Entry(number, f"2026-11-{number:02}T08:00:00+00:00", "fair-1", event, "sluice", {}, "", "")
        for number, event in enumerate(events, start=1)
    ]


def test_a_run_bears_the_state_and_the_edition_of_its_release() -> None:
    judged = tags_of(["sluice", "fair"], history("received", "validated", "masked", "evaluated", "pending_review"))
    assert judged == ["edition:2026-11-01", "fair", "sluice", "state:pending_review"]


def test_the_tag_follows_the_state() -> None:
    blocked = tags_of(["sluice", "edition:2026-11-01", "state:received", "fair"], history("received", "blocked"))
    assert blocked == ["edition:2026-11-01", "fair", "sluice", "state:blocked"]


def test_tags_of_others_stay() -> None:
    assert "urgent" in tags_of(["urgent"], history("received"))


class Server:
    """What a client reads of a server's runs and writes to them, a page at a time."""

    def __init__(self, runs: list[FlowRun]) -> None:
        self.runs, self.asked, self.tagged = runs, 0, dict[UUID, list[str]]()

    def read_flow_runs(self, *, flow_run_filter: FlowRunFilter, limit: int, offset: int, **_: Any) -> list[FlowRun]:
        self.asked += 1
        assert flow_run_filter.name
        assert flow_run_filter.name.any_
        assert limit <= 200
        return [run for run in self.runs if run.name in flow_run_filter.name.any_][offset : offset + limit]

    def update_flow_run(self, run: UUID, tags: list[str]) -> None:
        self.tagged[run] = tags


def test_the_runs_of_a_long_series_are_read_page_by_page(tmp_path: Path) -> None:
    """Not one by one: each run of a daily release would ask its server hundreds of times after a year."""
    workspace = Workspace.open(tmp_path / "home")
    series = [f"fair-{number}" for number in range(250)]
    for release in series:
        workspace.ledger.append(release, "received", "sluice", {})
    day = workspace.ledger.entries()[0].at[:10]
    runs = [FlowRun(id=uuid4(), flow_id=uuid4(), name=name, tags=["fair"]) for name in (*series, "other-1")]
    runs[7].tags = [f"edition:{day}", "fair", "sluice", "state:received"]
    server = Server(runs)
    client = MagicMock(**{"__enter__.return_value": server})
    with (
        temporary_settings({PREFECT_API_URL: "http://127.0.0.1:9/api"}),
        patch("tasks.runs_on_server.get_client", return_value=client),
    ):
        tag_runs(workspace, [*series, "unknown-1"])
        assert server.asked == 2
        assert set(server.tagged) == {run.id for run in runs[:250]} - {runs[7].id}, "one was as it should be"
        tag_runs(workspace, ["unknown-1"])
        assert server.asked == 2
