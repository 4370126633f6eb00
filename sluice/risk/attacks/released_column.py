"""Released column: a variable as it stands in a file, as itself or as a distribution over its labels."""

from typing import Any

import pandas as pd

from sluice.ground.errors import DataError


def released_column(frame: pd.DataFrame, name: str) -> "pd.Series[Any] | pd.DataFrame":
    """The column of this name; or, where a distribution is released ('area=north', 'area=south', ... of probabilities),
    its columns, named by their labels.

    raises : DataError when the file has neither
    """
    if name in frame:
        return frame[name]
    parts = [column for column in frame if str(column).startswith(f"{name}=")]
    if not parts:
        raise DataError(f"the released file has no column '{name}', nor a distribution '{name}=...' over its labels")
    return frame[parts].rename(columns=lambda column: str(column).removeprefix(f"{name}="))


def is_released(frame: pd.DataFrame, name: str) -> bool:
    """Whether `released_column` would find it."""
    return name in frame or any(str(column).startswith(f"{name}=") for column in frame)
