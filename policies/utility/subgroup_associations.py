"""Subgroup associations: a limit on how far what goes together moved in the worst subgroup."""

import numpy as np

from policies.utility.declared_categories import declared_categories
from policies.utility.worst_changed import found_of_worst
from sluice.ground.sentence import Sentences
from sluice.utility.comparison import Comparison
from sluice.utility.marginals import MarginalTables
from sluice.utility.measured import CATEGORY, Found, Measured, figure, without_noise, written_number
from sluice.utility.subgroup_associations import subgroup_associations

_SAYS = Sentences(
    "subgroup_cramers_v",
    no_categories="What goes together in subgroups is not compared: the data declare no categories, or have too few "
    "variables",
    lost="What goes together in subgroups is lost: the file has not enough variables left to tell",
    not_known="What goes together in subgroups is not known: the masked file has no records",
    too_small="What goes together in subgroups is not compared: no declared category has enough records",
    moved="Cramer's V of two variables moved by {value:.3g} on average in the worst subgroup",
    drawn=", by {tables:,} of {of:,} tables of three variables, drawn at random",
)

_TABLES = 2_000  # of triples, drawn where there are more; always the same, as no other draw may depend on them
_WHAT = "How far Cramer's V moved in the worst subgroup"


def associations(files: Comparison) -> Found:
    """Of all declared categories of released variables with enough records, the one in which Cramer's V of two other
    variables moved most. Of a file that has no such variable of the original's left everything is lost."""
    bins = files.common_bins
    there_were, declared, least = declared_categories(files)
    others = {name for name in files.kept if name in files.released}
    if not there_were or len(bins) < 3:
        says = _SAYS.no_categories()
        return _found(Measured(float("nan"), says, "", 0, 0, written_number, False))
    if not declared or len(others) < 3:
        says = _SAYS.lost()
        return _found(Measured(1.0, says, "", len(there_were), 0, written_number))
    if not len(files.masked):
        says = _SAYS.not_known()
        return _found(Measured(float("nan"), says, "", 0, 0, written_number))
    left = [each for each in bins if each.name in others]  # what goes with a removed variable, tables of triples tell
    tables = MarginalTables(left, 3, *files.weights, np.random.default_rng(0), _TABLES)
    found = subgroup_associations(left, tables, declared, others, least, files.weights)
    if not found:
        says = _SAYS.too_small()
        return _found(Measured(float("nan"), says, "", 0, 0, written_number, False))
    worst = found[0]
    scope = worst.variable if without_noise(worst.change) else ""
    says = _SAYS.moved(value=figure(worst.change))
    says += CATEGORY(variable=worst.variable, category=worst.category) if scope else ()
    if len(tables.tables) < tables.of:
        says += _SAYS.drawn(tables=len(tables.tables), of=tables.of)
    measured = Measured(worst.change, says, scope, len(found), len(found), written_number)
    few = files.of_few & others
    return found_of_worst(
        "subgroup_cramers_v", "subgroup_associations", _WHAT, measured, found, few, files.minimum_cell
    )


def _found(measured: Measured) -> Found:
    return Found({"subgroup_cramers_v": measured})
