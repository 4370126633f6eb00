"""Table redesign: which coarser table would need less suppression, and what it gives up.

Source: Hundepool and others (2012), section 4.4, table redesign. The order of the advice is this project's own: what a
change spares (sensitive cells, and marginals that hold a single one, which each call for a second suppression) for
each cell that it gives up.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sluice.ground.errors import DataError
from sluice.tabular.advice.coarsening import (
    Coarsening,
    Tables,
    coarser,
    drop_groups,
    end_at,
    merge,
    siblings,
    united_pairs,
    withhold_total,
)
from sluice.tabular.model.cells import Booleans, Cells, Contributions, keys_of
from sluice.tabular.rules.sensitivity import SensitivityRule

_WORKED_OUT = 40  # merges of each dimension that are worked out to the end


@dataclass(frozen=True, eq=False)
class Redesign:
    """What a change is worth; each pair is before and after.

    sensitive : sensitive cells
    single    : published marginals that, their parts included, hold exactly one sensitive cell
    cells     : published cells
    """

    change: Coarsening
    sensitive: tuple[int, int]
    single: tuple[int, int]
    cells: tuple[int, int]

    @property
    def spared(self) -> int:
        """Sensitive cells, and marginals with a single one, that go."""
        return self.sensitive[0] - self.sensitive[1] + self.single[0] - self.single[1]

    @property
    def given_up(self) -> int:
        """Published cells that go."""
        return self.cells[0] - self.cells[1]

    @property
    def says(self) -> str:
        """The advice in words."""
        (sensitive, still), (single, left), (cells, fewer) = self.sensitive, self.single, self.cells
        alone = f"and {single - left:,} of {single:,} marginals with a single one"
        if left > single:
            alone = f"but marginals with a single one are {left:,}, from {single:,}"
        return (
            f"{self.change.says}: {sensitive - still:,} of {sensitive:,} sensitive cells go, {alone}; "
            f"{cells - fewer:,} of {cells:,} cells fewer"
        )


def redesigns(
    cells: Cells, rules: Sequence[SensitivityRule], ordered: Collection[str] = (), tables: Tables | None = None
) -> list[Redesign]:
    """Every change that spares something, the one first that spares most for each cell that it gives up.

    ordered : dimensions of which only neighbouring codes may be merged, such as size classes
    tables  : the dimensions of each of several linked tables, as in `equations_of`
    raises  : DataError for an ordered dimension that there is not
    cost    : O(cells) for each pair of siblings, and a new table for 40 merges and all other changes of each dimension
    """
    names = [dimension.name for dimension in cells.dimensions]
    for name in ordered:
        if name not in names:
            raise DataError(f"ordered names the dimension '{name}', which there is not.", came=name, allowed=names)
    before = _figures(cells, rules)
    found = [
        Redesign(change, *((old, new) for old, new in zip(before, _figures(after, rules), strict=True)))
        for change in _changes(cells, rules, ordered)
        for after in [coarser(cells, change, tables)]
        if len(after)
    ]
    useful = [redesign for redesign in found if redesign.spared > 0]
    return sorted(useful, key=lambda r: (-r.spared / max(r.given_up, 1), -r.spared, r.change.says))


def greedy_redesign(
    cells: Cells,
    rules: Sequence[SensitivityRule],
    steps: int,
    ordered: Collection[str] = (),
    tables: Tables | None = None,
) -> tuple[list[Redesign], Cells]:
    """The best change, then the best of the table that this makes, and so on; and the last table.

    Ends early where nothing is sensitive or no change spares anything. Raises DataError for steps below 1.
    """
    if steps < 1:
        raise DataError(f"steps of a redesign must be 1 or more; got {steps}.")
    taken: list[Redesign] = []
    while len(taken) < steps:
        best = redesigns(cells, rules, ordered, tables)
        if not best:
            break
        taken.append(best[0])
        cells = coarser(cells, best[0].change, tables)
    return taken, cells


def _changes(cells: Cells, rules: Sequence[SensitivityRule], ordered: Collection[str]) -> Iterator[Coarsening]:
    sensitive = _sensitive(rules, cells.contributions)
    for axis, dimension in enumerate(cells.dimensions):
        several = len({p for _, parts in dimension.sums for p in parts}) < sum(len(p) for _, p in dimension.sums)
        pairs = []
        for pair in siblings(dimension, dimension.name in ordered):
            change = merge(cells, axis, pair)
            gone, lost = _quick(cells, rules, sensitive, change, pair)
            if gone > 0:
                pairs.append((-gone / max(lost, 1), pair, change))
        for _, _, change in sorted(pairs, key=lambda each: each[:2])[:_WORKED_OUT]:
            yield change
        groups = {int(dimension.depth[group]) for group, _ in dimension.sums if group}
        yield from (drop_groups(cells, axis, level) for level in sorted(groups - {0}))
        if not several:
            yield from (end_at(cells, axis, level) for level in range(1, int(dimension.depth.max())))
        yield withhold_total(cells, axis)


def _quick(
    cells: Cells, rules: Sequence[SensitivityRule], sensitive: Booleans, change: Coarsening, pair: tuple[int, int]
) -> tuple[int, int]:
    """How many sensitive cells and how many cells go with a merge."""
    at = [np.flatnonzero(cells.codes[:, change.axis] == code) for code in pair]
    before = sum(int(sensitive[cell].sum()) for cell in at)
    if change.of_cell[pair[0]] < 0:
        return before, len(at[0]) + len(at[1])
    others = np.delete(np.arange(len(cells.dimensions)), change.axis)
    dimensions = [cells.dimensions[axis] for axis in others] or [cells.dimensions[change.axis]]
    one, other = (keys_of(dimensions, cells.codes[cell][:, others]) if len(others) else cell * 0 for cell in at)
    _, first, second = np.intersect1d(one, other, assume_unique=True, return_indices=True)
    one, other = at[0][first], at[1][second]
    sizes = cells.total if cells.sizes is None else cells.sizes
    contributors, largest, _ = united_pairs(cells, sizes, one, other)
    union = _sensitive(rules, Contributions(sizes[one] + sizes[other], contributors, largest))
    return int(sensitive[one].sum() + sensitive[other].sum() - union.sum()), len(one)


def _figures(cells: Cells, rules: Sequence[SensitivityRule]) -> tuple[int, int, int]:
    """Sensitive cells, published marginals with a single one, published cells."""
    sensitive = _sensitive(rules, cells.contributions)
    inside = abs(cells.equations)
    single = (inside @ sensitive == 1) & (inside @ ~cells.published == 0)
    return int(sensitive.sum()), int(single.sum()), int(cells.published.sum())


def _sensitive(rules: Sequence[SensitivityRule], contributions: Contributions) -> Booleans:
    found = np.zeros(len(contributions.total), dtype=bool)
    for rule in rules:
        found |= rule.sensitive(contributions)
    return found
