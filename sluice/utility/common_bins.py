"""Common bins: original and masked values of a variable counted on the same bins, whatever the masking made of them.

Compared with the original as it was, not with the recoded one: that is how recoding, suppression and the removal of a
variable come to count as loss. What a released value may stand for is said by `released_values`: a group lies in the
bins of its values by their shares, a number in its own, and a value that may be any is a missing one, as are all values
of a variable that was removed. A distribution over labels lies in their bins by its shares.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from sluice.ground.arrays import Codes, FloatArray, IntArray, narrow
from sluice.ground.comparable_values import plain_values
from sluice.ground.divergence import interval_edges
from sluice.ground.errors import DataError
from sluice.ground.released_values import (
    DistinctValues,
    ReleasedValues,
    at_face_value,
    is_number,
    labels_of,
    released_as,
)
from sluice.ground.variables import NAMES, Kind, Variables

_LEFT_OUT = (Kind.TEXT, Kind.ITEMS)  # they are not compared value by value
_BY_CHANCE = 9.0  # records with other values that a sample lacks no more often than once in some thousand times


@dataclass(frozen=True)
class CommonBins:
    """One variable of two files. The last bin is for missing values, whether there are any or not.

    original : (n,) the bin of each original value, 0..bins-1, in the smallest unsigned type that holds them
    masked   : (m,) likewise the code of each masked value, 0..codes-1: what was released, which may lie in several bins
    spread   : (codes, bins) the share of a code in each bin, as its reader takes it; every row adds up to 1
    labels   : what the bins are called. Of categories that the contract does not declare they are values of the data
    ordered  : the bins are intervals in rising order, but for the last one
    by_frequency : as `spread`, where a value of a group is as likely as it is frequent in the original; None: the same
    """

    name: str
    original: Codes
    masked: Codes
    spread: FloatArray
    labels: tuple[str, ...]
    ordered: bool = False
    by_frequency: FloatArray | None = None

    @property
    def likely(self) -> FloatArray:
        """(codes, bins): the share of a code in each bin, by the frequencies of the original."""
        return self.spread if self.by_frequency is None else self.by_frequency

    @property
    def lost_if_constant(self) -> "CommonBins":
        """The same, without any value where one alone was released of many.

        It tells no more than a variable that was left out, and whoever may not remove one would make it constant. But a
        sample may have one value alone because nearly all records do.
        """
        if not len(self.masked) or not len(self.original) or (self.masked != self.masked[0]).any():
            return self
        elsewhere = 1 - float((self.spread[self.masked[0]] > 0)[self.original].mean())
        if elsewhere * len(self.masked) <= _BY_CHANCE:
            return self
        return replace(self, spread=np.broadcast_to(np.eye(self.bins)[-1], self.spread.shape), by_frequency=None)

    @property
    def is_lost(self) -> bool:
        """Whether the masked file tells no value, though the original has some."""
        told = self.spread[np.unique(self.masked)]
        return bool(len(told)) and bool((told[:, -1] == 1).all() and (self.original != self.bins - 1).any())

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
    recoded             : length n, row i the record of `original`'s row i after the recodings alone. A variable that
                          it lacks was not recoded
    masked, released    : length m, typed; any records in any order
    most                : numbers and dates fall into at most so many intervals of about equal shares of the original.
                          Of more categories than that half of the bins are the most frequent, and the others fall
                          into the rest in their order, about equal shares of them: one bin for all of these would
                          hide that they were merged
    raises              : DataError if the original and the recoded file differ in length
    cost                : O(n log n + m) a variable, about 0.1 s for 1,000,000 records; a byte a value of either file is
                          kept where there are up to 256 bins and codes
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
        before, after = original[name], masked[name] if name in released else None
        edges = bin_of_label = None
        if is_number(before):
            values = plain_values(before)
            edges = _edges(values, most)
            bins = _interval_of(values, edges)
            labels: tuple[str, ...] = (*(str(place + 1) for place in range(len(edges) + 1)), "missing")
        else:
            known = DistinctValues.of(before)
            bin_of_label, labels = _bins(known, most)
            bins = bin_of_label[known.codes]
        missing = len(labels) - 1
        codes: Codes = np.zeros(len(masked), dtype=np.uint8)
        spread, by_frequency = np.eye(missing + 1)[missing:], None
        if after is None:
            columns = released_as(name, variables, released) if bin_of_label is not None else ()
            if columns and bin_of_label is not None:
                shares = masked[list(columns)].to_numpy(np.float64, na_value=0.0)
                told_of = pd.Index(labels_of(name, columns))
                codes, spread = _distributions(shares, known.distinct.get_indexer(told_of), bin_of_label, missing)
        elif edges is not None and at_face_value(before, after) and is_number(recoded.get(name, before)):
            codes, spread = _interval_of(plain_values(after), edges), np.eye(missing + 1)
        else:
            read = ReleasedValues.of(before, recoded.get(name), after, variable.hierarchy)
            codes, spread = read.told.codes, _spread(read, np.ones(len(read.weight)), bins, missing)
            by_frequency = None if read.is_single else _spread(read, read.weight, bins, missing)
        yield CommonBins(name, bins, codes, spread, labels, edges is not None, by_frequency)


def _spread(read: ReleasedValues, weight: FloatArray, bins: Codes, missing: int) -> FloatArray:
    """(codes, bins): the share of each released value in each bin; a value that no original record has lies in none."""
    bin_of = np.full(len(read.known.distinct) + 1, missing)
    bin_of[read.known.codes] = bins
    spread = np.zeros((len(read.counts), missing + 1))
    np.add.at(spread, (read.code, bin_of[read.value]), weight)
    spread[read.may_be_any] = np.eye(missing + 1)[missing]
    return np.asarray(spread / spread.sum(axis=1, keepdims=True))


def _distributions(shares: FloatArray, value: IntArray, bin_of_value: Codes, missing: int) -> tuple[Codes, FloatArray]:
    """(m,) a code for each distribution over labels that was released in place of a label, and the bins of each code.

    A record without any share has no value; a label that is no original value may be any, which is as good as none.
    """
    stands = np.zeros((shares.shape[1], missing + 1))
    stands[np.arange(len(value)), bin_of_value[value]] = 1
    stands[value < 0] = np.eye(missing + 1)[missing]
    rows = np.maximum(shares, 0.0) @ stands
    rows[rows.sum(axis=1) == 0, missing] = 1
    spread, codes = np.unique(rows / rows.sum(axis=1, keepdims=True), axis=0, return_inverse=True)
    return narrow(codes.ravel(), len(spread)), spread


def _edges(values: FloatArray, most: int) -> FloatArray:
    present = values[~np.isnan(values)]
    return interval_edges(present, most) if len(present) else np.zeros(0)


def _interval_of(values: FloatArray, edges: FloatArray) -> Codes:
    found = narrow(np.searchsorted(edges, values, "right"), len(edges) + 2)
    found[np.isnan(values)] = len(edges) + 1
    return found


def _bins(known: DistinctValues, most: int) -> tuple[Codes, tuple[str, ...]]:
    """The bin of each distinct value, and last of a missing one; and what the bins are called, most frequent first."""
    frequency = known.counts[:-1]
    order = np.argsort(-frequency, kind="stable")[: int(np.count_nonzero(frequency))]
    named = order[: most // 2] if len(order) > most else order
    pooled = np.sort(order[len(named) :])
    share = (np.cumsum(frequency[pooled]) - frequency[pooled] / 2) / max(1, frequency[pooled].sum())
    pools, pool = np.unique((share * (most - len(named))).astype(np.int64), return_inverse=True)
    missing = len(named) + len(pools)
    bin_of = np.full(len(known.distinct) + 1, missing - 1, dtype=np.int64)  # the last also of what nobody has
    bin_of[named] = np.arange(len(named))
    bin_of[pooled] = len(named) + pool
    bin_of[-1] = missing
    others = [f"all others {place}" for place in range(1, len(pools) + 1)]
    return narrow(bin_of, missing + 1), (*map(str, known.distinct[named]), *others, "missing")
