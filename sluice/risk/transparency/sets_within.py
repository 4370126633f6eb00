"""The attack on suppressed items: whoever knows a whole set seeks, among the released sets that it holds, the rarest.

Source: Terrovitis, Mamoulis and Kalnis (2008), section 1: an intruder who knows items of a set looks for the records
that fit. Differs from it: the intruder knows all items, and that the method takes items out and puts none in. Of the
sets that fit, one with more and rarer items is likelier to be the person's own (Fellegi and Sunter 1969).
"""

from __future__ import annotations  # scipy takes long to load, and few plans need it

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.variables import Kind
from sluice.items.item_sets import ItemSets
from sluice.risk.transparency.linkage import Likelihood, Linkage
from sluice.risk.transparency.pairs import Pairs

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True)
class SetsWithin(Linkage):
    """Take the released set with the most and rarest items of which every item is known."""

    kinds: ClassVar[tuple[Kind, ...]] = (Kind.ITEMS,)

    @property
    def knows(self) -> str:
        return "that items were taken out of sets,"

    def likelihood(self, pairs: Pairs) -> Likelihood:
        """Items are taken out, and held by others, independently. O(q m) and O(common items) a column."""
        columns = [_OneColumn.of(pairs, name) for name in self.columns]

        def of(rows: IntArray) -> FloatArray:
            return np.asarray(sum(column.logs(rows) for column in columns), dtype=np.float64)

        return of


@dataclass(frozen=True)
class _OneColumn:
    """Known and released sets of one variable over the same items, as matrices of 0 and 1, and what an item speaks for.

    weights : shape (items,), by how much an item that is left makes the set likelier to be that of who is known to have
              it, against one that was taken out
    """

    known: csr_array
    released: csr_array
    weights: FloatArray

    @classmethod
    def of(cls, pairs: Pairs, name: str) -> _OneColumn:
        separator = pairs.released[name].between_items
        known, released = ItemSets.of(pairs.recoded[name], separator), ItemSets.of(pairs.masked[name], separator)
        place = {item: code for code, item in enumerate((*known.names, *released.names))}
        left = np.clip(len(released.items) / max(len(known.items), 1), 0.001, 0.999)
        held = _matrix(released, place)
        share = np.clip(
            held.sum(axis=0) / max(len(released), 1), 0.5 / (len(released) + 1), 1 - 0.5 / (len(released) + 1)
        )
        return cls(_matrix(known, place), held, np.log(left / share) - np.log((1 - left) / (1 - share)))

    def logs(self, rows: IntArray) -> FloatArray:
        """Log-likelihood ratio of each released set given the known ones, shape (q, m), but for a constant of each."""
        common = (self.known[rows] @ self.released.T).toarray()
        return np.where(common == self.released.sum(axis=1), self.released @ self.weights, -np.inf)


def _matrix(sets: ItemSets, place: dict[str, int]) -> csr_array:
    from scipy.sparse import csr_array

    columns = np.array([place[name] for name in sets.names], dtype=np.int64)[sets.items]
    return csr_array(
        (np.ones(len(columns)), columns, sets.starts), shape=(len(sets), max(place.values(), default=0) + 1)
    )
