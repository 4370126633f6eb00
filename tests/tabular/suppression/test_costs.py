"""What suppressing a cell costs, by name.

Noise on costs: only the secret and a cell's codes decide it.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from sluice.ground.errors import DataError
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.cells import Cells
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.suppression.costs import COSTS, SPREAD, costs, noisy_costs
from tests.golden import golden

SECRET = b"sixteen bytes at"

CELLS = aggregate(
    [Dimension.flat("a", ["a0", "a1"])], np.array([[1], [1], [2]], np.int32), np.array([1, 2, 3]), np.array([4, 3, 0])
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


def table(leaves: int = 2_000) -> Cells:
    dimension = Dimension.flat("a", [f"a{leaf}" for leaf in range(leaves)])
    return aggregate(
        [dimension], np.arange(1, leaves + 1)[:, None].astype(np.int32), np.arange(leaves), np.ones(leaves, int)
    )


def test_the_same_cell_has_the_same_noise_whatever_its_value() -> None:
    cells = table(20)
    more = replace(cells, total=cells.total * 7)
    ones = np.ones(len(cells))
    assert noisy_costs(cells, ones, SECRET).tolist() == noisy_costs(more, ones, SECRET).tolist()
    assert noisy_costs(cells, 3 * ones, SECRET).tolist() == (3 * noisy_costs(cells, ones, SECRET)).tolist()


def test_another_secret_is_another_noise() -> None:
    cells, ones = table(20), np.ones(21)
    assert not (noisy_costs(cells, ones, SECRET) == noisy_costs(cells, ones, b"another")).any()


def test_it_is_log_normal_and_leaves_0_free() -> None:
    cells = table()
    noise = np.log(noisy_costs(cells, np.ones(len(cells)), SECRET))
    assert abs(noise.mean()) < 4 * SPREAD / np.sqrt(len(noise))
    assert abs(noise.std() / SPREAD - 1) < 0.08
    assert (noisy_costs(cells, np.zeros(len(cells)), SECRET) == 0).all()
