"""Subgroup propensity: a limit on how well records of the worst subgroup can be told from their originals."""

from math import isinf

import numpy as np

from policies.utility.declared_categories import declared_categories
from policies.utility.worst_changed import found_of_worst
from sluice.ground.sentence import Sentences
from sluice.utility.comparison import Comparison
from sluice.utility.measured import CATEGORY, Found, Measured, figure, without_noise, written_number
from sluice.utility.subgroup_propensity import MOST_RECORDS, subgroup_propensity

_SAYS = Sentences(
    "subgroup_propensity",
    no_categories="How well records of subgroups can be told apart is not measured: the data declare no categories",
    lost="Subgroups cannot be told apart: the file has no variable left that forms them, or none beside it",
    not_known="How well records of subgroups can be told apart is not known: the masked file has no records",
    subgroup_lost="A subgroup is lost",
    nobody=": the file has nobody of it",
    worst="Original and masked records of the worst subgroup",
    told_apart=" can be told apart {times:.3g} times as well as those of a file drawn from the original (S_pMSE of a "
    "logistic regression",
    drawn=" of {records:,} records drawn of each file)",
    close=")",
    too_small="How well records of subgroups can be told apart is not measured: no declared category has enough",
)

_WHAT = "How well records of the worst subgroup can be told apart"


def propensity_of_subgroups(files: Comparison) -> Found:
    """Of all declared categories of released variables with enough records, the one of the largest S_pMSE. Of a file
    that has no such variable of the original's left, or no other beside it, all is lost."""
    bins = [each for each in files.common_bins if each.name in files.kept]
    there_were, declared, least = declared_categories(files)
    if not there_were or len(files.common_bins) < 2:
        says = _SAYS.no_categories()
        return _found(Measured(float("nan"), says, "", 0, 0, written_number, False))
    if not declared or len(bins) < 2:
        says = _SAYS.lost()
        return _found(Measured(float("inf"), says, "", len(there_were), 0, written_number))
    if not len(files.masked):
        says = _SAYS.not_known()
        return _found(Measured(float("nan"), says, "", 0, 0, written_number))
    # Always the same draw, as no other may depend on it
    found = subgroup_propensity(bins, declared, np.random.default_rng(0), least)
    if not found:
        says = _SAYS.too_small()
        return _found(Measured(float("nan"), says, "", 0, 0, written_number, False))
    worst = found[0]
    scope = worst.variable if without_noise(worst.change) else ""
    named = CATEGORY(variable=worst.variable, category=worst.category) if scope else ()
    if isinf(worst.change):
        says = _SAYS.subgroup_lost() + named + _SAYS.nobody()
    else:
        says = _SAYS.worst() + named + _SAYS.told_apart(times=figure(worst.change))
        says += _SAYS.drawn(records=MOST_RECORDS) if worst.records > MOST_RECORDS else _SAYS.close()
    measured = Measured(worst.change, says, scope, len(found), len(found), written_number)
    few = files.of_few & {each.name for each in bins}
    return found_of_worst("subgroup_propensity", "subgroup_propensity", _WHAT, measured, found, few, files.minimum_cell)


def _found(measured: Measured) -> Found:
    return Found({"subgroup_propensity": measured})
