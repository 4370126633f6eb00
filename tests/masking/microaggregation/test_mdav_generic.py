"""MDAV-generic, beside the definition written out in plain Python."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import PlanError
from sluice.masking.microaggregation.microaggregation import generic_groups, mdav_groups
from sluice.masking.microaggregation.representatives import NUMBER, Scale

SCALES = [NUMBER, *(Scale("ordinal", n) for n in (1, 2, 3, 7)), *(Scale("nominal", n) for n in (1, 2, 5))]


def distance(a: Sequence[float], b: Sequence[float], scales: Sequence[Scale]) -> float:
    """Squared, column by column, as in Xiong (CS573 slides), "MDAV-generic for categorical attributes"."""
    total = 0.0
    for of_a, of_b, scale in zip(a, b, scales, strict=True):
        if scale.kind == "nominal":
            total += 0.0 if of_a == of_b else 1.0
        else:
            apart = (of_a - of_b) / max(1, scale.categories)
            total += apart * apart
    return total


def average(records: list[list[float]], scales: Sequence[Scale]) -> list[float]:
    """Mean, lower median, first mode."""
    result = []
    for scale, values in zip(scales, zip(*records, strict=True), strict=True):
        if scale.kind == "number":
            result.append(math.fsum(values) / len(values))
        elif scale.kind == "ordinal":
            result.append(sorted(values)[(len(values) - 1) // 2])
        else:
            result.append(min(set(values), key=lambda value: (-values.count(value), value)))
    return result


def naive_groups(records: list[list[float]], scales: Sequence[Scale], k: int) -> list[int]:
    groups, left, number = [-1] * len(records), list(range(len(records))), 0
    while len(left) >= 2 * k:
        point = average([records[record] for record in left], scales)
        for _ in range(2 if len(left) >= 3 * k else 1):
            seed = max(left, key=lambda record: (distance(records[record], point, scales), -record))
            point = records[seed]
            others = sorted((r for r in left if r != seed), key=lambda r: (distance(records[r], point, scales), r))
            group = {seed, *others[: k - 1]}
            left = [record for record in left if record not in group]
            for record in group:
                groups[record] = number
            number += 1
    return [number if group < 0 else group for group in groups]


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 120),
    scales=st.lists(st.sampled_from(SCALES), min_size=1, max_size=5),
    k=st.integers(1, 7),
)
def test_groups_are_those_of_the_definition(seed: int, n: int, scales: list[Scale], k: int) -> None:
    rng = np.random.default_rng(seed)
    columns = [
        rng.integers(0, scale.categories, n) if scale.categories else rng.normal(size=n).round(1) for scale in scales
    ]
    records = np.column_stack(columns).astype(float)
    if n < k:
        with pytest.raises(PlanError, match=f"at least k = {k} records; there are {n}"):
            generic_groups(records, scales, k)
        return
    groups = generic_groups(records, scales, k)
    assert groups.tolist() == naive_groups(records.tolist(), scales, k)
    counts = np.bincount(groups)
    assert counts.min() >= k
    assert counts.max() <= 2 * k - 1


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(7, 400), k=st.integers(1, 7), decimals=st.sampled_from([0, 1, 15]))
def test_on_numbers_alone_the_groups_are_those_of_mdav(seed: int, n: int, k: int, decimals: int) -> None:
    records = np.random.default_rng(seed).normal(size=(n, 3)).round(decimals)
    assert generic_groups(records, [NUMBER] * 3, k).tolist() == mdav_groups(records, k).tolist()


def test_the_distances_of_the_slides() -> None:
    """|D| = 4: two categories apart are 2/4, another nominal category is 1, whatever the codes say."""
    four, nominal = Scale("ordinal", 4), Scale("nominal", 9)
    assert distance([3, 0], [1, 0], [four, nominal]) == 0.25
    assert distance([1, 8], [1, 7], [four, nominal]) == 1.0
    # The median position is 0 and the farthest from it 3; its neighbour is position 2, but for the nominal column.
    assert generic_groups(np.array([[0.0], [0], [2], [3]]), [four], 2).tolist() == [1, 1, 0, 0]
    records = np.array([[0.0, 5], [0, 4], [2, 4], [3, 5]])
    for second in (NUMBER, nominal):
        assert generic_groups(records, [four, second], 2).tolist() == [0, 1, 1, 0]
