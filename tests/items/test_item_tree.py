"""The tree over the items: what stands for what, and what that costs."""

import numpy as np
import pytest

from sluice.ground.errors import DataError
from sluice.ground.hierarchy import Hierarchy
from sluice.items.item_sets import ItemTree
from tests.golden import golden
from tests.items.set_columns import HIERARCHY, ROWS


def test_each_name_stands_for_the_items_below_it() -> None:
    tree = ItemTree.of(ROWS, HIERARCHY)
    below = {name: {tree.names[leaf] for leaf in tree.leaves(code)} for code, name in enumerate(tree.names)}
    assert below == {
        **{leaf: {leaf} for leaf in ROWS},
        **{group: {leaf for leaf, row in ROWS.items() if group in row} for row in ROWS.values() for group in row},
    }
    assert tree.sizes.tolist() == [len(below[name]) for name in tree.names]
    above = {tree.names[code]: tree.names[parent] for code, parent in enumerate(tree.parent) if parent >= 0}
    assert above["apple"] == "fruit"
    assert above["bread"] == "food"  # 'bread' is the item and its only group
    assert "food" not in above


def test_the_penalty_is_the_share_of_all_items() -> None:
    """Terrovitis, Mamoulis and Kalnis (2008), section 3: NCP of a leaf is 0, of a node |leaves below| / |I|."""
    tree = ItemTree.of(ROWS, HIERARCHY)
    penalty = dict(zip(tree.names, tree.penalty.tolist(), strict=True))
    assert penalty["apple"] == penalty["bread"] == penalty["home"] == 0
    assert penalty["fruit"] == pytest.approx(2 / 6)
    assert penalty["food"] == pytest.approx(3 / 6)


def test_without_a_hierarchy_there_are_items_alone() -> None:
    tree = ItemTree.of(["b", "a"], None)
    assert tree.names == ("a", "b")
    assert tree.parent.tolist() == [-1, -1]
    assert tree.depth == 0


def test_what_the_tree_does_not_hold_is_counted_and_not_named() -> None:
    tree = ItemTree.of(ROWS, HIERARCHY)
    with golden.raises(DataError) as refused:
        tree.places(["apple", "cigars", "gin"])
    assert "cigars" not in str(refused.value)
    with golden.raises(ValueError):
        ItemTree.of(["apple", "cigars"], HIERARCHY)


def test_a_name_that_means_two_things_is_refused() -> None:
    twice = Hierarchy(rows={"a": ("x", "all"), "b": ("y", "x"), "c": ("y", "x")})
    with golden.raises(ValueError):
        ItemTree.of("abc", twice)
    assert np.array_equal(ItemTree.of("a", Hierarchy(rows={"a": ("a",)})).parent, [-1])
