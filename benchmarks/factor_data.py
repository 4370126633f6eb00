"""The data of several benchmarks: ten columns with three factors behind them, and noise."""

import numpy as np
import pandas as pd

COLUMNS = 10


def factor_data(records: int) -> pd.DataFrame:
    """Shape (records, 10); the same number of records gives the same values."""
    rng = np.random.default_rng(records)
    values = rng.normal(size=(records, 3)) @ rng.normal(size=(3, COLUMNS)) + 0.3 * rng.normal(size=(records, COLUMNS))
    return pd.DataFrame(values, columns=[f"x{number}" for number in range(COLUMNS)])
