"""Groups of categories: which wider category each old one belongs to, by a map, a hierarchy's level, or a prefix."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pandas as pd

from sluice.ground.categories import codes_of
from sluice.ground.errors import PlanError
from sluice.ground.variables import Kind, Variable
from sluice.masking.recoding.intervals import OUTSIDE


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
