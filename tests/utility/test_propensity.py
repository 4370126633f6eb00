import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from sluice.ground.errors import DataError
from sluice.utility.common_bins import CommonBins, common_bins
from sluice.utility.propensity import propensity
from sluice.utility.table_propensity import standardised_table_pmse
from tests.golden import golden
from tests.typed_frame import typed_frame


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
