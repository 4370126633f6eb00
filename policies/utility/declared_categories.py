"""Declared categories: what forms the subgroups that a policy's limits look at."""

from collections.abc import Mapping
from typing import NamedTuple

from sluice.ground.variables import NAMES, Kind
from sluice.utility.comparison import Comparison

_LEAST = 100  # records of a subgroup, or more where the report asks for more


class DeclaredCategories(NamedTuple):
    """By variable, the categories that its contract declares: of the original, and of these the released ones."""

    there_were: Mapping[str, tuple[str, ...]]
    released: Mapping[str, tuple[str, ...]]
    least: int  # records of a subgroup that is looked at


def declared_categories(files: Comparison) -> DeclaredCategories:
    there_were = {
        name: tuple(variable.categories)
        for name, variable in files.variables.items()
        if variable.categories is not None and variable.kind is not Kind.ITEMS and variable.role not in NAMES
    }
    released = {
        name: categories for name, categories in there_were.items() if name in files.released and name in files.kept
    }
    return DeclaredCategories(there_were, released, max(_LEAST, files.minimum_cell))
