"""Sets of items as numbers and as canonical texts."""

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from sluice.items.item_sets import ItemSets
from tests.items.brute_force import read
from tests.items.set_columns import baskets, column_of


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
