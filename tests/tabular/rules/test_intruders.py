"""Who reads a table, and what rules tell of its suppressed counts.

What contributors know of cells that they are told to be safe: against every way to fill such a cell.
"""

from dataclasses import replace
from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Cells, Contributions
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.rules.dominance import Dominance
from sluice.tabular.rules.intruders import Intruder, intruders, known_parts, sensitive_counts, status_tells_more
from sluice.tabular.rules.minimum_frequency import MinimumFrequency
from sluice.tabular.rules.p_percent import PPercent, PriorPosterior
from sluice.tabular.rules.request_rule import RequestRule
from sluice.tabular.rules.sensitivity import SensitivityRule, requirements_of
from tests.golden import golden

LISTS: list[list[SensitivityRule]] = [
    [PPercent(p=30)],
    [MinimumFrequency(n=3), PPercent(p=10)],
    [Dominance(n=1, k=60), MinimumFrequency(n=3)],
    [Dominance(n=2, k=80)],
    [PriorPosterior(p=20, q=50)],
]

COUNTS = Assumptions(counts="contributors")
RULES = (MinimumFrequency(n=3),)


def counts(*numbers: int, contributors: list[int] | None = None) -> Cells:
    """A row of counts with their total, of one record a contributor unless contributors are given."""
    dimension = Dimension.flat("a", [f"a{at}" for at in range(len(numbers))])
    leaves = np.repeat([dimension.position[f"a{at}"] for at in range(len(numbers))], numbers)[:, None]
    who = np.arange(len(leaves)) if contributors is None else np.array(contributors)
    return aggregate([dimension], leaves.astype(np.int32), who, np.ones(len(leaves), dtype=np.int64))


def both(cells: Cells, known: Assumptions = COUNTS) -> tuple[Intruder, Intruder]:
    """Anybody, and who knows which cells are sensitive."""
    anybody, knowing = intruders(cells, requirements_of(RULES, cells.contributions), RULES, known)
    return anybody, knowing


def test_of_a_magnitude_rules_tell_nothing() -> None:
    cells = counts(1, 4)
    needs = requirements_of(RULES, cells.contributions)
    (anybody,) = intruders(cells, needs, RULES, Assumptions())
    assert anybody.requirements is needs
    assert anybody.lower.tolist() == [0, 0, 0]
    assert np.isinf(anybody.upper).all()


def test_counts_are_one_or_more_and_sensitive_ones_are_below_the_frequency() -> None:
    anybody, knowing = both(counts(1, 2, 3))  # and their sum, 6, which comes first
    assert anybody.lower.tolist() == [3, 1, 1, 1]  # a sum has at least as many as parts
    assert np.isinf(anybody.upper).all()
    assert anybody.others.tolist() == [2, 0, 0, 0]
    assert anybody.requirements.lower.tolist() == [0, 0, 1, 0]  # of one record nothing below is possible
    assert anybody.requirements.upper.tolist() == [0, 2, 1, 0]  # 3 must be possible, or it must be sensitive
    assert knowing.lower.tolist() == [5, 1, 1, 3]
    assert knowing.upper.tolist() == [np.inf, 2, 2, np.inf]
    assert knowing.requirements.sliding.tolist() == [0, 1, 1, 0]
    assert not knowing.requirements.upper.any()
    assert not knowing.requirements.lower.any()
    assert anybody.insiders
    assert not knowing.insiders


def test_a_sensitive_sum_of_as_many_parts_as_it_has_records_is_known_whatever_is_suppressed() -> None:
    anybody, knowing = both(counts(1, 1))
    assert anybody.requirements.lower.tolist() == [0, 0, 0]  # 2 is the least that two parts can be
    assert anybody.requirements.upper.tolist() == [1, 2, 2]
    assert (knowing.lower.tolist(), knowing.upper.tolist()) == ([2, 1, 1], [2, 1, 1])
    assert not knowing.requirements.sliding.any()


def test_a_frequency_of_two_leaves_one_value_to_who_knows_what_is_sensitive() -> None:
    cells = counts(1, 2, 3)
    rules = (MinimumFrequency(n=2),)
    _, knowing = intruders(cells, requirements_of(rules, cells.contributions), rules, COUNTS)
    assert (knowing.lower[1], knowing.upper[1]) == (1, 1)
    assert not knowing.requirements.sliding.any()


def test_who_may_have_several_records_hides_how_many_a_sensitive_cell_holds() -> None:
    cells = counts(4, 3, contributors=[1, 1, 1, 2, 3, 4, 5])
    needs = requirements_of(RULES, cells.contributions)
    assumptions = Assumptions(counts="records")
    anybody, knowing = intruders(cells, needs, RULES, assumptions)
    assert needs.sensitive.tolist() == [False, True, False]
    assert np.isinf(knowing.upper[1])
    assert knowing.lower.tolist() == [4, 1, 3]
    assert anybody.requirements.upper[1] == needs.upper[1]  # four records are no proof of few contributors
    assert both(counts(2, 3), assumptions)[1].upper[1] == 2  # as nobody has several, that may be known


def test_of_a_marginal_that_is_not_published_nothing_is_known_but_its_parts() -> None:
    cells = replace(counts(1, 2, 3), published=np.array([False, True, True, True]))
    assert [reader.lower[0] for reader in both(cells)] == [3, 5]
    assert [reader.lower[0] for reader in both(replace(cells, published=np.zeros(4, dtype=bool)))] == [0, 0]


def test_what_a_person_asks_for_is_no_small_count() -> None:
    cells = counts(4, 5)
    needs = requirements_of(RULES, cells.contributions)
    manual = np.array([False, True, False])
    needs = replace(needs, by_rule={**needs.by_rule, "manual": manual}, sensitive=manual, lower=4 * manual)
    anybody, knowing = intruders(cells, needs, RULES, COUNTS)
    assert anybody.requirements.lower.tolist() == [0, 3, 0]
    assert (knowing.lower[1], knowing.upper[1]) == (1, np.inf)
    assert knowing.requirements.sliding[1] == 1


def test_what_is_known_within_a_share_is_whole_and_does_not_shrink_what_rules_ask() -> None:
    anybody, knowing = both(counts(2, 5), replace(COUNTS, known_within=30))
    assert (anybody.lower.tolist(), anybody.upper.tolist()) == ([5, 2, 4], [9, 2, 6])
    assert anybody.requirements.upper[1] == 1
    assert knowing.requirements.sliding[1] == 0


def test_counts_that_rules_call_sensitive() -> None:
    assert sensitive_counts(()) == (0, 1)
    assert sensitive_counts((MinimumFrequency(n=5),)) == (4, 5)
    assert sensitive_counts((MinimumFrequency(n=5),), one=100) == (400, 500)
    assert sensitive_counts((PPercent(p=10),)) == (2, 3)
    assert sensitive_counts((Dominance(n=1, k=30),)) == (3, 4)
    assert sensitive_counts((MinimumFrequency(n=2000),)) == (np.inf, 1001)
    assert sensitive_counts((MinimumFrequency(n=3), RequestRule(k=20))) == (4, 3)  # who asked, nobody knows


def test_counts_of_no_such_kind() -> None:
    with golden.raises(DataError):
        Assumptions(counts="people")  # type: ignore[arg-type]


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=6),
    st.integers(2, 6),
    st.sampled_from([None, 5, 40, 100]),
    st.data(),
)
def test_the_truth_is_possible_and_what_is_asked_has_room(
    numbers: list[int], n: int, within: float | None, data: st.DataObject
) -> None:
    people = data.draw(st.lists(st.integers(0, 20), min_size=sum(numbers), max_size=sum(numbers)))
    for kind, who in (("contributors", None), ("records", people)):
        cells = counts(*numbers, contributors=who)
        rules = (MinimumFrequency(n=n), PPercent(p=10))
        needs = requirements_of(rules, cells.contributions)
        for reader in intruders(cells, needs, rules, Assumptions(known_within=within, counts=kind)):  # type: ignore[arg-type]
            assert (reader.lower <= cells.total).all()
            assert (reader.upper >= cells.total).all()
            asked = reader.requirements
            assert (reader.upper - reader.lower >= asked.sliding).all()
            if within is None:
                assert (cells.total - asked.lower >= reader.lower).all()
                assert (cells.total + asked.upper <= reader.upper).all()


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
