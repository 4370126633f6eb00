"""Local suppression: single key values are set missing until no combination of keys is rare.

Source: 004, slide "Local suppression" (certain values of individual variables are suppressed to increase the set of
records agreeing on a combination of values); k-anonymity: 001, Definition 1.

Both readings of a missing value try sets of keys from the cheapest on, and treat equal records alike:

- "category": records with a rare combination are grouped by what a set leaves of it; a group of k or more is done.
- "any": a record needs a set that leaves a combination which k records had at first. A suppressed record matches the
  others of that combination, so it is often enough to suppress one of two. The file then has few suppressed cells, but
  a rare combination may stay in it and be covered only by records whose missing values match it: the weaker promise.
"""

from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations
from math import comb
from typing import Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import Field, PositiveInt, model_validator

from sluice.errors import PlanError, did_you_mean
from sluice.masking.step import MaskingStep
from sluice.risk.equivalence_classes import category_codes, classes_of, equivalence_classes, matching_frequencies
from sluice.variables import Kind, Variable, Variables

IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
MissingMatches = Literal["category", "any"]

_KEY_SETS = 4096  # all sets of up to 12 keys; with more keys, the smaller sets only


class LocalSuppression(MaskingStep):
    """Set key values missing until every record shares its combination of keys with at least k - 1 others."""

    method: Literal["local_suppression"] = "local_suppression"
    k: int = Field(ge=1, description="smallest number of records that may share a combination of keys")
    importance: dict[str, PositiveInt] = Field(
        default_factory=dict,
        description="key variable: rank. A key of rank 1 is kept longest: it loses a value only where no choice among "
        "keys of rank 2, 3, ... will do, however many. Keys without a rank are suppressed first. With no rank at all "
        "as few cells as possible are suppressed, among equals those of the variable with the most categories",
    )
    missing_matches: MissingMatches = Field(
        default="category",
        description="category: a missing value is a category of its own, the strict reading; any: it matches every "
        "value, as in sdcMicro, which asks for fewer suppressions and protects less",
    )

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        for name in self.importance:
            if name not in self.columns:
                raise ValueError(f"importance: '{name}' is not among columns.{did_you_mean(name, self.columns)}")
        return self

    def released(self, variables: Variables) -> dict[str, Variable]:
        """The keys become nullable, with no bound on the share of missing values. Text is refused."""
        self.refuse_unless(variables, *(kind for kind in Kind if kind is not Kind.TEXT))
        nullable = {"nullable": True, "max_missing_share": None}
        return {
            name: variable.model_copy(update=nullable) if name in self.columns else variable
            for name, variable in variables.items()
        }

    def mask(self, frame: pd.DataFrame, variables: Variables, rng: np.random.Generator) -> pd.DataFrame:
        """See MaskingStep. Raises PlanError if there are fewer than k records; draws nothing.

        cost : O(n p) and O(c 2^p) for c combinations of p keys; 100,000 records with 7 keys take a tenth of a second
        """
        self.released(variables)
        if len(frame) < self.k:
            raise PlanError(f"k of {self.method} must be at most the number of records, {len(frame)}; got {self.k}.")
        keys = frame[list(self.columns)]
        codes = np.array([_from_one(keys[name]) for name in self.columns]).T
        cells = cells_to_suppress(codes, self.k, self.missing_matches, self._key_sets(codes))
        masked = frame.copy()
        for position, name in enumerate(self.columns):
            if cells[:, position].any():
                masked[name] = frame[name].mask(cells[:, position])
        refuse_rare(masked, self.columns, self.k, self.missing_matches)
        return masked

    def describe(self) -> str:
        counts = "matches any value" if self.missing_matches == "any" else "counts as a value of its own"
        return (
            f"Single values of {', '.join(self.columns)} were removed, so that at least {self.k} records agree on all "
            f"of these variables; a missing value {counts}."
        )

    def _key_sets(self, codes: IntArray) -> list[tuple[int, ...]]:
        last = max(self.importance.values(), default=0) + 1
        ranks = [self.importance.get(name, last) for name in self.columns]
        categories = [len(np.unique(column[column > 0])) for column in codes.T]
        return key_sets(ranks, categories)


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


def cells_to_suppress(
    codes: IntArray, k: int, missing_matches: MissingMatches, sets: Sequence[tuple[int, ...]]
) -> BoolArray:
    """The cells to set missing so that every record is hidden among k.

    codes   : shape (n, p), from 1; 0 is missing. n >= k
    sets    : sets of keys from the cheapest on, the last holding all keys (see `key_sets`)
    returns : shape (n, p); equal records lose equal cells, but for fewer than k records that fill up a small rest
    cost    : O(n p) and O(s c p) for s sets and c distinct records, less as fewer rare records are left
    """
    classes = equivalence_classes(list(codes.T))
    representative = np.empty(len(classes.sizes), dtype=np.int64)
    representative[classes.labels] = np.arange(len(codes))
    distinct = codes[representative]
    order = np.lexsort(distinct.T[::-1])  # by value, so that no choice depends on the order of the records
    distinct, sizes = distinct[order], classes.sizes[order]
    hide = _hide_by_matches if missing_matches == "any" else _hide_by_classes
    position = np.empty_like(order)
    position[order] = np.arange(len(order))
    released = np.where(hide(distinct, sizes, k, sets), 0, distinct)[position[classes.labels]]
    if missing_matches == "category":
        released = _settle_rest(released, k, sets)
    cells: BoolArray = np.not_equal(released, codes)
    return cells


def _hide_by_classes(distinct: IntArray, sizes: IntArray, k: int, sets: Sequence[tuple[int, ...]]) -> BoolArray:
    """What each distinct record loses; fewer than k records, rare by all sets, are left as they are."""
    released = distinct.copy()
    open_ = sizes < k
    for chosen in sets:
        rows = np.flatnonzero(open_)
        if not len(rows):
            break
        hidden = distinct[rows]
        hidden[:, chosen] = 0
        settled = np.flatnonzero(~open_ & (released[:, chosen] == 0).all(axis=1))  # classes they may join
        both, held = _held(np.concatenate([hidden, released[settled]]), np.concatenate([sizes[rows], sizes[settled]]))
        reached = held[both[: len(rows)]] >= k
        released[rows[reached]] = hidden[reached]
        open_[rows[reached]] = False
    hidden_cells: BoolArray = np.not_equal(released, distinct)
    return hidden_cells


def _settle_rest(released: IntArray, k: int, sets: Sequence[tuple[int, ...]]) -> IntArray:
    """Bring the last rare records, fewer than k in all, into classes of k.

    Each takes the cheapest set under which other records agree with it and can be spared: the rest, and what common
    classes hold beyond k. If no class can spare enough, the smallest one that agrees comes along as a whole.
    """
    released = released.copy()
    while True:
        classes = equivalence_classes(list(released.T))
        sizes = classes.sizes
        rare = sizes < k
        if not rare.any():
            return released
        members = np.argsort(classes.labels, kind="stable")
        ends = np.cumsum(sizes)
        values = released[members[ends - 1]]
        by_value = np.lexsort(values.T[::-1])
        record = values[next(label for label in by_value if rare[label])]
        moved: list[tuple[int, int]] = []  # (class, how many of its records)
        for spare in ("surplus", "all"):
            for chosen in sets:
                hidden = record.copy()
                hidden[list(chosen)] = 0
                kept = [key for key in range(len(record)) if key not in chosen]
                agree = (values[:, kept] == record[kept]).all(axis=1)
                there = agree & (values == hidden).all(axis=1)
                need = k - int(sizes[agree & (rare | there)].sum())
                lenders = [label for label in by_value if agree[label] and not rare[label] and not there[label]]
                if spare == "all":
                    lenders = sorted(lenders, key=lambda label: int(sizes[label]))[:1]
                can = [int(sizes[label]) - (k if spare == "surplus" else 0) for label in lenders]
                if sum(can) >= need:
                    moved = [(int(label), int(sizes[label])) for label in np.flatnonzero(agree & rare)]
                    for label, most in zip(lenders, can, strict=True):
                        lent = most if spare == "all" else min(most, max(need, 0))
                        moved.append((int(label), lent))
                        need -= lent
                    break
            if moved:
                break
        for label, count in moved:
            rows = members[ends[label] - sizes[label] :][:count]
            released[np.ix_(rows, np.array(chosen))] = 0


def _hide_by_matches(distinct: IntArray, sizes: IntArray, k: int, sets: Sequence[tuple[int, ...]]) -> BoolArray:
    """What each distinct record loses where a missing value matches any.

    `frequency` is never above the true one: a suppressed record is credited only to records with the same keys missing
    at the source, and not twice. So whoever reaches k in it has reached k.
    """
    hidden = np.zeros(distinct.shape, dtype=np.bool_)
    missing = distinct == 0
    frequency = _match_frequencies(distinct, sizes)
    pattern = equivalence_classes([column.astype(np.int64) for column in missing.T]).labels
    tried: set[tuple[int, tuple[int, ...]]] = set()
    for chosen in sets:
        open_ = np.flatnonzero(frequency < k)
        if not len(open_):
            break
        for label in np.unique(pattern[open_]):
            rows = open_[pattern[open_] == label]
            kept = tuple(key for key in range(distinct.shape[1]) if key not in chosen and not missing[rows[0], key])
            if (int(label), kept) in tried:
                continue
            tried.add((int(label), kept))
            group, held = _held(distinct[:, kept], sizes)
            rows = rows[held[group[rows]] >= k]
            added: dict[int, int] = defaultdict(int)
            for row in rows[np.argsort(frequency[rows], kind="stable")].tolist():
                if frequency[row] + added[group[row]] < k:  # else those suppressed before it cover it
                    hidden[row, chosen] = True
                    added[group[row]] += int(sizes[row])
            gain = np.array([added[group[row]] for row in rows.tolist()], dtype=np.int64)
            frequency[rows] += gain
            frequency[rows[hidden[rows].any(axis=1)]] = k
    return hidden


def _held(values: IntArray, sizes: IntArray) -> tuple[IntArray, IntArray]:
    """The group of equal rows that each row is in, and the number of records in each group."""
    if not values.shape[1]:
        return np.zeros(len(values), dtype=np.int64), np.array([sizes.sum()])
    classes = equivalence_classes(list(values.T))
    held = np.zeros_like(classes.sizes)
    np.add.at(held, classes.labels, sizes)
    return classes.labels, held


def _match_frequencies(distinct: IntArray, sizes: IntArray) -> IntArray:
    """For each distinct record, the number of records that agree with it on every key present in both."""
    if (distinct > 0).all():
        return sizes.copy()
    of_record = np.repeat(np.arange(len(sizes)), sizes)
    keys = pd.DataFrame(distinct[of_record]).astype("float64")
    frequencies = np.empty_like(sizes)
    frequencies[of_record] = matching_frequencies(keys.mask(keys == 0), list(keys.columns))
    return frequencies


def _from_one(column: pd.Series) -> IntArray:
    """Codes from 1 in the order of the values, 0 where missing."""
    return np.where(column.isna(), 0, category_codes(column).astype(np.int64) + 1)


def refuse_rare(frame: pd.DataFrame, columns: Sequence[str], k: int, missing_matches: MissingMatches) -> None:
    """Raise PlanError unless every record shares its combination of `columns` with at least k - 1 others."""
    names = list(columns)
    any_matches = missing_matches == "any"
    frequencies = matching_frequencies(frame, names) if any_matches else classes_of(frame, names).frequencies
    rare = int((frequencies < k).sum())
    if rare:
        raise PlanError(
            f"local_suppression: {rare} of {len(frame)} records share their combination of {', '.join(names)} with "
            f"fewer than {k - 1} others; nothing is released."
        )
