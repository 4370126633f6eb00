import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from sluice.ground.arrays import FloatArray
from sluice.ground.variables import Kind, Variable
from sluice.risk.measurement import Measurement
from sluice.risk.transparency.attack import Pairs
from sluice.risk.transparency.linear_change import CLOSE, Filtering


def played(original: FloatArray, masked: FloatArray) -> Measurement:
    names = tuple(f"x{at}" for at in range(original.shape[1]))
    variables = {name: Variable(name=name, kind=Kind.CONTINUOUS) for name in names}
    before, after = (pd.DataFrame(values, columns=list(names)) for values in (original, masked))
    everyone = np.arange(len(before))
    (leak,) = Filtering(names, "the noise").play(
        Pairs(before, variables, before, after, variables, everyone, np.random.default_rng(0))
    )
    assert leak.kind == "reconstructed"
    return leak.measured


def test_noise_on_copies_of_one_variable_is_averaged_away() -> None:
    rng = np.random.default_rng(1)
    original = np.repeat(rng.standard_normal((4000, 1)), 25, axis=1)
    measured = played(original, original + 0.5 * rng.standard_normal(original.shape))
    # The mean of 25 values has a fifth of the noise: what of a normal law of this deviation lies within a tenth.
    left = 1 / np.sqrt(1 + 25 / 0.25)
    assert measured.value == pytest.approx(2 * norm.cdf(CLOSE / left) - 1, abs=0.02)
    assert measured.baseline == pytest.approx(2 * norm.cdf(CLOSE / 0.5) - 1, abs=0.02)


def test_noise_on_unrelated_variables_stays() -> None:
    rng = np.random.default_rng(2)
    original = rng.standard_normal((4000, 5))
    measured = played(original, original + 0.5 * rng.standard_normal(original.shape))
    assert measured.value < measured.baseline + 0.05
