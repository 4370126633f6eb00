"""Subgroup quantiles: how far the quantiles of numbers moved among those who share a category, category by category.

The median income of everybody can stay and that of a few be lost. Quantiles are those of `quantiles`, and records weigh
what the contract says.
"""

from collections.abc import Sequence
from math import isinf
from typing import NamedTuple

import numpy as np

from sluice.ground.arrays import Codes, FloatArray, IntArray
from sluice.ground.parallel_jobs import each_in_threads
from sluice.ground.sentence import Saying, Sentences
from sluice.ground.variables import Role
from sluice.utility.common_bins import CommonBins
from sluice.utility.comparison import Comparison
from sluice.utility.continuous.released_numbers import NumberColumn, NumberColumns
from sluice.utility.measured import figure
from sluice.utility.quantiles import PROBABILITIES, interquartile_scale
from sluice.utility.record_weights import UNWEIGHTED, Weights, relative_weight
from sluice.utility.subgroups import (
    Caption,
    Categories,
    Compared,
    SubgroupChange,
    WithinSubgroups,
    Words,
    declared_categories,
    declared_subgroups,
    heaviest_record,
)
from sluice.utility.utility_measure import Measure

_SAYS = Sentences(
    "subgroup_quantiles",
    no_categories="Quantiles within subgroups are not compared: the data declare no categories, or have no number",
    lost="Quantiles within subgroups are lost: the file has no variable left that forms them, or no number",
    not_known="How far quantiles moved within subgroups is not known: the masked file has no records",
    too_small="Quantiles within subgroups are not compared: no declared category has enough records",
    moved="Quantiles moved by {value:.3g} interquartile ranges on average in the worst subgroup",
    number_lost="Quantiles of a number are lost in the worst subgroup: it has no value left, or its constant was "
    "changed",
)


def subgroup_quantiles(
    bins: Sequence[CommonBins],
    original: NumberColumns,
    masked: NumberColumns,
    declared: Categories,
    least: int = 100,
    weights: Weights = UNWEIGHTED,
) -> tuple[SubgroupChange, ...]:
    """Mean over the numbers, and over `PROBABILITIES`, of how far a quantile moved within every subgroup, by the
    interquartile range of its originals, or of all originals where theirs is 0; the largest first. Infinite where the
    masked file has no value of a number in the subgroup, or changed one that is constant throughout.

    bins             : the variables on common bins, of n original and m masked records
    original, masked : (n, d) and (m, d), the numbers of the same records
    declared         : by variable, the categories that may be named; nobody else's are looked at
    least            : subgroups of fewer original records are left out, as is a number of which fewer have a value; by
                       their effective number (Kish 1965) where they have weights
    weights          : of the records of both files
    returns          : `moved`, of the records the most whose value of one number the masked subgroup lacks, by shares
                       of the subgroup: a change of quantiles that fewer than so many records made. Where they have
                       weights, how many of its heaviest weigh as much, so that one heavy record cannot look like many
    raises           : DataError for weights that do not fit
    cost             : for each pair of a number and a variable with declared categories, a few passes over the records;
                       of 1,000,000 records, eight numbers and nine such variables take 13 s of the processor
    """
    named = {place: kept for place, kept in declared_subgroups(bins, declared, least, weights).items() if kept.any()}
    weight, masked_weight = (
        np.zeros(0) if each is None else each
        for each in (relative_weight(weights[0], len(original)), relative_weight(weights[1], len(masked)))
    )
    by = {place: _Memberships.of(bins[place]) for place in named}

    def changes(pair: tuple[NumberColumn, NumberColumn]) -> dict[int, tuple[FloatArray, FloatArray]]:
        number = _Number.of(*pair)
        everybody = number.scale_of_all(weight)
        return {place: number.changes(each, weight, masked_weight, everybody, least) for place, each in by.items()}

    found = list(each_in_threads(changes, list(zip(original.columns, masked.columns, strict=True))))
    subgroups = []
    for place, kept in named.items():
        each = bins[place]
        held, heaviest = np.bincount(each.original, minlength=each.bins), heaviest_record(each, weights)
        for bin_ in np.flatnonzero(kept).tolist():
            known = [one[place][0][bin_] for one in found if not np.isnan(one[place][0][bin_])]
            if known:
                moved = max(float(one[place][1][bin_]) for one in found) / float(heaviest[bin_])
                change = float(np.mean(known))
                subgroups.append(SubgroupChange(each.name, each.labels[bin_], change, int(held[bin_]), moved))
    return tuple(sorted(subgroups, key=lambda each: -each.change))


class _Memberships(NamedTuple):
    """Of both files: the code of each record, and the subgroups that each code stands for, as the kernel takes them."""

    original: tuple[Codes, IntArray, IntArray, FloatArray]
    masked: tuple[Codes, IntArray, IntArray, FloatArray]
    groups: int

    @classmethod
    def of(cls, bins: CommonBins) -> "_Memberships":
        every = np.arange(bins.bins)
        own = bins.original, np.arange(bins.bins + 1), every, np.ones(bins.bins)
        code, group = np.nonzero(bins.spread > 0)
        at = np.searchsorted(code, np.arange(bins.codes + 1))
        return cls(own, (bins.masked, at, group, bins.spread[code, group]), bins.bins)


class _Number(NamedTuple):
    """One number of both files as codes of the values of both, and the records that have one, in rising order."""

    values: FloatArray
    codes: IntArray
    rows: IntArray
    masked_codes: IntArray
    masked_rows: IntArray

    @classmethod
    def of(cls, original: NumberColumn, masked: NumberColumn) -> "_Number":
        from sluice.utility.subgroup_quantiles_kernel import rising  # compiled: loaded where it is needed

        values = np.union1d(original.values[:-1], masked.values[:-1])
        files = []
        for each in (original, masked):
            codes = np.append(np.searchsorted(values, each.values[:-1]), len(values))[each.codes]
            files += [codes, rising(codes, len(values))]
        return cls(values, *files)

    def scale_of_all(self, weight: FloatArray) -> float:
        from sluice.utility.subgroup_quantiles_kernel import quantile_codes

        all_of_one = np.zeros(len(self.codes), dtype=np.uint8), np.array([0, 1]), np.array([0]), np.ones(1)
        place, _, _ = quantile_codes(self.rows, self.codes, *all_of_one, weight, 1, np.array(PROBABILITIES))
        return interquartile_scale(self.values[place[0]]) if (place >= 0).all() else 0.0

    def changes(
        self, by: _Memberships, weight: FloatArray, masked_weight: FloatArray, everybody: float, least: int
    ) -> tuple[FloatArray, FloatArray]:
        """By subgroup, the mean change of the quantiles, NaN where too few originals have a value; and what the records
        weigh whose value the masked subgroup lacks."""
        from sluice.utility.subgroup_quantiles_kernel import lacking, quantile_codes

        levels = np.array(PROBABILITIES)
        before, total, records = quantile_codes(self.rows, self.codes, *by.original, weight, by.groups, levels)
        after, masked_total, _ = quantile_codes(
            self.masked_rows, self.masked_codes, *by.masked, masked_weight, by.groups, levels
        )
        unit = np.divide(total, masked_total, out=np.zeros_like(total), where=masked_total > 0)
        original = self.rows, self.codes, *by.original, weight
        gone = lacking(*original, self.masked_rows, self.masked_codes, *by.masked, masked_weight, unit)
        found = np.full(by.groups, np.nan)
        for group in np.flatnonzero(records >= least * (1 - 1e-12)).tolist():
            was = self.values[before[group]]
            if (after[group] < 0).any():
                found[group] = np.inf
                continue
            moved = np.abs(self.values[after[group]] - was)
            scale = interquartile_scale(was) or everybody
            found[group] = 0.0 if not moved.any() else float(moved.mean() / scale) if scale else np.inf
        return found, gone


def _numbers(files: Comparison, least: int) -> tuple[list[int], list[int]]:
    """The places of numbers of which enough records have a value, and of these the released ones."""
    numbers = files.released_numbers
    of = [
        place
        for place, name in enumerate(numbers.names)
        if files.variables[name].kind.is_numeric
        and files.variables[name].role is not Role.WEIGHT
        and int(np.count_nonzero(~np.isnan(numbers.original[:, place]))) >= least
    ]
    return of, [place for place in of if numbers.names[place] not in numbers.removed]


def _compared(files: Comparison, least: int) -> Compared:
    of, left = _numbers(files, least)
    names = [files.released_numbers.names[place] for place in left]
    return Compared(bool(of), bool(left), [*declared_categories(files), *names])


def _changes(files: Comparison, declared: Categories, least: int) -> tuple[SubgroupChange, ...]:
    numbers, left = files.released_numbers, _numbers(files, least)[1]
    original, masked = (NumberColumns.of(each)[:, left] for each in (numbers.original, numbers.masked))
    return subgroup_quantiles(files.common_bins, original, masked, declared, least, files.weights)


def _moved(files: Comparison, worst: SubgroupChange, category: Saying) -> Saying:
    says = _SAYS.number_lost() if isinf(worst.change) else _SAYS.moved(value=figure(worst.change))
    return says + category


SUBGROUP_QUANTILES = WithinSubgroups(
    Measure(
        "subgroup_quantiles",
        "mean change of numbers' quantiles within the worst declared category, in interquartile ranges",
        "How far quantiles moved in the worst subgroup",
        "Numbers of one subgroup moved: mask within strata of its variable, so that values are exchanged or averaged "
        "among its own records, or in smaller groups.",
    ),
    Words.of(_SAYS),
    "subgroup_quantiles",
    Caption(
        "Subgroups whose quantiles moved most",
        "Interquartile ranges",
        "how far quantiles moved among the records of the subgroup, on average over all numbers.",
    ),
    _compared,
    _changes,
    _moved,
)
