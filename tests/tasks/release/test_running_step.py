"""What whoever waits for a step gets to know of it."""

import pytest

from tasks.release import running_step
from tasks.release.running_step import SearchLog, listening, remark


def test_a_search_is_written_to_the_log_when_a_stage_begins_and_rarely_after(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []
    now = [100.0]
    monkeypatch.setattr(running_step, "perf_counter", lambda: now[0])
    monkeypatch.setattr(
        running_step, "log", lambda event, **facts: lines.append(f"{event} {facts['step']} {facts['detail']}")
    )
    search = SearchLog("protect")
    for done in range(10):
        search("clean up", done, 10)
        now[0] += 10
    search("shake", 0, 2)
    assert lines == [
        "search protect clean up: 0 %",
        "search protect clean up: 30 %",
        "search protect clean up: 60 %",
        "search protect clean up: 90 %",
        "search protect shake: 0 %",
    ]


def test_a_remark_reaches_whoever_reads_and_nobody_later() -> None:
    heard: list[str] = []
    with listening(lambda step, seconds: None, heard.append), listening(lambda step, seconds: None):
        remark("Few people.")
    remark("Nobody waits.")
    assert heard == ["Few people."]
