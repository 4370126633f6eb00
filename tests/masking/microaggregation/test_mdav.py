"""The groups of MDAV, compared with the definition. Published figures on Census: tests/published/test_xiong_mdav.py."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.errors import PlanError
from sluice.masking.microaggregation.mdav import mdav_groups


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
