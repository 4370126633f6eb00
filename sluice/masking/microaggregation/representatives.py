"""What stands for a group of records in each column, by its scale: mean, median, mode, or a member drawn at random.

Source: by kind of attribute: Xiong (CS573 slides), "Microaggregation/Clustering" (mean, median); Torra (2013),
"Discussion and summary (I)" (plurality rule).
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.random import Generator

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.variables import Kind, Variable


class Scale(NamedTuple):
    """What the values of a column mean: numbers, or the positions 0, 1, ... of its categories."""

    kind: Literal["number", "ordinal", "nominal"]
    categories: int = 0  # how many there are; 0 of a number


NUMBER = Scale("number")


def scale_of(column: pd.Series, variable: Variable) -> Scale:
    if variable.kind.is_numeric:
        return NUMBER
    return Scale("ordinal" if variable.kind is Kind.ORDINAL else "nominal", len(column.cat.categories))


Statistic = Literal["mean", "median", "mode", "random"]


def standardised(records: FloatArray, scales: Sequence[Scale] | None = None) -> FloatArray:
    """Each column with mean 0 and variance (n - 1) 1, a constant column as 0; NaN where missing. Shape (n, d).

    scales : one for each column; a column of categories is left as it is. None: all are numbers
    """
    columns = np.full(records.shape, np.nan)
    for column, values in enumerate(records.T):
        present = np.isfinite(values)
        known = values[present]
        if scales is not None and scales[column].categories:
            columns[:, column] = values
            continue
        constant = len(known) == 0 or known.min() == known.max()
        deviation = 0.0 if constant else known.std(ddof=1)  # 0 also where the squares are too small for a number
        columns[present, column] = (known - known.mean()) / deviation if deviation > 0 else 0.0
    return columns


def representatives(
    records: FloatArray, groups: IntArray, statistic: Statistic, scales: Sequence[Scale], rng: Generator
) -> FloatArray:
    """What stands for each record's group, by column. Shape (n, d).

    records : shape (n, d), finite
    groups  : shape (n,), numbered from 0 without a gap
    scales  : one for each column
    An ordinal column has no mean, it takes the lower median, a position that occurs in the group; a nominal one has
    neither, it takes the mode. Among equally frequent values the mode is drawn at random; `random` takes all columns
    from one record. A mean never leaves its group's range by rounding, so that bounds and constants are kept exactly.
    cost    : O(n d log n)
    """
    result = np.empty(records.shape)
    counts = np.bincount(groups)
    starts = np.cumsum(counts) - counts
    by_group = np.argsort(groups, kind="stable")
    if statistic == "random":
        drawn = starts + (rng.random(len(counts)) * counts).astype(np.int64)
        return np.asarray(records[by_group[drawn]][groups])
    for column, values in enumerate(records.T):
        kind = scales[column].kind
        if statistic == "mode" or kind == "nominal":
            chosen = _modes(values, groups, rng)
        elif statistic == "mean" and kind == "number":
            members = values[by_group]
            means = np.add.reduceat(members, starts) / counts
            chosen = np.clip(means, np.minimum.reduceat(members, starts), np.maximum.reduceat(members, starts))
        else:
            ranked = values[np.lexsort((values, groups))]
            lower, upper = ranked[starts + (counts - 1) // 2], ranked[starts + counts // 2]
            chosen = lower if kind == "ordinal" else lower + (upper - lower) / 2
        result[:, column] = chosen[groups]
    return result


def _modes(values: FloatArray, groups: IntArray, rng: Generator) -> FloatArray:
    """The most frequent value of each group, drawn among equals."""
    order = np.lexsort((values, groups))
    of_group, ranked = groups[order], values[order]
    first = np.ones(len(order), dtype=np.bool_)  # of a run of equal values in one group
    first[1:] = (of_group[1:] != of_group[:-1]) | (ranked[1:] != ranked[:-1])
    begins = np.flatnonzero(first)
    times = np.diff(np.append(begins, len(order)))
    best_last = np.lexsort((rng.random(len(begins)), times, of_group[begins]))
    ends = np.flatnonzero(np.diff(np.append(of_group[begins][best_last], groups.max() + 1)))
    return np.asarray(ranked[begins[best_last[ends]]])
