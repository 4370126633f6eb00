"""Subgroups: a limit on what the worst subgroup's own tables lost."""

from policies.utility.declared_categories import declared_categories
from sluice.ground.sentence import Sentences
from sluice.utility.comparison import Comparison
from sluice.utility.marginals import MarginalTables
from sluice.utility.measured import Found, Measured, figure, written_percent
from sluice.utility.subgroup_summary import subgroups_view
from sluice.utility.worst_subgroup import subgroup_losses

_SAYS = Sentences(
    "worst_subgroup",
    not_compared="Subgroups are not compared: no released variable has declared categories with enough records",
    lost="Subgroups are lost: the file has no variable left that forms them, or none to compare within them",
    not_known="What subgroups lost is not known: the masked file has no records",
    distributions="In the distributions of the worst of {subgroups:,} subgroups, {share:percent} of its records stand "
    "in another bin ({variable} = {category}), in those of the middle one {median:percent}",
    none="In none of {compared:,} subgroups does a distribution differ by as many records as may be told",
)


def subgroups(files: Comparison) -> Found:
    """Of all declared categories of released variables with enough records, the one that lost most.

    Of a file that has no such variable of the original's left, or no other beside it, everything is lost.
    """
    bins = files.common_bins
    there_were, declared, least = declared_categories(files)
    others = [name for name in files.kept if name in files.released]
    none = _SAYS.not_compared()
    nothing = Measured(float("nan"), none, "", 0, 0, written_percent, False)
    if len(others) < 2 or not declared:
        if not there_were or len(bins) < 2:
            return Found({"worst_subgroup": nothing})
        says = _SAYS.lost()
        return Found({"worst_subgroup": Measured(1.0, says, "", len(there_were), 0, written_percent)})
    if not len(files.masked):
        says = _SAYS.not_known()
        return Found({"worst_subgroup": Measured(float("nan"), says, "", 0, 0, written_percent)})
    tables = MarginalTables(bins, 2, *files.weights, most=len(bins) ** 2)
    found = subgroup_losses(bins, tables, declared, others, least, files.weights)
    view = subgroups_view(found, least, files.minimum_cell)
    if view is None:
        return Found({"worst_subgroup": nothing})
    worst, exact = view.worst[0], found[0]
    says = _SAYS.distributions(
        subgroups=view.compared,
        share=figure(worst.loss),
        variable=worst.variable,
        category=worst.category,
        median=figure(view.median),
    )
    if not worst.loss:
        says = _SAYS.none(compared=view.compared)
    few = 0 < exact.loss * exact.records < files.minimum_cell
    scope = exact.variable if worst.loss else ""
    measured = Measured(
        exact.loss, says, scope, len(found), len(found), written_percent, tells_of_few=few and files.minimum_cell > 1
    )
    if files.few_weigh:
        return Found({"worst_subgroup": measured.told("What the worst subgroup lost", files.of_few)})
    return Found({"worst_subgroup": measured}, {"subgroups": view})
