"""What sets of items lost, by loops over their items."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from sluice.utility.item_loss import ItemLoss, item_loss
from tests.golden import golden
from tests.items.set_columns import ROWS, baskets, column_of, variable

Sets = list[frozenset[str]]


def loss(before: Sets, after: Sets, paired: bool = True) -> ItemLoss:
    return item_loss(column_of(before), column_of(after), variable(), variable(), paired)


def recoded(sets: Sets, to: dict[str, str | None]) -> Sets:
    return [frozenset(name for item in each if (name := to[item])) for each in sets]


def test_the_running_example_of_the_source() -> None:
    """Terrovitis, Mamoulis and Kalnis (2008), section 3: A stands for 2 of 4 items, and for 5 of 11 occurrences."""
    rows = {"a1": ("A",), "a2": ("A",), "b1": ("B",), "b2": ("B",)}
    tree = variable(hierarchy=type(variable().hierarchy)(rows=rows))  # type: ignore[misc, call-arg]
    before = [frozenset(each.split()) for each in ("a1 b1 b2", "a2 b1", "a2 b1 b2", "a1 a2 b2")]
    after = [frozenset(each.split()) for each in ("A b1 b2", "A b1", "A b1 b2", "A b2")]
    found = item_loss(column_of(before), column_of(after), tree, tree)
    assert found.penalty == pytest.approx(0.5 * 5 / 11)
    assert found.left_out == 0


@given(baskets(least=1), st.data())
def test_each_occurrence_loses_what_stands_for_it(sets: Sets, data: st.DataObject) -> None:
    to = {item: data.draw(st.sampled_from([item, *groups, None])) for item, groups in ROWS.items()}
    sizes = Counter(name for leaf, groups in ROWS.items() for name in {leaf, *groups})
    found = loss(sets, recoded(sets, to))
    penalties = []
    for each in sets:
        released = {to[item] for item in each}
        for item in each:
            stands = [sizes[name] for name in (item, *ROWS[item]) if name in released]
            penalties.append(1.0 if not stands else min(stands) / 6 if min(stands) > 1 else 0.0)
    if not penalties:
        assert np.isnan(found.penalty)
        return
    assert found.penalty == pytest.approx(np.mean(penalties))
    assert found.left_out <= found.penalty + 1e-12


def test_combinations_and_pairs_are_counted() -> None:
    """Of apple, pear and beer with two pairs, fruit and beer are left: beer alone is as it was."""
    before = [frozenset({"apple", "beer"}), frozenset({"pear", "beer"}), frozenset({"apple", "beer"})]
    found = loss(before, recoded(before, {"apple": "fruit", "pear": "fruit", "beer": "beer"}))
    original = Counter(tuple(sorted(c)) for each in before for n in (1, 2) for c in combinations(each, n))
    assert len(original) == 5
    assert found.top == pytest.approx(4 / 5)
    # 3 sets hold fruit and beer: 1.5 of each pair, against 2 and 1
    assert found.pairs == pytest.approx(np.median([0.5 / 1.75, 0.5 / 1.25]))


def test_all_is_lost_where_nothing_is_released() -> None:
    before = [frozenset({"apple", "beer"})] * 3
    assert loss(before, [frozenset()] * 3) == ItemLoss(1, 1, 1, 2)


def test_files_of_other_lengths_and_foreign_items_are_refused() -> None:
    golden.refused(DataError, loss, [frozenset({"apple"})], [frozenset({"apple"})] * 2)
    golden.refused(DataError, loss, [frozenset({"apple"})], [frozenset({"cigars"})])
