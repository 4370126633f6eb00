"""Released values: what each value of a masked file may stand for, answered once for every measure.

The original before any recoding, the same records after the recodings alone (which a reader knows from the published
plan) and the masked file are compared one variable at a time, by the first of these that says something:

1. A number or a date released for one is read at its face value, however it came about.
2. A value stands for the original values that were recoded to it.
3. A value to which nothing was recoded, and that is an original value itself, stands for itself.
4. A group of the variable's hierarchy stands for its leaves.
5. In a file whose recodings nobody knows, all other values together stand for what no released value stands for, where
   they are about as frequent: of four regions of which two are released, `other` is the other two.
6. Any other value may be any of them, and so may one behind which all of them stand, as behind `*`. Its reader learns
   as much from it as from a blank, so it is missing: a variable recoded to one group is lost, as a removed one is.

To its reader each value of a group is as likely as another, and so tables, means, queries, models and distances take
it: the file does not say more. A file of which each variable is in the groups *rarest value* and *any other* tells next
to nothing, and read by the original's frequencies its tables of pairs would look nearly right. Propensity scores alone,
which ask whether records can be told apart, take a value to be as likely as it is frequent in the original: shared out
evenly, half of a frequent value's records would seem to be of the rare one in its group, though none is.

Everything else is a view of this: bins (`common_bins`), the mean of a number (`continuous.released_numbers`), size,
width and bits of a group (`recoding.cell_losses`), sets of values for models and conditions on records. Where a value
lies for an intruder who measures distances is asked of the recodings alone, by the original's frequencies
(`risk.coding`).

A variable stands in a file as itself, or as a distribution over its labels: a column of probabilities for each, such as
'area=north' and 'area=south'.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import pandas as pd

from sluice.ground.arrays import BoolArray, Codes, FloatArray, IntArray, narrow
from sluice.ground.comparable_values import codes_of, plain_values
from sluice.ground.errors import DataError
from sluice.ground.hierarchy import Hierarchy
from sluice.ground.variables import Variables, as_label

_CHANCE = 3.0  # standard errors of a sample by which values may be more frequent than those that are left for them


def is_number(column: "pd.Series[Any]") -> bool:
    """Whether a typed column holds numbers or dates."""
    return pd.api.types.is_numeric_dtype(column.dtype) or pd.api.types.is_datetime64_any_dtype(column.dtype)


def at_face_value(before: "pd.Series[Any]", after: "pd.Series[Any]") -> bool:
    """Whether a released value is a number, or a date, for itself; typed columns of both files."""
    dates = [pd.api.types.is_datetime64_any_dtype(column.dtype) for column in (before, after)]
    return is_number(before) and is_number(after) and dates[0] == dates[1]


@dataclass(frozen=True)
class DistinctValues:
    """A column by its distinct values, some of which may occur nowhere: a byte or two a record where texts take eight.

    codes    : (n,) the place of each value in `distinct`, len(distinct) for a missing one
    distinct : categories in their order, other values in that of their appearance
    """

    codes: Codes
    distinct: "pd.Index[Any]"

    @classmethod
    def of(cls, column: "pd.Series[Any]") -> Self:
        """Of a typed column. Cost: O(n), for categories without looking at any text."""
        if isinstance(column.dtype, pd.CategoricalDtype):
            codes, distinct = codes_of(column), pd.Index(column.cat.categories)
        else:
            codes, found = pd.factorize(plain_values(column))
            distinct = pd.Index(found)
        places = narrow(np.arange(len(distinct) + 1), len(distinct) + 1)
        return cls(places[codes], distinct)  # the place -1 is the last one

    @cached_property
    def counts(self) -> IntArray:
        """(len(distinct) + 1,): the records of each value, and last of none."""
        return np.bincount(self.codes, minlength=len(self.distinct) + 1)

    def pairs(self, other: "DistinctValues") -> tuple[IntArray, IntArray, IntArray]:
        """The pairs of codes of this column and another that occur, in rising order, and the records of each.

        other : of the same records
        cost  : O(n) with 8 bytes a record, and a sort where far more pairs could occur than there are records
        """
        size = len(other.distinct) + 1
        pairs = self.codes.astype(np.int64)
        pairs *= size
        pairs += other.codes
        if (len(self.distinct) + 1) * size <= 4 * len(pairs):
            counts = np.bincount(pairs)
            found = np.flatnonzero(counts)
            counts = counts[found]
        else:
            found, counts = np.unique(pairs, return_counts=True)
        return found // size, found % size, counts


@dataclass(frozen=True)
class ReleasedValues:
    """What the values of one variable stand for.

    known    : the original's values, v of them
    told     : the masked file's, k of them; the code k is that of a missing one
    is_face  : values of rule 1, which need not be original ones. `code` and `value` tell what was recoded to each
    code, value : (pairs,) rising: each released value, and the places in `known` of those that it may stand for, v of
               a missing one. Of a value that may be any there is no pair
    weight   : (pairs,) how many original records have the value
    """

    known: DistinctValues
    told: DistinctValues
    is_face: bool
    code: IntArray
    value: IntArray
    weight: FloatArray

    @classmethod
    def of(
        cls,
        original: "pd.Series[Any]",
        recoded: "pd.Series[Any] | None",
        masked: "pd.Series[Any]",
        hierarchy: Hierarchy | None = None,
    ) -> Self:
        """original, recoded : length n, row by row the same records; None where the variable was not recoded
        masked : length m, any records in any order
        cost   : O(n + m), and a sort of the distinct values of numbers
        """
        known, told, face = DistinctValues.of(original), DistinctValues.of(masked), at_face_value(original, masked)
        between = known if recoded is None or recoded is original else DistinctValues.of(recoded)
        place = np.append(told.distinct.get_indexer(between.distinct), -1).astype(np.int64)
        label, value, counts = between.pairs(known)
        behind = (place[label] >= 0) & (value < len(known.distinct))
        parts = [(place[label[behind]], value[behind], counts[behind].astype(np.float64))]
        if not face:
            parts += _by_name(known, told, parts[0][0], hierarchy)
            parts += _by_elimination(known, told, parts)
        parts.append((np.array([len(told.distinct)]), np.array([len(known.distinct)]), np.ones(1)))
        code, value, weight = (np.concatenate(each) for each in zip(*parts, strict=True))
        order = np.lexsort((value, code))
        return cls(known, told, face, code[order], value[order], weight[order])

    @cached_property
    def counts(self) -> IntArray:
        """(k + 1,): how many values each may stand for; 0 where it may be any, or is read at its face value alone."""
        return np.bincount(self.code, minlength=len(self.told.distinct) + 1)

    @property
    def is_single(self) -> bool:
        """Whether each stands for one value, or may be any."""
        return bool((self.counts <= 1).all())

    @cached_property
    def start(self) -> IntArray:
        """(k + 1,): where the values of each begin in `value`."""
        return np.cumsum(self.counts) - self.counts

    @cached_property
    def occurring(self) -> int:
        """How many values the original has."""
        return int(np.count_nonzero(self.known.counts[:-1]))

    @cached_property
    def may_be_any(self) -> BoolArray:
        """(k + 1,): the released values that tell nothing: behind which nothing is known to stand, or all there is."""
        if self.is_face:
            return np.zeros(len(self.counts), dtype=np.bool_)
        held = np.bincount(self.code, self.known.counts[self.value] > 0, len(self.counts))
        every = (held == self.occurring) & (self.occurring > 1)
        return np.asarray((self.counts == 0) | (every & (np.arange(len(held)) < len(held) - 1)))

    @property
    def is_lost(self) -> bool:
        """Whether no released value tells anything of the variable, though the original has some."""
        tells = self.told.counts[:-1] > 0
        tells &= ~self.may_be_any[:-1]
        return self.occurring > 0 and len(self.told.codes) > 0 and not tells.any()

    def behind(self, code: int) -> IntArray:
        """The places in `known` of the values that a released one may stand for."""
        return self.value[self.start[code] : self.start[code] + self.counts[code]]

    def means(self, of_value: FloatArray) -> FloatArray:
        """(k + 1,): the mean of a number, shape (v,), over the values of each; NaN of a missing one, or any."""
        numbers = np.append(of_value, np.nan)
        with np.errstate(invalid="ignore"):
            found = np.bincount(self.code, numbers[self.value], len(self.counts)) / self.counts
        return np.asarray(np.where(self.may_be_any, np.nan, found))


_Pairs = tuple[IntArray, IntArray, FloatArray]


def _by_name(
    known: DistinctValues, told: DistinctValues, recoded: IntArray, hierarchy: Hierarchy | None
) -> list[_Pairs]:
    """Rules 3 and 4, of the released values that are not among `recoded`."""
    itself = known.distinct.get_indexer(told.distinct)
    alone = np.setdiff1d(np.flatnonzero(itself >= 0), recoded)
    parts = [_weighed(known, alone, itself[alone])]
    left = {str(told.distinct[at]): at for at in np.setdiff1d(np.flatnonzero(itself < 0), recoded)}
    if hierarchy is None or not left:
        return parts
    place = {str(as_label(value)): at for at, value in enumerate(known.distinct.tolist())}
    for level in range(1, hierarchy.depth + 1):
        groups = hierarchy.at_level(level)
        pairs = [(left[group], place[leaf]) for leaf, group in groups.items() if group in left and leaf in place]
        if pairs:
            code, value = np.array(sorted(pairs), dtype=np.int64).T
            parts.append(_weighed(known, code, value))
        told_of = set(groups.values())  # once: of an amount there are tens of thousands
        left = {label: at for label, at in left.items() if label not in told_of}
    return parts


def _by_elimination(known: DistinctValues, told: DistinctValues, parts: list[_Pairs]) -> list[_Pairs]:
    """Rule 5: the values that no released value stands for, of each released value that nothing else explains."""
    occurs = told.counts[:-1] > 0
    explained = np.zeros(len(occurs), dtype=np.bool_)
    left = known.counts[:-1] > 0
    for code, value, _ in parts:
        explained[code] = True
        left[value[occurs[code]]] = False
    unknown, values = np.flatnonzero(occurs & ~explained), np.flatnonzero(left)
    present = int(told.counts[:-1].sum())
    if not len(unknown) or not len(values) or len(values) == np.count_nonzero(known.counts[:-1]):
        return []
    expected = known.counts[values].sum() / known.counts[:-1].sum()
    if told.counts[unknown].sum() / present > expected + _CHANCE * np.sqrt(expected * (1 - expected) / present):
        return []  # other values are among them
    return [_weighed(known, np.repeat(unknown, len(values)), np.tile(values, len(unknown)))]


def _weighed(known: DistinctValues, code: IntArray, value: IntArray) -> _Pairs:
    """The pairs, with the records of each value; 1 for each of values of which no record has any."""
    weight = known.counts[value].astype(np.float64)
    total = np.bincount(code, weight, int(code.max()) + 1 if len(code) else 0)
    return code.astype(np.int64), value.astype(np.int64), np.where(total[code] > 0, weight, 1.0)


def released_as(name: str, variables: Variables, released: Variables) -> tuple[str, ...]:
    """The released columns that hold a variable: itself, or one column of probabilities for each of its labels."""
    if name in released:
        return (name,)
    return tuple(column for column in released if column.startswith(f"{name}=") and column not in variables)


def labels_of(name: str, columns: Iterable[str]) -> list[str]:
    """The labels whose probabilities the columns of a distribution hold."""
    return [column.removeprefix(f"{name}=") for column in columns]


def released_column(frame: pd.DataFrame, name: str) -> "pd.Series[Any] | pd.DataFrame":
    """The column of this name; or, where a distribution is released, its columns, named by their labels.

    raises : DataError when the file has neither
    """
    if name in frame:
        return frame[name]
    parts = _parts(frame, name)
    if not parts:
        raise DataError(f"the released file has no column '{name}', nor a distribution '{name}=...' over its labels")
    return frame[parts].set_axis(labels_of(name, parts), axis=1)


def is_released(frame: pd.DataFrame, name: str) -> bool:
    """Whether `released_column` would find it."""
    return name in frame or bool(_parts(frame, name))


def _parts(frame: pd.DataFrame, name: str) -> list[str]:
    return [column for column in map(str, frame) if column.startswith(f"{name}=")]
