"""What cells have of their contributors, in a form that adds up over cells that share none of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sluice.tabular.model.cells import Booleans, Integers
from sluice.tabular.model.column_values import halves_to_even


@dataclass(frozen=True, eq=False)
class ContributorShares:
    """Who contributes what to which cell: n pairs of a cell and a contributor, each once.

    cell   : shape (n,), its key; see `keys_of`
    owner  : shape (n,), the contributor, as a number of 0 or more
    share  : shape (n,), its part of the total, weighted if the table is
    value  : shape (n,), the same without weight; its size is what the rules compare
    weight : shape (n,), for how many contributors it counts, in units of `CellSums.unit`; None: each for one
    """

    cell: Integers
    owner: Integers
    share: Integers
    value: Integers
    weight: Integers | None = None

    def __len__(self) -> int:
        return len(self.cell)


@dataclass(frozen=True, eq=False)
class CellSums:
    """What m cells have, in a form that adds up over cells that share no contributor.

    cell         : shape (m,), keys in rising order
    total        : shape (m,); `sizes` without signs
    contributors : shape (m,), in units of weight
    size, owner  : shape (m, t), the largest sizes in falling order and whose they are; -1 where there are fewer
    weight       : shape (m, t); None: 1 each
    """

    cell: Integers
    total: Integers
    sizes: Integers
    contributors: Integers
    size: Integers
    owner: Integers
    weight: Integers | None = None

    def moved(self, cell: Integers, inside: Booleans) -> "CellSums":
        """The sums of the cells inside, as parts of other cells."""
        return CellSums(
            cell[inside],
            self.total[inside],
            self.sizes[inside],
            self.contributors[inside],
            self.size[inside],
            self.owner[inside],
            None if self.weight is None else self.weight[inside],
        )


def cell_sums(given: ContributorShares, kept: int, unit: int = 1) -> CellSums:
    """The sums of cells whose contributors are given each once."""
    order = np.lexsort((given.owner, -np.abs(given.value), given.cell))
    cell, starts = _groups(given.cell[order])
    share, size = given.share[order], np.abs(given.value[order])
    weight = None if given.weight is None else given.weight[order]
    first = _first(starts, len(order), kept)
    counted = np.diff(np.r_[starts, len(order)]) * unit if weight is None else _summed(weight, starts)
    return CellSums(
        cell=cell,
        total=_summed(share, starts),
        sizes=_summed(np.abs(share), starts),
        contributors=counted,
        size=np.where(first < 0, 0, size[first]) if len(order) else first,
        owner=np.where(first < 0, -1, given.owner[order][first]) if len(order) else first,
        weight=None if weight is None else np.where(first < 0, 0, weight[first]) if len(order) else first,
    )


def shares_of(
    cell: Integers, contributor: Integers, value: Integers, weighted: Integers | None, weight: Integers | None
) -> ContributorShares:
    """The records of each contributor in each cell added up; of the weights the smallest."""
    order = np.lexsort((contributor, cell))
    cell, contributor = cell[order], contributor[order]
    starts = np.flatnonzero(np.r_[True, (cell[1:] != cell[:-1]) | (contributor[1:] != contributor[:-1])][: len(cell)])
    summed = _summed(value[order], starts)
    return ContributorShares(
        cell[starts],
        contributor[starts],
        share=summed if weighted is None else _summed(weighted[order], starts),
        value=summed,
        weight=None if weight is None else np.minimum.reduceat(weight[order], starts) if len(starts) else weight,
    )


def add_up(parts: Sequence[CellSums]) -> CellSums:
    """The sums of cells that have parts in several, none of which share a contributor."""
    all_ = concatenate([part for part in parts if len(part.cell)] or list(parts[:1]))
    if not len(all_.cell):
        return all_
    order = np.argsort(all_.cell, kind="stable")
    cell, starts = _groups(all_.cell[order])
    kept = all_.size.shape[1]
    has = (all_.owner >= 0).ravel()
    largest = ContributorShares(
        np.repeat(all_.cell, kept)[has],
        all_.owner.ravel()[has],
        share=all_.size.ravel()[has],
        value=all_.size.ravel()[has],
        weight=None if all_.weight is None else all_.weight.ravel()[has],
    )
    of_largest = cell_sums(largest, kept)
    return CellSums(
        cell,
        _summed(all_.total[order], starts),
        _summed(all_.sizes[order], starts),
        _summed(all_.contributors[order], starts),
        of_largest.size,
        of_largest.owner,
        of_largest.weight,
    )


def concatenate(parts: Sequence[CellSums]) -> CellSums:
    """All parts, one after another; a cell may stand in several."""
    return CellSums(
        np.concatenate([part.cell for part in parts]),
        np.concatenate([part.total for part in parts]),
        np.concatenate([part.sizes for part in parts]),
        np.concatenate([part.contributors for part in parts]),
        np.concatenate([part.size for part in parts]),
        np.concatenate([part.owner for part in parts]),
        None if parts[0].weight is None else np.concatenate([p.weight for p in parts if p.weight is not None]),
    )


def expand(made: CellSums, unit: int) -> tuple[Integers, Integers]:
    """The largest contributions, each as many times as its weight says; the k-th is the average over the k-th unit."""
    if made.weight is None:
        return made.size, made.owner
    kept = made.size.shape[1]
    until = np.cumsum(made.weight, axis=1)
    since = until - made.weight
    size, owner = np.zeros_like(made.size), np.full_like(made.owner, -1)
    for rank in range(kept):
        low, high = rank * unit, (rank + 1) * unit
        part = np.clip(np.minimum(until, high) - np.maximum(since, low), 0, None)
        whole, rest = made.size // unit * part, made.size % unit * part
        size[:, rank] = whole.sum(axis=1) + halves_to_even(rest.sum(axis=1), unit)
        begins = (since >= low) & (since < high) & (made.owner >= 0)  # the others' copies in this unit are nobody's
        owner[:, rank] = np.where(begins.any(axis=1), made.owner[np.arange(len(owner)), begins.argmax(axis=1)], -1)
    return size, owner


def select(given: ContributorShares, which: Booleans) -> ContributorShares:
    """The pairs of which `which`, shape (n,), is true."""
    weight = None if given.weight is None else given.weight[which]
    return ContributorShares(given.cell[which], given.owner[which], given.share[which], given.value[which], weight)


def _groups(ordered: Integers) -> tuple[Integers, Integers]:
    """Each value of an ordered array once, and where it begins."""
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]][: len(ordered)])
    return ordered[starts], starts


def _first(starts: Integers, count: int, kept: int) -> Integers:
    """Shape (groups, kept): positions of each group's first entries, -1 where it has fewer."""
    at = starts[:, None] + np.arange(kept)
    return np.where(at < np.r_[starts[1:], count][: len(starts), None], at, -1)


def _summed(values: Integers, starts: Integers) -> Integers:
    return np.add.reduceat(values, starts) if len(starts) else values[:0]
