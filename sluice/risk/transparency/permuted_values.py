"""The attacks on permutation: the values of a group are known, and what moved together betrays itself by one of them.

Source: Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam (2007), the homogeneity of a group, and background
knowledge: whoever knows one of the values that were moved together finds them by it, and reads the others.

Of values that were permuted within published groups, the group's most frequent one is guessed. Source: Xiao and Tao
(2006), whose groups hold each value at most once in l records; Xiong (CS573 slides), homogeneity.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.comparable_values import PlainArray, plain_values
from sluice.risk.attacks.attack_success import share_at_risk
from sluice.risk.people_of_records import groups_of_people
from sluice.risk.row_groups import row_groups
from sluice.risk.spread import spread
from sluice.risk.transparency.attack import RANKED, Attack, Leak, Pairs, paired_share
from sluice.risk.transparency.linear_change import CLOSE

_LARGE = 32  # records of a unit that are passed over for the nearest of another one


@dataclass(frozen=True)
class PermutedValues(Attack):
    """Guess the most frequent value of a person's group, or of those in it who share one known value.

    columns : what was permuted
    within  : variables whose groups it stayed in
    jointly : whether the values of one record moved together
    """

    within: tuple[str, ...]
    jointly: bool

    @property
    def knows(self) -> str:
        group = f"a person's {', '.join(self.within)}, and " if self.within else ""
        return f"{group}that the values of {', '.join(self.columns)} were permuted"

    def play(self, pairs: Pairs) -> tuple[Leak, ...]:
        """The worst of the variables that the intruder may know decides; the baseline is the same guess from the
        original records of other people and other households."""
        names = [name for name in self.columns if name in pairs.released and name in pairs.variables]
        if not names:
            return (
                Leak(
                    "reconstructed",
                    paired_share(np.zeros(0), np.zeros(0), len(pairs.masked)),
                    "no such variable is released",
                ),
            )
        group, units = self._groups(pairs), groups_of_people(pairs.original, pairs.variables)
        before, after = ({name: plain_values(file[name]) for name in names} for file in (pairs.recoded, pairs.masked))
        values = {name: _rounded(before[name], after[name]) for name in names}
        everyone = np.zeros_like(group)
        anybody = {name: _guesses(everyone, everyone, *values[name], units) for name in names}
        plain = {name: _first(_guesses(group, group, *values[name], units), anybody[name]) for name in names}
        worst, by = np.mean([plain[name] for name in names], axis=0), ""
        for known in names if self.jointly else ():
            both = [np.concatenate([group, group]), np.concatenate([before[known], after[known]])]
            keys = row_groups(both).of
            n = len(before[known])
            others = [
                _first(_guesses(keys[:n], keys[n:], *values[name], units), plain[name])
                for name in names
                if name != known
            ]
            if others and _gain(mean := np.mean(others, axis=0)) > _gain(worst):
                worst, by = mean, f" by whoever knows {known}"
        reached, without = worst[:, pairs.rows]
        nearest = _nearest(pairs, group, names, units) if self.jointly else None
        if nearest is not None and _gain(nearest) > _gain(worst[:, pairs.rows]):
            (reached, without), by = nearest, " by whoever knows the others"
        measured = paired_share(reached, without, len(pairs.masked))
        return (Leak("reconstructed", measured, f"to within a tenth of the spread{by}"),)

    def _groups(self, pairs: Pairs) -> IntArray:
        """The group of each record. Groups that a later step hid are those of the original."""
        if not self.within:
            return np.zeros(len(pairs.masked), np.int64)
        files = (pairs.recoded if name in pairs.recoded else pairs.original for name in self.within)
        return row_groups([plain_values(file[name]) for file, name in zip(files, self.within, strict=True)]).of


def _nearest(pairs: Pairs, group: IntArray, names: list[str], units: IntArray) -> FloatArray | None:
    """Success of reading each number from the record of the group whose other numbers lie nearest, shape (2, q).

    First from the released file; then from the original records of other units. A later step may have changed the
    values a little. None without two numbers.
    """
    from scipy.spatial import cKDTree

    numbers = [name for name in names if {pairs.variables[name].kind, pairs.released[name].kind} <= set(RANKED)]
    if len(numbers) < 2:
        return None
    known, published = pairs.known(numbers), pairs.published(numbers)
    spreads = np.array([spread(values) or 1.0 for values in known.T])
    apart = group * 1e6  # records of other groups are far away
    before, after = (np.nan_to_num(each / spreads, nan=-1e3) for each in (known, published))
    right: FloatArray = np.zeros((2, len(pairs.rows)))
    together = min(len(units), 1 + min(_LARGE, int(np.bincount(units).max())))
    for j in range(len(numbers)):
        mine, theirs = (np.column_stack([np.delete(each, j, axis=1), apart]) for each in (before, after))
        taken = cKDTree(theirs).query(mine[pairs.rows])[1]
        near = np.asarray(cKDTree(mine).query(mine[pairs.rows], k=together)[1])
        of_others = units[near] != units[pairs.rows][:, None]
        of_others[:, -1] = True
        other = near[np.arange(len(near)), of_others.argmax(axis=1)]
        for side, guess in enumerate((after[taken, j], before[other, j])):
            right[side] += np.abs(guess - before[pairs.rows, j]) <= CLOSE
    return right / len(numbers)


def _rounded(before: PlainArray, after: PlainArray) -> tuple[IntArray, IntArray]:
    """Codes of both files' values; numbers that are nearer than twice `CLOSE` mostly have the same."""
    both = np.concatenate([before, after])
    if both.dtype.kind == "f":
        width = 2 * CLOSE * spread(before)
        both = np.floor(both / width) if width > 0 else both
    codes = row_groups([both]).of
    return codes[: len(before)], codes[len(before) :]


def _guesses(key: IntArray, key_after: IntArray, value: IntArray, value_after: IntArray, units: IntArray) -> FloatArray:
    """Success of guessing each person's value from those who have the same key, shape (2, n), ties shared.

    First from the released file; then from the original records of other units. NaN where there is nobody.
    """
    width = int(max(value.max(), value_after.max())) + 1
    cell, cell_after = key * width + value, key_after * width + value_after
    mates = row_groups([units, cell])
    return np.stack([_success(cell, cell_after, width, left) for left in (None, mates.size[mates.of])])


def _success(cell: IntArray, cell_after: IntArray, width: int, left_out: IntArray | None) -> FloatArray:
    """From the released cells, or from the original ones without so many of the person's own cell: the person, and
    those of the household who share it. Others of the household, who speak for another value, stay."""
    cells, counts = np.unique(cell_after if left_out is None else cell, return_counts=True)
    order = np.lexsort((-counts, cells // width))  # within a key the most frequent first
    cells, counts = cells[order], counts[order]
    keys, start, held = np.unique(cells // width, return_index=True, return_counts=True)
    first = counts[start]
    second = np.where(held > 1, counts[np.minimum(start + 1, len(counts) - 1)], 0)
    ties = np.add.reduceat((counts == np.repeat(first, held)).astype(np.int64), start)
    at = np.minimum(np.searchsorted(keys, cell // width), len(keys) - 1)
    known = keys[at] == cell // width
    by_cell = np.argsort(cells)
    place = by_cell[np.minimum(np.searchsorted(cells[by_cell], cell), len(cells) - 1)]
    mine = np.where(cells[place] == cell, counts[place], 0)
    if left_out is None:
        return np.where(known, np.where(mine == first[at], 1 / ties[at], 0.0), np.nan)
    left = mine - left_out
    rival = np.where((mine < first[at]) | (ties[at] > 1), first[at], second[at])
    alone = (held[at] == 1) & (left == 0)
    return np.where(alone, np.nan, np.where(left > rival, 1.0, np.where((left == rival) & (left > 0), 0.5, 0.0)))


def _first(success: FloatArray, otherwise: FloatArray) -> FloatArray:
    """The success of the finer guess; where there is nobody to guess from, that of the coarser one."""
    return np.where(np.isnan(success), np.nan_to_num(otherwise), success)


def _gain(success: FloatArray) -> float:
    return float(success[0].mean() - success[1].mean())


@dataclass(frozen=True)
class GroupValues(Attack):
    """Find a person's group and guess the value most frequent in it.

    groups : released variables that tell the group of each record
    """

    groups: tuple[str, ...]

    @property
    def knows(self) -> str:
        return f"the group by {' and '.join(self.groups)}, within which values were permuted,"

    def play(self, pairs: Pairs) -> tuple[Leak, ...]:
        """Without the groups the value most frequent in the whole file is guessed. Cost: O(n log n) for each variable.

        The group is that of the person's own row: whatever else is known of a person stands in the file unmasked.
        """
        if set(self.groups) <= set(pairs.masked):
            of = row_groups(plain_values(pairs.masked[name]) for name in self.groups).of
        else:
            of = np.zeros(len(pairs.masked), np.int64)  # nobody is told the groups
        right, without = [], []
        for name in (name for name in self.columns if name in pairs.recoded and name in pairs.masked):
            both = np.concatenate([plain_values(pairs.recoded[name]), plain_values(pairs.masked[name])])
            codes, _ = pd.factorize(both, use_na_sentinel=False)
            own, released = np.split(codes, 2)
            right.append(_share_of_modes(of, released, own)[pairs.rows])
            without.append(_share_of_modes(np.zeros_like(of), released, own)[pairs.rows])
        if not right:
            right = without = [np.zeros(len(pairs.rows))]
        measured = share_at_risk(np.mean(right, axis=0), len(pairs.masked), baseline=float(np.mean(without)))
        return (Leak("reconstructed", measured, "the most frequent of the person's group is theirs"),)


def _share_of_modes(groups: np.ndarray, values: np.ndarray, own: np.ndarray) -> np.ndarray:
    """For each record the chance that one of its group's most frequent values, at random, is its own; shape (n,)."""
    width = int(max(values.max(), own.max())) + 1
    cells, count = np.unique(groups * width + values, return_counts=True)
    most = np.zeros(int(groups.max()) + 1, np.int64)
    np.maximum.at(most, cells // width, count)
    modes = cells[count == most[cells // width]]
    in_group = np.bincount(modes // width, minlength=len(most))
    return np.asarray(np.isin(groups * width + own, modes) / in_group[groups])
