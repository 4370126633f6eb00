"""The canonical values of a batch: what expectations are computed on.

==============================  =================================================================
kind                            canonical column (missing value)
==============================  =================================================================
continuous, integer             a double (NaN)
ordinal, nominal, binary, items a category (NaN)
text                            text (None)
date                            a timestamp in UTC (NaT)
==============================  =================================================================

One column is added: `KEY_COUNT`, the most records that share one record key, the same in every row.
"""

from typing import Any

import numpy as np
import pandas as pd

from schemas.contract import Contract
from sluice.ground.errors import DataError
from sluice.ground.variables import Kind

KEY_COUNT = "most records with one record key"


def canonical_frame(contract: Contract, frame: pd.DataFrame) -> pd.DataFrame:
    """The canonical values of a typed frame: the same columns, in dtypes that Great Expectations can compare.

    A copy with a fresh index. Raises DataError when a column is not typed as the contract says.
    """
    columns: dict[str, Any] = {}
    for name, variable in contract.staged.items():
        if name not in frame:
            continue
        column = frame[name]
        if variable.kind.is_categorical and isinstance(column.dtype, pd.CategoricalDtype):
            columns[name] = column.array  # a byte or two a record, where texts would take sixteen and more
        elif not variable.kind.is_numeric and variable.kind is not Kind.DATE:
            columns[name] = column.astype(object).where(column.notna(), None).to_numpy()
        elif variable.kind is Kind.DATE and pd.api.types.is_datetime64_dtype(column.dtype):
            columns[name] = column.to_numpy()
        elif variable.kind.is_numeric and pd.api.types.is_numeric_dtype(column.dtype):
            columns[name] = column.to_numpy(dtype=float, na_value=np.nan)
        else:
            raise DataError(
                f"column '{name}' of a typed frame must hold {variable.kind} values; its dtype is {column.dtype}. "
                "Type the frame by its contract first."
            )
    values = pd.DataFrame(columns)
    if contract.record_key and set(contract.record_key) <= set(values):
        key = list(contract.record_key)
        values[KEY_COUNT] = values.groupby(key, dropna=False, sort=False, observed=True).size().max()
    return values
