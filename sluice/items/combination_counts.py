"""Combinations of items, and how many people have each: what apriori counts.

Source: Agrawal and Srikant (1994), support of an itemset.
"""

from dataclasses import dataclass

import numpy as np

from sluice.ground.arrays import BoolArray, IntArray
from sluice.ground.errors import DataError
from sluice.items.item_sets import ItemSets


@dataclass(frozen=True)
class CombinationCounts:
    """The combinations of one size that occur.

    items  : shape (combinations, size), items of each, rising; combinations in rising order
    counts : shape (combinations,), at least 1: people, or records where it is not known whose they are
    """

    items: IntArray
    counts: IntArray


def combination_counts(sets: ItemSets, size: int, people: IntArray | None = None) -> CombinationCounts:
    """How many people have each combination of `size` items in one record.

    people : shape (n,), whose the records are; None: each is another person's
    raises : DataError where there are too many items for combinations of that size to be numbered in 63 bits
    cost   : O(combinations in all records) time, O(distinct combinations) memory
    """
    from sluice.items import combination_counts_kernel as kernel

    width = _width(sets, size)
    if people is not None:
        order = np.argsort(people, kind="stable")
        sets, people = sets.take(order), people[order]
    whose = np.arange(len(sets)) if people is None else people.astype(np.int64)
    codes, counts = kernel.counted(sets.starts, sets.items, whose, width, size)
    order = np.argsort(codes)
    return CombinationCounts(_items(codes[order], width, size), counts[order])


def hitting_occurrences(sets: ItemSets, rare: IntArray) -> BoolArray:
    """Occurrences without which no record has any of some combinations, few of them by a greedy choice in each record.

    rare    : shape (combinations, size), items rising
    returns : shape (occurrences,)
    cost    : O(combinations in all records), times the items that a record loses
    """
    from sluice.items import combination_counts_kernel as kernel

    size = rare.shape[1]
    width = _width(sets, size)
    codes = np.zeros(len(rare), dtype=np.int64)
    for column in rare.T:
        codes = codes * width + column
    frequency = np.bincount(sets.items, minlength=width)
    return np.asarray(kernel.hit(sets.starts, sets.items, width, size, codes, frequency))


def _width(sets: ItemSets, size: int) -> int:
    width = max(len(sets.names), 1)
    if width**size >= 2**63:
        raise DataError(f"combinations of {size} among {width:,} items are too many to be counted; use smaller ones")
    return width


def _items(codes: IntArray, width: int, size: int) -> IntArray:
    parts = [codes // width**place % width for place in range(size - 1, -1, -1)]
    return np.column_stack(parts) if len(codes) else np.zeros((0, size), dtype=np.int64)
