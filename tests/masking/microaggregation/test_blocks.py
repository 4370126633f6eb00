"""Blocks of similar records, by the first principal component."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.masking.microaggregation.blocks import blocks_of, first_principal_component, partition_by_blocks
from sluice.masking.microaggregation.representatives import NUMBER, Scale


@given(n=st.integers(1, 300), size=st.integers(1, 400), seed=st.integers(0, 1000))
def test_blocks_hold_every_record_once_in_the_order_of_the_projection(n: int, size: int, seed: int) -> None:
    projection = np.random.default_rng(seed).normal(size=n).round(1)
    blocks = blocks_of(projection, size)
    assert sorted(np.concatenate(blocks)) == list(range(n))
    lengths = [len(block) for block in blocks]
    if n < 2 * size:
        assert lengths == [n]
    else:
        assert size <= min(lengths) <= max(lengths) < 2 * size
    assert all((np.diff(block) > 0).all() for block in blocks)
    for block, following in pairwise(blocks):
        assert projection[block].max() <= projection[following].min()


def test_of_equal_projections_the_first_record_comes_first() -> None:
    assert [block.tolist() for block in blocks_of(np.array([1.0, 0, 1, 0, 1, 1]), 2)] == [[1, 3], [0, 2], [4, 5]]


@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_the_component_is_that_of_the_singular_value_decomposition(offset: float) -> None:
    records = np.random.default_rng(0).normal(size=(200, 4)) @ np.random.default_rng(1).normal(size=(4, 4)) + offset
    centred = records - records.mean(axis=0)
    left, values, axes = np.linalg.svd(centred, full_matrices=False)
    expected = left[:, 0] * values[0] * np.sign(axes[0][np.abs(axes[0]).argmax()])
    assert first_principal_component(records) == pytest.approx(expected, abs=1e-6)


def test_categories_have_the_coordinates_of_the_distances_of_mdav_generic() -> None:
    """A number, an ordinal of 4 and a nominal of 3, beside a decomposition of the coordinates written out."""
    rng = np.random.default_rng(2)
    records = np.column_stack([rng.normal(size=100), rng.integers(0, 4, 100), rng.integers(0, 3, 100)])
    indicators = (records[:, [2]] == [0, 1, 2]) * np.sqrt(0.5)
    coordinates = np.column_stack([records[:, 0], records[:, 1] / 4, indicators])
    first, second = coordinates[:50], coordinates[50:]
    distances = (records[:50, 0] - records[50:, 0]) ** 2 + ((records[:50, 1] - records[50:, 1]) / 4) ** 2
    assert ((first - second) ** 2).sum(axis=1) == pytest.approx(distances + (records[:50, 2] != records[50:, 2]))
    found, expected = (
        first_principal_component(records, [NUMBER, Scale("ordinal", 4), Scale("nominal", 3)]),
        first_principal_component(coordinates),
    )
    assert np.abs(np.corrcoef(found, expected)[0, 1]) == pytest.approx(1)
    assert found.std() == pytest.approx(expected.std())


def test_nominal_columns_alone_have_a_component_that_keeps_equal_records_together() -> None:
    records = np.repeat(np.array([[0.0, 1], [2, 0], [1, 1], [0, 0]]), 5, axis=0)
    found = first_principal_component(records, [Scale("nominal", 3), Scale("nominal", 2)])
    assert found.reshape(4, 5).std(axis=1) == pytest.approx(np.zeros(4), abs=1e-12)
    assert len(np.unique(found.round(9))) == 4


def test_constants_and_one_record_have_the_component_zero() -> None:
    assert first_principal_component(np.full((5, 2), 3.0)).tolist() == [0.0] * 5
    assert first_principal_component(np.array([[1.0, 2.0]])).tolist() == [0.0]


def test_groups_of_blocks_are_numbered_on() -> None:
    blocks = [np.array([0, 3, 4]), np.array([1, 2])]
    groups = partition_by_blocks(5, blocks, lambda rows: np.arange(len(rows)) // 2)
    assert groups.tolist() == [0, 2, 2, 0, 1]
