import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

from sluice.utility.table_propensity import expected_pmse, standardised_table_pmse, table_pmse

counts = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=2, max_size=8).filter(
    lambda cells: sum(a for a, _ in cells) > 0 < sum(b for _, b in cells)
)


def both(cells: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray, int, int]:
    before, after = np.array(cells, dtype=float).T
    return before / before.sum(), after / after.sum(), int(before.sum()), int(after.sum())


def test_worked_by_hand() -> None:
    # 30 and 10 of 40 original records, 20 and 20 of 40 masked: scores 20/50 and 20/30, c = 1/2
    given_ = both([(30, 20), (10, 20)])
    assert table_pmse(*given_) == pytest.approx((50 * 0.1**2 + 30 * (1 / 6) ** 2) / 80)
    # Voas and Williamson: the sum of (o - s)^2 / ((o + s) / 2), over 1 degree of freedom
    assert standardised_table_pmse(*given_) == pytest.approx(100 / 25 + 100 / 15)


@given(counts)
def test_agrees_with_its_definition_and_with_the_test_of_homogeneity_of_scipy(cells: list[tuple[int, int]]) -> None:
    before, after, n, m = both(cells)
    c = m / (n + m)
    held = [(a, b) for a, b in cells if a + b]
    direct = sum((a + b) * (b / (a + b) - c) ** 2 for a, b in held) / (n + m)
    assert table_pmse(before, after, n, m) == pytest.approx(direct, abs=1e-12)
    assert 0 <= direct <= c * (1 - c) + 1e-12
    if len(held) > 1:
        chi_square = chi2_contingency(np.array(held).T, correction=False).statistic
        assert direct == pytest.approx(c * (1 - c) * chi_square / (n + m), abs=1e-12)


def test_the_null_is_a_file_drawn_from_the_original() -> None:
    """The mean over 2,000 files that are drawn with replacement is 1 within its error, whatever their size."""
    rng = np.random.default_rng(0)
    shares = np.array([0.1, 0.2, 0.3, 0.4])
    for masked in (250, 1_000, 4_000):
        drawn = rng.multinomial(masked, shares, size=2_000) / masked
        found = [standardised_table_pmse(shares, each, 1_000, masked) for each in drawn]
        assert np.mean(found) == pytest.approx(1, abs=0.06)


def test_extremes() -> None:
    same = np.array([0.5, 0.5])
    assert standardised_table_pmse(same, same, 10, 10) == 0
    apart = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    assert table_pmse(*apart, 10, 30) == pytest.approx(0.75 * 0.25)
    one = np.array([1.0, 0.0])
    assert standardised_table_pmse(one, one, 5, 5) == 0


def test_without_records_nothing_is_known() -> None:
    share = np.array([0.5, 0.5])
    assert np.isnan(table_pmse(share, share, 0, 5))
    assert np.isnan(standardised_table_pmse(share, np.array([np.nan, np.nan]), 5, 0))
    assert np.isnan(standardised_table_pmse(share, np.array([np.nan, np.nan]), 5, 5))
    assert expected_pmse(3, 50, 50) == pytest.approx(3 / 800)
