"""Subgroup tables: what the tables of those who share a category lost, category by category.

The distributions of the other variables within a subgroup are read off the tables of pairs, what goes together within
it off those of triples: Cramer's V of two variables can stay for everybody and be lost for a few. Records weigh what
the contract says; V is of the records that have both values, as in `correlation_differences`.
"""

from collections.abc import Callable, Collection, Sequence
from math import comb

import numpy as np
from pydantic import Field

from sluice.ground.arrays import FloatArray
from sluice.ground.document_parts import FrozenModel
from sluice.ground.errors import DataError
from sluice.ground.sentence import Saying, Sentences
from sluice.utility.cell_changes import coarse_share
from sluice.utility.common_bins import CommonBins
from sluice.utility.comparison import Comparison
from sluice.utility.marginals import MarginalTables
from sluice.utility.measured import Found, figure
from sluice.utility.record_weights import UNWEIGHTED, Weights
from sluice.utility.subgroups import (
    Caption,
    Categories,
    Compared,
    SubgroupChange,
    WithinSubgroups,
    Words,
    declared_subgroups,
    weight_in_heaviest,
)
from sluice.utility.utility_measure import Figure, Measure, Occasion, ShareMeasure

_DISTRIBUTIONS = Sentences(
    "worst_subgroup",
    not_compared="Subgroups are not compared: no released variable has declared categories with enough records",
    lost="Subgroups are lost: the file has no variable left that forms them, or none to compare within them",
    not_known="The loss of subgroups is unknown: the masked file has no records",
    distributions="In the distributions of the worst of {subgroups:,} subgroups, {share:percent} of its records are "
    "in another bin ({variable} = {category}), in those of the middle one {median:percent}",
    none="In none of {compared:,} subgroups does a distribution differ by as many records as may be told",
)
_ASSOCIATIONS = Sentences(
    "subgroup_cramers_v",
    no_categories="Associations in subgroups are not compared: the data declare no categories, or have too few "
    "variables",
    lost="Associations in subgroups are lost: the file has not enough variables left to tell",
    not_known="Associations in subgroups are unknown: the masked file has no records",
    too_small="Associations in subgroups are not compared: no declared category has enough records",
    moved="Cramer's V of two variables moved by {value:.3g} on average in the worst subgroup",
    drawn=", by {tables:,} of {of:,} tables of three variables, drawn at random",
)

_TABLES = 2_000  # of triples, drawn where there are more; always the same, as no other draw may depend on them
_SHOWN = 10


class Subgroup(FrozenModel):
    """The records of one declared category."""

    variable: str
    category: str
    loss: float = Field(description="of its distributions, as a share of its records; 1: nobody of it is left")


class SubgroupsView(FrozenModel):
    """Losses of subgroups, 0 to 1; higher is worse."""

    compared: int = Field(description="subgroups with enough records")
    least: int = Field(description="records that are enough")
    median: float
    worst: tuple[Subgroup, ...]


def subgroups_view(found: Sequence[SubgroupChange], least: int, minimum_cell: int) -> SubgroupsView:
    """The worst subgroups, of at least one.

    found        : the largest loss first
    least        : records of the smallest subgroup that was compared
    minimum_cell : what would tell of a change of fewer records is rounded to that many
    returns      : the worst as it is judged, unless fewer records than that changed; the others in steps of that many
    """
    worst, judged = found[0], found[0].moved >= minimum_cell

    def told(each: SubgroupChange) -> Subgroup:
        coarse = coarse_share(each.change, each.records, minimum_cell)
        loss = coarse if not judged else worst.change if each is worst else min(coarse, worst.change)
        return Subgroup(variable=each.variable, category=each.category, loss=loss)

    # By what is told of them: in their own order equal figures would tell which loss is the larger one.
    first, *others = map(told, found)
    others = sorted(others if judged else (first, *others), key=lambda each: (-each.loss, each.variable, each.category))
    shown = [first, *others] if judged else others
    middle = sorted(each.loss for each in shown)[len(shown) // 2]
    return SubgroupsView(compared=len(found), least=least, median=middle, worst=tuple(shown[:_SHOWN]))


def subgroup_losses(
    bins: Sequence[CommonBins],
    tables: MarginalTables,
    declared: Categories,
    others: Collection[str],
    least: int = 100,
    weights: Weights = UNWEIGHTED,
) -> tuple[SubgroupChange, ...]:
    """Mean over the other variables of the total variation distance of their distributions within every subgroup, 0 to
    1, the largest first; 1 where nobody of it is left.

    Arguments and cost are those of `subgroup_associations`, of tables of all pairs; `moved` is so much of the subgroup.
    """
    if tables.size != 2:
        raise DataError(f"subgroups are read off tables of 2 variables; got {tables.size}.")
    found = _within_tables(bins, tables, declared, others, least, weights, _distances)
    return tuple(each._replace(moved=each.change * each.records) for each in found)


def subgroup_associations(
    bins: Sequence[CommonBins],
    tables: MarginalTables,
    declared: Categories,
    others: Collection[str],
    least: int = 100,
    weights: Weights = UNWEIGHTED,
) -> tuple[SubgroupChange, ...]:
    """Mean over the pairs of other variables of how far Cramer's V moved within every subgroup, 0 to 1, the largest
    first. Where one of the files has no V, its V is 0.

    bins     : the variables on common bins; the last bin of each is for missing values
    tables   : of triples of them, all or some
    declared : by variable, the categories that may be named; nobody else's are looked at
    others   : the variables that are compared within subgroups, released ones as a rule
    least    : subgroups of fewer original records are left out, or of effectively fewer by their weights
    weights  : of the records of both files, as the tables have them
    returns  : `moved`, of the records the most that stand in another cell of the table of a pair: a change of V that
               fewer than so many records made
    raises   : DataError if the tables are not of triples
    cost     : that of counting the triples
    """
    if tables.size != 3:
        raise DataError(f"associations within subgroups are read off tables of 3 variables; got {tables.size}.")
    return _within_tables(bins, tables, declared, others, least, weights, _changes_of_v)


def _within_tables(
    bins: Sequence[CommonBins],
    tables: MarginalTables,
    declared: Categories,
    others: Collection[str],
    least: int,
    weights: Weights,
    change: Callable[[FloatArray, FloatArray], FloatArray],
) -> tuple[SubgroupChange, ...]:
    """The mean of a change over the tables that a subgroup is part of.

    change : (t,) of two stacks of t tables, of the subgroups of one variable; NaN where there is none
    """
    held = [weight_in_heaviest(each, weights) for each in bins]
    named = declared_subgroups(bins, declared, least, weights)
    sums = {at: np.zeros((3, len(kept))) for at, kept in named.items()}
    for table, before, after in tables.shares():
        for axis, by in enumerate(table):
            compared = {tables.names[at] for at in table if at != by}
            if by not in named or not named[by].any() or not compared <= {*others}:
                continue
            p, q = (np.moveaxis(each, axis, 0)[:-1] for each in (before, after))
            changed, (total, counted, moved) = change(p, q), sums[by]
            known = named[by] & ~np.isnan(changed)
            total[known] += changed[known]
            counted[known] += 1
            np.maximum(moved, np.where(named[by], np.nan_to_num(_distances(p, q)), 0.0), out=moved)
    found = [
        SubgroupChange(
            bins[by].name,
            bins[by].labels[place],
            float(total[place] / counted[place]),
            int(held[by][place]),
            float(moved[place] * held[by][place]),
        )
        for by, (total, counted, moved) in sums.items()
        for place in np.flatnonzero(counted).tolist()
    ]
    return tuple(sorted(found, key=lambda each: -each.change))


def _changes_of_v(before: FloatArray, after: FloatArray) -> FloatArray:
    was, now = (cramers_v_of_each(each[:, :-1, :-1]) for each in (before, after))
    return np.where(np.isnan(was) & np.isnan(now), np.nan, np.abs(np.nan_to_num(was) - np.nan_to_num(now)))


def _distances(before: FloatArray, after: FloatArray) -> FloatArray:
    """(t,): the total variation distance of each table, missing values as any others; 1 where nobody is left of it, NaN
    where nobody was."""
    p, q = (each.reshape(len(each), -1) for each in (before, after))
    with np.errstate(divide="ignore", invalid="ignore"):
        p, q = (each / each.sum(axis=1, keepdims=True) for each in (p, q))
    far = np.minimum(1.0, np.abs(p - np.nan_to_num(q)).sum(axis=1) / 2)
    return np.where(np.isnan(q).any(axis=1) & ~np.isnan(far), 1.0, far)


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


class _Distributions(WithinSubgroups):
    """Its figures are shares of records, which are told in steps of the minimum cell."""

    def tell(self, files: Comparison, occasion: Occasion, found: Sequence[SubgroupChange], least: int) -> Found:
        view = subgroups_view(found, least, files.minimum_cell)
        worst, exact = view.worst[0], found[0]
        says = _DISTRIBUTIONS.distributions(
            subgroups=view.compared,
            share=figure(worst.loss),
            variable=worst.variable,
            category=worst.category,
            median=figure(view.median),
        )
        if not worst.loss:
            says = _DISTRIBUTIONS.none(compared=view.compared)
        few = 0 < exact.moved < files.minimum_cell and files.minimum_cell > 1
        told = Figure(exact.change, says, len(found), worst.variable if worst.loss else "", few)
        measured = self.measure.measured(files, occasion, told)
        return Found({self.measure.name: measured}, {} if occasion.few else {self.view: view})


def _others(files: Comparison) -> list[CommonBins]:
    return [each for each in files.common_bins if each.name in files.released and each.name in files.kept]


def _compared_one_by_one(files: Comparison, least: int) -> Compared:
    few = files.of_few if files.few_weigh else ()
    return Compared(len(files.common_bins) > 1, len(_others(files)) > 1, few)


def _changed_distributions(files: Comparison, declared: Categories, least: int) -> tuple[SubgroupChange, ...]:
    bins, others = files.common_bins, [each.name for each in _others(files)]
    tables = MarginalTables(bins, 2, *files.weights, most=len(bins) ** 2)
    return subgroup_losses(bins, tables, declared, others, least, files.weights)


def _compared_in_pairs(files: Comparison, least: int) -> Compared:
    others = _others(files)
    return Compared(len(files.common_bins) > 2, len(others) > 2, [each.name for each in others])


def _changed_associations(files: Comparison, declared: Categories, least: int) -> tuple[SubgroupChange, ...]:
    left = _others(files)  # what goes with a removed variable, tables of triples tell
    tables = MarginalTables(left, 3, *files.weights, np.random.default_rng(0), _TABLES)
    return subgroup_associations(left, tables, declared, {each.name for each in left}, least, files.weights)


def _moved_associations(files: Comparison, worst: SubgroupChange, category: Saying) -> Saying:
    of = comb(len(_others(files)), 3)
    drawn = _ASSOCIATIONS.drawn(tables=_TABLES, of=of) if of > _TABLES else ()
    return _ASSOCIATIONS.moved(value=figure(worst.change)) + category + drawn


WORST_SUBGROUP = _Distributions(
    ShareMeasure(
        "worst_subgroup",
        "records in another bin of the distributions of the worst declared category",
        "What the worst subgroup lost",
        "One subgroup bears most of the masking: mask within strata of its variable, or recode another variable for "
        "everybody in its place.",
        all_lost=1.0,
    ),
    Words(
        no_categories=_DISTRIBUTIONS.not_compared,
        lost=_DISTRIBUTIONS.lost,
        not_known=_DISTRIBUTIONS.not_known,
        too_small=_DISTRIBUTIONS.not_compared,
    ),
    "subgroups",
    Caption("Subgroups whose distributions lost most", "Share of the records", "in another bin."),
    _compared_one_by_one,
    _changed_distributions,
)
SUBGROUP_CRAMERS_V = WithinSubgroups(
    Measure(
        "subgroup_cramers_v",
        "mean change of Cramer's V of two variables within the worst declared category",
        "How far Cramer's V moved in the worst subgroup",
        "What goes together was torn apart in one subgroup: mask within strata of its variable, move values by smaller "
        "steps, or draw them anew given that variable.",
        all_lost=1.0,
        largest=1.0,
    ),
    Words.of(_ASSOCIATIONS),
    "subgroup_associations",
    Caption(
        "Subgroups where most changed of what goes together",
        "Change of Cramér’s V",
        "of two other variables, among the records of the subgroup, on average over all pairs of them.",
    ),
    _compared_in_pairs,
    _changed_associations,
    _moved_associations,
)
