"""What a measure may say."""

import pandas as pd

from sluice.ground.errors import DataError
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.model.measure import Measure
from sluice.tabular.model.numbered_records import records_of
from tests.golden import golden

FLAT = Dimension.flat("a", ["x", "y", "z"])


def frame(**columns: list[object]) -> pd.DataFrame:
    return pd.DataFrame(columns)


def test_a_measure_that_is_none() -> None:
    for wrong in (
        {"negative": "ignore"},
        {"weight": "w"},
        {"weight_rule": "argus"},
        {"duplicates": "refuse"},
        {"decimals": 7},
    ):
        with golden.raises(DataError):
            Measure(**wrong)  # type: ignore[arg-type]
    with golden.raises(DataError):
        records_of(frame(a=["x"], value=[1]), [FLAT], Measure("valu"))


def test_what_a_cell_is_a_number_of() -> None:
    assert Measure("value", contributor="firm").counts is None
    assert Measure().counts == "contributors"
    assert Measure(contributor="person").counts == "records"
    assert Measure(weight="w", weight_rule="argus").counts == "records"
