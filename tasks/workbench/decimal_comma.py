"""Numbers with a decimal comma, outside any release, where a document would say which sign it is."""

import re
from collections.abc import Sequence

import pandas as pd

_WITH_COMMA = re.compile(r"[+-]?[0-9]*(,[0-9]+)?")
_SURELY = re.compile(r"[+-]?([0-9]*,([0-9]{1,2}|[0-9]{4,})|0?,[0-9]+|[0-9]{4,},[0-9]+)")


def with_points(frame: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """The frame with points before the decimals of those columns of text in which commas certainly stand before them.

    A comma before three digits may stand between thousands. So at least one number of the column must have another
    count of decimals, or too many digits before them, and none may have a point or two commas; otherwise the column is
    left as it is, and refused by whoever reads numbers.
    """
    changed = {}
    for name in columns:
        if name not in frame or pd.api.types.is_numeric_dtype(frame[name].dtype):
            continue
        texts = [str(each) for each in frame[name].dropna().unique() if "," in str(each) or "." in str(each)]
        if any(map(_SURELY.fullmatch, texts)) and all(map(_WITH_COMMA.fullmatch, texts)):
            changed[name] = frame[name].str.replace(",", ".", regex=False)
    return frame.assign(**changed)
