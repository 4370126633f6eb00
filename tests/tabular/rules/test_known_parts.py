"""What contributors know of cells that they are told to be safe: against every way to fill such a cell."""

from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.cells import Cells, Contributions
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.rules.dominance import Dominance
from sluice.tabular.rules.intruders import known_parts, status_tells_more
from sluice.tabular.rules.minimum_frequency import MinimumFrequency
from sluice.tabular.rules.p_percent import PPercent, PriorPosterior
from sluice.tabular.rules.request_rule import RequestRule
from sluice.tabular.rules.sensitivity import SensitivityRule, requirements_of

LISTS: list[list[SensitivityRule]] = [
    [PPercent(p=30)],
    [MinimumFrequency(n=3), PPercent(p=10)],
    [Dominance(n=1, k=60), MinimumFrequency(n=3)],
    [Dominance(n=2, k=80)],
    [PriorPosterior(p=20, q=50)],
]


def cell_of(values: list[int]) -> Cells:
    return aggregate(
        [Dimension.flat("d", ["x"])],
        np.ones((len(values), 1), dtype=np.int32),
        np.arange(len(values)),
        np.array(values),
    )


def is_safe(values: list[int], rules: list[SensitivityRule]) -> bool:
    largest = np.array([sorted([*values, 0, 0, 0, 0], reverse=True)[:5]])
    cell = Contributions(np.array([sum(values)]), np.array([len(values)]), largest)
    return not any(rule.sensitive(cell)[0] for rule in rules)


def least_by_hand(part: int, rules: list[SensitivityRule], most: int) -> int:
    """The least safe total with such a part, over all that up to six others may have; zeros count as contributors."""
    for rest in range(most + 1):
        for others in combinations_with_replacement(range(rest + 1), 6):
            if sum(others) == rest and is_safe([part, *others], rules):
                return part + rest
    raise AssertionError


@pytest.mark.parametrize("rules", LISTS)
def test_as_all_ways_to_fill_a_cell(rules: list[SensitivityRule]) -> None:
    cells = cell_of([5, 5, 4, 4, 3, 3, 2])
    assert is_safe([5, 5, 4, 4, 3, 3, 2], rules)
    known = known_parts(cells, requirements_of(rules, cells.contributions), rules)[-1]
    assert known.tolist() == [least_by_hand(part, rules, 5) for part in (5, 5, 4, 4, 3)]


@given(st.lists(st.integers(0, 50), min_size=1, max_size=9), st.sampled_from(LISTS))
def test_it_is_true_and_never_less_than_the_own_part(values: list[int], rules: list[SensitivityRule]) -> None:
    cells = cell_of(values)
    required = requirements_of(rules, cells.contributions)
    known = known_parts(cells, required, rules)
    assert (known >= cells.largest).all()
    assert (known <= cells.total[:, None]).all()
    assert (known[required.sensitive] == cells.largest[required.sensitive]).all()


def test_a_sensitive_cell_that_somebody_lets_out_is_not_taken_for_a_safe_one() -> None:
    cells, rules = cell_of([100, 3, 3]), [PPercent(p=10)]
    nothing = requirements_of([], cells.contributions)
    assert (known_parts(cells, nothing, rules) == cells.largest).all()


def test_when_the_word_primary_tells_more() -> None:
    assert not status_tells_more([MinimumFrequency(n=3)], 1)
    assert not status_tells_more([PPercent(p=10)], 1)
    assert not status_tells_more([Dominance(n=2, k=75)], 1)
    assert status_tells_more([PPercent(p=10)], 2)
    assert status_tells_more([Dominance(n=1, k=75)], 1)
    assert status_tells_more([PPercent(p=10), RequestRule(k=50)], 1)
    assert not status_tells_more([Dominance(n=1, k=75)], 0)
