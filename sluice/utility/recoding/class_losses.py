"""Class losses: what a file lost by its records being alike in their quasi-identifiers.

Sources: Bayardo and Agrawal (2005), section 2.3 (discernibility); LeFevre, DeWitt and Ramakrishnan (2006) (average
class size, which they divide by k); Iyengar (2002), section 3 (classification metric).
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from sluice.ground.arrays import BoolArray
from sluice.ground.errors import DataError
from sluice.risk.classes.equivalence_classes import classes_of


class ClassLosses(NamedTuple):
    """Of the classes of one file; higher is worse. NaN for a file without records.

    discernibility : pairs of records that are alike, each record with itself included; a suppressed record counts all n
    confusion      : the same by n^2, 0 to 1
    classes        : how many there are; the suppressed records are one
    average        : records over classes, 1 to n
    """

    discernibility: float
    confusion: float
    classes: int
    average: float


def class_losses(masked: pd.DataFrame, keys: list[str]) -> ClassLosses:
    """Discernibility and the average class size.

    masked : typed, n records. A missing value is a category, and a record without any key is suppressed
    keys   : the released quasi-identifiers, at least one
    raises : DataError without a key
    cost   : O(n) a key
    """
    _refuse_no_key(keys)
    n = len(masked)
    if not n:
        return ClassLosses(float("nan"), float("nan"), 0, float("nan"))
    classes = classes_of(masked, keys)
    sizes = classes.sizes.astype(np.float64)
    suppressed = int(_suppressed(masked, keys).sum())
    pairs = float((sizes**2).sum()) + suppressed * (n - suppressed)
    return ClassLosses(pairs, pairs / n**2, len(sizes), n / len(sizes))


def misclassified(masked: pd.DataFrame, keys: list[str], column: str) -> float:
    """The share of the records whose value is not the most frequent one of their class, 0 to 1; higher is worse.

    masked : typed, n records. A suppressed record is misclassified; a record without a value of `column` is left out.
             Where several values are equally frequent, one of them is the majority
    returns : NaN where no record has a value
    raises  : DataError without a key, or where the column is one
    cost    : a sort of the records
    """
    _refuse_no_key(keys)
    if column in keys:
        raise DataError(f"'{column}' is a quasi-identifier; records are classified by another variable.")
    known = masked[column].notna().to_numpy()
    file = masked[[*keys, column]] if known.all() else masked.loc[known, [*keys, column]]
    if not len(file):
        return float("nan")
    label = classes_of(file, keys).labels
    value = pd.factorize(file[column])[0]
    shown = ~_suppressed(file, keys)
    pairs, counts = np.unique(label[shown] * (int(value.max()) + 1) + value[shown], return_counts=True)
    majority = np.zeros(int(label.max()) + 1, dtype=np.int64)
    np.maximum.at(majority, pairs // (int(value.max()) + 1), counts)
    return float(1 - majority.sum() / len(file))


def _suppressed(masked: pd.DataFrame, keys: list[str]) -> BoolArray:
    return masked[keys].isna().all(axis=1).to_numpy(dtype=np.bool_)


def _refuse_no_key(keys: list[str]) -> None:
    if not keys:
        raise DataError("classes need at least one quasi-identifier; got none.")
