"""Intervals of a number: half-open, closed on the left, as they are cut and found."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sluice.ground.arrays import FloatArray
from sluice.ground.errors import PlanError
from sluice.ground.variables import Kind, Variable, as_label

OUTSIDE = -2  # the code of a value that no interval contains; missing is -1


def limits(bins: Sequence[float], variable: Variable) -> FloatArray:
    """The cut points, with -inf and inf at an end that the variable's minimum or maximum leaves open.

    raises : PlanError for a cut point that is not whole where the variable is, or lies outside minimum and maximum
             (of whole numbers, the maximum + 1 ends the last interval), or when no interval is left
    """
    whole = variable.kind is Kind.INTEGER
    if whole and any(not cut.is_integer() for cut in bins):
        raise PlanError("bins of an integer variable must be whole numbers.")
    lowest = None if variable.minimum is None else float(variable.minimum)
    highest = None if variable.maximum is None else float(variable.maximum)
    if lowest is not None and highest is not None and lowest > highest:
        raise PlanError("bins leave no interval between minimum and maximum.")
    beyond = [cut for cut in bins if lowest is not None and cut < lowest]
    beyond += [cut for cut in bins if highest is not None and cut > highest + whole]
    if beyond:
        raise PlanError(
            f"bins must lie within the variable's minimum {_in_words(lowest)} and maximum {_in_words(highest)}; got "
            f"{as_label(beyond[0])}. Leave it out, or widen the variable's bounds."
        )
    below = lowest is None or lowest < bins[0]
    above = highest is None or highest >= bins[-1]
    cuts = np.array([-np.inf] * below + list(bins) + [np.inf] * above)
    if len(cuts) < 2:
        raise PlanError("bins leave no interval between minimum and maximum.")
    return cuts


def interval_codes(values: FloatArray, cuts: FloatArray, count: int) -> npt.NDArray[np.int64]:
    """The interval of each value: i where cuts[i] <= value < cuts[i + 1], -1 for NaN, OUTSIDE beyond the ends.

    values  : shape (n,), NaN where missing
    cuts    : shape (count + 1,), rising; -inf or inf for an open end
    cost    : O(n log count)
    """
    codes = np.searchsorted(cuts, values, side="right").astype("int64") - 1
    codes[(codes < 0) | (codes >= count)] = OUTSIDE
    codes[np.isnan(values)] = -1
    return codes


def quantile_bins(values: FloatArray, groups: int, fewest: int, whole: bool) -> tuple[float, ...]:
    """Cut points of groups of about equal size. Equal values stay together, so the groups differ where there are ties.

    values  : shape (n,), NaN where missing
    whole   : the cut points are rounded up to whole numbers
    returns : groups - 1 cut points, in rising order
    raises  : PlanError when a group would hold fewer than `fewest` records
    """
    present = values[~np.isnan(values)]
    if len(present) == 0:
        raise PlanError("has no quantiles: all values are missing.")
    cuts = np.quantile(present, np.arange(1, groups) / groups)
    cuts = np.ceil(cuts) if whole else cuts
    sizes = np.diff([0, *np.searchsorted(np.sort(present), cuts, side="left"), len(present)])
    if sizes.min() < fewest:
        raise PlanError(
            f"must put at least {fewest} records (minimum_group) into each of {groups} groups; the smallest holds "
            f"{sizes.min()}. Ask for fewer quantiles: equal values stay together."
        )
    return tuple(float(cut) for cut in cuts)


def _in_words(bound: float | None) -> str:
    return "(none)" if bound is None else str(as_label(bound))
