"""Occurring states: what the original has beside what else a record has, so that nothing impossible is made.

A child has no occupation, who does not work no wage: such structural zeros are not declared, but seen. Two states that
the original never shows together are not put together, whether they exclude each other or nobody happened to have both.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sluice.ground.arrays import BoolArray, FloatArray, IntArray

_PARTS = 20  # of a range, in each of which it is asked what else there is
_FEW = 2 * _PARTS  # different values, each of which is a part by itself
_SEEN = 3  # records that have both, from which they go together
_HEAPED = 0.05  # share of the records with one value, from which it is a state...
_TIMES_USUAL = 3.0  # ...where an average value has so many times fewer


@dataclass(frozen=True)
class States:
    """The states of one variable: missing, its categories, or heaps and parts of a range.

    heaps  : of a number, values that so many records have that they are a state: no income, a full working week
    bounds : of the parts of the range of all others, or the categories
    """

    heaps: FloatArray
    bounds: FloatArray
    is_category: bool

    @classmethod
    def of(cls, values: FloatArray, is_category: bool) -> "States":
        """values : shape (n,), of the original; NaN: missing"""
        known = values[~np.isnan(values)]
        different, counts = np.unique(known, return_counts=True)
        if is_category:
            return cls(different[:0], different, True)
        heaps = different[counts >= max(_HEAPED, _TIMES_USUAL / max(len(different), 1)) * len(known)]
        others = known[~np.isin(known, heaps)]
        few = np.unique(others)
        cuts = few[1:] if len(few) <= _FEW else np.quantile(others, np.linspace(0, 1, _PARTS + 1)[1:-1])
        return cls(heaps, np.unique(cuts), False)

    @property
    def count(self) -> int:
        return len(self.heaps) + len(self.bounds) + 2

    def codes(self, values: FloatArray) -> IntArray:
        """0: missing, then heaps, then parts of the range or categories. Shape (n,)."""
        found = 1 + len(self.heaps) + np.searchsorted(self.bounds, values, "left" if self.is_category else "right")
        for place, heap in enumerate(self.heaps):
            found[values == heap] = 1 + place
        return np.where(np.isnan(values), 0, np.minimum(found, self.count - 1)).astype(np.int64)


@dataclass(frozen=True)
class Beside:
    """The states of all other variables that go with those of one.

    tables : for each other variable how many records of the original have both, shape (own states, its states)
    codes  : for each, the state of each record that is now written
    """

    tables: Sequence[IntArray]
    codes: Sequence[IntArray]

    @classmethod
    def of(cls, own: States, values: FloatArray, others: Sequence[tuple[States, FloatArray, FloatArray]]) -> "Beside":
        """others : of each its states, its values in the original, in the order of `values`, and those now written"""
        mine = own.codes(values)
        tables = [
            np.bincount(
                mine * states.count + states.codes(original), minlength=own.count * states.count
            ).reshape(own.count, states.count)
            for states, original, _ in others
        ]  # fmt: skip
        return cls(tables, [states.codes(now) for states, _, now in others])

    def allow(self, own: IntArray, records: IntArray, unless_expected: float = 0.0) -> BoolArray:
        """Whether the own state of each goes with all that the record has. Shapes (k,) all.

        unless_expected : pairs of which fewer were to be expected are allowed, though there are none
        """
        allowed = np.ones(len(records), bool)
        for table, codes in zip(self.tables, self.codes, strict=True):
            expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / max(table.sum(), 1)
            goes = (table >= _SEEN) | (expected < unless_expected)
            allowed &= goes[own, codes[records]]
        return allowed


@dataclass(frozen=True)
class Together:
    """Variables that change records together: one takes all of their values from another one, or none.

    states : the state of each record of each of these variables
    beside : of each, what goes with it among the variables that stay
    """

    states: Sequence[IntArray]
    beside: Sequence[Beside]

    def allow(self, sources: IntArray, records: IntArray, unless_expected: float = 0.0) -> BoolArray:
        """Whether the values of each source go with all else that the record has. Shapes (k,) all."""
        allowed = np.ones(len(records), bool)
        for states, beside in zip(self.states, self.beside, strict=True):
            allowed &= beside.allow(states[sources], records, unless_expected)
        return allowed
