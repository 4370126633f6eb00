"""sluice.masking.recoding.derived."""

import numpy as np
import pandas as pd
import pytest

from sluice.ground.variables import Kind, Variable
from sluice.masking.plan import apply_plan, apply_recodings
from sluice.masking.recoding.derived import By, Derived
from sluice.masking.recoding.rounding import Rounding

VARIABLES = {
    "wage": Variable(name="wage", kind=Kind.INTEGER, minimum=0),
    "made": Variable(name="made", kind=Kind.CONTINUOUS, minimum=0, maximum=9),
}
FRAME = pd.DataFrame(
    {"wage": pd.array([100, 0, None, 4], dtype="Int64"), "made": [4.60517, np.nan, np.nan, 1.386294]},
    index=[7, 7, 2, 1],
)
RNG = np.random.default_rng(0)


def of(by: By, **fields: float) -> Derived:
    return Derived.model_validate({"columns": ("made",), "of": "wage", "by": by, **fields})


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (of("log", decimals=6), [4.60517, np.nan, np.nan, 1.386294]),
        (of("square"), [10000, 0, np.nan, 16]),
        (of("square_root"), [10, 0, np.nan, 2]),
        (of("linear", factor=-1, constant=2015), [1915, 2015, np.nan, 2011]),
        (of("exp", decimals=2), [2.688117141816135e43, 1, np.nan, 54.60]),
    ],
)
def test_it_is_computed_from_its_source(step: Derived, expected: list[float]) -> None:
    masked = step.mask(FRAME, VARIABLES, RNG)
    pd.testing.assert_series_equal(masked["made"], pd.Series(expected, index=FRAME.index, name="made"))
    pd.testing.assert_series_equal(masked["wage"], FRAME["wage"])


def test_the_original_is_compared_as_it_is_computed_from_the_recoded_source() -> None:
    plan = [Rounding(columns=("wage",), base=50), of("square")]
    masked, fitted = apply_plan(plan, FRAME, VARIABLES, np.random.SeedSequence(0))
    assert masked["made"].tolist()[:2] == [10000, 0]
    pd.testing.assert_frame_equal(apply_recodings(fitted, FRAME, VARIABLES), masked)
