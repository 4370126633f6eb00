"""Comparable values: typed columns as arrays in which equal values are equal, also those of two files.

A text takes eight bytes a record and is slow to compare; a code, the place of a value among the categories of its
column, takes one or two. A hash takes eight, and lets records be compared, and drawn for, without a look at any order.
"""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pandas as pd

from sluice.ground.arrays import BoolArray, Codes, IntArray

Hashes = npt.NDArray[np.uint64]

PlainArray = npt.NDArray[Any]

_MICROSECONDS_A_DAY = 86_400_000_000
_UNIQUE = 0.98  # distinct values as a share of the records: nearly every record has its own


def plain_values(column: "pd.Series[Any]") -> PlainArray:
    """A typed column as numbers (dates as days) or texts, shape (n,); missing is NaN."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        texts = np.append(np.asarray(column.cat.categories, dtype=object), np.nan)
        return texts[codes_of(column)]
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        days = column.to_numpy("datetime64[us]").astype(np.int64) / _MICROSECONDS_A_DAY
        return np.where(column.isna().to_numpy(), np.nan, days)
    if pd.api.types.is_numeric_dtype(column.dtype):
        return column.to_numpy(np.float64, na_value=np.nan)
    return column.to_numpy(object, na_value=np.nan)


def comparable_values(one: "pd.Series[Any]", other: "pd.Series[Any]") -> tuple[PlainArray, PlainArray]:
    """Both columns as `plain_values`, or as codes where both hold categories.

    returns : codes are unsigned, in the order of the labels of both files as texts; the largest of their type is a
              missing value
    cost    : O(n)
    """
    if not all(isinstance(column.dtype, pd.CategoricalDtype) for column in (one, other)):
        return plain_values(one), plain_values(other)
    labels = sorted({*one.cat.categories, *other.cat.categories})
    kind = next(kind for kind in (np.uint8, np.uint16, np.uint32) if len(labels) <= np.iinfo(kind).max)
    rank = {label: place for place, label in enumerate(labels)}

    def coded(column: "pd.Series[Any]") -> PlainArray:
        places = [*(rank[label] for label in column.cat.categories), np.iinfo(kind).max]
        return np.array(places, kind)[codes_of(column)]

    return coded(one), coded(other)


def is_missing(values: PlainArray) -> BoolArray:
    """Which values of such an array are missing, shape (n,)."""
    if values.dtype.kind == "u":
        return np.asarray(values == np.iinfo(values.dtype).max)
    return np.asarray(pd.isna(values))


def codes_of(column: "pd.Series[Any]") -> Codes:
    """The place of each value's category, shape (n,), -1 where missing: what the column holds, not to be written to.

    `column.cat.codes` would copy them.
    """
    return np.asarray(cast(pd.Categorical, column.array).codes)


def column_hashes(column: "pd.Series[Any]") -> Hashes:
    """A 64-bit number for each value, shape (n,): equal for equal values, of whatever dtype; missing is a value."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        labels = np.asarray([*map(str, column.cat.categories), "\0missing"], dtype=object)
        return pd.util.hash_array(labels, categorize=False)[codes_of(column)]
    values = plain_values(column)
    if values.dtype.kind == "f":
        return pd.util.hash_array(values + 0.0, categorize=False)
    return pd.util.hash_array(np.where(pd.isna(values), "\0missing", values).astype(object))


def scrambled(values: Hashes) -> Hashes:
    """The finalizer of SplitMix64 (Steele, Lea and Flood 2014): each bit of the input moves each of the output."""
    with np.errstate(over="ignore"):
        values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(values ^ (values >> np.uint64(31)))


def repeated(codes: Mapping[str, IntArray]) -> dict[str, str]:
    """For columns, the first one that tells the same of every record; keys of records are no such columns.

    codes : of each column the number of the value of each record, shape (n,)
    cost  : O(columns n log n); columns are compared by digests of their codes, numbered as they first occur
    """
    first: dict[bytes, str] = {}
    found = {}
    for name, each in codes.items():
        _, at, of = np.unique(each, return_index=True, return_inverse=True)
        if len(at) >= _UNIQUE * len(each):
            continue
        numbered = np.argsort(np.argsort(at))[of].astype(np.int64)
        earlier = first.setdefault(sha256(numbered.tobytes()).digest(), name)
        if earlier != name:
            found[name] = earlier
    return found
