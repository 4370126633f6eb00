"""Categories: where the values of a categorical column stand among its categories."""

from typing import Any, cast

import numpy as np
import pandas as pd

from sluice.ground.arrays import Codes


def codes_of(column: "pd.Series[Any]") -> Codes:
    """The place of each value's category, shape (n,), -1 where missing: what the column holds, not to be written to.

    `column.cat.codes` would copy them.
    """
    return np.asarray(cast(pd.Categorical, column.array).codes)
