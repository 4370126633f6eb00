"""Sets of items as numbers and texts, the tree over the items, and combinations, counted against loops over all."""

from collections import defaultdict
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from sluice.ground.hierarchy import Hierarchy
from sluice.items.item_sets import ItemSets, ItemTree, combination_counts, hitting_occurrences
from tests.golden import golden
from tests.items.brute_force import read
from tests.items.set_columns import HIERARCHY, ROWS, baskets, column_of


@given(baskets())
def test_a_column_and_its_sets_are_the_same(sets: list[frozenset[str]]) -> None:
    column = column_of(sets)
    found = ItemSets.of(column, ";")
    assert [frozenset(found.names[item] for item in found.items[low:high]) for low, high in _bounds(found)] == sets
    pd.testing.assert_series_equal(found.column(";", column.index).astype("str"), column.astype("str"))


@given(baskets(), st.data())
def test_taking_replacing_and_dropping_are_done_set_by_set(sets: list[frozenset[str]], data: st.DataObject) -> None:
    found = ItemSets.of(column_of(sets), ";")
    places = data.draw(st.lists(st.integers(-1, len(sets) - 1), max_size=9))
    taken = found.take(np.array(places, dtype=np.int64)).column(";", pd.RangeIndex(len(places)))
    assert read(taken) == [sets[place] if place >= 0 else frozenset() for place in places]
    by = np.array([data.draw(st.integers(-1, 1)) for _ in found.names], dtype=np.int64)
    replaced = found.replaced(by, ("one", "two")).column(";", pd.RangeIndex(len(sets)))
    to = {name: ("one", "two")[code] for name, code in zip(found.names, by, strict=True) if code >= 0}
    assert read(replaced) == [frozenset(to[name] for name in each if name in to) for each in sets]


def test_items_are_read_in_any_order_without_blanks_and_once() -> None:
    column = pd.Series([" b ; a;b;; ", None, ";"], dtype="str")
    found = ItemSets.of(column, ";")
    assert found.column(";", column.index).tolist()[0] == "a;b"
    assert found.column(";", column.index).isna().tolist() == [False, True, True]
    assert found.sizes.tolist() == [2, 0, 0]


def test_a_file_without_records_has_no_sets() -> None:
    found = ItemSets.of(pd.Series([], dtype="str"), ";")
    assert len(found) == len(found.items) == len(found.column(";", pd.RangeIndex(0))) == 0


def _bounds(sets: ItemSets) -> list[tuple[int, int]]:
    return list(zip(sets.starts[:-1].tolist(), sets.starts[1:].tolist(), strict=True))


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


@given(baskets(), st.integers(1, 3), st.data())
def test_people_are_counted_for_each_combination(sets: list[frozenset[str]], size: int, data: st.DataObject) -> None:
    people = np.array([data.draw(st.integers(0, 3)) for _ in sets], dtype=np.int64)
    items = ItemSets.of(column_of(sets), ";")
    for whose in (None, people):
        having = defaultdict(set)
        for record, each in enumerate(sets):
            for combination in combinations(sorted(each), size):
                having[combination].add(record if whose is None else int(whose[record]))
        found = combination_counts(items, size, whose)
        named = [tuple(items.names[item] for item in row) for row in found.items]
        assert dict(zip(named, found.counts.tolist(), strict=True)) == {key: len(who) for key, who in having.items()}
        assert found.items.tolist() == sorted(found.items.tolist())


def test_many_combinations_are_counted_as_few_are() -> None:
    """More than fit into the first table of the count."""
    rng = np.random.default_rng(1)
    sets = [frozenset(f"{item:03d}" for item in rng.choice(300, 30, replace=False)) for _ in range(60)]
    found = combination_counts(ItemSets.of(column_of(sets), ";"), 2)
    pairs = [pair for each in sets for pair in combinations(sorted(each), 2)]
    assert found.counts.sum() == len(pairs)
    assert len(found.counts) == len(set(pairs))


@given(baskets(least=1), st.integers(1, 3), st.integers(2, 4))
def test_without_the_occurrences_that_are_hit_no_record_has_a_rare_combination(
    sets: list[frozenset[str]], size: int, k: int
) -> None:
    items = ItemSets.of(column_of(sets), ";")
    found = combination_counts(items, size)
    rare = found.items[found.counts < k]
    left = combination_counts(items.without(hitting_occurrences(items, rare)), size)
    assert not {tuple(row) for row in rare.tolist()} & {tuple(row) for row in left.items.tolist()}


def test_no_more_is_hit_than_is_needed_in_a_clear_case() -> None:
    sets = [frozenset("ab"), frozenset("ac"), frozenset("abcd")]
    items = ItemSets.of(column_of(sets), ";")
    with_d = combination_counts(items, 2)
    rare = with_d.items[(with_d.items == 3).any(axis=1)]
    hit = hitting_occurrences(items, rare)
    assert [items.names[item] for item in items.items[hit]] == ["d"]


def test_too_many_items_for_their_number_in_a_combination_are_refused() -> None:
    names = tuple(f"{number:06d}" for number in range(60_000))
    sets = ItemSets(np.array([0, 1]), np.array([0]), names)
    with golden.raises(DataError):
        combination_counts(sets, 4)
