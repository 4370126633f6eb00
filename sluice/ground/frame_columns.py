"""Columns put into a frame, whatever they are called."""

from collections.abc import Mapping
from typing import Any

import pandas as pd


def with_columns(frame: pd.DataFrame, columns: Mapping[str, Any]) -> pd.DataFrame:
    """The frame with these columns in place of those of the same names, new ones last; the frame stays as it was.

    `DataFrame.assign` takes names as keywords, and so none that is called `self`.

    cost : O(columns); values are shared
    """
    changed = frame.copy(deep=False)
    for name, values in columns.items():
        changed[name] = values
    return changed
