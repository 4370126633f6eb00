"""Unsafe combinations: which key values to suppress so that each combination of keys is shared by k records.

Sources: Torra (2013), "Local suppression" (certain values of individual variables are suppressed to
increase the set of records agreeing on a combination of values); k-anonymity: Desfontaines (2020), Definition 1.
The choice of the values is ours.

Sets of keys are tried from the cheapest on, and equal records are treated alike: records with a rare combination are
grouped by what a set leaves of it, and a group of k or more is done. So whoever loses a value does so in the company of
k records that show the same: one that lost it alone would be found by it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sluice.ground.arrays import BoolArray, IntArray

_KEY_SETS = 4096  # all sets of up to 12 keys; with more keys, the smaller sets only


@dataclass
class Pieces:
    """Records with equal keys that are treated alike: at first one piece for each combination of keys.

    keys   : shape (m, p), codes from 1; 0 is missing or suppressed
    sizes  : shape (m,), the number of records in each piece
    origin : shape (m,), the combination that the piece had at first: the i-th of them is origin i
    """

    keys: IntArray
    sizes: IntArray
    origin: IntArray

    def suppress(self, rows: IntArray, count: int | None, columns: IntArray) -> None:
        """Set `columns` of the first `count` records of the pieces `rows` missing; the last of them may be parted.

        count : None: of all records of these pieces, also of those that are not counted
        """
        if count is None:
            self.keys[np.ix_(rows, columns)] = 0
            return
        for row in rows.tolist():
            taken = min(count, int(self.sizes[row]))
            if not taken:
                continue
            if taken < self.sizes[row]:
                self.sizes[row] -= taken
                self.keys = np.vstack([self.keys, self.keys[row]])
                self.sizes = np.append(self.sizes, taken)
                self.origin = np.append(self.origin, self.origin[row])
                row = len(self.sizes) - 1
            self.keys[row, columns] = 0
            count -= taken

    def missing(self) -> tuple[int, int]:
        """How many cells have no value, and in how many pieces the records are: what grows with each suppression."""
        return int((self.keys == 0).sum()), len(self.sizes)

    def of_records(self, combination: NDArray[np.integer[Any]], counted: BoolArray) -> NDArray[np.integer[Any]]:
        """The piece of each record, from the combination that it had at first; among equals the first record first.

        counted : shape (n,), the records that the sizes count: these are parted
        """
        piece = combination.copy()
        for part in range(int(self.origin.max(initial=-1)) + 1, len(self.sizes)):
            piece[np.flatnonzero(counted & (piece == self.origin[part]))[: self.sizes[part]]] = part
        return piece


def hide_unsafe(
    keys: IntArray, sizes: IntArray, k: int, ranks: Sequence[int], all_m: int, *, all_counted: bool = True
) -> Pieces:
    """Suppress key values until every combination of `all_m` keys is shared by k records, and so every smaller one.

    keys    : shape (c, p), different combinations in the order of their values, from 1; 0 is missing
    sizes   : shape (c,), the records of each that are counted, 0 or more; at least k in all
    ranks   : importance of the p keys, 1 is kept longest
    all_counted : whether the sizes count every record, and not one of each person
    returns : equal records lose equal keys, but for fewer than k records that fill up a small rest
    cost    : several times O(s c p) for each of the sets of `all_m` keys and s sets of keys to suppress, less as fewer
              rare records are left

    What makes all keys together safe does so for fewer as well, and can be cheaper: the cheaper of the two is returned.
    Of few combinations an integer programme finds the cheapest of all (`fewest_cells`), where all keys are to be safe.
    """
    from sluice.masking.recoding.fewest_cells import fewest_cells

    levels = sorted(set(ranks))

    def cost(pieces: Pieces) -> tuple[int, ...]:
        lost = pieces.sizes @ (pieces.keys != keys[pieces.origin])
        return tuple(int(lost[[rank == level for rank in ranks]].sum()) for level in levels)

    found = [_hide_by_subsets(keys, sizes, k, ranks, m) for m in sorted({all_m, len(ranks)})]
    best = min(found, key=cost)
    if all_m == len(ranks) and all_counted and any(cost(best)):
        cheapest = fewest_cells(keys, sizes, k, ranks, sum(cost(best)))
        return best if cheapest is None else min(best, Pieces(*cheapest), key=cost)
    return best


def _hide_by_subsets(keys: IntArray, sizes: IntArray, k: int, ranks: Sequence[int], all_m: int) -> Pieces:
    """Make one set of keys safe after the other. The order is the one that hides least on survey data.

    Hiding a value for one set may leave too few for another: all are gone through, those with most rare records first,
    until nothing changes.
    """
    pieces = Pieces(keys.copy(), sizes.copy(), np.arange(len(sizes)))
    categories = [len(np.unique(column[column > 0])) for column in keys.T]
    subsets = [
        (np.array(subset), key_sets([ranks[key] for key in subset], [categories[key] for key in subset]))
        for subset in combinations(range(len(ranks)), all_m)
    ]

    def rare_records(subset: IntArray) -> int:
        _, held, _ = _combinations(pieces, subset)
        return int(held[held < k].sum())

    while True:
        before = pieces.missing()
        for subset, sets in sorted(subsets, key=lambda one: -rare_records(one[0])):
            values, held, piece_of = _combinations(pieces, subset)
            pieces.keys[:, subset] = np.where(_hide_by_classes(values, held, k, sets), 0, values)[piece_of]
            _protect_rest(pieces, subset, k, sets)
        if len(subsets) == 1 or pieces.missing() == before:
            return pieces


def key_sets(ranks: Sequence[int], categories: Sequence[int]) -> list[tuple[int, ...]]:
    """Sets of keys to suppress, from the cheapest to all keys.

    ranks      : importance of each of p keys, 1 is kept longest
    categories : number of categories of each key
    returns    : every set if p <= 12, else all small ones and a chain up to all keys. A set is dearer the more keys of
                 the most important rank it has, then of the next; ties: fewer categories are dearer
    """
    count = len(ranks)
    by_categories = sorted(range(count), key=lambda key: (-categories[key], key))
    place = {key: position for position, key in enumerate(by_categories)}
    size = 1
    while size < count and sum(comb(count, some) for some in range(1, size + 2)) <= _KEY_SETS:
        size += 1
    sets = {chosen for some in range(1, size + 1) for chosen in combinations(range(count), some)}
    chain = sorted(range(count), key=lambda key: (-ranks[key], place[key]))
    sets |= {tuple(sorted(chain[:length])) for length in range(1, count + 1)}
    levels = sorted(set(ranks))

    def cost(chosen: tuple[int, ...]) -> tuple[tuple[int, ...], int, tuple[int, ...]]:
        chosen_ranks = [ranks[key] for key in chosen]
        return tuple(chosen_ranks.count(level) for level in levels), sum(place[key] for key in chosen), chosen

    return sorted(sets, key=cost)


def _combinations(pieces: Pieces, subset: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """The different combinations of some keys in the order of their values, their records, and that of each piece."""
    from sluice.risk.classes.equivalence_classes import equivalence_classes

    projected = pieces.keys[:, subset]
    labels = equivalence_classes(list(projected.T)).labels
    first = np.empty(labels.max() + 1, dtype=np.int64)
    first[labels] = np.arange(len(labels))
    values = projected[first]
    order = np.lexsort(values.T[::-1])
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    held = np.zeros_like(order)
    np.add.at(held, place[labels], pieces.sizes)
    return values[order], held, place[labels]


def _hide_by_classes(distinct: IntArray, sizes: IntArray, k: int, sets: Sequence[tuple[int, ...]]) -> BoolArray:
    """What each distinct record loses; fewer than k records, rare by all sets, are left as they are."""
    hidden = np.zeros(distinct.T.shape, dtype=np.bool_)
    absent = distinct.T == 0  # at the source, or hidden
    open_ = sizes < k
    for chosen in sets:
        rows = np.flatnonzero(open_)
        if not len(rows):
            break
        joinable = np.flatnonzero(~open_ & absent[list(chosen)].all(axis=0))  # classes they may join
        kept = [key for key in range(len(absent)) if key not in chosen]
        others = np.where(absent.T[joinable], 0, distinct[joinable])
        left = np.concatenate([distinct[rows], others])[:, kept]
        both, held = _held(left, np.concatenate([sizes[rows], sizes[joinable]]))
        reached = rows[held[both[: len(rows)]] >= k]
        for key in chosen:
            hidden[key, reached] = absent[key, reached] = True
        open_[reached] = False
    return np.ascontiguousarray(hidden.T)


def _protect_rest(pieces: Pieces, subset: IntArray, k: int, sets: Sequence[tuple[int, ...]]) -> None:
    """Bring the last rare records, fewer than k in all, into combinations that k share.

    Each takes the cheapest set under which other records agree with it and can be spared: the rest, and what common
    combinations hold beyond k. If none can spare enough, the smallest one that agrees comes along as a whole.
    """
    while True:
        values, held, label = _combinations(pieces, subset)
        rare = held < k
        if not rare.any():
            return
        moved, chosen = _company(values, held, rare, k, sets)
        for combination, count in moved:
            pieces.suppress(np.flatnonzero(label == combination), count, subset[list(chosen)])


def _company(
    values: IntArray, held: IntArray, rare: BoolArray, k: int, sets: Sequence[tuple[int, ...]]
) -> tuple[list[tuple[int, int | None]], tuple[int, ...]]:
    """Who gives up a set of keys with the first rare combination: (combination, how many of its records); the set.

    None: all of them.
    """
    record = values[np.argmax(rare)]
    for spare in ("surplus", "all"):
        for chosen in sets:
            hidden = record.copy()
            hidden[list(chosen)] = 0
            kept = [key for key in range(len(record)) if key not in chosen]
            agree = (values[:, kept] == record[kept]).all(axis=1)
            there = agree & (values == hidden).all(axis=1)
            need = k - int(held[agree & (rare | there)].sum())
            lenders = np.flatnonzero(agree & ~rare & ~there)
            if spare == "all":
                lenders = lenders[np.argsort(held[lenders], kind="stable")][:1]
            can = held[lenders] - (k if spare == "surplus" else 0)
            if can.sum() < need:
                continue
            moved: list[tuple[int, int | None]] = [(int(label), None) for label in np.flatnonzero(agree & rare)]
            for label, most in zip(lenders.tolist(), can.tolist(), strict=True):
                lent = min(most, max(need, 0))
                moved.append((label, None if spare == "all" else lent))
                need -= lent
            return moved, chosen
    raise AssertionError("the set of all keys brings any k records together")


def _held(values: IntArray, sizes: IntArray) -> tuple[IntArray, IntArray]:
    """The group of equal rows that each row is in, and the number of records in each group."""
    from sluice.risk.classes.equivalence_classes import equivalence_classes

    if not values.shape[1]:
        return np.zeros(len(values), dtype=np.int64), np.array([sizes.sum()])
    classes = equivalence_classes(list(values.T))
    held = np.zeros_like(classes.sizes)
    np.add.at(held, classes.labels, sizes)
    return classes.labels, held
