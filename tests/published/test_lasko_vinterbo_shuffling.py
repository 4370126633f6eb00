"""Lasko and Vinterbo (2010): data shuffling in Table I and Figure 2.

Their NHANES extract was not to be had. Ours is of the same survey and shape: 2,000 records of NHANES III and 28
columns, 17 continuous ones logged and standardised and 11 binary ones coded -1/+1 (two variables of four categories
each among them, dummy coded), drawn three times, with another 2,000 as the nonoverlapping sample. Not checked: the
shape of the curves.
"""

import numpy as np
import pytest

from sluice.ground.verdict import Verdict
from sluice.masking.swapping.spectral_swapping import spectral_swap
from sluice.masking.synthesis.data_shuffling import shuffle_sources
from sluice.risk.reference.prediction import equivalence_test, prediction
from sluice.utility.continuous.moments import moment_differences

MEASURES = ("distance", "ambiguity", "uncertainty")


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_table_1_data_shuffling(nhanes: np.ndarray, seed: int) -> None:
    """Published: mean and variance below 1e-13, correlations .025, rank correlations .020 (median differences)."""
    rng = np.random.default_rng(seed)
    original = rng.permutation(nhanes)[:2000]
    masked = np.take_along_axis(original, shuffle_sources(original, original[:, :0], rng), axis=0)
    mean, variance, correlation, rank_correlation = moment_differences(original, masked)
    assert max(mean, variance) < 1e-13
    assert correlation == pytest.approx(0.025, abs=0.01)
    assert rank_correlation == pytest.approx(0.020, abs=0.01)


def test_figure_2_shuffling_meets_the_standard_and_swapping_is_stronger(nhanes: np.ndarray) -> None:
    """Section IV-E: both are superior to the reference standard in all three measures, swapping the more so."""
    rng = np.random.default_rng(0)
    drawn = rng.permutation(nhanes)[:4000]
    original, second = drawn[:2000], drawn[2000:]
    standard = prediction(original, second)
    shuffled = prediction(
        original, np.take_along_axis(original, shuffle_sources(original, original[:, :0], rng), axis=0)
    )
    swapped = prediction(original, spectral_swap(original, rng))
    for measure in MEASURES:
        values = [getattr(found, measure) for found in (standard, shuffled, swapped)]
        assert equivalence_test(values[1], values[0]).verdict is Verdict.PASS
        assert np.median(values[0]) < np.median(values[1]) < np.median(values[2])
