"""Singling out, beside anonymeter and a plain count, and at its extremes."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from sluice.risk.attacks.singling_out import CodedFile, Descriptions, fitting, growth, singling_out
from tests.golden import golden
from tests.reference_data import adult_columns
from tests.risk.attacks.adult_with_control import adult_with_control
from tests.typed_frame import typed_frame


@pytest.mark.chain
@pytest.mark.parametrize(
    ("mode", "main", "control"), [("univariate", 0.3358, 0.0848), ("multivariate", 0.3316, 0.2340)]
)
def test_as_often_right_as_anonymeter(reference_data: Path, mode: str, main: float, control: float) -> None:
    """anonymeter 1.1.0, SinglingOutEvaluator(n_attacks=1000, n_cols=3) on the same 3,000 records each: means of the
    seeds 0 to 4. Its successes vary by .009 (univariate), .008 and .014 (multivariate) from seed to seed. Its baseline,
    which also asks what somebody is not, is not compared."""
    data, variables = adult_with_control(reference_data, 3000)
    found = [
        singling_out(*data, variables, adult_columns(), mode, 3, 1000, np.random.default_rng(seed))  # type: ignore[arg-type]
        for seed in range(5)
    ]
    assert {each.main.completed for each in found} == {1000}
    assert all(each.informative for each in found)
    assert np.mean([each.main.share for each in found]) == pytest.approx(main, abs=0.025)
    assert np.mean([each.control.share for each in found]) == pytest.approx(control, abs=0.025)


@pytest.mark.chain
def test_a_safe_file_has_no_risk_whatever_the_controls_size(reference_data: Path) -> None:
    """Three samples of one population. A control of a quarter of the people must not make a safe file look unsafe."""
    (people, _, others), variables = adult_with_control(reference_data, 8000)
    original, released = people.iloc[:4000], people.iloc[4000:]
    for size in (4000, 2000, 1000):
        control = others.iloc[:size]
        found = singling_out(
            original, released, control, variables, adult_columns(), "multivariate", 3, 1000, np.random.default_rng(0)
        )
        assert found.control.share == pytest.approx(found.main.share, abs=0.05)
        low, high = found.risk().interval or (1, 0)
        assert low <= 0.02
        assert high >= -0.02
        assert (found.control.completed < found.main.completed) == (size < 4000)  # a smaller control tells less


@pytest.mark.parametrize(
    "weights",
    [
        np.random.default_rng(0).choice([0.0002, 0.001, 0.004], 20_000),
        np.random.default_rng(0).random(20_000) * 0.003,
        np.random.default_rng(0).exponential(0.0005, 20_000),
    ],
)
def test_growth_of_known_weights(weights: np.ndarray) -> None:
    counts = np.random.default_rng(1).poisson(1000 * weights)
    for size, low, high in ((1001, 0.99, 1.01), (2000, 0.94, 1.06), (4000, 0.85, 1.06)):
        truth = (size * weights * np.exp(-size * weights)).sum() / (1000 * weights * np.exp(-1000 * weights)).sum()
        assert low * truth <= growth(counts, 1000, size) <= high * truth


def test_a_control_many_times_as_large() -> None:
    """Drawn down to the original's size, the control shows what it would have shown: no estimate is needed."""
    (original, variables), (control, _) = people(60, 1), people(6000, 2)
    (released, _), shares = people(60, 3), []
    found = singling_out(
        original, released, control, variables, COLUMNS, "multivariate", 2, 80, np.random.default_rng(0)
    )
    for seed in range(30):
        drawn = control.sample(60, random_state=seed)
        shares.append(
            singling_out(
                original, released, drawn, variables, COLUMNS, "multivariate", 2, 80, np.random.default_rng(0)
            ).control.share
        )
    assert found.control.share == pytest.approx(np.mean(shares), abs=0.03)


@given(seed=st.integers(0, 2**32), most=st.integers(1, 30))
def test_fitting_is_the_plain_count(seed: int, most: int) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 4, size=(5, 25)).astype(np.int32)
    columns = np.argsort(rng.random((12, 5)), axis=1)[:, :2].astype(np.int32)
    low, high = np.sort(rng.integers(0, 5, size=(2, 12, 2)), axis=0).astype(np.int32)
    plain = [
        ((codes[c] >= a[:, None]) & (codes[c] <= b[:, None])).all(axis=0).sum()
        for c, a, b in zip(columns, low, high, strict=True)
    ]
    counted = fitting(CodedFile.of(codes), Descriptions(columns, low, high), most)
    np.testing.assert_array_equal(counted, np.minimum(plain, most))


def people(n: int, seed: int) -> tuple[pd.DataFrame, dict]:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"x": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n).round(1))})
    frame["y"] = rng.integers(0, 30, n)
    frame["area"] = pd.Categorical(rng.choice(list("abcd"), n), categories=list("abcd"))
    return typed_frame(frame)


COLUMNS = ["x", "y", "area"]


def test_twins_are_not_singled_out() -> None:
    """A published tool drops duplicates first, and so finds one person where there are two."""
    original, variables = people(100, 1)
    doubled = pd.concat([original, original])
    found = singling_out(
        doubled, original, doubled, variables, COLUMNS, "multivariate", 3, 100, np.random.default_rng(0)
    )
    assert found.main.completed > 0
    assert found.main.successes == found.control.successes == 0


def test_the_guesses_made_are_the_denominator() -> None:
    original, variables = people(50, 1)
    released = pd.concat([original.iloc[:1].assign(y=7), *[original.iloc[:1].assign(y=5)] * 9]).astype({"y": "Int64"})
    found = singling_out(original, released, original, variables, ["y"], "univariate", 1, 100, np.random.default_rng(0))
    assert (found.main.attempted, found.main.completed) == (100, 2)  # 'y is 7' and 'y is at least 7'


def test_a_file_of_equal_records_can_be_described_by_nobody() -> None:
    original, variables = people(50, 1)
    constant = pd.concat([original.iloc[:1]] * 50)
    for mode in ("univariate", "multivariate"):
        found = singling_out(
            original, constant, original, variables, COLUMNS, mode, 2, 20, np.random.default_rng(0), 5000
        )
        assert (found.main.attempted, found.main.completed, found.completed) == (20, 0, False)


def test_refusals() -> None:
    original, variables = people(10, 1)
    rng = np.random.default_rng(0)
    golden.refused(DataError, singling_out, original, original, original, variables, COLUMNS, "multivariate", 4, 5, rng)
