"""Sets of items, such as the purchases of a basket: from texts to numbers and back, their tree, their combinations.

The canonical text of a set holds each item once, in the order of the items' texts, with the separator between them. Two
sets are equal if and only if their canonical texts are.

Sources: Terrovitis, Mamoulis and Kalnis (2008), section 4.1 (a hierarchy over the items, and the normalised certainty
penalty of a generalised item, NCP: the share of all items that it stands for; 0 of an item as it is); Agrawal and
Srikant (1994), support of an itemset (how many people have a combination).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.ground.errors import DataError
from sluice.ground.hierarchy import Hierarchy


@dataclass(frozen=True)
class ItemSets:
    """The sets of some records.

    starts : shape (n + 1,), rising; the items of record i are `items[starts[i]:starts[i + 1]]`, rising, each once
    items  : shape (occurrences,), positions in `names`
    names  : the items, each once
    """

    starts: IntArray
    items: IntArray
    names: tuple[str, ...]

    @classmethod
    def of(cls, column: "pd.Series[Any]", separator: str) -> "ItemSets":
        """The sets of a typed column of kind items; a missing value is a set without items.

        cost : O(n) and O(occurrences log occurrences) of the distinct sets
        """
        categorical = column.astype("category")
        texts = pa.array(categorical.cat.categories.to_numpy(object), pa.string())
        rows, labels = split(texts, separator)
        names = sorted(labels.dictionary.to_pylist())
        rank = np.argsort(np.argsort(np.asarray(labels.dictionary.to_pylist(), dtype=object)))
        items = rank[labels.indices.to_numpy()] if len(names) else np.zeros(0, np.int64)
        return cls.from_pairs(rows, items, len(texts), tuple(names)).take(
            np.asarray(categorical.cat.codes, dtype=np.int64)
        )

    @classmethod
    def from_pairs(cls, rows: IntArray, items: IntArray, n: int, names: tuple[str, ...]) -> Self:
        """The sets of n records by (record, item), in any order, also several times."""
        width = max(len(names), 1)
        pairs = rows.astype(np.int64) * width + items
        if len(pairs) > 1 and not (pairs[1:] > pairs[:-1]).all():
            pairs = np.sort(pairs)  # numpy's unique hashes first, which takes ten times as long
            pairs = pairs[np.concatenate([[True], pairs[1:] != pairs[:-1]])]
        return cls(np.searchsorted(pairs, np.arange(n + 1) * width), pairs % width, names)

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def sizes(self) -> IntArray:
        """Number of items of each record, shape (n,)."""
        return np.diff(self.starts)

    @property
    def rows(self) -> IntArray:
        """The record of each occurrence."""
        return np.repeat(np.arange(len(self)), self.sizes)

    def take(self, places: IntArray) -> "ItemSets":
        """The sets at these places; one at a negative place has no items."""
        places = places.astype(np.int64)
        sizes = np.where(places < 0, 0, self.sizes[places] if len(self) else 0)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        first = np.where(places < 0, 0, self.starts[places] if len(self) else 0)
        within = np.arange(starts[-1]) - np.repeat(starts[:-1], sizes)
        return ItemSets(starts, self.items[np.repeat(first, sizes) + within], self.names)

    def replaced(self, by: IntArray, names: tuple[str, ...]) -> "ItemSets":
        """The sets with `by[item]`, a position in `names`, in place of each item; a negative one drops it."""
        new = by[self.items]
        kept = new >= 0
        return ItemSets.from_pairs(self.rows[kept], new[kept], len(self), names)

    def without(self, dropped: BoolArray) -> "ItemSets":
        """The sets without the occurrences that are dropped, shape (occurrences,)."""
        return ItemSets.from_pairs(self.rows[~dropped], self.items[~dropped], len(self), self.names)

    def column(self, separator: str, index: "pd.Index[Any]") -> "pd.Series[Any]":
        """The typed column: canonical texts, missing where a set is without items."""
        texts = joined(self.rows, self.items, self.names, len(self), separator)
        encoded = texts.dictionary_encode()
        categories = np.asarray(encoded.dictionary.to_pylist(), dtype=object)
        order = np.argsort(categories) if len(categories) else np.zeros(0, np.int64)
        place = np.append(np.argsort(order), -1)
        codes = place[encoded.indices.fill_null(len(categories)).to_numpy(zero_copy_only=False)]
        labels = pd.Index(categories[order], dtype="str")
        return pd.Series(pd.Categorical.from_codes(codes.astype(np.int64), labels), index=index)


def split(texts: pa.Array, separator: str) -> tuple[IntArray, pa.DictionaryArray]:
    """The record and the item of each part of some texts that is not blank, in order; a null has no part."""
    from sluice.ground.values import trimmed_texts

    lists = pc.split_pattern(texts.cast(pa.string()), separator)
    rows = pc.list_parent_indices(lists)
    parts = trimmed_texts(pc.list_flatten(lists))
    given = parts.is_valid()
    labels = parts.filter(given).dictionary_encode()
    return rows.filter(given).to_numpy(zero_copy_only=False).astype(np.int64), labels


def joined(rows: IntArray, items: IntArray, names: Sequence[str], n: int, separator: str) -> pa.Array:
    """The canonical texts of n sets by (record, item), both rising, the names in order; null without items."""
    starts = np.searchsorted(rows, np.arange(n + 1)).astype(np.int64)
    parts = pa.array(list(names), pa.large_string()).take(pa.array(items))
    between = pa.scalar(separator, pa.large_string())
    texts = pc.binary_join(pa.LargeListArray.from_arrays(pa.array(starts), parts), between)
    return pc.if_else(pa.array(np.diff(starts) > 0), texts, None).cast(pa.string())


@dataclass(frozen=True)
class ItemTree:
    """The items, which come first, and the groups above them.

    names  : of the items in their order, then of the groups from the narrowest level on
    items  : how many of the names are items
    parent : shape (names,), the next wider group; -1 at the top
    chains : shape (items, levels), the group that holds each item at level 0 (itself), 1, ...
    """

    names: tuple[str, ...]
    items: int
    parent: IntArray
    chains: IntArray

    @classmethod
    def of(cls, items: Iterable[str], hierarchy: Hierarchy | None) -> "ItemTree":
        """The tree over some items; without a hierarchy it has no groups.

        raises : ValueError if the hierarchy lacks an item, or if one name stands for different items at two places
        """
        leaves = sorted(items)
        rows = dict.fromkeys(leaves, ()) if hierarchy is None else hierarchy.rows
        lacking = sum(leaf not in rows for leaf in leaves)
        if lacking:
            raise ValueError(f"the hierarchy lacks {lacking:,} of the {len(leaves):,} items")
        place = {leaf: code for code, leaf in enumerate(leaves)}
        depth = len(next(iter(rows.values()), ()))
        chains = np.zeros((len(leaves), depth + 1), dtype=np.int64)
        chains[:, 0] = np.arange(len(leaves))
        for level in range(depth):
            for code, leaf in enumerate(leaves):
                chains[code, level + 1] = place.setdefault(rows[leaf][level], len(place))
        parent = np.full(len(place), -1, dtype=np.int64)
        of: dict[int, set[int]] = {code: {code} for code in range(len(leaves))}
        for level in range(1, depth + 1):
            holds: dict[int, set[int]] = {}
            for code in range(len(leaves)):
                holds.setdefault(int(chains[code, level]), set()).add(code)
            if any(of.setdefault(group, held) != held for group, held in holds.items()):
                raise ValueError("one name of the hierarchy stands for different items at two places")
            narrower, wider = chains[:, level - 1], chains[:, level]
            parent[narrower[narrower != wider]] = wider[narrower != wider]
        return cls(tuple(place), len(leaves), parent, chains)

    @cached_property
    def sizes(self) -> IntArray:
        """How many items each name stands for, shape (names,)."""
        stands = np.unique(
            np.column_stack([self.chains.ravel(), np.repeat(np.arange(self.items), self.depth + 1)]), axis=0
        )
        return np.bincount(stands[:, 0], minlength=len(self.names))

    @property
    def depth(self) -> int:
        return int(self.chains.shape[1]) - 1

    @cached_property
    def penalty(self) -> FloatArray:
        """NCP of each name, shape (names,): 0 of an item, 1 of a group that stands for all."""
        sizes = self.sizes
        return np.where(sizes > 1, sizes / max(self.items, 1), 0.0)

    def leaves(self, name: int) -> IntArray:
        """The items that a name stands for, rising."""
        return np.flatnonzero((self.chains == name).any(axis=1))

    def places(self, names: Iterable[str]) -> IntArray:
        """Position of each name. Raises DataError, with a count, where one is neither item nor group."""
        place = {name: code for code, name in enumerate(self.names)}
        found = np.array([place.get(name, -1) for name in names], dtype=np.int64)
        if unknown := int((found < 0).sum()):
            raise DataError(f"{unknown:,} of {len(found):,} items are neither declared nor a group of the hierarchy")
        return found


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
