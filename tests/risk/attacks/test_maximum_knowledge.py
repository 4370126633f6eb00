"""The maximum-knowledge attack. Yamazoe and Omote (2021) print figures (Tables 5 and 6) that do not follow from its
text: not checked.
"""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ks_2samp

from sluice.ground.divergence import divergence
from sluice.ground.errors import DataError
from sluice.ground.variables import Kind, Variable
from sluice.risk.attacks.maximum_knowledge import common_space, compared, of_attribute, of_records
from tests.golden import golden

COLUMNS = [slice(0, 1), slice(1, 2), slice(2, 3)]


def correlated(n, seed):
    """Three columns that go together, so that scrambling them destroys something."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 1)) * 2 + rng.normal(size=(n, 3)) * 0.5


def rng():
    return np.random.default_rng(7)


def test_comparisons_agree_with_scipy_and_with_a_count_by_hand():
    distance, scrambled = np.random.default_rng(1).exponential(size=(2, 200))
    expected = ks_2samp(distance, scrambled, alternative="greater").statistic
    assert compared("closer", distance, scrambled) == pytest.approx(expected)
    # Two different distances, so two bins: (3, 1) against (1, 3), and half a case more in each.
    few = np.array([0.0, 0.0, 0.0, 1.0]), np.array([0.0, 1.0, 1.0, 1.0])
    assert compared("closer", *few) == pytest.approx(0.5)
    assert compared("kullback_leibler", *few) == pytest.approx(
        divergence("kullback_leibler", np.array([3.5, 1.5]), np.array([1.5, 3.5]))
    )


def test_a_small_attack_followed_by_hand():
    # Original and masked (0,0), (9,9): in a scrambled copy either nothing moves or both records come to (0,9), (9,0).
    points = np.array([[0.0, 0.0], [9.0, 9.0]])
    found = of_records(points, points, [slice(0, 1), slice(1, 2)], rng(), copies=50)
    assert found.distance.tolist() == [0, 0]
    assert set(map(tuple, found.scrambled.tolist())) == {(0.0, 0.0), (9.0, 9.0)}


def test_verbatim_noise_and_strangers_in_this_order():
    original, draws = correlated(600, 1), rng()
    scrambled = np.column_stack([draws.permutation(column) for column in original.T])
    values = [
        of_records(original, masked, COLUMNS, rng()).measurement.value
        for masked in (original, original + np.random.default_rng(2).normal(size=original.shape), scrambled)
    ]
    assert values[0] > 0.9
    assert values[0] > values[1] > values[2]
    assert values[2] < 0.1
    attribute = [
        of_attribute(original, masked, COLUMNS[2], rng()).measurement.value
        for masked in (original, np.column_stack([original[:, :2], scrambled[:, 2]]))
    ]
    assert attribute[0] > 0.5
    assert attribute[1] < 0.1


def test_attributes_are_permuted_as_a_whole():
    # Two dummy columns of one attribute: permuted together, no record ever has both or neither.
    dummies = np.repeat([[1.0, -1.0], [-1.0, 1.0]], 20, axis=0)
    found = of_records(dummies, dummies, [slice(0, 2)], rng())
    assert found.scrambled.max() == 0
    assert found.measurement.value == 0


def test_a_sample_widens_the_interval():
    original = correlated(2000, 3)
    masked = original + np.random.default_rng(4).normal(size=original.shape) * 2
    whole = of_records(original, masked, COLUMNS, rng()).measurement
    sample = of_records(original, masked, COLUMNS, rng(), records=100).measurement
    assert whole.completed == 2000
    assert np.diff(sample.interval) > np.diff(whole.interval)


def test_extremes():
    one = np.zeros((1, 2))
    assert of_records(one, one, [slice(0, 1), slice(1, 2)], rng()).measurement.value == 0  # one record
    constant = np.ones((30, 2))
    assert of_attribute(constant, constant, slice(0, 1), rng()).measurement.value == 0


def test_equal_nearest_records_share_the_link():
    # By the known column all records are one; 1 in 4 of them has the value 1. Linking is then no better than chance.
    masked = np.column_stack([np.zeros(400), np.repeat([1.0, 0.0], [100, 300])])
    found = of_attribute(masked, masked, slice(1, 2), rng())
    assert found.measurement.value < 0.1
    assert found.by_chance < 0.1
    assert np.mean(found.distance == 0) == pytest.approx(0.25**2 + 0.75**2, abs=0.08)


def test_typed_files_in_one_space():
    variables = {
        "age": Variable(name="age", kind=Kind.CONTINUOUS),
        "sex": Variable(name="sex", kind=Kind.BINARY, categories=("f", "m")),
        "name": Variable(name="name", kind=Kind.TEXT),
    }
    frame = pd.DataFrame(
        {"age": [1.0, 3.0], "sex": pd.Categorical(["f", "m"], categories=["f", "m"]), "name": ["x", "y"]}
    )
    space = common_space(frame, frame, frame.iloc[:1], variables, variables)
    assert space.columns == {"age": slice(0, 1), "sex": slice(1, 2)}
    assert (space.original.shape, space.masked.shape, space.unread) == ((2, 2), (1, 2), 0)
    np.testing.assert_array_equal(space.original[:1], space.masked)


def test_refusals():
    points = np.zeros((3, 2))
    golden.refused(DataError, of_records, points, points, [slice(0, 1)], rng(), copies=1)
    golden.refused(DataError, of_records, points, points[:0], [slice(0, 1)], rng())
    golden.refused(DataError, of_attribute, points, points, slice(0, 2), rng())
