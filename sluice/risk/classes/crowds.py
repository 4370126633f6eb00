"""Crowds: among how many a record hides where a missing key may stand for any value.

A suppressed cell widens the crowd of its own record: it could be anybody who agrees with what is left. It does not hide
others: two records without any key vouch for nobody. And whoever knows a person looks at all records that fit: a person
whose record alone lost its sex is found by it, however many share what is left. So a crowd is the smaller of two:

- `agreeing`: the records that show the same on every key which the record shows;
- `candidates`: the records that fit the person, each by how likely it is the person's. A record that more people fit
  than the person's own is less likely so, and counts for less.

Differs from sdcMicro's `freqCalc`, where a missing key matches every value of either record.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from sluice.arrays import BoolArray, FloatArray, IntArray
from sluice.risk.classes.equivalence_classes import category_codes, distinct_people, equivalence_classes

_ROUNDING = 1e-9  # sums of shares: a crowd of 3 is not one of 2


def crowds(
    released: pd.DataFrame, columns: Sequence[str], original: pd.DataFrame | None = None, people: IntArray | None = None
) -> IntArray:
    """The crowd of each record.

    released : typed
    original : the same records in the same order before values were suppressed, typed alike; without it `agreeing`
               decides alone
    people   : shape (n,), the person of each record, from 0; every record is somebody else's when not given
    returns  : shape (n,), 1 or more; fractions are cut off
    cost     : O(n) for each pair of patterns of missing keys, before and after
    """
    agree = agreeing(released, columns, people)
    if original is None:
        return agree
    return np.minimum(agree, np.floor(candidates(original, released, columns, people) + _ROUNDING)).astype(np.int64)


def agreeing(frame: pd.DataFrame, columns: Sequence[str], people: IntArray | None = None) -> IntArray:
    """For each record, how many records, or people, show the same on every key that the record shows; shape (n,)."""
    records = _alike(_codes([frame[name] for name in columns]), people)
    codes, shows = records.codes, records.shows
    found = np.zeros(len(codes), dtype=np.int64)
    for keys, rows in _patterns(shows):
        there = np.flatnonzero(shows[:, keys].all(axis=1))
        found[rows] = records.held(codes[:, keys], there)[rows]
    return found[records.of]


def candidates(
    original: pd.DataFrame, released: pd.DataFrame, columns: Sequence[str], people: IntArray | None = None
) -> FloatArray:
    """For each record, how many records could be the person's, the person's own as 1; shape (n,).

    Another's record counts by the people whom the person's own record fits over those whom it fits, 1 at most; of
    several records of one other person the one that shows least. A record whose keys were changed and not only
    suppressed is not found in this way: infinite.
    """
    n, p = len(original), len(columns)
    coded = _codes([pd.concat([original[name], released[name]], ignore_index=True) for name in columns])
    records = _alike((np.hstack([coded[0][:n], coded[0][n:]]), np.hstack([coded[1][:n], coded[1][n:]])), people)
    before, after = records.codes[:, :p], records.codes[:, p:]
    known, shown = records.shows[:, :p], records.shows[:, p:]
    found = np.ones(len(before))
    fitting: dict[bytes, IntArray] = {}

    def fit(keys: BoolArray) -> IntArray:
        """How many people have these keys of each record's person."""
        if keys.tobytes() not in fitting:
            fitting[keys.tobytes()] = records.held(before[:, keys], np.flatnonzero(known[:, keys].all(axis=1)))
        return fitting[keys.tobytes()]

    counted = np.arange(len(before)) if people is None else _least(records, before, shown)
    for knows, rows in _patterns(known):
        own = np.zeros(len(rows))
        for keys, at in _patterns(shown[rows]):
            own[at] = fit(knows & keys)[rows[at]]
        for keys, others in _patterns(shown, counted):
            common = knows & keys
            found[rows] += records.others(before[:, common], after[:, common], rows, others) * np.minimum(
                1, own / fit(common)[rows]
            )
    found[(shown & (~known | (before != after))).any(axis=1)] = np.inf
    return found[records.of]


@dataclass(frozen=True)
class _Records:
    """The different records; where people are known, each as often as people have it.

    codes, shows : shape (c, q), the values and which are there
    records      : shape (c,), how many records are like it; 1 where people are known
    people       : shape (c,), whose it is; None where people are not known
    of           : shape (n,), which of them each record is
    """

    codes: IntArray
    shows: BoolArray
    records: IntArray
    people: IntArray | None
    of: IntArray

    def held(self, codes: IntArray, counted: IntArray) -> IntArray:
        """Of the `counted`, how many records, or people, have the codes of each of all; shape (c,)."""
        cell, cells = _cells(codes)
        return self._members(cell[counted], counted, cells)[cell]

    def others(self, before: IntArray, after: IntArray, rows: IntArray, counted: IntArray) -> IntArray:
        """How many of the `counted` have `after` as `rows` have `before`, but for those of the row's own person."""
        cell, cells = _cells(np.concatenate([after[counted], before[rows]]))
        theirs, mine = cell[: len(counted)], cell[len(counted) :]
        members = self._members(theirs, counted, cells)[mine]
        if self.people is None:
            own = np.zeros(len(before), dtype=np.int64)  # who is counted fits with itself
            own[counted] = cell[: len(counted)] + 1
            return np.asarray(members - (own[rows] == mine + 1), dtype=np.int64)
        persons = int(self.people.max(initial=-1)) + 1
        own_too = np.isin(mine * persons + self.people[rows], theirs * persons + self.people[counted])
        return np.asarray(members - own_too, dtype=np.int64)

    def _members(self, cell: IntArray, counted: IntArray, cells: int) -> IntArray:
        if self.people is None:
            return np.bincount(cell, weights=self.records[counted], minlength=cells).astype(np.int64)
        return distinct_people(cell, self.people[counted], cells)


def _alike(coded: tuple[IntArray, BoolArray], people: IntArray | None) -> _Records:
    codes, shows = coded
    keys = list(codes.T)
    classes = equivalence_classes(keys if people is None else [*keys, people])
    first = np.empty(len(classes.sizes), dtype=np.int64)
    first[classes.labels] = np.arange(len(codes))
    if people is None:
        return _Records(codes[first], shows[first], classes.sizes, None, classes.labels)
    return _Records(codes[first], shows[first], np.ones_like(first), people[first], classes.labels)


def _codes(columns: "Sequence[pd.Series]") -> tuple[IntArray, BoolArray]:
    """Codes of the values, shape (n, p), and which are there."""
    codes = np.column_stack([category_codes(column).astype(np.int64) for column in columns])
    return codes, np.column_stack([column.notna().to_numpy() for column in columns])


def _least(records: _Records, before: IntArray, shown: BoolArray) -> IntArray:
    """Of the records of one person with the same keys the one that shows least; their rows."""
    assert records.people is not None
    whose = equivalence_classes([*before.T, records.people]).labels
    order = np.lexsort((shown.sum(axis=1), whose))
    return np.sort(order[np.unique(whose[order], return_index=True)[1]])


def _patterns(there: BoolArray, rows: IntArray | None = None) -> list[tuple[BoolArray, IntArray]]:
    """Each pattern of keys that are there, with its rows; of some rows, where these are given."""
    rows = np.arange(len(there)) if rows is None else rows
    patterns, pattern = np.unique(np.packbits(there[rows], axis=1), axis=0, return_inverse=True)
    unpacked = np.unpackbits(patterns, axis=1, count=there.shape[1]).astype(np.bool_)
    return [(keys, rows[pattern.ravel() == label]) for label, keys in enumerate(unpacked)]


def _cells(codes: IntArray) -> tuple[IntArray, int]:
    if not codes.shape[1]:
        return np.zeros(len(codes), dtype=np.int64), 1
    classes = equivalence_classes(list(codes.T))
    return classes.labels, len(classes.sizes)
