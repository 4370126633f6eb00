"""Item suppression: what is left is frequent by an intruder's own search, and true."""

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from sluice.items.item_sets import ItemSets
from sluice.masking.items.item_suppression import ItemSuppression, without_rare
from sluice.masking.plan import apply_plan
from tests.items.brute_force import crowds, read
from tests.items.set_columns import baskets, column_of, variable

PLAIN = {"basket": variable(hierarchy=None)}


def masked(sets: list[frozenset[str]], k: int, m: int) -> list[frozenset[str]]:
    step = ItemSuppression(columns=("basket",), k=k, m=m)
    frame, _ = apply_plan([step], pd.DataFrame({"basket": column_of(sets)}), PLAIN, np.random.SeedSequence(1))
    return read(frame["basket"])


def test_the_running_example_of_the_source() -> None:
    """Terrovitis, Mamoulis and Kalnis (2008), section 3: of its pairs only {a1, a2} and {a1, b1} are had by one person;
    without two items a1 the file is 2^2-anonymous, and no single item mends both."""
    file = [frozenset(each.split()) for each in ("a1 b1 b2", "a2 b1", "a2 b1 b2", "a1 a2 b2")]
    found = masked(file, 2, 2)
    assert min(crowds(found, 2)) >= 2
    assert sum(map(len, file)) - sum(map(len, found)) == 2


@given(baskets(least=3, most=8), st.integers(2, 3), st.integers(1, 3))
def test_an_intruder_finds_k_people_and_nothing_false(sets: list[frozenset[str]], k: int, m: int) -> None:
    found = masked(sets, k, m)
    assert min(crowds(found, m)) >= k
    assert all(after <= before for before, after in zip(sets, found, strict=True))
    assert masked(found, k, m) == found


def test_people_are_counted_and_not_records() -> None:
    sets = ItemSets.of(column_of([{"a"}, {"a"}, {"b"}, {"b"}]), ";")
    left = without_rare(sets, 2, 1, np.array([0, 0, 1, 2]))
    assert left.sizes.tolist() == [0, 0, 1, 1]


def test_frequent_sets_stay_and_rare_ones_go() -> None:
    assert masked([frozenset("ab")] * 3, 3, 2) == [frozenset("ab")] * 3
    assert masked([frozenset("a"), frozenset("b"), frozenset("c")], 2, 1) == [frozenset()] * 3
