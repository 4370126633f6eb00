"""Lossy compression. The slide's example (Torra 2013) gives no figures: JPEG's own definition is computed here
instead.
"""

from io import BytesIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from scipy.fft import dctn, idctn

from sluice.ground.errors import PlanError
from sluice.masking.noise.lossy_compression import compressed
from tests.golden import golden

# ITU-T T.81, Annex K, Table K.1: quantisation of luminance, at quality 50.
LUMINANCE = np.array(
    [
        [16, 11, 10, 16, 24, 40, 51, 61],
        [12, 12, 14, 19, 26, 58, 60, 55],
        [14, 13, 16, 24, 40, 57, 69, 56],
        [14, 17, 22, 29, 51, 87, 80, 62],
        [18, 22, 37, 56, 68, 109, 103, 77],
        [24, 35, 55, 64, 81, 104, 113, 92],
        [49, 64, 78, 87, 103, 121, 120, 101],
        [72, 92, 95, 98, 112, 100, 103, 99],
    ]
)


@pytest.mark.parametrize("quality", [50, 80, 95])
def test_a_file_of_eight_records_and_eight_variables(quality: int) -> None:
    """The size of the example of Torra (2013): cosine transform, quantisation and back, by ITU-T T.81 and SciPy."""
    original = np.random.default_rng(0).uniform(size=(8, 8)) * 10.0 ** np.arange(8)
    lowest, ranges = original.min(axis=0), np.ptp(original, axis=0)
    shades = np.rint((original - lowest) / ranges * 255)
    steps = np.clip((LUMINANCE * (200 - 2 * quality) + 50) // 100, 1, 255)
    expected = np.clip(idctn(np.rint(dctn(shades - 128, norm="ortho") / steps) * steps, norm="ortho") + 128, 0, 255)
    found = (compressed(original, quality) - lowest) / ranges * 255
    assert found == pytest.approx(expected, abs=1.5)


@given(n=st.integers(1, 60), d=st.integers(1, 20), seed=st.integers(0, 1000), offset=st.sampled_from([1e9, -1e-9]))
def test_far_from_zero_values_stay_within_their_column_and_constants_stay(
    n: int, d: int, seed: int, offset: float
) -> None:
    original = np.random.default_rng(seed).lognormal(size=(n, d)) + offset
    original[:, 0] = 0.1
    masked = compressed(original, 50)
    assert ((masked >= original.min(axis=0)) & (masked <= original.max(axis=0))).all()
    assert (masked[:, 0] == 0.1).all()


def test_less_quality_is_more_masking() -> None:
    original = np.random.default_rng(0).normal(size=(1000, 6))
    errors = [np.abs(compressed(original, quality) - original).mean() for quality in (95, 80, 40, 10, 1)]
    assert errors == sorted(errors)
    assert errors[0] < 0.1
    assert errors[-1] > 0.3


def test_a_long_file_is_what_one_image_would_be() -> None:
    """20,000 records still fit one image; 70,000 do not."""
    rng = np.random.default_rng(0)
    shades = rng.integers(0, 256, size=(20_000, 5)).astype(np.uint8)
    shades[:2] = [[0], [255]]
    file = BytesIO()
    Image.fromarray(shades).save(file, format="JPEG", quality=80)
    assert compressed(shades.astype(float), 80) == pytest.approx(np.asarray(Image.open(file), dtype=float))
    long = rng.normal(size=(70_000, 3))
    masked = compressed(long, 80)
    assert masked.shape == long.shape
    assert np.corrcoef(masked[:, 1], long[:, 1])[0, 1] > 0.9


def test_a_range_too_wide_for_numbers_is_refused() -> None:
    with golden.raises(PlanError):
        compressed(np.array([[-1.7e308], [1.7e308]]), 80)
