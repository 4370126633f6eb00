"""The attack on values that were permuted within published groups: the group's most frequent value is guessed.

Source: Xiao and Tao (2006), whose groups hold each value at most once in l records; Xiong (CS573 slides), homogeneity.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from sluice.ground.comparable_values import plain_values
from sluice.risk.linkage.share_at_risk import share_at_risk
from sluice.risk.row_groups import row_groups
from sluice.risk.transparency.attack import Attack, Leak
from sluice.risk.transparency.pairs import Pairs


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
