import numpy as np
import pandas as pd
import pytest

from sluice.ground.variables import Kind, Variable
from sluice.masking.microaggregation.microaggregation import Microaggregation
from sluice.risk.transparency.attack import Pairs
from sluice.risk.transparency.bounds import NearestCentre

NAMES = ("a", "b", "c")
VARIABLES = {name: Variable(name=name, kind=Kind.CONTINUOUS, nullable=True) for name in NAMES}


def played(original: pd.DataFrame, k: int) -> tuple[float, float]:
    step = Microaggregation(columns=NAMES, k=k, missing="by_pattern")
    masked = step.mask(original, VARIABLES, np.random.default_rng(0))
    rows = np.arange(len(original))
    pairs = Pairs(original, VARIABLES, original, masked, VARIABLES, rows, np.random.default_rng(0))
    identified, confident = NearestCentre(NAMES, k).play(pairs)
    return identified.measured.value, confident.measured.value


@pytest.mark.parametrize("k", [2, 5, 10])
def test_far_apart_groups_are_found_and_their_people_by_luck(k: int) -> None:
    rng = np.random.default_rng(1)
    centres = np.repeat(rng.integers(-5000, 5000, (20, 3)), k, axis=0) * np.array([1.0, 1e6, 1e-6])
    original = pd.DataFrame(centres * (1 + 1e-6 * rng.random(centres.shape)), columns=list(NAMES))
    assert played(original, k) == (pytest.approx(1 / k), 0.0)


def test_people_who_miss_a_value_are_sought_among_those_who_miss_it() -> None:
    rng = np.random.default_rng(2)
    original = pd.DataFrame(rng.standard_normal((90, 3)), columns=list(NAMES))
    original.loc[:29, "b"] = np.nan
    step = Microaggregation(columns=NAMES, k=3, missing="by_pattern")
    masked = step.mask(original, VARIABLES, rng)
    pairs = Pairs(original, VARIABLES, original, masked, VARIABLES, np.arange(90), rng)
    logs = NearestCentre(NAMES, 3).likelihood(pairs)(np.arange(90))
    assert np.isneginf(logs[:30, 30:]).all()
    assert np.isneginf(logs[30:, :30]).all()
    assert np.isfinite(logs.diagonal()).all()
