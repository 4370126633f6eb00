"""Microaggregation by MDAV: the groups. What all methods of microaggregation share is in test_microaggregation.py, the
published figures on Census are in tests/published/test_xiong_mdav.py.
"""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from sluice.errors import PlanError
from sluice.masking.microaggregation.mdav import Microaggregation, mdav_groups
from sluice.variables import Kind, Variable


def naive_groups(records: np.ndarray, k: int) -> np.ndarray:
    """MDAV by its definition: scan all records at every step. Columns one after the other, centroid by exact sums."""
    groups = np.full(len(records), -1)
    left = list(range(len(records)))
    number = 0

    def distance(record: int, point: np.ndarray) -> float:
        total = 0.0
        for a, b in zip(records[record], point, strict=True):
            total += (a - b) * (a - b)
        return total

    while len(left) >= 2 * k:
        centroid = np.array([math.fsum(records[left, j]) / len(left) for j in range(records.shape[1])])
        seed = max(left, key=lambda record: (distance(record, centroid), -record))
        for side in range(2 if len(left) >= 3 * k else 1):
            if side == 1:
                seed = max(left, key=lambda record: (distance(record, records[seed]), -record))
            others = sorted((r for r in left if r != seed), key=lambda r: (distance(r, records[seed]), r))
            group = [seed, *others[: k - 1]]
            groups[group] = number
            number += 1
            left = [record for record in left if record not in group]
    groups[left] = number
    return groups


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 160),
    d=st.integers(1, 5),
    k=st.integers(1, 7),
    law=st.sampled_from(["normal", "few values", "one value", "far off", "outlier"]),
)
def test_groups_are_those_of_the_definition(seed: int, n: int, d: int, k: int, law: str) -> None:
    rng = np.random.default_rng(seed)
    records = rng.normal(size=(n, d))
    if law == "few values":
        records = rng.integers(0, 3, size=(n, d)).astype(float)
    elif law == "one value":
        records = np.full((n, d), 0.1)
    elif law == "far off":
        records += 1e9
    elif law == "outlier":
        records[0] = 1e12
    if n < k:
        with pytest.raises(PlanError, match=f"at least k = {k} records; there are {n}"):
            mdav_groups(records, k)
        return
    groups = mdav_groups(records, k)
    assert groups.tolist() == naive_groups(records, k).tolist()
    sizes = np.bincount(groups)
    assert sizes.min() >= k
    assert sizes.max() <= 2 * k - 1


@pytest.mark.parametrize("columns", [2, 10])
def test_groups_are_those_of_the_definition_over_many_blocks(columns: int) -> None:
    """Enough records for wide boxes and for rebuilding; half of them duplicated, so that there are ties."""
    rng = np.random.default_rng(columns)
    factors = rng.normal(size=(700, 2)) @ rng.normal(size=(2, columns)) + 0.3 * rng.normal(size=(700, columns))
    records = np.round(np.vstack([factors, factors]), 1)
    assert mdav_groups(records, 5).tolist() == naive_groups(records, 5).tolist()


def test_the_order_of_the_records_does_not_matter_without_ties() -> None:
    records = np.random.default_rng(3).normal(size=(400, 3))
    order = np.random.default_rng(4).permutation(400)
    assert (mdav_groups(records, 4)[order] == mdav_groups(records[order], 4)).all()


def test_groups_of_one_and_of_all() -> None:
    records = np.random.default_rng(1).normal(size=(11, 2))
    assert sorted(mdav_groups(records, 1)) == list(range(11))
    assert mdav_groups(records, 11).tolist() == [0] * 11
    assert np.bincount(mdav_groups(records, 5)).tolist() == [5, 6]


# --- the step -------------------------------------------------------------------------------------------------------

COLUMNS = ("x", "y", "z")
VARIABLES = {name: Variable(name=name, kind=Kind.CONTINUOUS) for name in COLUMNS}


def numbers(n: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(rng.normal(size=(n, 3)) @ rng.normal(size=(3, 3)), columns=list(COLUMNS))


def information_lost(frame: pd.DataFrame, masked: pd.DataFrame) -> float:
    """Sum of squared errors over the total sum of squares, of standardised columns."""
    return float(((frame - masked) ** 2).sum().div(((frame - frame.mean()) ** 2).sum()).mean())


def test_the_step_takes_the_groups_of_standardised_numbers() -> None:
    frame = numbers(60)
    groups = mdav_groups(((frame - frame.mean()) / frame.std()).to_numpy(), 4)
    masked = Microaggregation(columns=COLUMNS, k=4).mask(frame, VARIABLES, np.random.default_rng(0))
    pd.testing.assert_frame_equal(masked, frame.groupby(groups).transform("mean"))


def test_numbers_far_apart_in_scale() -> None:
    frame = pd.DataFrame({"x": [0.0, 1e100, 1.0, 1e100 * (1 + 1e-9)], "y": [1e-200, 3e-200, 2e-200, 4e-200]})
    masked = Microaggregation(columns=("x", "y"), k=2).mask(frame, VARIABLES, np.random.default_rng(0))
    assert masked["x"].to_list() == [0.5, 1e100 * (1 + 5e-10), 0.5, 1e100 * (1 + 5e-10)]
    assert masked["y"].to_list() == pytest.approx([1.5e-200, 3.5e-200, 1.5e-200, 3.5e-200])


def test_blocks_lose_little_and_hold_groups_of_k() -> None:
    frame = numbers(2000)
    exact = Microaggregation(columns=COLUMNS, k=3).mask(frame, VARIABLES, np.random.default_rng(0))
    blocks = Microaggregation(columns=COLUMNS, k=3, block_size=200).mask(frame, VARIABLES, np.random.default_rng(0))
    assert blocks.groupby(list(COLUMNS)).size().min() >= 3
    assert information_lost(frame, exact) < information_lost(frame, blocks) < 1.5 * information_lost(frame, exact)


def test_fewer_records_than_two_blocks_are_grouped_exactly() -> None:
    frame = numbers(99)
    exact = Microaggregation(columns=COLUMNS, k=3).mask(frame, VARIABLES, np.random.default_rng(0))
    blocks = Microaggregation(columns=COLUMNS, k=3, block_size=50).mask(frame, VARIABLES, np.random.default_rng(0))
    pd.testing.assert_frame_equal(exact, blocks)


def test_refusals() -> None:
    with pytest.raises(ValidationError, match=r"block_size of microaggregation on 'x' must be at least k = 5; got 4\."):
        Microaggregation(columns=("x",), k=5, block_size=4)
    dates = {"x": Variable(name="x", kind=Kind.DATE)}
    with pytest.raises(PlanError, match=r"microaggregation on 'x' takes .*nominal, binary; it is date"):
        Microaggregation(columns=("x",), k=3).released(dates)
