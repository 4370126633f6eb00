"""The smallest changes by which a blocked plan passes: each tried, each another, and none for what passes."""

from typing import Any

import pytest

from tasks.tuning import suggestions
from tasks.tuning.allowance import Allowance
from tasks.tuning.journal import Journal
from tasks.tuning.plan_changes import changes, with_plan
from tasks.tuning.space import SearchSettings
from tasks.tuning.suggestions import suggest
from tasks.tuning.trial import LossWeights, try_plan
from tests.report.pages import FAIL, finding
from tests.tasks.tuning.house_of_plans import policy, records, space

BLOCKED: tuple[dict[str, Any], ...] = (
    {"method": "removal", "columns": ["household", "town"]},
    {"method": "global_recoding", "columns": ["age"], "bins": [25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75]},
    {"method": "rank_swapping", "columns": ["income"], "window": 0.4},
)


@pytest.fixture(autouse=True)
def _few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten cost too much here, and of fewer none may fall."""
    monkeypatch.setattr(suggestions, "DRAWS", 3)


def of(plan: tuple[dict[str, Any], ...]) -> Any:
    return space([dict(step) for step in plan]).definition()


def test_single_changes_that_pass_are_found_and_each_is_about_something_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suggestions, "WANTED", 2)
    monkeypatch.setattr(suggestions, "_ENOUGH", 3)
    known = records(400)
    found = suggest(of(BLOCKED), BLOCKED, known, known, SearchSettings(trials=100))
    assert found.before.misses[0].rule == "k_anonymity"
    assert len(found.passing) >= 2
    assert all(len(each.changes) == 1 for each in found.passing)
    assert len({each.changes for each in found.passing}) == len(found.passing)
    assert any("age" in each.changes[0] for each in found.passing)
    assert "loss" in found.passing[0].in_words(found.before.loss)


def test_it_ends_where_enough_changes_of_different_things_have_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    known = records(400)
    told: list[tuple[int, int, int]] = []
    monkeypatch.setattr(suggestions, "WANTED", 1)
    monkeypatch.setattr(suggestions, "_ENOUGH", 2)
    asked = (of(BLOCKED), BLOCKED, known, known, SearchSettings(trials=200))
    found = suggest(*asked, told=lambda *numbers: told.append(numbers))
    done, planned, passing = told[-1]
    assert len(found.passing) == 1
    assert passing >= 2
    assert found.tried == done < planned <= 200, "others were left to be tried"
    assert len({of for _, of, _ in told}) == 1, "how many there are to try does not change on the way"


def test_what_was_found_comes_back_where_somebody_stops_it() -> None:
    known, allowance = records(400), Allowance()

    def stop(done: int, of: int, passing: int) -> None:
        if passing:
            raise KeyboardInterrupt

    asked = (of(BLOCKED), BLOCKED, known, known, SearchSettings(trials=100))
    found = suggest(*asked, told=stop, allowance=allowance)
    assert found.stopped
    assert (found.passing, found.tried > 0, len(found.once) > 0) == ((), True, True)


def test_no_change_is_tried_after_the_time_given() -> None:
    known, left = records(400), iter([0.0, 0.0])
    allowance = Allowance(1, lambda: next(left, 59.0))
    found = suggest(of(BLOCKED), BLOCKED, known, known, SearchSettings(trials=100), allowance=allowance)
    assert (found.tried, found.passing, found.stopped) == (0, (), False)
    assert (found.together, found.untried > 3) == (1, True), "what there was no time for is counted"


def test_a_plan_that_passes_needs_no_change() -> None:
    plan = (BLOCKED[0], dict(BLOCKED[1]) | {"bins": [50]}, BLOCKED[2])
    known = records(600)
    found = suggest(of(plan), plan, known, known, SearchSettings(trials=5))
    assert (found.before.end, found.passing, found.tried) == ("passes", (), 0)


PASSING = (BLOCKED[0], dict(BLOCKED[1]) | {"bins": [40, 60]}, BLOCKED[2])
NEAR = finding(FAIL, rule="participant_inference", stage="attack", observed=106, limit=94)


@pytest.mark.exhaustive  # flows/test_tune suggests from a verdict, too
def test_a_plan_that_fell_by_its_release_does_not_pass_whatever_another_draw_finds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(suggestions, "WANTED", 1)
    monkeypatch.setattr(suggestions, "_ENOUGH", 1)
    known, drawn = records(600), list[tuple[int, ...]]()

    def counted(definition: Any, at_hand: Any, seed: Any, *more: Any) -> Any:
        drawn.append(tuple(seed))
        return try_plan(definition, at_hand, seed, *more)

    monkeypatch.setattr(suggestions, "try_plan", counted)
    found = suggest(of(PASSING), PASSING, known, known, SearchSettings(trials=4), against=[NEAR])
    assert found.before.end == "fails"
    assert found.before.stage == "attacks"
    assert [(miss.rule, miss.observed, miss.limit) for miss in found.before.misses] == [
        ("participant_inference", 106, 94)
    ]
    assert found.draws == (3, 3)
    (change,) = found.passing
    assert (change.passed, change.draws) == (3, 3)
    assert "3 of 3" in change.in_words(0.1)
    fresh = {seed for seed in drawn if seed[1] == suggestions._FRESH}
    assert len(fresh) == suggestions.CHANGED_DRAWS, "a change of a plan that is too near must pass several"


def test_a_plan_that_passes_by_one_draw_and_falls_by_others_needs_a_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """`check --repeat` would say of it that it passes in 1 of 4 draws: a release would be blocked by chance."""
    known = records(600)

    def lucky(definition: Any, at_hand: Any, seed: Any, *more: Any) -> Any:
        outcome = try_plan(definition, at_hand, seed, *more)
        return outcome.model_copy(update={"end": "fails", "stage": "attacks"}) if len(seed) == 3 else outcome

    monkeypatch.setattr("tasks.tuning.other_draws.try_plan", lucky)
    found = suggest(of(PASSING), PASSING, known, known, SearchSettings(trials=1))
    assert (found.before.end, found.draws) == ("fails", (0, 2))


@pytest.mark.exhaustive
def test_a_change_that_falls_by_one_of_its_draws_is_not_suggested(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suggestions, "WANTED", 1)
    monkeypatch.setattr(suggestions, "_ENOUGH", 1)
    known = records(600)

    def falls_by_the_last(definition: Any, at_hand: Any, seed: Any, *more: Any) -> Any:
        outcome = try_plan(definition, at_hand, seed, *more)
        last = seed[1] == suggestions._FRESH and len(seed) == 4
        return outcome.model_copy(update={"end": "fails"}) if last else outcome

    monkeypatch.setattr(suggestions, "try_plan", falls_by_the_last)
    found = suggest(of(PASSING), PASSING, known, known, SearchSettings(trials=4), against=[NEAR])
    assert found.passing == ()


@pytest.mark.exhaustive
def test_two_changes_together_where_no_single_one_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suggestions, "WANTED", 1)
    monkeypatch.setattr(suggestions, "_ENOUGH", 1)
    plan = (BLOCKED[0], BLOCKED[1])  # k is broken, and the incomes are those of the people
    known = records(400)
    found = suggest(of(plan), plan, known, known, SearchSettings(trials=200))
    assert found.passing
    assert all(len(each.changes) == 2 for each in found.passing)


def test_where_nothing_passes_it_is_said_what_came_nearest() -> None:
    never = policy(rules=[{"rule": "k_anonymity", "k": 401}])
    known = records(400, never)
    found = suggest(of(BLOCKED), BLOCKED, known, known, SearchSettings(trials=20))
    assert found.passing == ()
    assert found.tried <= 20
    assert found.nearest is not None


@pytest.mark.servers
def test_two_processes_suggest_the_same() -> None:
    known = records(400, policy(reference_standard=None))  # whose trials are short
    seen = []
    for workers in (1, 2):
        journal = Journal()
        found = suggest(of(BLOCKED), BLOCKED, known, known, SearchSettings(trials=12), workers, journal=journal)
        tried = [journal.of(number) for number in range(1, found.tried + 1)]
        seen.append([each and each.model_dump(exclude={"outcome": {"seconds"}}) for each in tried])
    assert len(seen[0]) > 4
    assert repr(seen[0]) == repr(seen[1])  # what is not known is NaN


def test_every_change_is_a_valid_plan_and_what_the_findings_name_comes_first() -> None:
    known = records(400)
    outcome = try_plan(of(BLOCKED), known, (1,), LossWeights())
    found = changes(of(BLOCKED), BLOCKED, known.variables, known.frame, known.policy, outcome.misses)
    assert len(found) > 20
    assert all(with_plan(of(BLOCKED), change.plan) for change in found)
    assert len({repr(change.plan) for change in found}) == len(found)
    assert any(name in found[0].says for name in ("age", "sex", "region"))


def test_a_plan_that_recodes_nothing_may_be_generalised_first() -> None:
    plan = (BLOCKED[0], BLOCKED[2])
    known = records(400)
    found = [
        each for each in changes(of(plan), plan, known.variables, known.frame, known.policy) if "first gen" in each.says
    ]
    assert found
    assert [step["method"] for step in found[0].plan] == [
        "global_recoding",
        "generalization",
        "removal",
        "rank_swapping",
    ]
    outcome = try_plan(with_plan(of(plan), found[0].plan), known, (1,), LossWeights())
    assert outcome.stage not in ("plan", "rules")
