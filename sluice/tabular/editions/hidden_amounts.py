"""Hidden amounts: what a file of records caps or leaves blank, and a published sum of the same records gives back.

A file shows every turnover but the largest, which are capped; a table of all turnovers is safe by itself. Where a cell
has one capped record, the cell's sum less the amounts that are shown is the one that is not. Once read, it is shown as
the others are, and a wider cell with two capped records has one left.

How far a reader is off in the cells that hide nobody tells how near the amounts are that are read in the others, so
rounded or slightly perturbed amounts give theirs away, too, as long as what is hidden is large beside the error.

Source: Hundepool et al. (2012), chapter 4: what an intruder comes nearer to than the p per cent of a p% rule is
disclosed. Differs from it: the others' amounts are read in a file of records.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sluice.tabular.editions.file_totals import file_totals
from sluice.tabular.model.cells import Booleans, Cells, Floats, Integers

_NEARLY = 0.1  # of an amount, within which it is read: the p of p% rules in use
_TELL = 0.9  # of the cells that hide nobody are no farther off than the error that is reckoned with
_EXACT = 0.001
_FEWEST = 3  # of these cells, those of nothing left aside
_CHANCE = 0.05  # that a guess comes as near to an amount
_BY_CHANCE = 0.01


@dataclass(frozen=True)
class AmountsRead:
    """What a reader works out.

    hidden  : records that are capped or blank
    read    : of these, those whose amount follows
    right   : of these, those whose amount is within a tenth of the true one
    exact   : of these, those whose amount is within a thousandth
    trusted : whether the cells that hide nobody agree so well that the reader knows
    """

    hidden: int
    read: int = 0
    right: int = 0
    exact: int = 0
    trusted: bool = False

    @property
    def is_chance(self) -> bool:
        """Whether as many guesses would be right."""
        return _by_chance(self.right, self.read, _CHANCE)

    @property
    def discloses(self) -> bool:
        """Whether a reader is right, and knows it or is so about most."""
        unlikely = not (self.is_chance and _by_chance(self.exact, self.read, _CHANCE * _EXACT / _NEARLY))
        return self.right > 0 and (self.trusted or (2 * self.right >= self.read and unlikely))


def amounts_read(
    cells: Cells,
    told: Booleans,
    value: Integers,
    codes: Mapping[str, NDArray[np.object_]],
    shown: Floats,
    weight: Floats | None = None,
) -> AmountsRead:
    """What the published cells less the shown amounts tell of those that are hidden.

    told   : shape (c,), whether the cell's value is published
    value  : shape (c,), as published, in units of the table
    codes  : dimension -> shape (n,), the code of each record, as for `file_totals`
    shown  : shape (n,), the amounts in the file, in units; NaN where blank; the largest may be a cap
    weight : shape (n,), how often each amount counts; once where not given
    cost   : three times that of `file_totals`, and as much again each time an amount opens others
    """
    capped = _at_the_cap(shown)
    hidden = ~np.isfinite(shown) | capped
    if not hidden.any() or hidden.all():
        return AmountsRead(int(hidden.sum()))
    shown = np.nan_to_num(shown) * (np.ones(len(shown)) if weight is None else weight)
    amount: Floats = np.where(hidden, 0.0, shown).astype(np.float64)
    left = hidden.copy()
    place = np.arange(len(shown), dtype=np.float64)
    cell_of = np.full(len(shown), -1)
    error = np.inf
    while True:
        sums, many, whose = (
            file_totals(cells, codes, each) for each in (amount, left.astype(np.float64), np.where(left, place, 0))
        )
        rest = value - sums
        if not (cell_of >= 0).any():
            error = _error(np.abs(rest[told & (many == 0) & (value != 0)]))
        at = np.flatnonzero(told & (many == 1))
        of, first = np.unique(whose[at].astype(np.int64), return_index=True)
        at = at[first]
        new = (rest[at] > 0) & (np.abs(rest[at] - shown[of]) > _NEARLY * shown[of])  # else the file tells as much
        left[of], amount[of], cell_of[of[new]] = False, rest[at], at[new]
        if not new.any():
            break
    near = (cell_of >= 0) & (error <= _NEARLY * amount)
    if capped.sum() == 1:  # a single largest amount may be no cap, unless it is another and the cells agree
        hidden &= ~capped | near
        capped &= near
    read = np.flatnonzero((cell_of >= 0) & hidden)
    largest = np.maximum(cells.largest[cell_of[read], 0], 1).astype(np.float64)
    apart = np.where(capped[read], np.abs(amount[read] - largest) / largest, np.inf)
    right = np.where(capped[read], apart <= _NEARLY, near[read])  # what is blank may be any of a cell's amounts
    trusted = bool((near[read] & right).any())
    return AmountsRead(int(hidden.sum()), len(read), int(right.sum()), int((apart <= _EXACT).sum()), trusted)


def _at_the_cap(shown: Floats) -> Booleans:
    """Who has the largest amount that the file shows."""
    finite = shown[np.isfinite(shown)]
    at: Booleans = shown == finite.max(initial=-np.inf)
    return at


def _error(apart: Floats) -> float:
    """By how much sums of shown amounts miss the published ones; any, where too few cells tell."""
    apart = apart[np.isfinite(apart)]
    return float(np.quantile(apart, _TELL)) if len(apart) >= _FEWEST else np.inf


def _by_chance(hits: int, of: int, chance: float) -> bool:
    from scipy.stats import binom  # takes time to load

    return float(binom.sf(hits - 1, of, chance)) >= _BY_CHANCE
