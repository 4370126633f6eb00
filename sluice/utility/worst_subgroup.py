"""Worst subgroup: how much the tables of those who share a category lost, category by category.

A file can be good for everybody together and useless for a few: the loss of a subgroup is that of its own
distributions, as `marginals` measures it. Who belongs to a subgroup of the masked file is what its reader can tell: a
record in a group of categories belongs to each of them by the share in which the group stands for it.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from sluice.ground.errors import DataError
from sluice.utility.common_bins import CommonBins
from sluice.utility.declared_subgroups import declared_subgroups, weight_in_heaviest
from sluice.utility.marginals import MarginalTables, total_variation
from sluice.utility.record_weights import UNWEIGHTED, Weights


class SubgroupLoss(NamedTuple):
    """One category of one variable.

    loss    : mean over the other variables of the total variation distance of their distributions within the
              subgroup, 0 to 1; higher is worse. 1 where nobody of it is left
    records : of the original in the subgroup; where they have weights, how many of its heaviest weigh as much: a loss
              of so many of them is one of so many records at least
    """

    variable: str
    category: str
    loss: float
    records: int


def subgroup_losses(
    bins: Sequence[CommonBins],
    tables: MarginalTables,
    declared: Mapping[str, Collection[str]],
    others: Collection[str],
    least: int = 100,
    weights: Weights = UNWEIGHTED,
) -> tuple[SubgroupLoss, ...]:
    """The loss of every subgroup, the largest first.

    bins     : the variables on common bins
    tables   : of all pairs of them
    declared : by variable, the categories that may be named; nobody else's are looked at
    others   : the variables whose distributions are compared, released ones as a rule
    least    : subgroups of fewer original records are left out, or of effectively fewer by their weights
    weights  : of the records of both files, as the tables have them
    raises   : DataError if the tables are not of pairs
    cost     : that of counting all pairs
    """
    if tables.size != 2:
        raise DataError(f"subgroups are read off tables of 2 variables; got {tables.size}.")
    sums: dict[tuple[int, int], list[float]] = {}
    held = [weight_in_heaviest(each, weights) for each in bins]
    named = declared_subgroups(bins, declared, least, weights)
    for (one, other), before, after in tables.shares():
        for by, of, p, q in ((one, other, before, after), (other, one, before.T, after.T)):
            if by not in named or tables.names[of] not in others:
                continue
            for bin_ in np.flatnonzero(named[by]).tolist():
                were, left = float(p[bin_].sum()), float(q[bin_].sum())
                if not were > 0:
                    continue
                loss = total_variation(p[bin_] / were, q[bin_] / left) if left > 0 else 1.0
                sums.setdefault((by, bin_), []).append(loss)
    found = [
        SubgroupLoss(tables.names[by], bins[by].labels[bin_], float(np.mean(losses)), int(held[by][bin_]))
        for (by, bin_), losses in sums.items()
    ]
    return tuple(sorted(found, key=lambda each: -each.loss))
