"""Copies and duplicates: counted by hand and by pandas, and told from what chance and nature make."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.risk.reference.copies import count_copies, exact_copies, unexplained_duplicates
from sluice.risk.row_groups import row_groups


def table(frame):
    return [frame[column].to_numpy() for column in frame]


def pairs(original, released):
    return ((original[column].to_numpy(), released[column].to_numpy()) for column in original)


def test_exact_copies_by_hand():
    original = pd.DataFrame({"a": [1.0, 1.0, 2.0, np.nan], "b": ["x", "x", "y", "y"]}).astype({"b": object})
    released = pd.DataFrame({"a": [2.0, np.nan, 5.0], "b": ["y", "y", "x"]}).astype({"b": object})
    in_release, in_reference = exact_copies(pairs(original, released), 4, np.arange(4))
    assert in_release.tolist() == [False, False, True, True]  # a missing value equals a missing value
    assert in_reference.tolist() == [True, True, False, False]  # twins; nobody is a copy of himself
    # A reference of rows 1 to 3: row 0 still finds its twin there, row 1 does not find itself.
    assert exact_copies(pairs(original, released), 4, np.array([1, 2, 3]))[1].tolist() == [True, False] + [False] * 2


@given(seed=st.integers(0, 2**32), levels=st.integers(1, 6))
def test_exact_copies_agree_with_a_merge(seed, levels):
    # Independent implementation: pandas' merge with an indicator, and duplicated.
    rng = np.random.default_rng(seed)
    original = pd.DataFrame(rng.integers(0, levels, (50, 3)).astype(float), columns=list("abc"))
    released = pd.DataFrame(rng.integers(0, levels, (40, 3)).astype(float), columns=list("abc"))
    in_release, in_reference = exact_copies(pairs(original, released), 50, np.arange(50))
    merged = original.merge(released.drop_duplicates(), how="left", indicator=True)["_merge"] == "both"
    np.testing.assert_array_equal(in_release, merged)
    np.testing.assert_array_equal(in_reference, original.duplicated(keep=False))


def test_count_copies():
    found = np.arange(2000) < 20
    nobody = np.zeros(2000, bool)
    one_percent = count_copies(found, nobody)
    assert (one_percent.found, one_percent.expected) == (20, 0)
    assert one_percent.chance == pytest.approx(3 * np.sqrt(2) / 2000)
    assert one_percent.excess > 0.005
    # Twins that the reference has as well are nobody's risk, wherever they are ...
    assert count_copies(found, found).excess < 0
    assert count_copies(found, found[::-1]).excess < 0
    # ... and a file twice as large finds twice as many.
    assert count_copies(found, found, size_ratio=2.0).expected == pytest.approx(0.02)
    assert count_copies(~nobody, ~nobody, size_ratio=3.0).expected == 1


def test_chance_is_not_a_copy():
    # Two samples of one population of few values: the second must hardly ever count as a copy of the first.
    rng = np.random.default_rng(5)
    weights = rng.dirichlet(np.full(3000, 0.3))
    beyond = 0
    for _ in range(50):
        original, released = rng.choice(3000, (2, 1500), p=weights)
        found, natural = exact_copies([(original, released)], 1500, np.arange(1500))
        assert 0.3 < natural.mean() < 0.99
        beyond += count_copies(found, natural).excess > 0
    assert beyond <= 2


def multiplicities(frame):
    return row_groups(table(frame)).size


def adult(reference_data):
    frame = pd.read_csv(reference_data / "adult" / "adult.data.gz", header=None, skipinitialspace=True)
    return frame.drop(columns=2).sample(8000, random_state=1)  # without the survey weight, which is nearly unique


@pytest.mark.parametrize(
    ("columns", "twins"), [(None, 0.07), ([1, 3, 5, 6, 7, 8, 9, 14], 0.74), ([0, 8, 9, 14], 0.97), ([8, 9], 1.0)]
)
def test_natural_duplicates_are_explained(reference_data, columns, twins):
    frame = adult(reference_data)
    found = unexplained_duplicates(multiplicities(frame if columns is None else frame[columns]))
    assert found.share == pytest.approx(twins, abs=0.03)
    assert not found.unexplained


MANY_TWINS = [1, 3, 4, 5, 6, 7, 8, 9, 11, 12, 14]  # of these columns half the records have a natural twin


@pytest.mark.parametrize(("columns", "share"), [(None, 1.0), (None, 0.2), (MANY_TWINS, 1.0), (MANY_TWINS, 0.5)])
def test_doubled_persons_are_not(reference_data, share, columns):
    frame = adult(reference_data)
    frame = frame if columns is None else frame[columns]
    doubled = pd.concat([frame, frame.head(int(share * len(frame)))])
    assert unexplained_duplicates(multiplicities(doubled)).unexplained


def test_doubling_on_top_of_natural_duplicates(reference_data):
    # Four columns: nearly everybody has a natural twin. Doubled, every record stands an even number of times.
    frame = adult(reference_data)[[0, 8, 9, 14]]
    assert unexplained_duplicates(multiplicities(pd.concat([frame, frame]))).unexplained
    assert unexplained_duplicates(multiplicities(pd.concat([frame] * 3))).unexplained


@given(seed=st.integers(0, 2**32), cells=st.integers(1, 20_000), skew=st.floats(0.05, 20))
def test_independent_persons_are_never_accused(seed, cells, skew):
    # Any distribution over any number of cells: the inequality holds for all of them.
    rng = np.random.default_rng(seed)
    counts = np.bincount(rng.choice(cells, 3000, p=rng.dirichlet(np.full(cells, skew))))
    assert not unexplained_duplicates(counts[counts > 0]).unexplained


def test_extremes_of_multiplicity():
    assert not unexplained_duplicates(np.array([1])).unexplained
    assert unexplained_duplicates(np.array([5000])).share == 1
    assert not unexplained_duplicates(np.array([5000])).unexplained  # one value only: all are alike by nature
    assert not unexplained_duplicates(np.ones(5000, int)).unexplained
    assert unexplained_duplicates(np.full(1000, 2)).unexplained
