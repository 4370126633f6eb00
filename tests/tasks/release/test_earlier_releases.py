"""Earlier attempts: releases of nearly the same data that were judged before, counted by one reading of the ledger."""

from collections.abc import Callable

import pytest

from tasks.release.earlier_releases import earlier_attempts, earlier_publications, publications
from tasks.release.product import AnyRelease
from tests.custody.statements import statements_to_ledgers
from tests.flows.house import House

Bring = Callable[[House], AnyRelease]


def judged(house: House, received: Bring) -> AnyRelease:
    release = received(house)
    for event in ("validated", "masked", "evaluated"):
        release.record(event)
    return release


@pytest.mark.slow
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


@pytest.mark.slow
def test_what_was_public_counts_whatever_its_data_set_is_called(house: House, received: Bring) -> None:
    first = judged(house, received)
    for event in ("pending_review", "approved", "publishing", "published", "withdrawn"):
        first.record(event)
    house.contract["dataset"] = "inhabitants"
    second = judged(house, received)
    assert list(publications(second)) == [first.id]
    assert list(earlier_publications(second)) == []


@pytest.mark.slow
def test_what_is_being_published_counts_before_it_is_finished(house: House, received: Bring) -> None:
    """Who interrupts a publication, has another of the same people published, and finishes the first, has both out."""
    first = judged(house, received)
    for event in ("pending_review", "approved", "publishing"):
        first.record(event)
    house.definition["title"] = "Once more"
    second = judged(house, received)
    assert list(publications(second)) == list(earlier_publications(second)) == [first.id]
