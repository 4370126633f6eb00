"""The cut of least cost, against every cut there is."""

from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import PlanError
from sluice.items.item_sets import ItemSets, ItemTree
from sluice.masking.items import item_cut
from sluice.masking.items.item_cut import LEFT_OUT, CutSearch
from tests.items.set_columns import HIERARCHY, ROWS, baskets, column_of

TREE = ItemTree.of(ROWS, HIERARCHY)


def search(sets: list[frozenset[str]], k: int, m: int, most: int = 0) -> CutSearch:
    held = ItemSets.of(column_of(sets), ";")
    return CutSearch(held.replaced(TREE.places(held.names), TREE.names), TREE, None, k, m, most)


@cache
def every_cut(left_out: bool) -> list[dict[str, str | None]]:
    """Each item by itself, by a group or by nothing; a group stands for all of its items or for none."""
    options = [list(dict.fromkeys([leaf, *groups])) + [None] * left_out for leaf, groups in ROWS.items()]
    cuts = [dict(zip(ROWS, chosen, strict=True)) for chosen in product(*options)]
    below = {
        name: {leaf for leaf, row in ROWS.items() if name in (leaf, *row)} for row in options for name in row if name
    }
    return [
        cut
        for cut in cuts
        if all({leaf for leaf in ROWS if cut[leaf] == name} == below[name] for name in set(cut.values()) if name)
    ]


def released(sets: list[frozenset[str]], cut: dict[str, str | None]) -> list[frozenset[str]]:
    return [frozenset(name for item in each if (name := cut[item])) for each in sets]


def is_safe(sets: list[frozenset[str]], k: int, m: int) -> bool:
    """By the source's definition: what is released of at most m items is in k sets, or in none."""
    names = sorted({name for each in sets for name in each})
    wanted = [frozenset(chosen) for chosen in product(names, repeat=m)]
    support = [sum(known <= each for each in sets) for known in wanted]
    return all(count == 0 or count >= k for count in support)


def cost(sets: list[frozenset[str]], cut: dict[str, str | None]) -> float:
    sizes = {name: sum(name in (leaf, *row) for leaf, row in ROWS.items()) for name in TREE.names}
    each = {item: 1.0 if name is None else (sizes[name] / 6 if sizes[name] > 1 else 0.0) for item, name in cut.items()}
    return sum(each[item] for one in sets for item in one)


@given(baskets(least=4, most=8), st.integers(2, 3), st.integers(1, 2), st.booleans())
def test_in_a_small_tree_no_safe_cut_costs_less(sets: list[frozenset[str]], k: int, m: int, left_out: bool) -> None:
    safe = [cut for cut in every_cut(left_out) if is_safe(released(sets, cut), k, m)]
    most = sum(map(len, sets)) if left_out else 0
    if not safe:
        with pytest.raises(PlanError, match=rf"\b{k}\b.*\b{m}\b"):
            search(sets, k, m, most).best()
        return
    asked = search(sets, k, m, most)
    found = asked.best()
    named = {
        leaf: None if code == LEFT_OUT else TREE.names[code] for leaf, code in zip(TREE.names, found, strict=False)
    }
    assert is_safe(released(sets, named), k, m)
    assert (
        asked.cost(found) == pytest.approx(cost(sets, named)) == pytest.approx(min(cost(sets, each) for each in safe))
    )


@given(baskets(least=6, most=9), st.integers(2, 3), st.integers(1, 3))
def test_in_a_large_tree_the_cut_is_safe_and_seldom_much_dearer(sets: list[frozenset[str]], k: int, m: int) -> None:
    """Whatever is left out, there is always a safe cut."""
    most = sum(map(len, sets))
    asked = search(sets, k, m, most)
    least = asked.cost(asked.best())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(item_cut, "_MOST_CUTS", 0)
        found = asked.best()
    assert asked.is_safe(found)
    assert least <= asked.cost(found) + 1e-9 <= most + 1e-9


@given(baskets(least=6))
def test_looking_at_what_changed_is_enough(sets: list[frozenset[str]]) -> None:
    asked = search(sets, 2, 2, 100)
    before = asked._apriori()
    for after in asked._narrower(before):
        assert asked.is_safe(after, after != before) == asked.is_safe(after)


def test_what_was_left_out_joins_the_group_that_others_are_released_as() -> None:
    """Alone it is rare; among those of the group it is not."""
    asked = search([frozenset({"apple"})] * 3 + [frozenset({"pear"})], 2, 1, 1)
    fruit = asked.tree.parent[0]
    left_out = np.where(
        np.arange(len(ROWS)) == 3,
        LEFT_OUT,
        np.where((asked.tree.chains == fruit).any(axis=1), fruit, np.arange(len(ROWS))),
    )
    joined = np.where(left_out == LEFT_OUT, fruit, left_out)
    assert asked.is_safe(left_out)
    assert asked.is_safe(joined, joined != left_out)


def test_nothing_is_changed_where_all_is_frequent() -> None:
    asked = search([frozenset({"apple", "beer"})] * 5, 5, 2)
    assert np.array_equal(asked.best(), np.arange(len(ROWS)))
    assert asked.cost(asked.best()) == 0
