"""Typed columns of sets, for tests."""

from collections.abc import Iterable, Sequence

import pandas as pd
from hypothesis import strategies as st

from sluice.ground.hierarchy import Hierarchy
from sluice.ground.variables import Kind, Role, Variable

ROWS = {
    "apple": ("fruit", "food"),
    "pear": ("fruit", "food"),
    "bread": ("bread", "food"),
    "beer": ("drink", "all else"),
    "wine": ("drink", "all else"),
    "soap": ("home", "all else"),
}
HIERARCHY = Hierarchy(rows=ROWS)
NAMES = sorted({name for leaf, groups in ROWS.items() for name in (leaf, *groups)})


def column_of(sets: Iterable[Iterable[str]]) -> "pd.Series[str]":
    texts = [";".join(sorted(set(each))) or None for each in sets]
    return pd.Series(texts, dtype="str").astype("category")


def variable(name: str = "basket", hierarchy: Hierarchy | None = HIERARCHY, role: Role = Role.OTHER) -> Variable:
    return Variable(name=name, kind=Kind.ITEMS, role=role, hierarchy=hierarchy, nullable=True)


def baskets(
    names: Sequence[str] = tuple(ROWS), least: int = 0, most: int = 14
) -> "st.SearchStrategy[list[frozenset[str]]]":
    return st.lists(st.frozensets(st.sampled_from(names), max_size=4), min_size=least, max_size=most)
