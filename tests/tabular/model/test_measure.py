"""What a measure may say."""

import pandas as pd
import pytest

from sluice.errors import DataError
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.model.measure import Measure
from sluice.tabular.model.records import records_of

FLAT = Dimension.flat("a", ["x", "y", "z"])


def frame(**columns: list[object]) -> pd.DataFrame:
    return pd.DataFrame(columns)


def test_a_measure_that_is_none() -> None:
    for wrong, says in (
        ({"negative": "ignore"}, "negative must be one of refuse, absolute; got 'ignore'"),
        ({"weight": "w"}, "weight 'w' needs a weight_rule"),
        ({"weight_rule": "argus"}, "weight_rule argus needs a weight"),
        ({"duplicates": "refuse"}, "duplicates can only be refused where a contributor is named"),
        ({"decimals": 7}, "decimals must be from 0 to 6; got 7"),
    ):
        with pytest.raises(DataError, match=says):
            Measure(**wrong)  # type: ignore[arg-type]
    with pytest.raises(DataError, match=r"the records have no column 'valu'. Did you mean 'value'\?"):
        records_of(frame(a=["x"], value=[1]), [FLAT], Measure("valu"))


def test_what_a_cell_is_a_number_of() -> None:
    assert Measure("value", contributor="firm").counts is None
    assert Measure().counts == "contributors"
    assert Measure(contributor="person").counts == "records"
    assert Measure(weight="w", weight_rule="argus").counts == "records"
