"""Subgroup associations: how far what goes together moved among those who share a category, category by category.

Cramer's V of two variables can stay for everybody and be lost for a few. As in `worst_subgroup`, who belongs to a
subgroup of the masked file is what its reader can tell, and records weigh what the contract says; V is of the records
that have both values, as in `correlation_differences`.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from sluice.ground.arrays import FloatArray
from sluice.ground.errors import DataError
from sluice.utility.common_bins import CommonBins
from sluice.utility.declared_subgroups import declared_subgroups, weight_in_heaviest
from sluice.utility.marginals import MarginalTables
from sluice.utility.record_weights import UNWEIGHTED, Weights


class SubgroupAssociation(NamedTuple):
    """One category of one variable.

    change  : mean over the pairs of other variables of how far Cramer's V moved within the subgroup, 0 to 1; higher is
              worse. Where one of the files has no V, its V is 0
    records : of the original in the subgroup; where they have weights, how many of its heaviest weigh as much
    moved   : of these the most that stand in another cell of the table of a pair: a change of V that fewer than so many
              records made
    """

    variable: str
    category: str
    change: float
    records: int
    moved: float


def subgroup_associations(
    bins: Sequence[CommonBins],
    tables: MarginalTables,
    declared: Mapping[str, Collection[str]],
    others: Collection[str],
    least: int = 100,
    weights: Weights = UNWEIGHTED,
) -> tuple[SubgroupAssociation, ...]:
    """The change of every subgroup, the largest first.

    bins     : the variables on common bins; the last bin of each is for missing values
    tables   : of triples of them, all or some
    declared : by variable, the categories that may be named; nobody else's are looked at
    others   : the variables whose pairs are compared, released ones as a rule
    least    : subgroups of fewer original records are left out, or of effectively fewer by their weights
    weights  : of the records of both files, as the tables have them
    raises   : DataError if the tables are not of triples
    cost     : that of counting the triples
    """
    if tables.size != 3:
        raise DataError(f"associations within subgroups are read off tables of 3 variables; got {tables.size}.")
    held = [weight_in_heaviest(each, weights) for each in bins]
    named = declared_subgroups(bins, declared, least, weights)
    sums = {at: (np.zeros(len(kept)), np.zeros(len(kept)), np.zeros(len(kept))) for at, kept in named.items()}
    for table, before, after in tables.shares():
        for axis, by in enumerate(table):
            pair = [tables.names[at] for place, at in enumerate(table) if place != axis]
            if by not in named or not named[by].any() or not {*pair} <= {*others}:
                continue
            p, q = (np.moveaxis(each, axis, 0)[:-1] for each in (before, after))
            was, now = (cramers_v_of_each(each[:, :-1, :-1]) for each in (p, q))
            known = named[by] & ~(np.isnan(was) & np.isnan(now))
            change, pairs, moved = sums[by]
            change[known] += np.abs(np.nan_to_num(was) - np.nan_to_num(now))[known]
            pairs[known] += 1
            np.maximum(moved, np.where(named[by], _moved(p, q), 0.0), out=moved)
    found = [
        SubgroupAssociation(
            bins[by].name,
            bins[by].labels[place],
            float(change[place] / pairs[place]),
            int(held[by][place]),
            float(moved[place] * held[by][place]),
        )
        for by, (change, pairs, moved) in sums.items()
        for place in np.flatnonzero(pairs).tolist()
    ]
    return tuple(sorted(found, key=lambda each: -each.change))


def cramers_v_of_each(tables: FloatArray) -> FloatArray:
    """Cramer's V of many tables at once.

    tables  : (t, rows, columns), counts or shares; empty rows and columns of a table are left out of it
    returns : (t,), 0 to 1; NaN where a single row or column is left, or the table is unknown
    """
    total = tables.sum(axis=(1, 2))
    rows, columns = tables.sum(axis=2), tables.sum(axis=1)
    smaller = np.minimum((rows > 0).sum(axis=1), (columns > 0).sum(axis=1))
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = rows[:, :, None] * columns[:, None, :] / total[:, None, None]
        squares = np.where(expected > 0, (tables - expected) ** 2 / expected, 0.0).sum(axis=(1, 2))
        v = np.sqrt(squares / (total * (smaller - 1)))
    return np.asarray(np.where((smaller < 2) | np.isnan(total), np.nan, np.minimum(v, 1.0)), dtype=np.float64)


def _moved(before: FloatArray, after: FloatArray) -> FloatArray:
    """(t,): the total variation distance of each table, missing values as any others; 1 where nobody is left of it."""
    p, q = (each.reshape(len(each), -1) for each in (before, after))
    with np.errstate(divide="ignore", invalid="ignore"):
        p, q = (each / each.sum(axis=1, keepdims=True) for each in (p, q))
    far = np.minimum(1.0, np.abs(p - np.nan_to_num(q)).sum(axis=1) / 2)
    return np.asarray(np.where(np.isnan(q).any(axis=1), 1.0, far), dtype=np.float64)
