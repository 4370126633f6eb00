"""Sets of items, such as the purchases of a basket or the diagnoses of a stay: from their texts to numbers and back.

The canonical text of a set holds each item once, in the order of the items' texts, with the separator between them. Two
sets are equal if and only if their canonical texts are.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from sluice.ground.arrays import BoolArray, IntArray


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
