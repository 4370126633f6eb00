import numpy as np
import pandas as pd
import pytest

from sluice.ground.errors import DataError
from sluice.publication.pattern_file import Pattern
from sluice.tabular.model.dimension import Dimension
from tasks.workbench.known_bounds import known_bounds
from tests.golden import golden

DIMENSIONS = [Dimension.flat("a", ["x", "y"]), Dimension.flat("b", ["z"])]


def table(decimals: int, total: str = "") -> Pattern:
    """The cells (Total, Total), (x, Total) and (x, z)."""
    value = np.array([int(total or 0), 0, 0])
    has = np.array([bool(total), False, False])
    codes = np.array([[0, 0], [1, 0], [1, 1]], dtype=np.int32)
    return Pattern(tuple(DIMENSIONS), codes, np.full(3, 1, dtype=np.uint8), value, has, decimals, False)


def rows(*given: tuple[str, str, str, str]) -> pd.DataFrame:
    return pd.DataFrame(given, columns=["a", "b", "lower", "upper"], dtype="str")


def test_ends_are_whole_units_inside_the_bounds() -> None:
    lower, upper = known_bounds(rows(("x", "z", "0.11", "0.29"), ("Total", "Total", "", "5")), table(1))
    assert lower.tolist() == [-np.inf, -np.inf, 2]
    assert upper.tolist() == [50, np.inf, 2]
    lower, upper = known_bounds(rows(("x", "z", "0.3", "0.3")), table(1))  # 0.3 * 10 is not quite 3
    assert (lower[2], upper[2]) == (3, 3)
    assert known_bounds(rows(), table(0))[0].tolist() == [-np.inf] * 3


@pytest.mark.parametrize(
    "given",
    [
        rows(("X", "z", "", "")),
        rows(("y", "z", "1", "")),
        rows(("x", "z", "1", ""), ("x", "z", "", "2")),
        rows(("x", "z", "1,5", "")),
        rows(("x", "Total", "", ""), ("x", "z", "1,5", "")),
        rows(("Total", "Total", "8", "")),
        rows(("x", "z", "5", "4")),
        rows(("x", "z", "4.2", "4.8")),
        rows().drop(columns="upper"),
    ],
)
def test_what_cannot_be_known(given: pd.DataFrame) -> None:
    golden.refused(DataError, known_bounds, given, table(0, "7"))
