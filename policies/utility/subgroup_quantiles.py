"""Subgroup quantiles: a limit on how far the order statistics of numbers moved in the worst subgroup."""

from math import isinf

import numpy as np

from policies.utility.declared_categories import declared_categories
from policies.utility.worst_changed import found_of_worst
from sluice.ground.sentence import Sentences
from sluice.ground.variables import Role
from sluice.utility.comparison import Comparison
from sluice.utility.continuous.number_columns import NumberColumns
from sluice.utility.measured import CATEGORY, Found, Measured, figure, without_noise, written_number
from sluice.utility.subgroup_quantiles import subgroup_quantiles

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

_WHAT = "How far quantiles moved in the worst subgroup"


def quantiles_of_subgroups(files: Comparison) -> Found:
    """Of all declared categories of released variables with enough records, the one in which the quantiles of the
    released numbers moved most. Of a file that has no such variable or number of the original's left, all is lost."""
    numbers, bins = files.released_numbers, files.common_bins
    there_were, declared, least = declared_categories(files)
    of = [
        place
        for place, name in enumerate(numbers.names)
        if files.variables[name].kind.is_numeric
        and files.variables[name].role is not Role.WEIGHT
        and int(np.count_nonzero(~np.isnan(numbers.original[:, place]))) >= least
    ]
    left = [place for place in of if numbers.names[place] not in numbers.removed]
    if not there_were or not of:
        says = _SAYS.no_categories()
        return _found(Measured(float("nan"), says, "", 0, 0, written_number, False))
    if not declared or not left:
        says = _SAYS.lost()
        return _found(Measured(float("inf"), says, "", len(there_were), 0, written_number))
    if not len(files.masked):
        says = _SAYS.not_known()
        return _found(Measured(float("nan"), says, "", 0, 0, written_number))
    original, masked = (NumberColumns.of(each)[:, left] for each in (numbers.original, numbers.masked))
    found = subgroup_quantiles(bins, original, masked, declared, least, files.weights)
    if not found:
        says = _SAYS.too_small()
        return _found(Measured(float("nan"), says, "", 0, 0, written_number, False))
    worst = found[0]
    scope = worst.variable if without_noise(worst.change) else ""
    named = CATEGORY(variable=worst.variable, category=worst.category) if scope else ()
    says = _SAYS.moved(value=figure(worst.change))
    if isinf(worst.change):
        says = _SAYS.number_lost()
    measured = Measured(worst.change, says + named, scope, len(found), len(found), written_number)
    few = files.of_few & {*declared, *(numbers.names[place] for place in left)}
    return found_of_worst("subgroup_quantiles", "subgroup_quantiles", _WHAT, measured, found, few, files.minimum_cell)


def _found(measured: Measured) -> Found:
    return Found({"subgroup_quantiles": measured})
