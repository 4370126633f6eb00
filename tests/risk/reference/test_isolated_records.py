"""Isolated records: found under noise, not found where none are; other people are no finding."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.risk.reference.isolated_records import isolated_records


def lognormal(n, seed):
    """Eight amounts that rise together, with a few very large ones."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(n, 2)) @ np.random.default_rng(1).normal(size=(2, 8))
    values = np.exp(1.4 * common + 0.8 * rng.normal(size=(n, 8)))
    return np.asarray(values / values.std(axis=0))


def measure(original, released, holdout=None, share=0.05, seed=0):
    rows = np.arange(len(original))
    return isolated_records(original, released, holdout, rows, share, np.random.default_rng(seed))


def test_people_of_the_far_tail_stay_near_their_own_record():
    original = lognormal(4000, 1)
    noise = np.random.default_rng(2).normal(size=original.shape) * 0.3
    found = measure(original, original + noise, share=0.01)
    assert (found.records, found.excess > 0.2) == (100, True)
    # The fewer are called isolated, the more of them are found.
    assert found.found / 100 > measure(original, original + noise, share=0.1).found / 400


def test_records_of_others_around_the_isolated_betray_nobody():
    rng = np.random.default_rng(6)
    original, rows = rng.normal(0, 0.1, (2000, 2)), np.arange(2000)
    original[:100] = rng.uniform(-50, 50, (100, 2))

    def found(noise, paired):
        released = original + rng.normal(0, noise, original.shape)
        return isolated_records(original, released, None, rows, 0.05, np.random.default_rng(1), paired=paired)

    assert found(25, paired=False).excess > 0.1  # somebody's record is near
    assert found(25, paired=True).excess < 0
    assert found(0.3, paired=True).excess > 0.5


def test_by_definition():
    # Independent computation: all distances at once, and scipy's nearest of each half as the function draws them.
    original, released = lognormal(300, 3), lognormal(300, 4)
    holdout = lognormal(300, 5)
    found = measure(original, released, holdout, share=0.4)
    halves = np.random.default_rng(0).permutation(300)
    lexicographic = np.lexsort(holdout.T[::-1])[halves]
    one, other = holdout[lexicographic[:150]], holdout[lexicographic[150:]]

    def nearest(points):
        return np.sqrt(((original[:, None] - points) ** 2).sum(axis=2)).min(axis=1)

    apart = nearest(one)
    isolated = np.argsort(-apart)[:120]
    assert found.records == 120
    assert found.found == (nearest(released) < apart / 4)[isolated].sum()
    assert found.expected == pytest.approx(2 * (nearest(other) < apart / 4)[isolated].mean())


@given(seed=st.integers(0, 2**32), heavy=st.booleans(), held=st.booleans())
def test_other_people_are_no_finding(seed, heavy, held):
    rng = np.random.default_rng(seed)
    files = rng.normal(size=(3, 800, 3))
    original, released, holdout = np.exp(1.5 * files) if heavy else files
    found = measure(original, released, holdout if held else None)
    assert found.excess <= 0.1  # what the standard allows when no policy says otherwise


def test_nobody_is_isolated_where_all_have_twins():
    twins = np.repeat(np.random.default_rng(6).integers(0, 2, (8, 3)).astype(float), 50, axis=0)
    assert measure(twins, twins) is None


def test_too_few_records_have_no_halves():
    assert measure(np.zeros((3, 2)), np.zeros((3, 2))) is None
    assert measure(np.eye(2), np.eye(2)) is None


def test_a_file_of_other_variables_is_refused():
    with pytest.raises(ValueError, match="shape"):
        measure(lognormal(50, 1), np.zeros((50, 3)))
