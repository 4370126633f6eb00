from pathlib import Path

import pandas as pd
import pytest

import sluice
from sluice.errors import DataError
from tests.golden import golden
from tests.risk.attacks.adult_with_control import adult_with_control


@pytest.mark.parametrize(
    ("mode", "main", "control"), [("univariate", 0.3358, 0.0848), ("multivariate", 0.3316, 0.2340)]
)
def test_as_often_right_as_anonymeter(reference_data: Path, mode: str, main: float, control: float) -> None:
    """anonymeter 1.1.0 on the same 3,000 records each; see tests/risk/attacks/test_singling_out.py."""
    (original, released, others), _ = adult_with_control(reference_data, 3000)
    found = sluice.singling_out(original, released, others, mode=mode, attacks=1000, seed=0)  # type: ignore[arg-type]
    assert found.success == pytest.approx(main, abs=0.04)
    assert found.control == pytest.approx(control, abs=0.04)
    assert found.informative
    assert found.risk_interval[0] < found.risk < found.risk_interval[1]
    assert found.success_interval[0] < found.success < found.success_interval[1]
    assert found.guesses == 1000
    again = sluice.singling_out(original, released, others, mode=mode, attacks=1000, seed=0)  # type: ignore[arg-type]
    assert again.figures.equals(found.figures)


def test_a_plan_is_followed_for_the_original_and_for_the_control(fair: pd.DataFrame) -> None:
    control = fair.sample(2000, random_state=1)
    original = fair.drop(control.index)
    masked = sluice.mask(original, {"method": "rounding", "columns": ["age"], "base": 10}, seed=1)
    found = sluice.singling_out(original, masked, control, attacks=500, seed=1)
    assert 0 <= found.control <= 1
    assert found.risk > 0  # all but the ages stand in it as they were


def test_refusals(fair: pd.DataFrame) -> None:
    golden.refused(DataError, sluice.singling_out, fair, fair, fair, attacks=10)
    golden.refused(DataError, sluice.singling_out, fair, fair, fair, mode="univariat")
    golden.refused(DataError, sluice.singling_out, fair, fair, fair.drop(columns="age"))
    golden.refused(DataError, sluice.singling_out, fair, fair, fair, columns=["agee"])
    golden.refused(DataError, sluice.singling_out, fair, fair[["age"]].rename(columns={"age": "years"}), fair)
