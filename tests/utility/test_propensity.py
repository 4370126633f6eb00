import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency
from sklearn.linear_model import LogisticRegression

from sluice.ground.errors import DataError
from sluice.utility.common_bins import CommonBins, common_bins
from sluice.utility.propensity import expected_pmse, propensity, standardised_table_pmse, table_pmse
from tests.golden import golden
from tests.typed_frame import typed_frame

counts = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=2, max_size=8).filter(
    lambda cells: sum(a for a, _ in cells) > 0 < sum(b for _, b in cells)
)


def file(n: int, seed: int, shift: float = 0.0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    town = rng.choice(list("abcd"), n, p=[0.4 - shift, 0.3 + shift, 0.2, 0.1])
    return pd.DataFrame({"town": town, "sex": rng.choice(["m", "f"], n), "x": np.round(rng.normal(size=n) + shift, 3)})


def bins_of(original: pd.DataFrame, masked: pd.DataFrame, most: int = 8) -> tuple[CommonBins, ...]:
    before, variables = typed_frame(original)
    after, released = typed_frame(masked)
    return common_bins(before, before, after, variables, released, most)


def test_agrees_with_the_logistic_regression_of_scikit_learn() -> None:
    """Independent: the same penalised regression on dummies; scikit-learn's C is one over the penalty."""
    bins = bins_of(file(400, 0), file(300, 1, 0.15))
    dummies = [
        np.column_stack([getattr(each, which)[:, None] == np.arange(1, each.bins - 1) for each in bins])
        for which in ("original", "masked")
    ]
    design = np.vstack(dummies).astype(float)
    is_masked = np.repeat([0, 1], [400, 300])
    model = LogisticRegression(C=100.0, tol=1e-10, max_iter=2_000).fit(design, is_masked)
    scores = model.predict_proba(design)[:, 1]
    found = propensity(bins)
    assert np.concatenate([found.original, found.masked]) == pytest.approx(scores, abs=1e-3)
    assert found.pmse == pytest.approx(((scores - 3 / 7) ** 2).mean(), rel=1e-3)
    assert found.parameters == design.shape[1]


def test_of_one_variable_it_is_the_table_of_that_variable() -> None:
    (town, *_) = bins_of(file(2_000, 0), file(1_500, 1, 0.1))
    shares = [np.bincount(codes, minlength=town.bins) / len(codes) for codes in (town.original, town.masked)]
    table = standardised_table_pmse(*shares, 2_000, 1_500)
    assert propensity([town]).standardised == pytest.approx(table, rel=1e-3)


@pytest.mark.chain
def test_a_file_drawn_from_the_original_has_1_on_average() -> None:
    original = file(1_000, 0)
    rng = np.random.default_rng(1)
    found = [propensity(bins_of(original, original.iloc[rng.integers(0, 1_000, 800)])).standardised for _ in range(40)]
    assert np.mean(found) == pytest.approx(1, abs=0.25)


def test_a_group_is_not_told_apart_unless_other_records_are_in_it() -> None:
    frame = pd.DataFrame({"town": list("aabbcc") * 50})
    before, variables = typed_frame(frame)
    recoded, released = typed_frame(frame.replace({"town": {"a": "ab", "b": "ab"}}))
    assert propensity(common_bins(before, recoded, recoded, variables, released)).pmse == pytest.approx(0, abs=1e-9)
    skewed = pd.DataFrame({"town": list("aaabcc") * 50})
    before, variables = typed_frame(skewed)
    recoded, released = typed_frame(skewed.replace({"town": {"a": "ab", "b": "ab"}}))
    assert propensity(common_bins(before, recoded, recoded, variables, released)).pmse == pytest.approx(0, abs=1e-9)
    masked = recoded.assign(town=recoded["town"].where(np.arange(300) % 6 < 5, "ab"))  # half of c
    assert propensity(common_bins(before, recoded, masked, variables, released)).standardised > 1


def test_files_that_share_no_value_are_told_apart_whole() -> None:
    town = CommonBins("town", np.zeros(50, np.int64), np.ones(150, np.int64), np.eye(3), ("a", "b", "missing"))
    found = propensity([town])
    assert found.pmse == pytest.approx(0.75 * 0.25, rel=1e-2)
    assert found.parameters == 1


def test_what_has_one_value_or_no_record() -> None:
    town = CommonBins("town", np.zeros(5, np.int64), np.zeros(4, np.int64), np.eye(2), ("a", "missing"))
    assert (propensity([town]).standardised, propensity([town]).parameters) == (0, 0)
    nobody = CommonBins("town", np.zeros(5, np.int64), np.zeros(0, np.int64), np.eye(2), ("a", "missing"))
    assert np.isnan(propensity([nobody]).standardised)
    assert np.isnan(propensity([]).pmse)


def test_variables_of_different_files_are_refused() -> None:
    bins = bins_of(file(30, 0), file(30, 1))
    golden.refused(DataError, propensity, [*bins, *bins_of(file(30, 0), file(20, 1))])


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
