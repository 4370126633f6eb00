"""Labels of intervals as other programs write them, read back: which number would have become which label.

ARX writes '[20, 30[' and '20-29', sdcMicro '(20,30]' and '[20,30)', Sluice 'under 20', '20 to 29', '30 and over'.
"""

import re
from collections.abc import Sequence
from math import inf

import numpy as np
import pandas as pd

_NUMBER = r"\s*(-?\d+(?:\.\d+)?|-?inf)\s*"
_BRACKETS = re.compile(rf"([\[\](]){_NUMBER}[,;]{_NUMBER}([\[\])])", re.IGNORECASE)
_RANGE = re.compile(rf"{_NUMBER}(?:-|–|to( under)?){_NUMBER}", re.IGNORECASE)
_OPEN = re.compile(rf"(under|<=?|>=?|≤|≥){_NUMBER}|{_NUMBER}(and over|and more|\+)", re.IGNORECASE)
_SINGLE = re.compile(_NUMBER)

_Interval = tuple[float, float, bool, bool]  # ends, and whether each belongs to it


def by_interval(column: pd.Series, labels: Sequence[str]) -> pd.Series | None:
    """Each number's label, missing where no label holds it; None unless all labels are intervals apart from each other.

    column  : numbers, any index
    labels  : of one masked variable
    returns : a categorical column with the same index
    cost    : O(n) a label
    """
    intervals = [_interval(label) for label in labels]
    if not intervals or any(each is None for each in intervals):
        return None
    values = column.to_numpy(np.float64, na_value=np.nan)
    held = np.zeros(len(values), np.int64)
    codes = np.full(len(values), -1)
    for code, (low, high, from_low, to_high) in enumerate(each for each in intervals if each is not None):
        inside = (values >= low if from_low else values > low) & (values <= high if to_high else values < high)
        held += inside
        codes[inside] = code
    if (held > 1).any() or not held.any():
        return None
    return pd.Series(pd.Categorical.from_codes(codes.tolist(), categories=pd.Index(labels)), index=column.index)


def _interval(label: str) -> _Interval | None:
    text = label.strip()
    if found := _BRACKETS.fullmatch(text):
        return float(found[2]), float(found[3]), found[1] == "[", found[4] == "]"
    if found := _RANGE.fullmatch(text):
        return float(found[1]), float(found[3]), True, not found[2]
    if found := _OPEN.fullmatch(text):
        if found[4]:
            return float(found[3]), inf, True, False
        end, sign = float(found[2]), found[1].lower()
        return (-inf, end, False, sign in ("<=", "≤")) if sign in ("under", "<", "<=", "≤") else (
            end, inf, sign in (">=", "≥"), False
        )  # fmt: skip
    if found := _SINGLE.fullmatch(text):
        return float(found[1]), float(found[1]), True, True
    return None
