"""A variation changes little of its parent, stays in the space, and brings in what the change needs."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tasks.tuning.journal import TrialRecord
from tasks.tuning.parameter_ranges import at
from tasks.tuning.plan_search import point_of
from tasks.tuning.trial import Outcome
from tasks.tuning.variation import parent_of, varied
from tests.tasks.tuning.house_of_plans import space, uniform

OF = space()


@given(st.integers(0, 2**32))
def test_a_variation_is_a_plan_of_the_space(seed: int) -> None:
    point = varied(OF, point_of(OF, uniform(seed)), np.random.default_rng(seed))
    assert OF.definition(at(point)).plan
    assert point == point_of(OF, at(point))


def test_most_values_stay() -> None:
    parent = point_of(OF, uniform(1))
    changed = [
        sum(varied(OF, parent, np.random.default_rng(seed)).get(place) != value for place, value in parent.items())
        for seed in range(200)
    ]
    assert 0.5 < np.mean(changed) < 2.5


def test_a_parent_passes_or_loses_less_than_all_that_do() -> None:
    def ended(number: int, end: str, loss: float) -> TrialRecord:
        return TrialRecord(number=number, point={"number": number}, outcome=Outcome(end=end, loss=loss, stage="rules"))

    rng = np.random.default_rng(1)
    tried = [ended(0, "passes", 0.5), ended(1, "fails", 0.4), ended(2, "fails", 0.9), ended(3, "dearer", 0.6)]
    parents = {(parent_of(tried, rng) or {})["number"] for _ in range(60)}
    assert parents == {0, 1}
    assert parent_of([], rng) is None
