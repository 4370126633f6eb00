"""Near records: windows as by comparing all pairs, and the columns by which units are told apart."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.risk.attacks.near_records import (
    Event,
    Near,
    ReleasedColumn,
    combined_columns,
    event_sets,
    pairs_of_two_units,
    pairs_of_units,
)

UNITS = np.repeat(np.arange(200), 3)
RNG = np.random.default_rng(3)


def column(name, values):
    values = np.asarray(values)
    labels = np.unique(values, return_inverse=True)[1]
    return ReleasedColumn(name, labels, values if values.dtype.kind == "f" else None)


def telling(*columns):
    """Names of the columns of the sets by which records are near."""
    rng = np.random.default_rng(5)
    same, different = pairs_of_units(np.arange(200), UNITS, rng), pairs_of_two_units(UNITS, rng)
    every = [*columns, *combined_columns(columns, same, different)]
    return [{every[event.column].name for event in each} for each in event_sets(every, same, different, UNITS, rng)]


numbers = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 20), st.integers(0, 20)), min_size=1, max_size=30)


@given(numbers, st.integers(0, 5))
def test_near_is_what_comparing_all_pairs_finds(rows, within):
    label, one, other = (np.array(each, np.float64) for each in zip(*rows, strict=True))
    columns = [column("label", label.astype(int)), column("one", one), column("other", other)]
    near = Near.of(columns, (Event(0), Event(1, float(within)), Event(2, 2.0)))
    expected = (
        (label[:, None] == label) & (np.abs(one[:, None] - one) <= within) & (np.abs(other[:, None] - other) <= 2)
    )
    every = np.arange(len(rows))
    assert (near.are_near(every[:, None], every[None, :]) == expected).all()
    assert (near.sizes(every) == expected.sum(axis=1)).all()


def test_missing_numbers_are_near_each_other_alone():
    near = Near.of([column("a", np.array([np.nan, np.nan, 0.0, 5.0]))], (Event(0, 3.0),))
    assert near.sizes(np.arange(4)).tolist() == [2, 2, 1, 1]
    assert near.are_near(np.array([0, 0]), np.array([1, 2])).tolist() == [True, False]


def test_pairs_are_of_one_unit_and_of_two():
    same = pairs_of_units(np.arange(0, 200, 2), UNITS, np.random.default_rng(1))
    assert (same[:, 0] != same[:, 1]).all()
    assert (UNITS[same[:, 0]] == UNITS[same[:, 1]]).all()
    assert (UNITS[same] % 2 == 0).all()
    different = pairs_of_two_units(UNITS, np.random.default_rng(1))
    assert (UNITS[different[:, 0]] != UNITS[different[:, 1]]).all()


OWN = RNG.lognormal(3, 1, 600)
RATE = RNG.uniform(0.1, 1, 200)[UNITS]
PART = RNG.uniform(0, 1, 600)


@pytest.mark.parametrize(
    ("columns", "found"),
    [
        ([column("rent", np.round(RATE, 3)), column("own", OWN)], {"rent"}),
        ([column("rent", RATE + RNG.normal(0, 1e-4, 600)), column("own", OWN)], {"rent"}),
        ([column("pay", OWN), column("bonus", OWN * RATE)], {"pay and bonus"}),
        ([column("first", RATE * PART), column("second", RATE * (1 - PART)), column("own", OWN)], {"first and second"}),
        ([column(f"c{at}", RNG.integers(0, 7, 200)[UNITS]) for at in range(3)], {"c0", "c1", "c2"}),
    ],
    ids=["equal", "nearly equal", "ratio", "sum", "several together"],
)
def test_what_units_share_is_found(columns, found):
    assert found in telling(*columns)


def test_what_they_do_not_share_is_not():
    assert telling(column("own", OWN), column("label", RNG.integers(0, 5, 600))) == []
