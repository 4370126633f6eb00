"""Groups of values: the wider category of an old one (by a map, a hierarchy's level, a prefix), intervals of numbers.

Intervals are half-open, closed on the left.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pandas as pd

from sluice.ground.arrays import FloatArray
from sluice.ground.comparable_values import codes_of
from sluice.ground.errors import PlanError
from sluice.ground.variables import Kind, Variable, as_label

OUTSIDE = -2  # the code of a value that no interval contains; missing is -1
_ROOM = 80  # bytes of the label of a group: a copy for SPSS takes 120, with the category


def groups_by_map(variable: Variable, categories: Mapping[str, Sequence[str]], others: str | None) -> dict[str, str]:
    """Old category: new category, in the order of the old ones; complete where the variable declares them.

    categories : new category: its old ones, each once
    others     : new category of all that are not named
    raises     : PlanError for a category that the variable does not have, or one left out without `others`
    """
    new = {old: group for group, members in categories.items() for old in members}
    if variable.categories is None:
        return new
    for label in new:
        if label not in variable.categories:
            raise PlanError(f"'{variable.name}' has no category '{label}'.", came=label, allowed=variable.categories)
    left = [label for label in variable.categories if label not in new]
    if left and others is None:
        counted = "1 category" if len(left) == 1 else f"{len(left)} categories"
        raise PlanError(
            f"'{variable.name}': categories leaves out {counted}, such as '{left[0]}'. Name them in 'categories', or "
            "give 'others'."
        )
    # A nominal variable takes the order in which its new categories are written.
    order = variable.categories if variable.kind is Kind.ORDINAL else [*new, *left]
    return {label: new.get(label, others or "") for label in order}


def groups_at_level(variable: Variable, level: int) -> dict[str, str]:
    """Old category (or leaf): its group at this level of the variable's hierarchy, in the order of the old ones.

    raises : PlanError without a hierarchy, beyond its levels, or when it lacks a category
    """
    hierarchy = variable.hierarchy
    if hierarchy is None:
        raise PlanError(f"level needs a hierarchy; '{variable.name}' has none.")
    if level > hierarchy.depth:
        raise PlanError(f"level on '{variable.name}' must be from 1 to {hierarchy.depth}; got {level}.")
    groups = hierarchy.at_level(level)
    if variable.kind is Kind.DATE:
        return {day: groups[day] for day in sorted(groups)}
    if variable.kind is Kind.INTEGER:
        try:
            return {leaf: groups[leaf] for leaf in sorted(groups, key=int)}
        except ValueError:
            raise PlanError(f"'{variable.name}': the leaves of an integer's hierarchy must be whole numbers.") from None
    unknown = [label for label in variable.categories or () if label not in groups]
    if unknown:
        raise PlanError(
            f"'{variable.name}': the hierarchy lacks {len(unknown)} of the variable's categories, such as "
            f"'{unknown[0]}'."
        )
    return {label: groups[label] for label in variable.categories or groups}


def kind_of_groups(variable: Variable, groups: Sequence[str]) -> Kind:
    """The kind of the recoded variable; `groups` in the order of the old categories."""
    distinct = len(set(groups))
    if variable.kind is Kind.BINARY and distinct == 2:
        return Kind.BINARY
    runs = 1 + sum(one != next_ for one, next_ in pairwise(groups))
    has_order = variable.kind in (Kind.ORDINAL, Kind.INTEGER, Kind.DATE)
    return Kind.ORDINAL if has_order and runs == distinct else Kind.NOMINAL


def labels_of_groups(variable: Variable, groups: Mapping[str, str]) -> dict[str, str]:
    """What each group means: the labels of the categories in it, as many as have room; none where none has a label.

    groups : old category -> new one
    """
    members: dict[str, list[str]] = {}
    for old, new in groups.items():
        members.setdefault(new, []).append(old)
    return {
        group: _in_room([variable.labels.get(each, each) for each in old])
        for group, old in members.items()
        if any(each in variable.labels for each in old)
    }


def _in_room(labels: Sequence[str]) -> str:
    if len(labels) == 1:
        return labels[0]
    for shown in range(len(labels), 0, -1):
        more = len(labels) - shown
        said = "; ".join(labels[:shown]) + (f"; and {more} more" if more else "")
        if len(said.encode()) <= _ROOM:
            return said
    return f"{len(labels)} categories"


def group_codes(
    column: pd.Series, groups: Mapping[str, str], others: str | None, categories: Sequence[str]
) -> npt.NDArray[np.int64]:
    """For each record the position of its group among `categories`: -1 where missing, OUTSIDE where it has none.

    column : whole numbers, dates (by their day) or categories
    others : the group of whatever is not in `groups`
    """
    code = {label: position for position, label in enumerate(categories)}
    rest = OUTSIDE if others is None else code.get(others, OUTSIDE)
    if isinstance(column.dtype, pd.CategoricalDtype):
        old_codes, old = codes_of(column).astype("int64"), list(column.cat.categories)
    else:
        values = column.to_numpy("datetime64[D]") if pd.api.types.is_datetime64_dtype(column.dtype) else column
        numbered, found = pd.factorize(values)
        old_codes, old = numbered.astype("int64"), [str(value) for value in found]
    table = np.array([code[groups[label]] if label in groups else rest for label in old] + [-1], dtype="int64")
    codes: npt.NDArray[np.int64] = table[old_codes]  # -1, missing, picks the last
    return codes


def prefixes(column: pd.Series, characters: int) -> pd.Series:
    """The first characters of texts or categories, as categories: those that are found, sorted."""
    texts = column.astype("str").str[:characters]
    found = pd.Index(sorted(texts.dropna().unique()), dtype="str")
    return texts.astype(pd.CategoricalDtype(found))


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
