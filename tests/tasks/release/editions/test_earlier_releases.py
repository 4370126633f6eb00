"""Earlier attempts: releases of nearly the same data that were judged before, counted by one reading of the ledger."""

from collections.abc import Callable

from sluice.custody.states import SEARCHES
from tasks.release.editions.earlier_releases import (
    earlier_attempts,
    earlier_publications,
    judged_bytes,
    kept_variables,
    publications,
    same_bytes,
    search_trials,
)
from tasks.release.editions.recorded_searches import record_begun, record_ended, searches
from tasks.release.product import AnyRelease
from tests.custody.statements import statements_to_ledgers
from tests.flows.house import House

Bring = Callable[[House], AnyRelease]


def judged(house: House, received: Bring) -> AnyRelease:
    release = received(house)
    for event in ("validated", "masked", "evaluated"):
        release.record(event)
    return release


def test_the_same_data_and_those_with_a_few_other_records_are_the_same_attempt(house: House, received: Bring) -> None:
    judged(house, received)
    house.definition["title"] = "Once more"
    received(house)  # not judged
    house.data.loc[:9, "income"] += 1
    house.contract["dataset"] = "inhabitants"
    judged(house, received)
    house.data = house.data.drop(index=17)
    last = received(house)
    with statements_to_ledgers() as sent:
        assert earlier_attempts(last) == 2
    assert len(sent) == 1
    house.new_edition()
    assert earlier_attempts(received(house)) == 0  # of other people


def test_what_was_public_counts_whatever_its_data_set_is_called(house: House, received: Bring) -> None:
    first = judged(house, received)
    for event in ("pending_review", "approved", "publishing", "published", "withdrawn"):
        first.record(event)
    house.contract["dataset"] = "inhabitants"
    second = judged(house, received)
    assert list(publications(second)) == [first.id]
    assert list(earlier_publications(second)) == []


def test_the_same_bytes_are_public_or_were_judged(house: House, received: Bring) -> None:
    judge = ("validated", "masked")
    made = {"csv": "a" * 64, "parquet": "b" * 64}
    first = received(house)
    for event in judge:
        first.record(event)
    first.record("evaluated", subject=made)
    house.definition["title"] = "Once more"
    house.contract["dataset"] = "inhabitants"
    second = received(house)
    assert (same_bytes(second, made), judged_bytes(second, made)) == ((), (first.id,))
    assert judged_bytes(second, {"csv": "c" * 64}) == judged_bytes(first, made) == ()
    for event in ("pending_review", "approved", "publishing", "published"):
        first.record(event)
    assert (same_bytes(second, made), judged_bytes(second, made)) == ((first.id,), ())


def test_what_is_being_published_counts_before_it_is_finished(house: House, received: Bring) -> None:
    """Who interrupts a publication, has another of the same people published, and finishes the first, has both out."""
    first = judged(house, received)
    for event in ("pending_review", "approved", "publishing"):
        first.record(event)
    house.definition["title"] = "Once more"
    second = judged(house, received)
    assert list(publications(second)) == list(earlier_publications(second)) == [first.id]


def test_a_check_of_the_same_plan_is_no_attempt_and_a_blocked_release_of_it_is_one(
    house: House, received: Bring
) -> None:
    checked = judged(house, received)
    house.definition["title"] = "Once more"  # another release of the same file
    assert earlier_attempts(received(house)) == 0
    house.definition["plan"][1]["bins"] = [50]  # another file
    assert earlier_attempts(received(house)) == 1
    house.definition["plan"][1]["bins"] = [40, 60]
    checked.record("blocked")
    assert earlier_attempts(received(house)) == 1


def test_trials_of_searches_are_counted_apart(house: House, received: Bring) -> None:
    release = received(house)
    variables = kept_variables(house.workspace(), release.staged_variables)

    def begin(name: str, trials: int) -> None:
        record_begun(house.workspace(), name, "people", release.data, variables, trials)

    begin("one", 100)
    assert search_trials(release) == 100  # until it ends, as many as it may take
    record_ended(house.workspace(), "one", trials=40, judged=2, passed=True)
    begin("one", 100)  # taken up again
    record_ended(house.workspace(), "one", trials=60, judged=1, passed=False)
    begin("another", 10)
    assert search_trials(release) == 60 + 3 + 10
    assert earlier_attempts(release) == 0
    assert [each.name for each in searches(house.workspace())] == ["one", "another"]
    house.new_edition()
    assert search_trials(received(house)) == 0  # of other people
    assert house.workspace().ledger.verify() == []
    assert SEARCHES not in house.workspace().ledger.histories()
