"""Editions that nobody is to see: by their submitter, by one approver alone, by whoever owns the vault."""

import shutil
from collections.abc import Mapping
from typing import Any
from unittest.mock import patch

import pytest

from sluice.custody.states import State
from tasks.release.decisions.series_approval import series_of, standing_in_series
from tasks.release.decisions.under_review import UnderReview
from tests.flows.house import DONE, ERROR, WAITING, House, survey
from tests.flows.stages import stages
from tests.golden import golden
from tests.tasks.release.series_house import SeriesHouse, judged_series, published_series

JUDGED = (State.RECEIVED, State.VALIDATED, State.MASKED, State.EVALUATED)


@pytest.fixture
def house() -> SeriesHouse:
    return published_series()


@pytest.fixture
def judged() -> SeriesHouse:
    return judged_series()


def record(house: SeriesHouse, release: str, *states: State, **changed: Any) -> None:
    """What a run of another edition, or of the one that was judged, leaves in the ledger."""
    ledger = house.workspace().ledger
    bodies: Mapping[str, Any] = {entry.event: entry.body for entry in house.case.entries}
    for state in states:
        ledger.append(release, state, "emil", {**bodies.get(state, {}), **changed})


def test_an_edition_that_was_blocked_and_is_run_again_waits_for_people(judged: SeriesHouse) -> None:
    record(judged, judged.id, State.BLOCKED, *JUDGED)
    assert not judged.standing.complete


@pytest.mark.parametrize("changed", [{}, {"verdict": "FAIL"}, {"target": "/elsewhere"}])
def test_another_edition_that_was_only_judged_waits_for_people_and_with_it_the_next(
    judged: SeriesHouse, changed: dict[str, Any]
) -> None:
    """Records are made up until a rehearsal passes; nearly none of one try are those of another."""
    case = judged.case
    record(judged, "people-puf-another", *JUDGED, **changed)
    assert not standing_in_series(UnderReview.of(judged.workspace(), case.id)).complete


@pytest.mark.exhaustive  # tries are counted in test_series_approval, too
def test_a_try_is_none_the_less_one_when_another_edition_was_published_since(house: SeriesHouse) -> None:
    plan = house.definition["plan"]
    house.data = survey(seed=2)
    house.definition["plan"] = plan[:-1]
    house.judge()
    house.definition["plan"] = plan
    assert house.next_edition(3) == DONE, house.standing.says
    house.data = survey(seed=2)
    house.judge()
    golden(house.standing.says)


@pytest.mark.parametrize("judged_before", [False, True])
def test_the_same_definition_in_another_folder_publishes_nowhere_else(judged_before: bool) -> None:
    """Its target is written as seen from its folder; what was judged in one folder is published from there."""
    house = judged_series() if judged_before else published_series()
    if not judged_before:
        house.data = survey(seed=2)
        house.write()
    there = house.root / "elsewhere" / "documents"
    shutil.copytree(house.documents, there)
    told = house.sluice("release", str(there / "release.yaml"))
    assert not (house.root / "elsewhere" / "published").exists(), told.words


def test_what_people_approve_is_published_where_it_was_judged() -> None:
    house = stages(House).at("almost")
    there = house.root / "elsewhere" / "documents"
    shutil.copytree(house.documents, there)
    assert house.sluice("release", str(there / "release.yaml")).code == WAITING
    assert house.approve("jonas").code == DONE
    assert (house.shelf, (house.root / "elsewhere" / "published").exists()) == ([house.id], False)


def test_a_category_that_nobody_saw_waits_for_people(house: SeriesHouse) -> None:
    house.data = survey(seed=2)
    house.data.loc[:40, "town"] = "Doe, John: HIV"
    house.judge()
    golden.words(house.standing.says)


@pytest.mark.parametrize("name", ["contract", "policy", "plan", "connection", "population", "target"])
def test_under_anything_else_that_decides_it_an_edition_is_none_of_the_series(judged: SeriesHouse, name: str) -> None:
    case = judged.case
    received = next(entry for entry in case.entries if entry.event == State.RECEIVED)
    assert series_of(case) is not None
    received.body[name] = "another"
    assert series_of(case) is None


def test_what_was_judged_before_the_series_was_approved_is_no_edition(house: SeriesHouse) -> None:
    """Nine are made ready, and the best of them is released after people approved the first."""
    house.data = survey(seed=2)
    house.judge()
    prepared = house.id
    assert house.next_edition(3) == WAITING
    assert house.approve_series("amara") == WAITING
    assert house.approve_series("jonas") == DONE
    house.data = survey(seed=2)
    house.judge()
    assert house.case.id == house.id
    assert not standing_in_series(UnderReview.of(house.workspace(), prepared)).complete


def test_an_edition_whose_publication_was_interrupted_is_finished_and_meanwhile_the_next_waits(
    judged: SeriesHouse,
) -> None:
    second = judged.id
    with patch("tasks.publish._destroy_seed", side_effect=OSError):
        assert judged.release().code == ERROR
    judged.data = survey(seed=3)
    judged.judge()
    golden(judged.standing.says)
    assert str(second) in judged.standing.says
    judged.data = survey(seed=2)
    judged.write()
    assert judged.release().code == DONE
    assert second in judged.shelf
