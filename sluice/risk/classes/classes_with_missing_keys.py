"""Equivalence classes with missing keys: among how many a record hides where a missing key may stand for any value.

A suppressed cell widens the class of its own record: it could be anybody who agrees with what is left. It does not hide
others: two records without any key vouch for nobody. And whoever knows a person looks at all records that fit: a person
whose record alone lost its sex is found by it, however many share what is left. So what counts is the smaller of two:

- `matching_records`: the records that show the same on every key which the record shows;
- `candidates`: the records that fit the person, each by how likely it is the person's. A record that more people fit
  than the person's own is less likely so, and counts for less.

Differs from sdcMicro's `freqCalc`, where a missing key matches every value of either record.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.risk.classes.equivalence_classes import Codes, category_codes, distinct_people, equivalence_classes
from sluice.risk.row_groups import row_groups

_ANYTHING = -1  # the code of a missing key; as in the kernel
_BITS = 2**29  # 64 MB: the most that a table of bits may take
_JOIN, _WORD = 30.0, 0.5  # nanoseconds a record: of a join on one pattern, of 64 classes
_ROWS = 1.0  # how much dearer one record by itself is than one pair of patterns
_ROUNDING = 1e-9  # sums of shares: 3 are not 2


def frequencies_with_missing_keys(
    released: pd.DataFrame,
    columns: Sequence[str],
    original: pd.DataFrame | None = None,
    people: IntArray | None = None,
    times: IntArray | None = None,
) -> IntArray:
    """Among how many records, or people, each record hides.

    released : typed
    original : the same records in the same order before values were suppressed, typed alike; without it
               `matching_records` decides alone
    people   : shape (n,), the person of each record, from 0; every record is somebody else's when not given
    times    : shape (n,), for how many equal records, of as many people, each stands; 1 when not given
    returns  : shape (n,), 1 or more; fractions are cut off
    cost     : of `matching_records` and `candidates`; these are asked for records that lost a value alone: where
               nothing was suppressed, whoever shows what the record shows is a candidate
    """
    agree = matching_records(released, columns, people, times)
    if original is None or not (hidden := _hidden(original, released, columns)).any():
        return agree
    found = candidates(original, released, columns, people, hidden, times)
    return np.where(hidden, np.minimum(agree, np.floor(found + _ROUNDING)), agree).astype(np.int64)


def matching_records(
    frame: pd.DataFrame, columns: Sequence[str], people: IntArray | None = None, times: IntArray | None = None
) -> IntArray:
    """For each record, how many records, or people, show the same on every key that the record shows; shape (n,).

    cost : O(n) for each pattern of missing keys or, if less, O(c^2 / 64) a key for c different records
    """
    records = _alike(*_codes([frame[name] for name in columns]), people, times)
    codes, shows = records.codes, records.shows
    found = np.zeros(len(codes), dtype=np.int64)
    patterns = _patterns(shows)
    if people is None and _JOIN * len(patterns) > _WORD * len(codes) / 64:
        return _by_bits(np.where(shows, codes, _ANYTHING), records.records)[records.of]
    for keys, rows in patterns:
        there = np.flatnonzero(shows[:, keys].all(axis=1))
        found[rows] = records.held(codes[:, keys], there)[rows]
    return found[records.of]


def candidates(
    original: pd.DataFrame,
    released: pd.DataFrame,
    columns: Sequence[str],
    people: IntArray | None = None,
    asked: BoolArray | None = None,
    times: IntArray | None = None,
) -> FloatArray:
    """For each record, how many records could be the person's, the person's own as 1; shape (n,).

    asked : shape (n,), the records to look at, 1 for the others; all when not given
    cost  : O(n) for each pattern of keys known of those asked and each of what is shown of these

    Another's record counts by the people whom the person's own record fits over those whom it fits, 1 at most; of
    several records of one other person the one that shows least. A record whose keys were changed and not only
    suppressed is not found in this way: infinite.
    """
    n, p = len(original), len(columns)
    codes, shows = _codes([pd.concat([original[name], released[name]], ignore_index=True) for name in columns])
    codes = [each[part] for part in (slice(n), slice(n, None)) for each in codes]
    shows = [each[part] for part in (slice(n), slice(n, None)) for each in shows]
    records = _alike(codes, shows, people, times)
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
    asking = np.arange(len(before)) if asked is None else np.unique(records.of[asked])
    of_known = _patterns(known, asking)
    if _ROWS * len(asking) < len(of_known) * len(_patterns(shown)):
        for row in asking.tolist():
            found[row] += _others_of(records, row, before, after, known, shown, counted)
        of_known = []
    for knows, rows in of_known:
        own = np.zeros(len(rows))
        for keys, at in _patterns(shown[rows]):
            own[at] = fit(knows & keys)[rows[at]]
        for common, others in _patterns(shown & knows, counted):
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


def _alike(codes: list[Codes], shows: list[BoolArray], people: IntArray | None, times: IntArray | None) -> _Records:
    classes = equivalence_classes(codes if people is None else [*codes, people])
    first = np.empty(len(classes.sizes), dtype=np.int64)
    first[classes.labels] = np.arange(len(codes[0]))
    values = np.column_stack([each[first].astype(np.int64) for each in codes])
    there = np.column_stack([each[first] for each in shows])
    if people is None:
        sizes = classes.sizes if times is None else np.bincount(classes.labels, weights=times).astype(np.int64)
        return _Records(values, there, sizes, None, classes.labels)
    return _Records(values, there, np.ones_like(first), people[first], classes.labels)


def _codes(columns: "Sequence[pd.Series]") -> tuple[list[Codes], list[BoolArray]]:
    """Codes of the values of each column, and which are there."""
    return [category_codes(column) for column in columns], [column.notna().to_numpy() for column in columns]


def _others_of(
    records: _Records,
    row: int,
    before: IntArray,
    after: IntArray,
    known: BoolArray,
    shown: BoolArray,
    counted: IntArray,
) -> float:
    """How many records of others could be one person's, as `candidates` counts; in one pass over all records."""

    def fit(keys: BoolArray) -> int:
        there = known[:, keys].all(axis=1) & (before[:, keys] == before[row, keys]).all(axis=1)
        return int(records.records[there].sum() if records.people is None else len(np.unique(records.people[there])))

    look = shown[counted] & known[row]
    fits = ((after[counted] == before[row]) | ~look).all(axis=1)
    weight = records.records[counted] - (counted == row if records.people is None else 0)
    if records.people is not None:
        fits &= records.people[counted] != records.people[row]
    own, total = fit(shown[row] & known[row]), 0.0
    for common, at in _patterns(look[fits]):
        mine = counted[fits][at]
        several = weight[fits][at].sum() if records.people is None else len(np.unique(records.people[mine]))
        total += float(several) * min(1.0, own / fit(common))
    return total


def _hidden(original: pd.DataFrame, released: pd.DataFrame, columns: Sequence[str]) -> BoolArray:
    """Which records lost a value."""
    gaps = [released[name].isna().to_numpy() & original[name].notna().to_numpy() for name in columns]
    return np.asarray(np.any(gaps, axis=0), dtype=np.bool_)


def _least(records: _Records, before: IntArray, shown: BoolArray) -> IntArray:
    """Of the records of one person with the same keys the one that shows least; their rows."""
    assert records.people is not None
    whose = equivalence_classes([*before.T, records.people]).labels
    order = np.lexsort((shown.sum(axis=1), whose))
    return np.sort(order[np.unique(whose[order], return_index=True)[1]])


def _patterns(there: BoolArray, rows: IntArray | None = None) -> list[tuple[BoolArray, IntArray]]:
    """Each pattern of keys that are there, with its rows; of some rows, where these are given."""
    rows = np.arange(len(there)) if rows is None else rows
    if not len(rows):
        return []
    packed = np.packbits(there[rows], axis=1)
    groups = row_groups(packed.T)
    unpacked = np.unpackbits(packed[groups.first], axis=1, count=there.shape[1]).astype(np.bool_)
    of_each = np.split(rows[np.argsort(groups.of, kind="stable")], np.cumsum(groups.size)[:-1])
    return [*zip(unpacked, of_each, strict=True)]


def _cells(codes: IntArray) -> tuple[IntArray, int]:
    if not codes.shape[1]:
        return np.zeros(len(codes), dtype=np.int64), 1
    classes = equivalence_classes(list(codes.T))
    return classes.labels, len(classes.sizes)


def _by_bits(keys: IntArray, sizes: IntArray) -> IntArray:
    """For each value of each key a row of bits, one a class that shows it; its values' 'and' is who matches a class."""
    values = np.full_like(keys, _ANYTHING)
    rows = 0
    for position, key in enumerate(keys.T):
        present = key != _ANYTHING
        held, values[present, position] = np.unique(key[present], return_inverse=True)
        values[present, position] += rows
        rows += len(held)
    words = max(1, min(-(-len(keys) // 64), _BITS // (64 * max(rows, 1))))
    from sluice.risk.classes.classes_with_missing_keys_kernel import (
        matching_records,  # compiled code, loaded where it is needed
    )

    return np.asarray(matching_records(values, rows, sizes, words), dtype=np.int64)
