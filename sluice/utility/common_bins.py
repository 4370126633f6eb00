"""Common bins: original and masked values of a variable counted on the same bins, whatever the masking made of them.

Compared with the original as it was, not with the recoded one: that is how recoding, suppression and the removal of a
variable come to count as loss. What a released value says is taken as its reader can take it: a number for itself, a
group for all original values that it may stand for, each as likely as another; a distribution over labels for these by
their shares; and a missing value for a missing one, as are all values of a variable that was removed.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from sluice.ground.arrays import Codes, FloatArray, IntArray, narrow
from sluice.ground.comparable_values import plain_values
from sluice.ground.divergence import interval_edges
from sluice.ground.errors import DataError
from sluice.ground.variables import NAMES, Kind, Variables
from sluice.risk.coding import released_as
from sluice.utility.distinct_values import DistinctValues, is_number

_LEFT_OUT = (Kind.TEXT, Kind.ITEMS)  # they are not compared value by value


@dataclass(frozen=True)
class CommonBins:
    """One variable of two files. The last bin is for missing values, whether there are any or not.

    original : (n,) the bin of each original value, 0..bins-1, in the smallest unsigned type that holds them
    masked   : (m,) likewise the code of each masked value, 0..codes-1: what was released, which may lie in several bins
    spread   : (codes, bins) the share of a code in each bin, as its reader takes it; every row adds up to 1
    labels   : what the bins are called. Of categories that the contract does not declare they are values of the data
    ordered  : the bins are intervals in rising order, but for the last one
    any_value : the codes that may stand for every value of the original, as a group called `*` does
    """

    name: str
    original: Codes
    masked: Codes
    spread: FloatArray
    labels: tuple[str, ...]
    ordered: bool = False
    any_value: tuple[int, ...] = ()

    @property
    def as_told(self) -> "CommonBins":
        """The same, where what may be any value is missing, and so is a variable of which one value alone was released.

        Either tells no more than a variable that was left out. Taken for an even distribution over all values it would
        count as far less of a loss, and whoever may not remove a variable would recode it to one group.
        """
        alike = len(self.masked) and bool((self.masked == self.masked[0]).all())
        lost = alike and bool((self.original != self.original[:1]).any())
        if not lost and not self.any_value:
            return self
        spread = self.spread.copy()
        spread[slice(None) if lost else [*self.any_value]] = np.eye(self.bins)[-1]
        return replace(self, spread=spread)

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
    recoded             : length n, row i the record of `original`'s row i after the recodings alone; which original
                          values a released group may stand for is read off the two. A variable that it lacks was not
                          recoded
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
        if is_number(before):
            values = plain_values(before)
            edges = _edges(values, most)
            bins = _interval_of(values, edges)
            labels: tuple[str, ...] = (*(str(place + 1) for place in range(len(edges) + 1)), "missing")
            known = None
        else:
            known = DistinctValues.of(before)
            bin_of_label, labels = _bins(known, most)
            bins = bin_of_label[known.codes]
        missing = len(labels) - 1
        if after is None:
            spread = np.zeros((1, missing + 1))
            spread[0, missing] = 1
            codes: Codes = np.zeros(len(masked), dtype=np.uint8)
            columns = released_as(name, variables, released) if known is not None else ()
            if known is not None and columns:
                shares = masked[list(columns)].to_numpy(np.float64, na_value=0.0)
                told_of = pd.Index([column.removeprefix(f"{name}=") for column in columns])
                codes, spread = _distributions(shares, known.distinct.get_indexer(told_of), bin_of_label, missing)
            yield CommonBins(name, bins, codes, spread, labels, known is None)
            continue
        between = recoded.get(name, before)
        if known is None and is_number(between) and is_number(after):
            own = np.eye(missing + 1)
            yield CommonBins(name, bins, _interval_of(plain_values(after), edges), own, labels, True)
            continue
        told = DistinctValues.of(after)
        behind = DistinctValues.of(before) if known is None else known
        spread, any_value = _spread(behind, bins, DistinctValues.of(between), told, missing)
        yield CommonBins(name, bins, told.codes, spread, labels, known is None, any_value)


def _distributions(shares: FloatArray, value: IntArray, bin_of_value: Codes, missing: int) -> tuple[Codes, FloatArray]:
    """(m,) a code for each distribution over labels that was released in place of a label, and the bins of each code.

    A record without any share has no value; a label that no original record has may be any value.
    """
    stands = np.zeros((shares.shape[1], missing + 1))
    stands[np.arange(len(value)), bin_of_value[value]] = 1
    stands[value < 0, :missing], stands[value < 0, missing] = 1 / max(missing, 1), 0
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


def _spread(
    known: DistinctValues, bins: Codes, recoded: DistinctValues, told: DistinctValues, missing: int
) -> tuple[FloatArray, tuple[int, ...]]:
    """(groups + 1, bins): of each released group the distinct original values behind it, shared out among their bins;
    and the groups that may be any of several values.

    A group behind which no original value stands may be any value. The last row is that of a missing value.
    """
    groups, values = len(told.distinct), len(known.distinct)
    spread = np.zeros((groups + 1, missing + 1))
    spread[-1, missing] = 1
    bin_of = np.zeros(values + 1, dtype=np.int64)
    bin_of[known.codes] = bins
    group_of = np.append(told.distinct.get_indexer(recoded.distinct), -1).astype(np.int64)
    label, value, _ = recoded.pairs(known)
    behind = (group_of[label] >= 0) & (value < values)
    np.add.at(spread, (group_of[label[behind]], bin_of[value[behind]]), 1.0)
    occurring, behind_it = np.count_nonzero(known.counts[:-1]), spread[:-1].sum(axis=1)
    several = occurring > 1
    any_value = tuple(np.flatnonzero((behind_it == 0) | (behind_it == occurring)).tolist()) if several else ()
    unknown = spread.sum(axis=1) == 0
    spread[unknown, :missing] = 1.0
    spread[:, missing] += spread.sum(axis=1) == 0  # the original has no value at all
    return np.asarray(spread / spread.sum(axis=1, keepdims=True)), any_value
