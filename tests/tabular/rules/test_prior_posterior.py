from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from sluice.tabular.rules.p_percent import PPercent, PriorPosterior
from tests.tabular.many_cells import contributions_of, lacking, many_cells


@given(many_cells, st.integers(100, 9_998), st.integers(1, 9_999), st.integers(1, 3))
def test_all_cells_at_once_agree_with_fractions(
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


def test_exactly_on_the_boundary_is_safe() -> None:
    """Known to within 50 % beforehand, the 8 others tell 40 to within 4, which is 10 % of it; 7 to within 3.5."""
    rule = PriorPosterior(p=10, q=50)
    assert rule.sensitive(contributions_of([[40, 8, 8], [40, 6, 4, 4], [40, 7, 7]])).tolist() == [False, False, True]
    # 14.3 / 28.6 is one half, which the doubles nearest to them miss
    assert PriorPosterior(p=14.3, q=28.6).sensitive(contributions_of([[40, 21, 20], [40, 20, 19]])).tolist() == [
        False,
        True,
    ]
