"""Subgroups: a measure within each declared category, and the category in which it is worst.

A file can be good for everybody together and useless for a few. Subgroups are the categories that a contract declares
of released variables, with enough original records. Who belongs to a subgroup of the masked file is what its reader can
tell: a record in a group of categories belongs to each of them by the share in which the group stands for it.

Any measure becomes one of subgroups by `WithinSubgroups`: one that is a function of the common bins of some records by
`within_each`, one whose figures for all categories are counted at once, such as those read off tables, by itself.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import NamedTuple

import numpy as np
import pandas as pd
from pydantic import Field

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.ground.document_parts import FrozenModel
from sluice.ground.sentence import Saying, Sentence, Sentences
from sluice.ground.variables import NAMES, Kind
from sluice.utility.common_bins import CommonBins
from sluice.utility.comparison import Comparison
from sluice.utility.measured import CATEGORY, Found, without_noise
from sluice.utility.record_weights import UNWEIGHTED, Weights, relative_weight
from sluice.utility.utility_measure import Family, Figure, Measure, Occasion

_FEW = Sentence("utility.few_changed", "{what} is not told: too few of its records changed")

_LEAST = 100  # records of a subgroup, or more where the report asks for more
_SHOWN = 10  # subgroups, those first in which most changed

Categories = Mapping[str, Collection[str]]  # by variable, those that may be named; nobody else's are looked at


class SubgroupChange(NamedTuple):
    """One category of one variable.

    change  : what the measure is within the subgroup; higher is worse, infinite where all is lost
    records : of the original in the subgroup; where they have weights, how many of its heaviest weigh as much
    moved   : the number of records by which the change may have come about
    """

    variable: str
    category: str
    change: float
    records: int
    moved: float


class Compared(NamedTuple):
    """What is compared within subgroups: whether the original has it, whether the file still does, and the variables
    of which a change in a few records would be told."""

    there_was: bool
    left: bool
    names: Collection[str]


class ChangedSubgroup(FrozenModel):
    """One declared category, as the report shows it."""

    variable: str
    category: str
    change: float | None = Field(description="in the unit of the measure, from 0; higher is worse. None: all is lost")


class ChangedSubgroups(FrozenModel):
    """Those where most changed, the largest change first."""

    compared: int = Field(description="subgroups with enough records")
    worst: tuple[ChangedSubgroup, ...]


class Words(NamedTuple):
    """What is said where no category is declared or too little could be compared, where nothing of it is left, without
    records, and of subgroups that are all too small."""

    no_categories: Sentence
    lost: Sentence
    not_known: Sentence
    too_small: Sentence

    @classmethod
    def of(cls, says: Sentences) -> "Words":
        """Those of these names."""
        return cls(says.no_categories, says.lost, says.not_known, says.too_small)


class Caption(NamedTuple):
    """Of a table of subgroups: title, unit, and what is measured within them."""

    title: str
    unit: str
    says: str


def _only_category(files: Comparison, worst: SubgroupChange, category: Saying) -> Saying:
    return category


@dataclass(frozen=True)
class WithinSubgroups:
    """A measure within each declared category of a released variable, of which the worst is reported.

    measure  : its limit
    view     : the name of the report's part
    caption  : of its table in the report
    compared : what is compared within subgroups, beside the variables that form them; given the records that a
               subgroup needs
    changes  : of every subgroup of at least so many records, the largest change first
    moved    : what is said of the worst subgroup, with its category
    """

    measure: Measure
    says: Words
    view: str
    caption: Caption
    compared: Callable[[Comparison, int], Compared]
    changes: Callable[[Comparison, Categories, int], Sequence[SubgroupChange]]
    moved: Callable[[Comparison, SubgroupChange, Saying], Saying] = _only_category

    @property
    def family(self) -> Family:
        return Family(self.find, (self.measure,))

    def find(self, files: Comparison) -> Found:
        """The worst subgroup, neither in the finding nor in the report by fewer records than the minimum cell.

        Of a file that has no variable of the original's left that forms subgroups, or none of what is compared within
        them, all is lost.
        """
        occasion, declared, least = self.occasion(files)
        if unmeasured := self.measure.unmeasured(files, occasion):
            return Found({self.measure.name: unmeasured})
        found = self.changes(files, declared, least)
        if not found:
            nothing = occasion._replace(of=0, not_compared=self.says.too_small())
            return Found({self.measure.name: self.measure.judge(files, nothing, lambda: _NOTHING)})
        return self.tell(files, occasion._replace(of=len(found)), found, least)

    def tell(self, files: Comparison, occasion: Occasion, found: Sequence[SubgroupChange], least: int) -> Found:
        """The finding and the report's part of what was found of at least one subgroup."""
        worst, name = found[0], self.measure.name
        scope = worst.variable if without_noise(worst.change) else ""
        category = CATEGORY(variable=worst.variable, category=worst.category) if scope else ()
        figure = Figure(worst.change, self.moved(files, worst, category), len(found), scope)
        measured = self.measure.measured(files, occasion, figure)
        if occasion.few:
            return Found({name: measured})
        if scope and worst.moved < files.minimum_cell:
            hidden = _FEW(what=self.measure.what)
            return Found({name: measured._replace(says=hidden, scope="", tells_of_few=True)})
        return Found({name: measured}, {self.view: changed_subgroups(found, files.minimum_cell)})

    def occasion(self, files: Comparison) -> tuple[Occasion, Categories, int]:
        """With the categories that form subgroups, and how many records each needs."""
        declared, least = declared_categories(files), max(_LEAST, files.minimum_cell)
        tells = {*files.released} & {*files.kept}  # a variable in one group forms no subgroups
        released = {name: categories for name, categories in declared.items() if name in tells}
        there_was, left, names = self.compared(files, least if len(files.original) else 0)
        occasion = Occasion(
            of=len(declared) if there_was else 0,
            not_compared=self.says.no_categories(),
            no_records=self.says.not_known(),
            left=len(released) if left else 0,
            lost=self.says.lost(),
            few=files.of_few & {*names},
        )
        return occasion, released, least


_NOTHING = Figure(float("nan"), ())


def declared_categories(files: Comparison) -> Categories:
    """Of the original's variables, those that its contract lists: what was found in the data alone is not named."""
    return {
        name: variable.categories
        for name, variable in files.variables.items()
        if variable.categories is not None
        and name not in files.undeclared
        and variable.kind is not Kind.ITEMS
        and variable.role not in NAMES
    }


def declared_subgroups(
    bins: Sequence[CommonBins], declared: Categories, least: int, weights: Weights = UNWEIGHTED
) -> dict[int, BoolArray]:
    """By place in `bins`, for a variable with declared categories: which of its bins form a subgroup. Of the last one,
    of missing values, nothing is said.

    least   : original records of a subgroup at least, by their effective number (Kish 1965) where they have weights
    weights : of the records of both files; only the original's are looked at
    raises  : DataError for weights that do not fit
    cost    : O(n) a variable
    """
    found = {}
    for place, each in enumerate(bins):
        if each.name not in declared:
            continue
        weight = relative_weight(weights[0], len(each.original))
        if weight is None:
            records = np.bincount(each.original, minlength=each.bins).astype(np.float64)
        else:
            sums, squares = (np.bincount(each.original, power, each.bins) for power in (weight, weight**2))
            records = np.divide(sums**2, squares, out=np.zeros_like(sums), where=squares > 0)
        named = np.array([label in declared[each.name] for label in each.labels[:-1]], dtype=np.bool_)
        found[place] = named & (records[:-1] >= max(least, 1) * (1 - 1e-12))
    return found


def within_each(
    figure: Callable[[Sequence[CommonBins]], float],
    bins: Sequence[CommonBins],
    declared: Categories,
    rng: np.random.Generator,
    least: int = _LEAST,
    most: int | None = None,
) -> tuple[SubgroupChange, ...]:
    """A figure of common bins within every subgroup, the largest first.

    figure : of the bins of all other variables, of the records of a subgroup; one without masked records is infinite
    bins   : the released variables on common bins, two at least
    rng    : for groups of categories, whose records are taken for one of them by chance, by the shares in which the
             group stands for them; and for what is drawn of large subgroups
    least  : subgroups of fewer original records are left out
    most   : records of a subgroup and file; of more, so many are drawn. None: all
    cost   : that of the figure, for each subgroup

    `moved` counts, of the original records of the subgroup, those whose bins of all other variables together the masked
    subgroup lacks.
    """
    found = []
    for place, kept in declared_subgroups(bins, declared, least).items():
        by, others = bins[place], [*bins[:place], *bins[place + 1 :]]
        if not kept.any() or not others:
            continue
        after = _one_of_each(by, rng)
        for group in np.flatnonzero(kept).tolist():
            here, there = np.flatnonzero(by.original == group), np.flatnonzero(after == group)
            records = len(here)
            if most is not None:
                here, there = (rng.permutation(rows)[:most] if len(rows) > most else rows for rows in (here, there))
            within = [replace(each, original=each.original[here], masked=each.masked[there]) for each in others]
            change = figure(within) if len(there) else np.inf
            found.append(SubgroupChange(by.name, by.labels[group], float(change), records, _lacking(within)))
    return tuple(sorted(found, key=lambda each: -each.change))


def _one_of_each(by: CommonBins, rng: np.random.Generator) -> IntArray:
    """(m,): a bin for each masked record, by the shares of its code."""
    found = by.likely.argmax(axis=1)[by.masked]
    several = np.flatnonzero((by.likely > 0).sum(axis=1) > 1)
    for code in several[np.isin(several, by.masked)].tolist():
        rows = np.flatnonzero(by.masked == code)
        found[rows] = rng.choice(by.bins, len(rows), p=by.likely[code] / by.likely[code].sum())
    return np.asarray(found)


def _lacking(bins: Sequence[CommonBins]) -> float:
    """Original records whose bins of all variables together the masked file lacks, as often as it lacks them. What
    stands for several bins is like none."""
    n = len(bins[0].original)
    together = np.zeros(n + len(bins[0].masked), dtype=np.int64)
    for each in bins:
        surely = (each.likely > 0).sum(axis=1) == 1
        place = np.where(surely, each.likely.argmax(axis=1), each.bins + np.arange(each.codes))
        codes = np.concatenate([each.original.astype(np.int64), place[each.masked]])
        together = pd.factorize(together * (each.bins + each.codes) + codes)[0]
    size = int(together.max(initial=-1)) + 1
    before, after = (np.bincount(rows, minlength=size) for rows in (together[:n], together[n:]))
    return float(np.maximum(before - after, 0).sum())


def heaviest_record(by: CommonBins, weights: Weights = UNWEIGHTED) -> FloatArray:
    """Shape (bins,): of the records of either file in a bin the largest weight, 1 for files without weights.

    It is told in the original's unit: a masked record weighs the share that it has of its bin. Of a change that weighs
    x, at least x by this records took part: one heavy record cannot look like many.

    weights : of the records of both files
    raises  : DataError for weights that do not fit
    """
    if weights[0] is None and weights[1] is None:
        return np.ones(by.bins)
    before, after = _weights_of(weights[0], len(by.original)), _weights_of(weights[1], len(by.masked))
    largest, of_code = np.zeros(by.bins), np.zeros(by.codes)
    np.maximum.at(largest, by.original, before)
    np.maximum.at(of_code, by.masked, after)
    total = np.bincount(by.original, before, by.bins)
    masked_total = np.bincount(by.masked, after, by.codes) @ by.spread
    unit = np.divide(total, masked_total, out=np.zeros_like(total), where=masked_total > 0)
    of_masked = (of_code[:, np.newaxis] * by.spread).max(axis=0, initial=0.0)
    return np.asarray(np.maximum(largest, of_masked * unit))


def weight_in_heaviest(by: CommonBins, weights: Weights = UNWEIGHTED) -> FloatArray:
    """Shape (bins,): how many of its heaviest records weigh as much as a bin's originals; without weights how many
    these are. 0 where nothing weighs anything."""
    total = np.bincount(by.original, relative_weight(weights[0], len(by.original)), by.bins).astype(np.float64)
    heaviest = heaviest_record(by, weights)
    return np.divide(total, heaviest, out=np.zeros_like(total), where=heaviest > 0)


def _weights_of(weight: FloatArray | None, records: int) -> FloatArray:
    relative = relative_weight(weight, records)
    return np.ones(records) if relative is None else relative


def changed_subgroups(found: Sequence[SubgroupChange], minimum_cell: int) -> ChangedSubgroups:
    """What is shown of them, in two digits, without those where fewer records than the minimum cell made the change."""
    shown = [
        ChangedSubgroup(
            variable=each.variable,
            category=each.category,
            change=round(each.change, 2) if isfinite(each.change) else None,
        )
        for each in found
        if each.moved >= minimum_cell
    ]
    # By what is told of them: in their own order equal figures would tell which change is the larger one.
    shown.sort(key=lambda each: (each.change is not None, -(each.change or 0.0), each.variable, each.category))
    return ChangedSubgroups(compared=len(found), worst=tuple(shown[:_SHOWN]))
