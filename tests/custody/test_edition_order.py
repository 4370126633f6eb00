"""The order of editions, and which is current: by what was received, whoever approves what when."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sluice.custody.edition_order import before, current, line_of, lines_of_editions, overtaken_by
from sluice.custody.ledger_entry import Entry

TO_REVIEW = ("validated", "masked", "evaluated", "pending_review")
TO_SHELF = (*TO_REVIEW, "approved", "publishing", "published")


@dataclass
class Told:
    """A ledger as it would read: what was received, and what became of it."""

    histories: dict[str, list[Entry]] = field(default_factory=dict)
    rows: int = 0

    def add(self, release: str, event: str, **body: Any) -> None:
        self.rows += 1
        row = Entry(self.rows, "", release, event, "emil", body, "", "")
        self.histories.setdefault(release, []).append(row)

    def receive(self, release: str, data: str = "", last: str = "", **others: Any) -> None:
        period = {"text": last[:7], "first": f"{last[:7]}-01", "last": last} if last else None
        body = {"definition": "fair", "target": "/shelf", "dataset": "fair", "product": "records", "period": period}
        self.add(release, "received", **(body | {"data": {"sha256": data or release}} | others))

    def then(self, release: str, *events: str) -> None:
        for event in events:
            self.add(
                release, event, **({"folder": f"/shelf/{release}"} if event in ("publishing", "published") else {})
            )

    @property
    def current(self) -> str | None:
        [line] = lines_of_editions(self.histories)
        found = current(line)
        return found.release if found else None

    def overtaken(self, release: str) -> str | None:
        newer = overtaken_by(*line_of(self.histories, release))
        return newer.release if newer else None


def test_an_old_edition_that_is_approved_late_is_not_current() -> None:
    told = Told()
    told.receive("monday")
    told.then("monday", *TO_REVIEW)
    told.receive("tuesday")
    told.then("tuesday", *TO_SHELF)
    assert (told.current, told.overtaken("monday")) == ("tuesday", "tuesday")
    told.then("monday", "approved", "publishing", "published")  # somebody was quicker than the order
    assert told.current == "tuesday"
    told.then("tuesday", "withdrawn")
    assert told.current == "monday"
    told.then("monday", "withdrawn")
    assert told.current is None


def test_the_reference_period_goes_before_the_time_of_the_load() -> None:
    told = Told()
    told.receive("april", last="2025-04-30")
    told.then("april", *TO_SHELF)
    told.receive("march", last="2025-03-31")  # loaded later, of an earlier month
    told.then("march", *TO_REVIEW)
    assert told.overtaken("march") is None  # nobody has March yet: it is published, and not current
    told.then("march", "approved", "publishing", "published")
    assert told.current == "april"
    told.receive("march-again", last="2025-03-31")
    told.then("march-again", *TO_SHELF)
    assert (told.current, told.overtaken("march")) == ("april", "march-again")
    edition, line = line_of(told.histories, "march-again")
    assert before(edition, line) == line_of(told.histories, "march")[0]


def test_data_are_as_old_as_when_they_were_first_received() -> None:
    """Whoever submits old data anew, by other documents or after a refusal, has no newer edition by it."""
    told = Told()
    told.receive("old", data="a")
    told.then("old", *TO_REVIEW[:3], "blocked")
    told.receive("new", data="b")
    told.then("new", *TO_SHELF)
    told.receive("old", data="a")
    told.receive("old-by-another-policy", data="a")
    told.receive("old-under-another-name", data="a", definition="tables")
    told.then("old-by-another-policy", *TO_REVIEW)
    assert told.overtaken("old") == told.overtaken("old-by-another-policy") == "new"
    told.then("new", "withdrawn")
    assert told.overtaken("old-by-another-policy") is None


def test_the_same_data_by_newer_documents_are_the_later_edition() -> None:
    told = Told()
    told.receive("by-the-old-policy", data="a")
    told.receive("by-the-new-policy", data="a")
    told.then("by-the-new-policy", *TO_SHELF)
    told.then("by-the-old-policy", *TO_SHELF)
    assert told.current == "by-the-new-policy"


def test_a_predecessor_that_was_withdrawn_is_passed_over() -> None:
    told = Told()
    for name in ("a", "b", "c"):
        told.receive(name)
        told.then(name, *TO_SHELF)
    told.then("b", "superseded", "withdrawn")
    told.then("a", "superseded")
    told.then("c", "withdrawn")
    assert told.current == "a"


def test_names_and_shelves_have_lines_of_their_own() -> None:
    told = Told()
    told.receive("a")
    told.receive("b", definition="other")
    told.receive("c", target="/elsewhere")
    for release in "ab":
        told.then(release, *TO_SHELF)
    told.then("c", *TO_REVIEW, "approved")
    told.add("c", "publishing", folder="/elsewhere/c")
    told.add("c", "published", folder="/elsewhere/c")
    lines = {(line[0].name, line[0].shelf): current(line) for line in lines_of_editions(told.histories)}
    assert {key: found.release for key, found in lines.items() if found} == {
        ("fair", Path("/shelf")): "a",
        ("other", Path("/shelf")): "b",
        ("fair", Path("/elsewhere")): "c",
    }


def test_what_was_never_received_is_no_edition() -> None:
    told = Told()
    told.add("fair", "failed", step="ingest")
    told.add("old", "received", definition="fair")
    assert lines_of_editions(told.histories) == []


@given(
    st.permutations(range(5)),
    st.lists(st.sampled_from(["", "2025-03-31", "2025-04-30"]), min_size=5, max_size=5),
    st.lists(st.integers(0, 3), min_size=5, max_size=5),
    st.sets(st.integers(0, 4), max_size=4),
)
def test_in_whatever_order_people_decide_the_same_edition_is_current(
    decided: Sequence[int], periods: Sequence[str], data: Sequence[int], withdrawn: set[int]
) -> None:
    def published(order: Sequence[int]) -> Mapping[str, list[Entry]]:
        told = Told()
        for each in range(5):
            told.receive(str(each), data=f"data-{data[each]}", last=periods[each])
        for each in order:
            told.then(str(each), *TO_SHELF, *(["withdrawn"] if each in withdrawn else []))
        return told.histories

    [one], [other] = lines_of_editions(published(decided)), lines_of_editions(published(range(5)))
    assert [edition.release for edition in one] == [edition.release for edition in other]
    found, again = current(one), current(other)
    assert found is not None
    assert again is not None
    assert found.release == again.release
    assert found.release not in map(str, withdrawn)
    places = [edition.place for edition in one]
    assert places == sorted(places)
    assert len(set(places)) == 5
