"""Propensity: a limit on how well original and masked records can be told apart by all variables together."""

from sluice.ground.sentence import Sentences
from sluice.utility.comparison import Comparison
from sluice.utility.measured import Found, Measured, figure, written_number
from sluice.utility.propensity import propensity as fitted
from sluice.utility.propensity_summary import propensity_view

_SAYS = Sentences(
    "propensity",
    not_measured="How well records can be told apart is not measured: no released variable can be compared",
    not_known="How well records can be told apart is not known: a file has no records",
    told_apart="By the distributions of the variables, original and masked records can be told apart {times:.3g} "
    "times as well as those of a file drawn from the original (S_pMSE of a logistic regression)",
    left_out="; {removed:,} removed {are} left out",
)


def propensity(files: Comparison) -> Found:
    """S_pMSE of a logistic regression on the bins of all released variables."""
    bins = [each for each in files.common_bins if each.name in files.kept]
    removed = [each.name for each in files.common_bins if each.name not in files.kept]
    of = len(bins) + len(removed)
    if not bins:
        says = _SAYS.not_measured()
        lost = float("inf") if of else float("nan")  # nobody escapes the limit by removing every variable
        return Found({"propensity": Measured(lost, says, "", of, 0, written_number, of > 0)})
    found = fitted(bins)
    view = propensity_view(found, removed, files.minimum_cell)
    if view is None:
        says = _SAYS.not_known()
        return Found({"propensity": Measured(float("nan"), says, "", of, 0, written_number)})
    says = _SAYS.told_apart(times=figure(found.standardised))
    if removed:
        says += _SAYS.left_out(removed=len(removed), are="variable is" if len(removed) == 1 else "variables are")
    measured = Measured(found.standardised, says, "", of, len(bins), written_number)
    if files.only_of_few:
        return Found({"propensity": measured.told("How well records can be told apart", files.of_few)})
    return Found({"propensity": measured}, {"propensity": view})
