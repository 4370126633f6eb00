"""Subgroup propensity: a limit on how well records of the worst subgroup can be told from their originals."""

from math import isinf

import numpy as np

from policies.original_and_masked import OriginalAndMasked
from policies.utility.declared_categories import declared_categories
from policies.utility.measured import Found, Measured, without_noise, written_number
from policies.utility.worst_changed import found_of_worst
from sluice.utility.subgroup_propensity import MOST_RECORDS, subgroup_propensity

_WHAT = "How well records of the worst subgroup can be told apart"


def propensity_of_subgroups(files: OriginalAndMasked) -> Found:
    """Of all declared categories of released variables with enough records, the one of the largest S_pMSE. Of a file
    that has no such variable of the original's left, or no other beside it, all is lost."""
    bins = [each for each in files.common_bins if each.name in files.told_of]
    there_were, declared, least = declared_categories(files)
    if not there_were or len(files.common_bins) < 2:
        says = "How well records of subgroups can be told apart is not measured: the data declare no categories"
        return _found(Measured(float("nan"), says, "", 0, 0, written_number, False))
    if not declared or len(bins) < 2:
        says = "Subgroups cannot be told apart: the file has no variable left that forms them, or none beside it"
        return _found(Measured(float("inf"), says, "", len(there_were), 0, written_number))
    if not len(files.masked):
        says = "How well records of subgroups can be told apart is not known: the masked file has no records"
        return _found(Measured(float("nan"), says, "", 0, 0, written_number))
    # Always the same draw, as no other may depend on it
    found = subgroup_propensity(bins, declared, np.random.default_rng(0), least)
    if not found:
        says = "How well records of subgroups can be told apart is not measured: no declared category has enough"
        return _found(Measured(float("nan"), says, "", 0, 0, written_number, False))
    worst = found[0]
    scope = worst.variable if without_noise(worst.change) else ""
    named = f" ({worst.variable} = {worst.category})" if scope else ""
    says = (
        f"Original and masked records of the worst subgroup{named} can be told apart {written_number(worst.change)} "
        "times as well as those of a file drawn from the original (S_pMSE of a logistic regression"
    )
    says += f" of {MOST_RECORDS:,} records drawn of each file)" if worst.records > MOST_RECORDS else ")"
    if isinf(worst.change):
        says = f"A subgroup is lost{named}: the file has nobody of it"
    measured = Measured(worst.change, says, scope, len(found), len(found), written_number)
    few = files.of_few & {each.name for each in bins}
    return found_of_worst("subgroup_propensity", "subgroup_propensity", _WHAT, measured, found, few, files.minimum_cell)


def _found(measured: Measured) -> Found:
    return Found({"subgroup_propensity": measured})
