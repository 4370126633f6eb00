"""By how many draws a plan passes, and what stops it by the others."""

from typing import Any
from unittest.mock import patch

from tasks.tuning import other_draws as module
from tasks.tuning.other_draws import other_draws
from tasks.tuning.trial import Miss, Outcome
from tests.golden import golden
from tests.tasks.tuning.house_of_plans import records, space


def miss(rule: str) -> Miss:
    return Miss(rule=rule, stage="attacks", verdict=2, says="too many", far=0.5)


def test_rules_are_counted_once_a_draw_and_those_that_stop_most_come_first() -> None:
    stopped = iter([(), ("a", "b", "b"), ("b",), ()])
    seeds: list[Any] = []

    def judged(definition: object, known: object, seed: tuple[int, ...], weights: object) -> Outcome:
        seeds.append(seed)
        misses = tuple(map(miss, next(stopped)))
        return Outcome(end="fails" if misses else "passes", stage="attacks", misses=misses)

    told: list[int] = []
    definition = space([{"method": "removal", "columns": ["town"]}]).definition()
    with patch.object(module, "try_plan", judged):
        found = other_draws(definition, records(300), 4, told=told.append)
    assert (found.passed, found.of, list(found.stopped_by.items())) == (2, 4, [("b", 2), ("a", 1)])
    assert told == [1, 2, 3, 4]
    assert len(set(seeds)) == 4
    golden(found.says)


def test_draws_end_with_the_time() -> None:
    definition = space([{"method": "removal", "columns": ["town"]}]).definition()
    left = iter([True, True, False])
    with patch.object(module, "try_plan", lambda *given: Outcome(end="passes")):
        found = other_draws(definition, records(300), 9, time_left=lambda: next(left))
    assert (found.passed, found.of) == (2, 2)
    golden(found.says)
