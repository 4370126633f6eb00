"""What people can learn from one cell of a table: everybody, and those who contribute to it.

Source: Torra (2013), "Disclosure problems": the external attack, the internal attack and the internal
attack with dominance. How many contribute to a cell is taken as known, published or not ("on the disclosure and the
public information"). Nothing here looks at other cells: what attackers compute from those is the audit's matter, and
comes in as the interval in which they know a cell to lie.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from sluice.tabular.model.cells import Booleans, Contributions, Floats, Integers
from sluice.tabular.rules.contributions import shortfall, sum_of_largest

Attack = Literal["external", "internal", "internal_with_dominance"]


@dataclass(frozen=True, eq=False)
class Learned:
    """What one kind of attacker learns, before its attack on other cells, of the contributions that are not its own.

    attack                      : who attacks: somebody who contributes nothing, the second largest contributor, or the
                                  largest
    possible                    : shape (c,), whether the cell has such an attacker and there is somebody else
    others                      : shape (c,), how many others contribute
    together_from, together_to  : shape (c,), what those others contribute together, in units of the table
    largest_from, largest_to    : shape (c,), what the largest of them contributes
    truth                       : shape (c,), what it contributes indeed; for figures that never leave the house

    All figures are NaN where the attack is not possible.
    """

    attack: Attack
    possible: Booleans
    others: Floats
    together_from: Floats
    together_to: Floats
    largest_from: Floats
    largest_to: Floats
    truth: Floats

    @property
    def exactly(self) -> Booleans:
        """Shape (c,): where the attacker reads the value of a single other contributor."""
        exact: Booleans = self.largest_from == self.largest_to  # False for NaN
        return exact

    def within(self, percent: float) -> Booleans:
        """Shape (c,): where it can tell the largest contribution of another to less than `percent` too high.

        By the second largest contributor and before protection, this is what the p% rule forbids.
        """
        share = Fraction(str(percent)) / 100
        too_high = self.largest_to - self.truth  # NaN, and so False below, where the attack is not possible
        near: Booleans = too_high * share.denominator < self.truth * share.numerator
        return near


def external_attack(contributions: Contributions, low: Floats | None = None, high: Floats | None = None) -> Learned:
    """What everybody learns: from a cell of one contributor, its value.

    low, high : shape (c,), between which the attacker knows a suppressed cell to lie; NaN, or not given: its total
    raises    : DataError when the cells hold fewer than their two largest contributions
    """
    return _learned("external", contributions, None, low, high)


def internal_attack(contributions: Contributions, low: Floats | None = None, high: Floats | None = None) -> Learned:
    """What the second largest contributor learns by taking out its own: of two, the other's value; see external_attack.

    The second largest learns most of the largest, and the largest of two learns the second's value likewise.
    """
    return _learned("internal", contributions, 1, low, high)


def dominance_attack(contributions: Contributions, low: Floats | None = None, high: Floats | None = None) -> Learned:
    """What the largest contributor learns of all others by taking out its own: at most how much they have together."""
    return _learned("internal_with_dominance", contributions, 0, low, high)


def _learned(
    attack: Attack, contributions: Contributions, attacker: int | None, low: Floats | None, high: Floats | None
) -> Learned:
    first, two = sum_of_largest(contributions, 1), sum_of_largest(contributions, 2)
    own = {None: np.zeros_like(first), 0: first, 1: two - first}[attacker].astype(np.float64)
    others = contributions.contributors - (0 if attacker is None else 1)
    possible = others > 0
    total = contributions.total.astype(np.float64)
    bottom = total if low is None else np.where(np.isnan(low), total, low)
    top = total if high is None else np.where(np.isnan(high), total, high)
    together_from, together_to = np.maximum(bottom - own, 0), np.maximum(top - own, 0)
    figures = (
        others.astype(np.float64),
        together_from,
        together_to,
        together_from / np.maximum(others, 1),  # the largest has at least the average
        together_to,
        (two - first if attacker == 0 else first).astype(np.float64),
    )
    return Learned(attack, possible, *(np.where(possible, figure, np.nan) for figure in figures))


def doubt_wanted(contributions: Contributions, percent: float = 10) -> Integers:
    """How far above its value each cell must be possible, and not be a point, so that `in_words` counts it nowhere.

    returns : shape (c,), in units; -1 for a cell that it does not count even if it is published
    """
    outside, *kinds = _kinds(contributions, None, None, percent)
    counted = np.logical_or.reduce([outside.exactly, *kinds])
    first = sum_of_largest(contributions, 1)
    rest = contributions.total - sum_of_largest(contributions, 2)
    return np.where(counted, shortfall(Fraction(str(percent)) / 100, first, rest), -1)


def _kinds(
    contributions: Contributions, low: Floats | None, high: Floats | None, percent: float
) -> tuple[Learned, Booleans, Booleans, Booleans]:
    """What everybody learns; and the cells in which each of two, the second largest and the largest learn too much."""
    outside = external_attack(contributions, low, high)
    inside = internal_attack(contributions, low, high)
    dominant = dominance_attack(contributions, low, high)
    two = inside.exactly & (inside.others == 1)
    near = inside.within(percent) & ~two
    little = ~two & (dominant.together_to * 100 < percent * sum_of_largest(contributions, 1))
    return outside, two, near, little


def in_words(
    contributions: Contributions,
    low: Floats | None = None,
    high: Floats | None = None,
    percent: float = 10,
    contributor: tuple[str, str] = ("contributor", "contributors"),
) -> list[str]:
    """What can be learned, in sentences that hold counts of cells only.

    percent     : how near to a contribution is too near
    contributor : what one is called, and several
    """
    one, many = contributor
    outside, two, near, little = _kinds(contributions, low, high, percent)
    nothing = int((outside.exactly & (outside.truth == 0)).sum())
    zeros = f", which is 0 in {nothing:,} of them" if nothing else ""
    said: Sequence[tuple[Booleans, str]] = (
        (outside.exactly, f"everybody can read a single {one}'s value{zeros}"),
        (two, f"each of two {many} can compute the other's value"),
        (near, f"the second largest {one} can estimate the largest to within {percent:g} %"),
        (little, f"the largest {one} knows that all others together have less than {percent:g} % of what it has"),
    )
    return [
        f"In {'no cell' if not count else '1 cell' if count == 1 else f'{count:,} cells'} {what}."
        for count, what in ((int(which.sum()), what) for which, what in said)
    ]
