import pandas as pd

import sluice
from sluice.ground.errors import DataError
from tests.golden import golden


def test_a_plan_is_followed_for_the_original_and_for_the_control(fair: pd.DataFrame) -> None:
    control = fair.sample(2000, random_state=1)
    original = fair.drop(control.index)
    masked = sluice.mask(original, {"method": "rounding", "columns": ["age"], "base": 10}, seed=1)
    found, again = (sluice.singling_out(original, masked, control, attacks=500, seed=1) for _ in range(2))
    assert 0 <= found.control <= 1
    assert found.risk > 0  # all but the ages stand in it as they were
    assert found.risk_interval[0] <= found.risk <= found.risk_interval[1]
    assert found.guesses == 500
    assert again.figures.equals(found.figures)


def test_refusals(fair: pd.DataFrame) -> None:
    golden.refused(DataError, sluice.singling_out, fair, fair, fair, attacks=10)
    golden.refused(DataError, sluice.singling_out, fair, fair, fair, mode="univariat")
    golden.refused(DataError, sluice.singling_out, fair, fair, fair.drop(columns="age"))
    golden.refused(DataError, sluice.singling_out, fair, fair, fair, columns=["agee"])
    golden.refused(DataError, sluice.singling_out, fair, fair[["age"]].rename(columns={"age": "years"}), fair)
