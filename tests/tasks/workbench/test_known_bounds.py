import numpy as np
import pandas as pd
import pytest

from sluice.errors import DataError
from sluice.tabular.model.dimension import Dimension
from tasks.workbench.known_bounds import known_bounds

DIMENSIONS = [Dimension.flat("a", ["x", "y"]), Dimension.flat("b", ["z"])]
CODES = np.array([[0, 0], [1, 0], [1, 1]], dtype=np.int32)  # (Total, Total), (x, Total), (x, z)


def rows(*given: tuple[str, str, str, str]) -> pd.DataFrame:
    return pd.DataFrame(given, columns=["a", "b", "lower", "upper"], dtype="str")


def test_ends_are_whole_units_inside_the_bounds() -> None:
    lower, upper = known_bounds(rows(("x", "z", "0.11", "0.29"), ("Total", "Total", "", "5")), DIMENSIONS, CODES, 1)
    assert lower.tolist() == [-np.inf, -np.inf, 2]
    assert upper.tolist() == [50, np.inf, 2]
    lower, upper = known_bounds(rows(("x", "z", "0.3", "0.3")), DIMENSIONS, CODES, 1)  # 0.3 * 10 is not quite 3
    assert (lower[2], upper[2]) == (3, 3)
    assert known_bounds(rows(), DIMENSIONS, CODES, 0)[0].tolist() == [-np.inf] * 3


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (rows(("X", "z", "", "")), "name 'X', which is no code of 'a'"),
        (rows(("y", "z", "1", "")), "name a y, b z, which is not in the table"),
        (rows(("x", "z", "1", ""), ("x", "z", "", "2")), "name a x, b z twice"),
        (rows(("x", "z", "1,5", "")), "'lower' must be a number"),
        (rows(("x", "z", "5", "4")), "of a x, b z leave no value of 0 decimals between them"),
        (rows(("x", "z", "4.2", "4.8")), "of a x, b z leave no value of 0 decimals between them"),
        (rows().drop(columns="upper"), "have no column 'upper'"),
    ],
)
def test_what_cannot_be_known(given: pd.DataFrame, says: str) -> None:
    with pytest.raises(DataError, match=says):
        known_bounds(given, DIMENSIONS, CODES, 0)
