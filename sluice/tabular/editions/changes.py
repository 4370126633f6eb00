"""Who makes the difference between two editions of a cell: those who came, left or changed.

Who reads both editions has the difference as well, which is a cell of its own: of the changes of its contributors. The
measure is this project's own; on differencing, Fraser and Wooton (2005).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd

from sluice.tabular.model.cell_sums import ContributorShares, cell_sums
from sluice.tabular.model.cells import Booleans, Codes, Contributions, Integers, RequestedContributions, keys_of
from sluice.tabular.model.dimension import Dimension, Positions
from sluice.tabular.model.measure import Asking
from sluice.tabular.model.numbered_records import Records


@dataclass(frozen=True, eq=False)
class EditionRecords:
    """The records of an edition, with the dimensions by which it adds them up, whose first code is their total."""

    dimensions: Sequence[Dimension]
    records: Records

    def codes(self, axis: int, now: Dimension) -> list[tuple[str, frozenset[int]]]:
        """Of each code: its text, and the positions in this dimension of another edition of all codes that hold it."""
        own = self.dimensions[axis]
        place = [0, *(now.position.get(code, -1) for code in own.codes[1:])]
        held = [
            frozenset(place[column[at]] for column in own.columns if column[at] >= 0) for at in range(len(own.codes))
        ]
        return [(code, holders - {-1}) for code, holders in zip(own.codes, held, strict=True)]


@dataclass(frozen=True, eq=False)
class Changes:
    """What changed in each of w cells.

    contributions : the sizes of the changes of those who came, left or changed
    arrival       : shape (w,), whether who changed most came or left, so that the change tells the contribution
    arrivals      : shape (w,), how many of them came or left, there or in a cell inside; the others only contribute
                    another amount
    everybody     : how many came, left or changed anywhere
    """

    contributions: Contributions
    arrival: Booleans
    arrivals: Integers
    everybody: int


def changes(
    earlier: EditionRecords, now: EditionRecords, wanted: Codes, kept: int, recognised: bool, nearly: float = 0.9
) -> Changes:
    """What changed between two editions in the cells of these codes.

    earlier, now : with the same dimensions in the same order
    wanted       : shape (w, d), positions in the dimensions of `now`
    kept         : how many of the largest changes are kept
    recognised   : whether contributors have the same name in both editions; else records that are equal in both are
                   taken for the same, and of the others in an innermost cell each that came for one that left. Of
                   those that are not recognised it is not said who asked for protection
    nearly       : who changes by so much of what it contributes as good as came or left
    cost         : O(n log n) of the records of both, for each combination of levels O(m log m) of those changed
    """
    leaf, owner, then, since, asking = _changed(earlier, now, recognised)
    moved = _moved(then, since, nearly)
    everybody = len(np.unique(owner))
    keys = keys_of(now.dimensions, wanted)
    order = np.argsort(keys, kind="stable")
    found = []
    for held in _held(leaf):
        inside = np.flatnonzero((held >= 0).all(axis=1))
        if not len(keys) or not len(inside):
            continue
        cell = keys_of(now.dimensions, held[inside])
        place = order[np.minimum(np.searchsorted(keys[order], cell), len(keys) - 1)]
        same = keys[place] == cell
        inside, place = inside[same], place[same]
        found.append(_added(place.astype(np.int64), owner[inside], then[inside], since[inside], moved[inside]))
    cell, owner, then, since, moved = (
        np.concatenate([each[part] for each in found]) if found else np.zeros(0, dtype=np.int64) for part in range(5)
    )
    size = np.abs(since - then)
    sums = cell_sums(ContributorShares(cell, owner, size, size), kept)
    total, contributors = (np.zeros(len(wanted), dtype=np.int64) for _ in range(2))
    largest = np.zeros((len(wanted), kept), dtype=np.int64)
    total[sums.cell], contributors[sums.cell], largest[sums.cell] = sums.total, sums.contributors, sums.size
    most = np.lexsort((owner, -size, cell))
    first = most[np.r_[True, cell[most][1:] != cell[most][:-1]][: len(most)]]
    arrival = np.zeros(len(wanted), dtype=bool)
    in_all = _moved(then, since, nearly)
    arrival[cell[first]] = in_all[first] > 0
    owners = np.full(largest.shape, -1, dtype=np.int64)
    owners[sums.cell] = sums.owner
    arrivals = np.bincount(cell[(moved > 0) | (in_all > 0)], minlength=len(wanted)).astype(np.int64)
    contributions = RequestedContributions.of(Contributions(total, contributors, largest), owners, asking)
    return Changes(contributions, arrival, arrivals, everybody)


@dataclass(frozen=True, eq=False)
class _Leaves:
    """The leaves of m changes: in each dimension a number, and of each number the codes that hold it."""

    numbers: Codes  # shape (m, d)
    holders: list[list[frozenset[int]]]


def _changed(
    earlier: EditionRecords, now: EditionRecords, recognised: bool
) -> tuple[_Leaves, Integers, Integers, Integers, Asking | None]:
    """Contributors whose part of an innermost cell is another: where, who, how much it was then and is since; and who
    asked for protection in either edition."""
    both = (earlier, now)
    records = [edition.records for edition in both]
    numbers, holders = [], []
    for axis, dimension in enumerate(now.dimensions):
        known: dict[tuple[str, frozenset[int]], int] = {}
        columns = []
        for edition in both:
            each = [known.setdefault(code, len(known)) for code in edition.codes(axis, dimension)]
            columns.append(np.array(each, dtype=np.int64)[edition.records.leaves[:, axis]])
        numbers.append(np.concatenate(columns))
        holders.append([held for _, held in known])
    cell = np.zeros(len(numbers[0]), dtype=np.int64)
    for number in numbers:
        cell = pd.factorize(cell * (int(number.max(initial=0)) + 1) + number)[0].astype(np.int64)
    value = np.concatenate([e.records.value if e.records.weighted is None else e.records.weighted for e in both])
    is_now = np.repeat([False, True], [len(edition.records.value) for edition in both])
    asking: Asking | None = None
    if recognised:
        owner = pd.factorize(np.concatenate([_names(edition.records) for edition in both]))[0].astype(np.int64)
        row = np.arange(len(cell))
        asks = [[np.isin(of.contributor, np.array(who, dtype=np.int64)) for who in of.asking] for of in records]
        asking = Asking(*(tuple(np.unique(owner[np.concatenate(who)]).tolist()) for who in zip(*asks, strict=True)))
    else:
        row = _without_equals(cell, value, is_now)
        rank = pd.DataFrame({"cell": cell[row], "now": is_now[row]}).groupby(["cell", "now"]).cumcount().to_numpy()
        owner = pd.factorize(cell[row] * (int(rank.max(initial=0)) + 1) + rank)[0].astype(np.int64)
    cell, value, is_now = cell[row], value[row], is_now[row]
    before, after = np.where(is_now, 0, value), np.where(is_now, value, 0)
    where, who, then, since, _ = _added(cell, owner, before, after, np.zeros_like(before))
    first = np.unique(cell, return_index=True)
    at = row[first[1]][np.searchsorted(first[0], where)]
    return _Leaves(np.column_stack(numbers)[at].astype(np.int32), holders), who, then, since, asking


def _names(records: Records) -> "np.ndarray[tuple[int], np.dtype[np.object_]]":
    if records.names is None:
        return records.contributor.astype(object)
    return records.names[records.contributor]


def _without_equals(cell: Integers, value: Integers, is_now: Booleans) -> Integers:
    """The records of either edition that the other has no equal of; the larger first."""
    frame = pd.DataFrame({"cell": cell, "value": value, "now": is_now})
    rank = frame.groupby(["cell", "value", "now"]).cumcount()
    alone = ~frame.assign(rank=rank, now=True).duplicated(["cell", "value", "rank"], keep=False).to_numpy()
    rows = np.flatnonzero(alone)
    ordered: Integers = rows[np.argsort(-np.abs(value[rows]), kind="stable")]
    return ordered


def _moved(then: Integers, since: Integers, nearly: float) -> Integers:
    """1 where nearly all that was contributed is gone, or nearly all that is was not; else 0."""
    whole: Integers = (np.abs(since - then) >= nearly * np.maximum(np.abs(then), np.abs(since))).astype(np.int64)
    return whole


def _added(
    cell: Integers, owner: Integers, then: Integers, since: Integers, moved: Integers
) -> tuple[Integers, Integers, Integers, Integers, Integers]:
    """Each contributor of each cell once, where it contributes another amount than before."""
    order = np.lexsort((owner, cell))
    cell, owner = cell[order], owner[order]
    starts = np.flatnonzero(np.r_[True, (cell[1:] != cell[:-1]) | (owner[1:] != owner[:-1])][: len(cell)])
    if not len(starts):
        return cell, owner, then, since, moved
    before, after, moved = (np.add.reduceat(amount[order], starts) for amount in (then, since, moved))
    other = before != after
    return cell[starts][other], owner[starts][other], before[other], after[other], moved[other]


def _held(leaves: _Leaves) -> Iterator[Codes]:
    """The codes that hold each leaf, for every combination of levels, each code in one of them; -1 where none does."""
    columns = [_columns(holders) for holders in leaves.holders]
    for combination in product(*columns):
        yield np.column_stack([column[leaves.numbers[:, axis]] for axis, column in enumerate(combination)])


def _columns(holders: Sequence[frozenset[int]]) -> list[Positions]:
    """Number of a leaf -> the code that holds it, so that every code stands in one column; as `Dimension.columns`."""
    inside: dict[int, list[int]] = {}
    for number, held in enumerate(holders):
        for code in held:
            inside.setdefault(code, []).append(number)
    columns: list[Positions] = []
    for code in sorted(inside, key=lambda code: (-len(inside[code]), code)):
        numbers = inside[code]
        column = next((column for column in columns if (column[numbers] < 0).all()), None)
        if column is None:
            column = np.full(len(holders), -1, dtype=np.int32)
            columns.append(column)
        column[numbers] = code
    return columns
