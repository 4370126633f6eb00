import pandas as pd

from sluice.ground.errors import DataError
from sluice.risk.attacks.released_column import is_released, released_column
from tests.golden import golden

FRAME = pd.DataFrame({"age": [1.0], "area=north": [0.3], "area=south": [0.7], "areal": [2.0]})


def test_a_column_as_itself_and_as_a_distribution():
    assert released_column(FRAME, "age").tolist() == [1.0]
    area = released_column(FRAME, "area")
    assert area.to_dict("list") == {"north": [0.3], "south": [0.7]}
    assert [is_released(FRAME, name) for name in ("age", "area", "areal", "are", "income")] == [
        True, True, True, False, False,
    ]  # fmt: skip


def test_a_column_that_is_not_released_is_refused():
    golden.refused(DataError, released_column, FRAME, "income")
