from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.rules.p_percent import PPercent, PriorPosterior, p_percent
from tests.tabular.many_cells import LARGE, contributions_of, lacking, many_cells, percents

cells = st.lists(st.integers(0, 10**12), min_size=1, max_size=12)


def test_the_cell_of_the_example() -> None:
    """Torra (2013), "Detection of sensitive cells (II)": 363 - 350 - 4 = 9 is less than 50 % of 350.

    The slide compares with 0.5 * 363, half the total; the rule's words, and this project, with half the largest.
    """
    assert p_percent([350, 4, 3, 3, 3], p=50)
    # A cell that tells the two apart: 100 - 60 - 5 = 35 is at least half of 60, and less than half of 100.
    assert not p_percent([60, 5, 5, 5, 5, 5, 5, 5, 5], p=50)


@given(cells, st.integers(1, 100))
def test_agrees_with_integer_arithmetic(contributions: list[int], p: int) -> None:
    first, _, *rest = [*sorted(contributions, reverse=True), 0]
    assert p_percent([value / 8 for value in contributions], p) == (100 * sum(rest) < p * first)


def test_exactly_on_the_boundary_is_safe() -> None:
    assert not p_percent([40, 6, 4], p=10)  # 50 - 40 - 6 = 4 = 10 % of 40
    assert not p_percent([40, 6, 1, 1, 1, 1], p=10)
    assert not p_percent([0.4, 0.06, 0.03, 0.01], p=10)  # the same in hundredths
    assert p_percent([40.01, 6, 4], p=10)


@given(many_cells, percents, st.integers(1, 4))
def test_all_cells_at_once_agree_with_fractions(given_cells: list[list[int]], p: float, coalition: int) -> None:
    """Level p / 100 x1 - (X - x1 - x2) of Hundepool et al. (2012), section 4.3, the coalition's values taken out."""
    decided, rule, share = contributions_of(given_cells), PPercent(p=p, coalition=coalition), Fraction(str(p)) / 100
    falling = [sorted(cell, reverse=True) for cell in given_cells]
    assert rule.protection(decided).tolist() == [
        lacking(share, cell[0], sum(cell[1 + coalition :])) for cell in falling
    ]
    expected = [lacking(share, cell[0], sum(cell[coalition:])) for cell in falling]
    assert rule.protection(decided, outsider=True).tolist() == expected  # for one: p / 100 x1 - (X - x1)
    if coalition == 1:
        assert rule.sensitive(decided).tolist() == [p_percent(cell, p) for cell in given_cells]


def test_one_unit_decides_in_the_largest_cells() -> None:
    """Totals near 2 ** 53: a tenth of the largest is exactly there, or one unit less."""
    first = LARGE // 12 * 10
    for rest, safe in ((first // 10, True), (first // 10 - 1, False), (first // 10 + 1, True)):
        decided = contributions_of([[first, rest, rest]])
        assert decided.total[0] <= LARGE
        assert PPercent(p=10).sensitive(decided)[0] != safe
        assert p_percent([first, rest, rest], 10) != safe


def test_after_the_level_the_rule_is_kept() -> None:
    """The attacker who believes the total higher by the level overestimates the largest by p percent at least."""
    for first, second, *rest in ([350, 4, 3, 3, 3], [999, 998, 1], [41, 6, 4]):
        level = int(PPercent(p=10).protection(contributions_of([[first, second, *rest]]))[0])
        estimate = sum((first, second, *rest)) + level - second
        assert 10 * (estimate - first) >= first > 10 * (estimate - 1 - first)


def test_a_coalition_pools_what_it_knows() -> None:
    cell = contributions_of([[100, 50, 12, 5, 4]])
    assert PPercent(p=10).protection(cell).tolist() == [0]  # the second does not know of 12 + 5 + 4 = 21
    assert PPercent(p=10, coalition=2).protection(cell).tolist() == [1]  # the second and third not of 9
    assert PPercent(p=10, coalition=3).protection(cell).tolist() == [6]
    assert PPercent(p=10, coalition=9).protection(contributions_of([[100, 50]])).tolist() == [10]  # more than there are


def test_an_enterprise_is_one_contributor() -> None:
    """The cell {700, 200 | 60, 40, 10} of two enterprises: safe firm by firm, and unsafe as 900 against 110."""
    dimension = Dimension.flat("region", ["A", "B"])
    leaves = np.full((5, 1), dimension.position["A"], dtype=np.int32)
    value = np.array([700, 200, 60, 40, 10])
    for contributor, unsafe in ((np.arange(5), False), (np.array([0, 0, 1, 1, 1]), True)):
        cells = aggregate([dimension], leaves, contributor, value)
        assert PPercent(p=10).sensitive(cells.contributions).tolist() == [unsafe] * 2  # the total and A


def test_extremes() -> None:
    assert all(p_percent([22], p) and p_percent([300, 60], p) for p in (1, 10, 100))
    assert not p_percent([0, 0, 0], p=10)


@given(many_cells, st.integers(100, 9_998), st.integers(1, 9_999), st.integers(1, 3))
def test_prior_posterior_all_cells_at_once_agree_with_fractions(
    given_cells: list[list[int]], p: int, above: int, coalition: int
) -> None:
    """Level p / q x1 - (X - x1 - x2) of Hundepool et al. (2012), section 4.3; hundredths of a percent."""
    q = min(p + above, 10_000)
    rule, share = PriorPosterior(p=p / 100, q=q / 100, coalition=coalition), Fraction(p, q)
    decided = contributions_of(given_cells)
    falling = [sorted(cell, reverse=True) for cell in given_cells]
    expected = [lacking(share, cell[0], sum(cell[1 + coalition :])) for cell in falling]
    assert rule.protection(decided).tolist() == expected
    assert rule.sensitive(decided).tolist() == [level > 0 for level in expected]
    outside = [lacking(share, cell[0], sum(cell[coalition:])) for cell in falling]
    assert rule.protection(decided, outsider=True).tolist() == outside


@given(many_cells, st.integers(1, 99))
def test_without_prior_knowledge_it_is_the_p_percent_rule(given_cells: list[list[int]], p: int) -> None:
    decided = contributions_of(given_cells)
    assert (PriorPosterior(p=p, q=100).protection(decided) == PPercent(p=p).protection(decided)).all()


def test_prior_posterior_exactly_on_the_boundary_is_safe() -> None:
    """Known to within 50 % beforehand, the 8 others tell 40 to within 4, which is 10 % of it; 7 to within 3.5."""
    rule = PriorPosterior(p=10, q=50)
    assert rule.sensitive(contributions_of([[40, 8, 8], [40, 6, 4, 4], [40, 7, 7]])).tolist() == [False, False, True]
    # 14.3 / 28.6 is one half, which the doubles nearest to them miss
    assert PriorPosterior(p=14.3, q=28.6).sensitive(contributions_of([[40, 21, 20], [40, 20, 19]])).tolist() == [
        False,
        True,
    ]
