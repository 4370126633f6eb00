"""What the codebook tells analysts to do is right: done with a masked file, it gives back what the original gives."""

from typing import Any, Literal

import numpy as np
import pandas as pd
import pytest

from sluice.ground.variables import Kind, Variable
from sluice.masking.microaggregation.microaggregation import Microaggregation
from sluice.masking.microaggregation.microaggregation_step import MicroaggregationStep
from sluice.masking.noise.additive_noise import AdditiveNoise
from sluice.masking.noise.pram import Pram
from sluice.masking.recoding.random_rounding import RandomRounding
from sluice.masking.recoding.rounding import Rounding
from sluice.masking.recoding.sampling import Sampling
from tests.golden import golden

N = 100_000
AMOUNT = 0.3
FACTOR, ROOT = "1.3", "1.1402"
NUMBERS = {name: Variable(name=name, kind=Kind.CONTINUOUS) for name in ("a", "b", "other")}


def related() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    common = rng.normal(size=N)
    return pd.DataFrame({name: common + rng.normal(size=N) for name in NUMBERS})


def ratio(original: pd.DataFrame, masked: pd.DataFrame, *pair: str, of: Literal["cov", "corr"]) -> float:
    before, after = (getattr(frame, of)().loc[pair] for frame in (original, masked))
    return float(before / after)


def slope(frame: pd.DataFrame, predictor: str, on: str) -> float:
    return float(frame.cov().loc[predictor, on] / frame[predictor].var())


@pytest.mark.parametrize("kind", ["uncorrelated", "correlated", "spectral"])
@pytest.mark.parametrize("corrected", [False, True])
def test_noise_is_corrected_by_the_factors_that_are_told(kind: Any, corrected: bool) -> None:
    original = related()
    step = AdditiveNoise(columns=("a", "b"), kind=kind, amount=AMOUNT, corrected=corrected)
    masked, says = step.mask(original, NUMBERS, np.random.default_rng(1)), step.correction()
    factor, root, none, about = 1 + AMOUNT, np.sqrt(1 + AMOUNT), 1.0, {"rel": 0.02}
    own = original["a"].var() / masked["a"].var()
    among = ratio(original, masked, "a", "b", of="corr")
    other = ratio(original, masked, "a", "other", of="corr")
    on_it = slope(original, "a", "other") / slope(masked, "a", "other")
    assert own == pytest.approx(none if corrected else 1 / factor, **about)
    assert among == pytest.approx(factor if kind == "uncorrelated" else none, **about)
    assert other == pytest.approx(root, **about)
    assert on_it == pytest.approx(root if corrected else factor, **about)
    assert ratio(original, masked, "a", "other", of="cov") == pytest.approx(root if corrected else none, **about)
    if kind == "uncorrelated" and not corrected:
        golden(says)
        assert str(FACTOR) in says
        assert str(ROOT) in says
    assert ROOT in says
    assert (FACTOR in says) is (kind == "uncorrelated" or not corrected)


def test_the_noise_is_published_as_a_share_and_no_figure_of_the_data() -> None:
    step = AdditiveNoise(columns=("a",), amount=AMOUNT, clip=True, strata=("other",))
    assert step.parameters() == {
        "noise": {"columns": ["a"], "kind": "uncorrelated", "share_of_variance": AMOUNT, "corrected": False}
    }
    golden.words(step.correction())


@pytest.mark.parametrize("invariant", [False, True])
def test_tables_are_corrected_by_the_inverse_of_the_published_matrices(invariant: bool) -> None:
    rng = np.random.default_rng(2)
    first = rng.choice(3, N, p=[0.6, 0.3, 0.1])
    second = np.where(rng.random(N) < 0.5, first % 2, rng.integers(0, 2, N))
    labels = {"x": ("p", "q", "r"), "y": ("n", "m")}
    original = pd.DataFrame(
        {name: pd.Categorical.from_codes(codes, list(labels[name])) for name, codes in (("x", first), ("y", second))}
    )
    variables = {name: Variable(name=name, kind=Kind.NOMINAL, categories=labels[name]) for name in labels}
    (step,) = Pram(columns=("x", "y"), retention=0.8, invariant=invariant).fit(original, variables)
    masked = step.mask(original, variables, np.random.default_rng(3))
    published = step.parameters()["matrix"]
    p, q = (
        np.array([[published[name][row].get(column, 0) for column in labels[name]] for row in labels[name]])
        for name in labels
    )
    counted = pd.crosstab(masked["x"], masked["y"]).loc[list(labels["x"]), list(labels["y"])].to_numpy()
    true = pd.crosstab(original["x"], original["y"]).loc[list(labels["x"]), list(labels["y"])].to_numpy()
    estimated = np.linalg.inv(p.T) @ counted @ np.linalg.inv(q)
    assert np.abs(estimated - true).max() < 0.01 * N
    assert np.abs(counted - true).max() > 0.02 * N  # uncorrected it is wrong
    alone = np.abs(counted.sum(axis=1) - true.sum(axis=1)).max()
    assert bool(alone < 0.01 * N) is invariant
    assert "inverse(P transposed) C inverse(Q)" in step.correction()


def test_an_invariant_matrix_needs_no_correction_of_a_variable_by_itself() -> None:
    says = Pram(columns=("x",), retention=0.8, invariant=True).correction()
    golden.words(says)
    assert "t = inverse(P transposed) c" in Pram(columns=("x",), retention=0.8).correction()


@pytest.mark.parametrize(("step", "share"), [(Rounding, 12), (RandomRounding, 6)])
def test_rounding_adds_the_variance_that_is_told(step: Any, share: int) -> None:
    original = pd.DataFrame({"a": np.random.default_rng(4).normal(0, 10, N)})
    chosen = step(columns=("a",), base=5)
    masked = chosen.mask(original, {"a": NUMBERS["a"]}, np.random.default_rng(5))
    assert masked["a"].var() - original["a"].var() == pytest.approx(25 / share, rel=0.15)
    assert f"b^2/{share}" in chosen.correction()


def test_a_sample_tells_its_fraction_or_its_weight() -> None:
    plain = Sampling(fraction=0.25).correction()
    assert "Multiply totals by 4; means and shares need no correction." in plain
    assert "With the sampling fraction f (0.25)" in plain
    golden.words(Sampling(fraction=0.25, weight="w").correction())
    sized = Sampling(size=100, strata=("town",), unit="household").correction()
    assert "The sampling fraction is 100 of the number of households, another in each stratum." in sized
    assert "of households as clusters" in sized


def test_group_means_with_their_variance_restored_say_so() -> None:
    def step(**more: Any) -> MicroaggregationStep:
        return Microaggregation(columns=("a", "b"), k=3, **more)

    golden.words(step().correction())
    golden.words(step(restore_variance=True).correction())
