"""Label centroids: where the original records lie that carry a released label, the best guess at each of them."""

from typing import Any

import numpy as np
import pandas as pd

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.categories import codes_of
from sluice.ground.comparable_values import plain_values
from sluice.risk.coded_points import ByCategory, CodedColumn, CodedPoints


def labels_in_order(column: "pd.Series[Any]") -> tuple[IntArray, "pd.Index[Any]"]:
    """Which of the different values each record has, -1 where it has none; and these, in the order of their coming."""
    if not isinstance(column.dtype, pd.CategoricalDtype):
        codes, values = pd.factorize(plain_values(column))
        return codes, pd.Index(values)
    held = codes_of(column)
    came = pd.unique(held[held >= 0])
    place = np.full(len(column.cat.categories) + 1, -1)
    place[came] = np.arange(len(came))
    return place[held], pd.Index(np.asarray(column.cat.categories, dtype=object)[came])


def label_centroids(
    coded: CodedColumn, records: int, codes: IntArray, labels: int, ordered: bool
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Where the records of each label lie, (labels, width); all records; and those without a label, both (width,).

    ordered : the first coordinate's middle is its median

    One coordinate at a time, as all of them would take much memory; to the bit as all of them together.
    """
    counts = None if ordered else _whole_coordinates(coded, codes, labels)
    if counts is not None:
        times, table = counts
        sums, held = times @ table, times.sum(axis=1)[:, None]
        none = sums[-1] / held[-1] if held[-1] else sums.sum(axis=0) / records
        return sums[:-1] / held[:-1], sums.sum(axis=0) / records, none
    by_label, overall, none = np.empty((labels, coded.width)), np.empty(coded.width), np.empty(coded.width)
    with_label = np.asarray(codes >= 0)
    every = bool(with_label.all())
    for j, column in enumerate(CodedPoints([coded], records).T):
        groups = pd.Series(column[with_label]).groupby(codes[with_label])
        by_label[:, j] = groups.median() if ordered and j == 0 else groups.mean()
        overall[j] = np.median(column) if ordered and j == 0 else _mean(column, coded.width)
        none[j] = overall[j] if every else _mean(column[~with_label], coded.width)
    return by_label, overall, none


def _whole_coordinates(coded: CodedColumn, codes: IntArray, labels: int) -> tuple[FloatArray, FloatArray] | None:
    """Of a category whose coordinates are whole numbers, sums of which are exact in any order: how many records of each
    label, and last of none, have each category, (labels + 1, categories); and the coordinates. None of any other."""
    if not isinstance(coded, ByCategory):
        return None
    categories = len(coded.table)
    pairs = np.where(codes < 0, labels, codes) * categories + np.where(coded.codes < 0, categories - 1, coded.codes)
    times = np.bincount(pairs, minlength=(labels + 1) * categories).reshape(labels + 1, categories)
    table = np.where(times.sum(axis=0)[:, None] > 0, coded.table, 0.0)
    return (times.astype(np.float64), table) if (table == np.rint(table)).all() else None


def _mean(column: FloatArray, beside: int) -> float:
    """The mean of one of several columns, to the bit that of all together: these are added up record by record."""
    return float(column.mean() if beside == 1 else np.cumsum(column)[-1] / len(column))
