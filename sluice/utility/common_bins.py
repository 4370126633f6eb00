"""Common bins: original and masked values of a variable counted on the same bins, whatever the masking made of them.

Compared with the original as it was, not with the recoded one: that is how recoding, suppression and the removal of a
variable come to count as loss. What a released value says is taken as its reader can take it: a number for itself, a
group for all original values that it may stand for, each as likely as another; and a missing value for a missing one,
as are all values of a variable that was removed.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from sluice.arrays import FloatArray, IntArray
from sluice.errors import DataError
from sluice.risk.coding import plain_values
from sluice.utility.divergence import interval_edges
from sluice.variables import NAMES, Kind, Variables

_LEFT_OUT = (Kind.TEXT, Kind.ITEMS)  # they are not compared value by value


@dataclass(frozen=True)
class CommonBins:
    """One variable of two files. The last bin is for missing values, whether there are any or not.

    original : (n,) the bin of each original value, 0..bins-1
    masked   : (m,) the code of each masked value, 0..codes-1: what was released, which may lie in several bins
    spread   : (codes, bins) the share of a code in each bin, as its reader takes it; every row adds up to 1
    labels   : what the bins are called. Of categories that the contract does not declare they are values of the data
    """

    name: str
    original: IntArray
    masked: IntArray
    spread: FloatArray
    labels: tuple[str, ...]

    @property
    def bins(self) -> int:
        """How many, the one for missing values included."""
        return len(self.labels)

    @property
    def codes(self) -> int:
        """How many values were released, a missing one and those that occur nowhere included."""
        return len(self.spread)


def common_bins(
    original: pd.DataFrame,
    recoded: pd.DataFrame,
    masked: pd.DataFrame,
    variables: Variables,
    released: Variables,
    most: int = 20,
) -> tuple[CommonBins, ...]:
    """Every variable of the original that tells something by single values: no names, texts or sets of items.

    original, variables : length n, typed
    recoded             : length n, row i the record of `original`'s row i after the recodings alone; which original
                          values a released group may stand for is read off the two. A variable that it lacks was not
                          recoded
    masked, released    : length m, typed; any records in any order
    most                : numbers and dates fall into at most so many intervals of about equal shares of the original,
                          and of more categories than that the most frequent are bins of their own
    raises              : DataError if the original and the recoded file differ in length
    cost                : O(n log n + m) a variable
    """
    if len(original) != len(recoded):
        raise DataError(f"the recoded file must hold the original's records; got {len(recoded)} for {len(original)}.")
    return tuple(_binned(original, recoded, masked, variables, released, most))


def _binned(
    original: pd.DataFrame,
    recoded: pd.DataFrame,
    masked: pd.DataFrame,
    variables: Variables,
    released: Variables,
    most: int,
) -> Iterator[CommonBins]:
    for name, variable in variables.items():
        if variable.role in NAMES or variable.kind in _LEFT_OUT:
            continue
        values = plain_values(original[name])
        bin_of, labels = _bins(values, variable.kind.is_categorical, most)
        bins = bin_of(values)
        missing = len(labels) - 1
        if name not in released:
            spread = np.zeros((1, missing + 1))
            spread[0, missing] = 1
            yield CommonBins(name, bins, np.zeros(len(masked), dtype=np.int64), spread, labels)
            continue
        after = plain_values(masked[name])
        before = plain_values(recoded[name]) if name in recoded else values
        if all(column.dtype.kind == "f" for column in (values, before, after)):
            yield CommonBins(name, bins, bin_of(after), np.eye(missing + 1), labels)
            continue
        codes, groups = pd.factorize(after)
        codes = np.where(codes < 0, len(groups), codes)
        spread = _spread(values, bins, before, np.asarray(groups), missing)
        yield CommonBins(name, bins, codes.astype(np.int64), spread, labels)


class _BinOf:
    """The bin of each value of a column: an interval of numbers, a frequent category, or the last for a missing one."""

    def __init__(self, edges: FloatArray | None, categories: "pd.Index[Any]", others: bool) -> None:
        self._edges, self._categories, self._others = edges, categories, others

    def __call__(self, values: npt.NDArray[Any]) -> IntArray:
        if self._edges is not None:
            found = np.searchsorted(self._edges, values, "right").astype(np.int64)
            return np.where(np.isnan(values), len(self._edges) + 1, found)
        size = len(self._categories)
        codes, distinct = pd.factorize(values)
        place = self._categories.get_indexer(pd.Index(distinct))
        place = np.where(place < 0, size, place)  # of the others, or one that the original does not have
        return np.where(codes < 0, size + self._others, np.append(place, 0)[codes]).astype(np.int64)


def _bins(values: npt.NDArray[Any], categorical: bool, most: int) -> tuple[_BinOf, tuple[str, ...]]:
    if not categorical and values.dtype.kind == "f":
        present = values[~np.isnan(values)]
        edges = interval_edges(present, most) if len(present) else np.zeros(0)
        return _BinOf(edges, pd.Index([]), False), (*(str(place + 1) for place in range(len(edges) + 1)), "missing")
    frequency = pd.Series(values).value_counts()
    others = len(frequency) > most
    categories = frequency.index[: most - 1] if others else frequency.index
    return _BinOf(None, categories, others), (*map(str, categories), *(["all others"] if others else []), "missing")


def _spread(
    values: npt.NDArray[Any], bins: IntArray, recoded: npt.NDArray[Any], groups: npt.NDArray[Any], missing: int
) -> FloatArray:
    """(groups + 1, bins): of each released group the distinct original values behind it, shared out among their bins.

    A group behind which no original value stands may be any value. The last row is that of a missing value.
    """
    spread = np.zeros((len(groups) + 1, missing + 1))
    spread[-1, missing] = 1
    code, distinct = pd.factorize(values)
    group = pd.Index(groups).get_indexer(pd.Index(recoded))
    behind = (group >= 0) & (code >= 0)
    bin_of_value = np.zeros(len(distinct), dtype=np.int64)
    bin_of_value[code[code >= 0]] = bins[code >= 0]
    pairs = np.unique(group[behind].astype(np.int64) * max(len(distinct), 1) + code[behind])
    np.add.at(spread, (pairs // max(len(distinct), 1), bin_of_value[pairs % max(len(distinct), 1)]), 1.0)
    unknown = spread.sum(axis=1) == 0
    spread[unknown, :missing] = 1.0
    spread[:, missing] += spread.sum(axis=1) == 0  # the original has no value at all
    return np.asarray(spread / spread.sum(axis=1, keepdims=True))
