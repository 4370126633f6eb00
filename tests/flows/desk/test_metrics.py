"""The metrics: shown to whoever has the token, right by the ledger, and without a name or a value of the data."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
import yaml

from flows.desk.desk import Desk
from flows.desk.metrics import Counted, as_text
from sluice.custody.ledger_entry import Entry
from sluice.custody.states import EVENTS, OFFICE_EVENTS, SEARCH_EVENTS, State
from tests.flows.desk.visitor import Visitor

MONITORING = Path(__file__).resolve().parents[3] / "deployments/monitoring"
_LINE = re.compile(r'(sluice_\w+)(?:\{(\w+)="([^"]*)"\})? ([-+.e\d]+)')


def scraped(desk: Desk) -> str:
    answer = Visitor(desk).get("/metrics", authorization=f"Bearer {desk.metrics_token}")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/plain; version=0.0.4; charset=utf-8")
    return str(answer.text)


def values(text: str) -> dict[tuple[str, str], float]:
    found = [_LINE.fullmatch(line) for line in text.splitlines() if not line.startswith("#")]
    return {(each[1], each[3] or ""): float(each[4]) for each in found if each}


def test_they_are_those_of_the_ledger(desk: Desk) -> None:
    found, entries = values(scraped(desk)), desk.workspace.ledger.entries()
    assert found["sluice_releases", State.PENDING_REVIEW] == 1
    assert sum(number for (name, _), number in found.items() if name == "sluice_releases") == 1
    events = {event: number for (name, event), number in found.items() if name == "sluice_events_total"}
    assert events == Counter(entry.event for entry in entries)
    assert found["sluice_ledger_rows", ""] == len(entries)
    assert found["sluice_step_seconds_count", State.MASKED] == 1
    assert 0 < found["sluice_step_seconds_sum", State.MASKED] < 3600
    assert 0 < found["sluice_workspace_free_bytes", ""] < found["sluice_workspace_size_bytes", ""]


def test_each_line_is_a_metric_that_is_described(desk: Desk) -> None:
    lines = scraped(desk).splitlines()
    described = {line.split()[2] for line in lines if line.startswith("# TYPE ")}
    for line in lines:
        if not line.startswith("#"):
            found = _LINE.fullmatch(line)
            assert found
            assert found[1] in described


@pytest.mark.parametrize("shown", [{}, {"authorization": "Bearer "}, {"authorization": "Bearer wrong"}])
def test_without_the_token_there_is_no_such_page(desk: Desk, shown: dict[str, str]) -> None:
    refused, nowhere = (Visitor(desk).get(path, **shown) for path in ("/metrics", "/nowhere"))
    assert refused.status_code == nowhere.status_code == 404
    assert "sluice_" not in refused.text


def test_no_name_and_no_value_of_the_data_is_a_label(desk: Desk) -> None:
    """All labels are words that the program has, whatever stands in the ledger."""
    known = {*EVENTS, *OFFICE_EVENTS, *SEARCH_EVENTS, "unknown", ""}
    text = scraped(desk)
    assert {label for _, label in values(text)} <= known
    told = desk.workspace.ledger.entries()
    names = {each for entry in told for each in (entry.release, entry.actor, *_texts(entry.body)) if len(each) > 4}
    assert not {name for name in names - known if re.search(rf"\b{re.escape(name)}\b", text)}


def _texts(body: object) -> list[str]:
    if isinstance(body, dict):
        return [text for value in body.values() for text in _texts(value)]
    return [body] if isinstance(body, str) else [text for each in body for text in _texts(each)] if isinstance(
        body, list
    ) else []  # fmt: skip


def test_a_scrape_looks_at_new_rows_alone(desk: Desk) -> None:
    counted, workspace = Counted(), desk.workspace
    first = as_text(workspace, counted)
    events = Counter(counted.events)
    workspace.ledger.append(_release(workspace.ledger.entries()), "note", "amara", {"comment": "seen"})
    second = values(as_text(workspace, counted))
    assert second["sluice_events_total", "note"] == events["note"] + 1
    assert second["sluice_ledger_rows", ""] == values(first)["sluice_ledger_rows", ""] + 1
    assert counted.rows == second["sluice_ledger_rows", ""]


def _release(entries: list[Entry]) -> str:
    return next(entry.release for entry in entries if entry.event == State.RECEIVED)


def test_the_board_asks_for_metrics_that_there_are(desk: Desk) -> None:
    board = json.loads((MONITORING / "grafana.json").read_text())
    asked = " ".join(target["expr"] for panel in board["panels"] for target in panel["targets"])
    described = re.findall(r"# TYPE (sluice_\w+)", scraped(desk))
    assert {*re.findall(r"sluice_\w+", asked)} == {*described}
    words = {word for group in re.findall(r'=~"([^"]*)"', asked) for word in group.split("|")}
    assert words <= {*EVENTS}


def test_the_job_of_prometheus_is_one_that_the_desk_answers() -> None:
    job = yaml.safe_load((MONITORING / "prometheus.yaml").read_text())
    assert job["scheme"] == "https"
    assert job.get("metrics_path", "/metrics") == "/metrics"
    assert job["authorization"].keys() == {"credentials_file"}
