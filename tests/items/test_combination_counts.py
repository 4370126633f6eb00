"""Counts of combinations of items, against loops over all of them."""

from collections import defaultdict
from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from sluice.items.item_sets import ItemSets, combination_counts, hitting_occurrences
from tests.golden import golden
from tests.items.set_columns import baskets, column_of


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
