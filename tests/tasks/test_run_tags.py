"""The tags of a run follow the state of its release, and leave those of others alone."""

from sluice.custody.ledger import Entry
from tasks.run_tags import tags_of


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
