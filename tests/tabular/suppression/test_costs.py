"""What suppressing a cell costs, by name."""

from typing import Any

import numpy as np
import pytest

from sluice.ground.errors import DataError
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.suppression.costs import COSTS, costs
from tests.golden import golden

CELLS = aggregate(
    [Dimension.flat("a", ["a0", "a1"])],
    np.array([[1], [1], [2]], np.int32),
    np.array([1, 2, 3]),
    np.array([4, 3, 0]),
)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("cells", [1, 1, 1]),
        ("value", [7, 7, 0]),
        ("contributors", [3, 2, 1]),
        ("scaled_information", [np.log(8), np.log(8), 0]),
    ],
)
def test_by_hand(name: str, expected: list[float]) -> None:
    assert costs(CELLS, name).tolist() == pytest.approx(expected)
    assert name in COSTS


def test_weights_multiply() -> None:
    assert costs(CELLS, "value", np.array([1.0, 2.0, 3.0])).tolist() == [7, 14, 0]


@pytest.mark.parametrize("asked", [("values",), ("value", np.ones(2)), ("value", np.array([1.0, np.nan, 1.0]))])
def test_refusals(asked: tuple[Any, ...]) -> None:
    with golden.raises(DataError):
        costs(CELLS, *asked)
