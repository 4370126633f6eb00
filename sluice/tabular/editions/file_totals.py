"""What a published file of records tells of the cells of a table: its records, added up by the table's dimensions.

Where the file left the dimensions and the measure alone, its sums are the table's, suppressed cells among them. An
attacker sees how far to trust them by the cells that the table publishes. The measure is this project's own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np
from numpy.typing import NDArray

from sluice.tabular.model.cells import Booleans, Cells, Codes, Floats, Integers, Status, Statuses, keys_of
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.rules.sensitivity import Requirements

_NEARLY = 0.01  # of a cell, by which a sum may differ from it and agree
NEARLY_ALL = 0.9  # of the published cells of a level: then the sums of the others are believed
_MUCH = 0.5  # of the published cells: the file is of the same records, and few protected cells are no excuse
_CHANCE_OF_AMOUNT = 0.05  # that a guess comes as near to an amount as its protection level forbids
_BY_CHANCE = 0.01  # of so many right sums, below which they are not explained by guessing


@dataclass(frozen=True)
class FileComparison:
    """How nearly sums over a file tell the cells that a table protects.

    agreement : share of the published cells that the sums agree with, to within a hundredth
    protected : sensitive cells that the file has a sum of
    right     : of them, those whose sum is the value, or nearer to it than the protection level
    trusted   : of the protected cells, those in levels of the table where nearly all published cells agree
    believed  : of these, the right ones
    chance    : share of the protected cells that the best guess without the file tells
    known     : shape (c,), other suppressed cells whose sum is their value, in such levels: they protect nobody then
    likely    : the same, in levels where at least half of the published cells agree
    """

    agreement: float
    protected: int
    right: int
    trusted: int
    believed: int
    chance: float
    known: Booleans = field(compare=False)
    likely: Booleans = field(compare=False)

    @property
    def discloses(self) -> bool:
        """Whoever has reason to trust the sums is right about most cells."""
        return self.believed > 0 and 2 * self.believed >= self.trusted

    @property
    def helps(self) -> bool:
        """Sums are right more often than guesses, or right where there is reason to trust them."""
        from scipy.stats import binom  # takes time to load

        if self.believed or self.right <= self.chance * self.protected:
            return self.believed > 0
        by_chance = float(binom.sf(self.right - 1, self.protected, self.chance))
        return by_chance < _BY_CHANCE or self.agreement >= _MUCH


def compare_with_file(
    cells: Cells, status: Statuses, requirements: Requirements, altered: bool, totals: Floats
) -> FileComparison:
    """How nearly the sums over a file, of shape (c,) and NaN where it has none, tell the protected cells.

    altered : values were changed instead of suppressing cells; each sensitive cell is protected then
    """
    has = ~np.isnan(totals) & (cells.codes != 0).any(axis=1)
    primary = (status == Status.PRIMARY) | (requirements.sensitive & (altered | (status != Status.PUBLISHED)))
    protected, open_ = has & primary & (cells.total != 0), has & ~primary & (status != Status.WITHHELD)
    distance = np.abs(np.nan_to_num(totals) - cells.total)
    agree = distance <= np.maximum(0.5, _NEARLY * np.abs(cells.total))
    right = protected & ((distance < 0.5) | (distance < requirements.upper))
    agreement = float(agree[open_].mean()) if open_.any() else 0.0
    trust = np.zeros(len(cells))
    for level in _levels(cells):
        here = agree[level & open_]
        trust[level] = here.mean() if len(here) else agreement
    trusted, exact = trust >= NEARLY_ALL, has & (status == Status.SECONDARY) & ~primary & (distance < 0.5)
    return FileComparison(
        agreement=agreement,
        protected=int(protected.sum()),
        right=int(right.sum()),
        trusted=int((protected & trusted).sum()),
        believed=int((right & trusted).sum()),
        chance=_chance(cells.total[protected]),
        known=exact & trusted,
        likely=exact & (trust >= _MUCH),
    )


def file_totals(cells: Cells, codes: Mapping[str, NDArray[np.object_]], amount: Floats) -> Floats:
    """The sums over n records of a file, shape (c,), in units; NaN for cells of a dimension that the file has not.

    codes  : dimension -> shape (n,), the code of each record, of a leaf or a group. A label that is no code is taken
             for the code whose total it has, as the file may name a group otherwise; else it counts in the total alone
    amount : shape (n,), in units of the table; 1 each where records are counted
    cost   : O(n log n), and for each combination of levels O(m log c) of m different combinations of codes
    """
    axes = [axis for axis, dimension in enumerate(cells.dimensions) if dimension.name in codes]
    others = [axis for axis in range(len(cells.dimensions)) if axis not in axes]
    found = np.full(len(cells), np.nan)
    if not axes:
        return found
    dimensions = [cells.dimensions[axis] for axis in axes]
    inside = np.flatnonzero((cells.codes[:, others] == 0).all(axis=1))
    wanted = keys_of(dimensions, cells.codes[inside][:, axes])
    order = np.argsort(wanted, kind="stable")
    held = np.column_stack([_positions(cells, axis, codes[cells.dimensions[axis].name], amount) for axis in axes])
    combinations, at = np.unique(held, axis=0, return_inverse=True)
    summed = np.bincount(at.ravel(), weights=amount, minlength=len(combinations))
    totals = np.zeros(len(inside))
    above = [_holders(dimension) for dimension in dimensions]
    for levels in product(*(range(holders.shape[1]) for holders in above)):
        group: Codes = np.column_stack(
            [h[combinations[:, axis], level] for axis, (h, level) in enumerate(zip(above, levels, strict=True))]
        )
        there = (group >= 0).all(axis=1)
        keys = keys_of(dimensions, group[there])
        place = np.minimum(np.searchsorted(wanted[order], keys), len(order) - 1)
        same = wanted[order][place] == keys
        np.add.at(totals, order[place[same]], summed[there][same])
    found[inside] = totals
    return found


_UNLIKELY = 1e-4  # that counts of other people are as much alike


def values_read(codes: Codes, leaf: Booleans, earlier: Floats, later: Floats, target: int) -> int:
    """Of how many people two counts tell a code when subtracted, to somebody who knows their other codes and that they
    are in one of the counts alone; 0 where both are of other people.

    codes          : shape (c, d)
    leaf           : shape (c,), cells that are no sums
    earlier, later : shape (c,), the counts; NaN where a cell is not known
    target         : the axis that is read
    """
    at = np.flatnonzero(leaf)
    classes = np.unique(np.delete(codes[at], target, axis=1), axis=0, return_inverse=True)[1].ravel()
    apart, together = later[at] - earlier[at], later[at] + earlier[at]
    known = np.isfinite(apart)
    counted = known & (together > 0)
    if counted.sum() < 2 or not _are_of_the_same(earlier[at][counted], later[at][counted]):
        return 0
    several = np.bincount(classes[counted], minlength=int(classes.max()) + 1) > 1
    whole = several & (np.bincount(classes[~known], minlength=len(several)) == 0)
    for sign in (apart > 0, apart < 0):  # who came, and who left, is in one code of the class alone
        whole &= np.bincount(classes[known & sign], minlength=len(several)) <= 1
    return int(np.abs(apart[known & whole[classes]]).sum())


def _are_of_the_same(earlier: Floats, later: Floats) -> bool:
    """Whether the counts of cells differ less than those of two samples of one population would."""
    from scipy.stats import chi2  # takes time to load

    together, share = earlier + later, float(later.sum() / (earlier.sum() + later.sum()))
    if not 0 < share < 1:
        return False
    deviation = float(((later - share * together) ** 2 / (share * (1 - share) * together)).sum())
    return bool(chi2.cdf(deviation, len(together) - 1) < _UNLIKELY)


def leaves_of(cells: Cells, shared: Sequence[bool]) -> Booleans:
    """Shape (c,): cells that are no sums by the shared dimensions, and the total of all others."""
    found = np.ones(len(cells), dtype=bool)
    for axis, (dimension, is_shared) in enumerate(zip(cells.dimensions, shared, strict=True)):
        sums = [0, *(group for group, _ in dimension.sums)]
        found &= ~np.isin(cells.codes[:, axis], sums) if is_shared else cells.codes[:, axis] == 0
    return found


def _positions(cells: Cells, axis: int, labels: NDArray[np.object_], amount: Floats) -> Integers:
    """Where the code of each record stands; the total for a label that is no code and has the total of none."""
    dimension = cells.dimensions[axis]
    different, at = np.unique(labels.astype(str), return_inverse=True)
    sums = np.bincount(at.ravel(), weights=amount, minlength=len(different))
    marginal = np.flatnonzero((np.delete(cells.codes, axis, axis=1) == 0).all(axis=1) & (cells.codes[:, axis] != 0))
    known = set(different)
    free = {int(cells.codes[c, axis]): int(cells.total[c]) for c in marginal}
    free = {code: total for code, total in free.items() if total and dimension.codes[code] not in known}
    places = np.zeros(len(different), dtype=np.int64)
    for number, label in enumerate(different):
        same = [code for code, total in free.items() if abs(sums[number] - total) < 0.5]
        if label in dimension.position:
            places[number] = dimension.position[label]
        elif same:
            places[number] = same[0]
    found: Integers = places[at.ravel()]
    return found


def _holders(dimension: Dimension) -> Codes:
    """For each code itself and all groups that hold it, -1 where there are no more; shape (codes, most)."""
    parents: dict[int, set[int]] = {code: set() for code in range(len(dimension.codes))}
    for group, parts in dimension.sums:
        for part in parts:
            parents[part].add(group)
    holders = []
    for code in parents:
        seen, waiting = {code}, [code]
        while waiting:
            new = parents[waiting.pop()] - seen
            seen |= new
            waiting += new
        holders.append(sorted(seen))
    most = max(map(len, holders))
    return np.array([[*each, *[-1] * (most - len(each))] for each in holders], dtype=np.int32)


def _levels(cells: Cells) -> list[Booleans]:
    """The cells of each combination of levels, each of shape (c,)."""
    levels = np.column_stack([d.levels[cells.codes[:, axis]] for axis, d in enumerate(cells.dimensions)])
    _, group = np.unique(levels, axis=0, return_inverse=True)
    return [group.ravel() == each for each in range(int(group.max()) + 1)]


def _chance(total: Integers) -> float:
    """Of amounts that differ, little; of counts, the share of the most frequent one."""
    if not len(total):
        return 0.0
    _, often = np.unique(total, return_counts=True)
    return max(float(often.max() / len(total)), _CHANCE_OF_AMOUNT)
