"""A key's levels come from its hierarchy, and are nested."""

import numpy as np
import pytest

from sluice.generalization.lattice.key import Key
from sluice.ground.errors import DataError
from sluice.ground.hierarchy import Hierarchy
from tests.golden import golden

REGIONS = Hierarchy(rows={"oslo": ("east", "all"), "bergen": ("west", "all"), "drammen": ("east", "all")})


def test_levels_number_the_groups_of_the_hierarchy() -> None:
    key = Key.of("region", ["drammen", "bergen", "oslo"], REGIONS)
    assert key.levels.tolist() == [[0, 1, 2], [0, 1, 0], [0, 0, 0]]
    assert (key.depth, key.values) == (2, 3)
    assert [leaves.tolist() for leaves in key.leaves] == [[1, 1, 1], [2, 1], [3]]
    assert key.step(1, 2).tolist() == [0, 0]


def test_a_missing_value_stays_alone_at_every_level() -> None:
    key = Key.of("region", ["drammen", "bergen", "oslo"], REGIONS, missing=True)
    assert key.levels.tolist() == [[0, 1, 2, 3], [0, 1, 0, 2], [0, 0, 0, 1]]
    assert (key.missing, key.values) == (3, 3)


def test_without_a_hierarchy_a_value_is_told_or_not() -> None:
    assert Key.of("sex", ["f", "m"]).levels.tolist() == [[0, 1], [0, 0]]


@pytest.mark.parametrize(
    ("levels", "missing", "weight"),
    [
        (np.zeros((0, 2)), None, 1.0),
        (np.array([[1, 0]]), None, 1.0),
        (np.array([[0, 1, 2], [0, 0, 1], [0, 1, 1]]), None, 1.0),
        (np.array([[0, 1], [0, 0]]), 1, 1.0),
        (np.array([[0, 1]]), None, -1.0),
    ],
    ids=["empty", "not numbered in order", "not nested", "missing not alone", "negative weight"],
)
def test_what_is_no_key_is_refused(levels: np.ndarray, missing: int | None, weight: float) -> None:
    with golden.raises(DataError):
        Key("region", levels, missing, weight)


def test_a_category_that_the_hierarchy_lacks_is_counted_and_not_named() -> None:
    with golden.raises(DataError):
        Key.of("region", ["oslo", "tromso"], REGIONS)
