"""Quasi-identifier search: which columns of a table tell its records apart, and which few of them together single out
most people.

Source: Motwani and Xu (2007), section 1.1: distinct ratio, separation ratio, and that a sample of the records is
enough to find sets of high separation. Differs from it: sets of a few columns are wanted, not a smallest key, so all
sets of a size are looked at, or, where these are too many, the best ones are each extended by every column (a beam of
fixed width).

Which column somebody else knows of a person is no question of arithmetic: the search says what could single out, and a
person decides what of it others know. A missing value is a value of its own. Higher is worse throughout.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from sluice.ground.arrays import IntArray
from sluice.ground.errors import DataError
from sluice.risk.row_groups import row_groups

MOST_RECORDS = 20_000
"""Records on which sets are compared; what is returned is measured on all."""

_MOST_SETS = 3_000  # of one size that are all looked at
_BEAM = 40  # sets that are extended where there are more


@dataclass(frozen=True)
class Combination:
    """How well a set of columns tells records apart.

    columns    : positions of the columns, rising
    distinct   : different combinations, as a share of the records, above 0 to 1
    separation : share of the pairs of records that differ in one of the columns at least, 0 to 1
    alone      : share of the records that share their combination with no other, 0 to 1
    """

    columns: tuple[int, ...]
    distinct: float
    separation: float
    alone: float


@dataclass(frozen=True)
class QuasiIdentifierSearch:
    """What was found.

    single  : every column by itself, in their order
    best    : for each size from 2 the sets that single out most records, the worst first
    gain    : shape (columns,), by how much a column raised the share of records alone in the set where it raised it
              most, on the records that were compared
    records : how many were compared; of: how many the table has
    """

    single: tuple[Combination, ...]
    best: tuple[Combination, ...]
    gain: tuple[float, ...]
    records: int
    of: int


def combination(columns: Sequence[IntArray], chosen: Sequence[int]) -> Combination:
    """The figures of one set of columns.

    columns : arrays of shape (n,), codes of the values
    raises  : DataError for fewer than two records: there is no pair to be told apart
    cost    : O(c n log n)
    """
    records = len(columns[0]) if columns else 0
    if records < 2:
        raise DataError(f"a search for quasi-identifiers needs at least 2 records; got {records}.")
    sizes = row_groups([columns[at] for at in chosen]).size
    return _figures(tuple(chosen), sizes, records)


def search_quasi_identifiers(
    columns: Sequence[IntArray], most_together: int = 3, kept: int = 5, most_records: int = MOST_RECORDS, seed: int = 0
) -> QuasiIdentifierSearch:
    """Every column by itself, and the sets of 2 to `most_together` columns that single out most records.

    columns      : arrays of shape (n,), codes of the values, 0 or above; at least one
    kept         : sets of each size that are returned
    most_records : compared at most, drawn by `seed` without replacement. Fewer records leave more of them alone, alike
                   for all sets, so that the order of the sets stays; the figures that are returned are of all records
    raises       : DataError for fewer than two records
    cost         : O(sets m log m), m the records compared; 42 columns of 300,000 records take some seconds
    """
    records = len(columns[0]) if columns else 0
    if records < 2:
        raise DataError(f"a search for quasi-identifiers needs at least 2 records; got {records}.")
    looked_at = list(columns)
    if records > most_records:
        chosen = np.sort(np.random.default_rng(seed).choice(records, most_records, replace=False))
        looked_at = [column[chosen] for column in columns]
    groups: Groups = {}
    for at, column in enumerate(looked_at):
        groups[(at,)] = row_groups([column]).of
    alone: dict[tuple[int, ...], float] = {key: _alone(of) for key, of in groups.items()}
    gain = [0.0] * len(columns)
    best: list[Combination] = []
    largest = min(most_together, len(columns))
    level = groups
    for size in range(2, largest + 1):
        level = _extended(level, groups, alone, gain, size, goes_on=size < largest)
        worst = sorted((key for key in alone if len(key) == size), key=lambda key: (-alone[key], key))[:kept]
        best += [combination(columns, key) for key in worst]
    return QuasiIdentifierSearch(
        single=tuple(combination(columns, [at]) for at in range(len(columns))),
        best=tuple(sorted(best, key=lambda each: (len(each.columns), -each.alone, each.columns))),
        gain=tuple(gain),
        records=len(looked_at[0]),
        of=records,
    )


Groups = dict[tuple[int, ...], IntArray]  # columns -> the group of each record


def _extended(
    level: Groups, single: Groups, alone: dict[tuple[int, ...], float], gain: list[float], size: int, *, goes_on: bool
) -> Groups:
    """Sets with one column more; `alone` and `gain` learn of each. Those that a further step extends are returned."""
    if _all_are_looked_at(len(single), size):
        wanted = {key: (key[:-1], key[-1]) for key in combinations([at for (at,) in single], size)}
    else:
        begin = _most_telling(level, alone)
        wanted = {tuple(sorted((*key, at))): (key, at) for key in begin for (at,) in single if at not in key}
    found: Groups = {}
    every = _all_are_looked_at(len(single), size + 1)
    for key, (before, at) in sorted(wanted.items()):
        groups = _refined(level[before], single[(at,)])
        alone[key] = _alone(groups)
        for each in key:
            rest = tuple(other for other in key if other != each)
            if rest in alone:
                gain[each] = max(gain[each], alone[key] - alone[rest])
        if goes_on:  # the groups of thousands of sets would fill the memory
            found[key] = groups
            if not every and len(found) > 4 * _BEAM:
                found = {kept: found[kept] for kept in _most_telling(found, alone)}
    return found


def _all_are_looked_at(columns: int, size: int) -> bool:
    return comb(columns, size) <= _MOST_SETS


def _most_telling(level: Groups, alone: dict[tuple[int, ...], float]) -> list[tuple[int, ...]]:
    return sorted(level, key=lambda key: (-alone[key], -_distinct(level[key]), key))[:_BEAM]


def _refined(groups: IntArray, by: IntArray) -> IntArray:
    """Groups of records that agree in both."""
    return row_groups([groups, by]).of


def _distinct(groups: IntArray) -> int:
    return int(groups.max()) + 1


def _alone(groups: IntArray) -> float:
    return float((np.bincount(groups) == 1).sum() / len(groups))


def _figures(chosen: tuple[int, ...], sizes: IntArray, records: int) -> Combination:
    within = int((sizes * (sizes - 1)).sum())
    return Combination(
        columns=chosen,
        distinct=len(sizes) / records,
        separation=1 - within / (records * (records - 1)),
        alone=int((sizes == 1).sum()) / records,
    )
