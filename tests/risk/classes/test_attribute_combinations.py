"""Attribute combinations as a rule."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from sluice.ground.verdict import Verdict
from sluice.risk.classes.attribute_combinations import AttributeCombinations, attribute_combinations
from sluice.risk.classes.equivalence_classes import category_codes
from tests.golden import golden
from tests.risk.classes.ill_people import one, people

tables = st.integers(1, 5).flatmap(
    lambda keys: st.lists(st.tuples(*[st.integers(0, 3)] * keys), min_size=1, max_size=20).map(np.array)
)


@given(tables, st.integers(1, 6), st.integers(2, 5))
def test_agrees_with_a_group_by_of_every_set(table: np.ndarray, size: int, k: int) -> None:
    found = attribute_combinations(list(table.T), size, k)
    frame = pd.DataFrame(table)
    keys = range(table.shape[1])
    sets = [subset for s in range(1, size + 1) for subset in combinations(keys, s)]
    assert sorted(found.sets) == sorted(sets)
    for at, subset in enumerate(found.sets):
        frequency = frame.groupby(list(subset))[0].transform("size")
        assert (found.unique[at], found.below[at]) == ((frequency == 1).sum(), (frequency < k).sum())
    assert found.share_below.value == found.below.max() / len(table)


@given(tables, st.randoms())
def test_row_order_does_not_matter_and_more_keys_hide_nobody(table: np.ndarray, random: "np.random.Generator") -> None:
    order = list(range(len(table)))
    random.shuffle(order)
    here, there = attribute_combinations(list(table.T), 5, 3), attribute_combinations(list(table[order].T), 5, 3)
    assert here.sets == there.sets
    assert here.below.tolist() == there.below.tolist()
    below = dict(zip(here.sets, here.below, strict=True))
    for keys in here.sets:
        assert all(below[keys] >= below[part] for part in combinations(keys, len(keys) - 1) if part)


def test_unique_records_of_adult_agree_with_pandas(reference_data: Path) -> None:
    """All 129 sets of up to three of the nine columns, against pandas' count of rows without a duplicate."""
    frame = pd.read_csv(reference_data / "adult" / "arx" / "adult.csv.gz", sep=";")
    found = attribute_combinations([category_codes(frame[name].astype("category")) for name in frame], 3, 2)
    for at, keys in enumerate(found.sets):
        assert found.unique[at] == (~frame.duplicated([frame.columns[key] for key in keys], keep=False)).sum()


def test_the_worst_set_is_the_smallest_among_equals() -> None:
    keys = [np.zeros(4, dtype=np.int64), np.arange(4), np.array([0, 0, 1, 1])]
    found = attribute_combinations(keys, 3, 2)
    assert found.sets[found.worst()] == (1,)
    assert found.sets[found.worst(2)] == (0, 1)
    golden.refused(DataError, found.worst, 4)


def test_extremes() -> None:
    one = attribute_combinations([np.array([5])], 9, 2)
    assert (one.sets, one.unique.tolist(), one.below.tolist()) == (((0,),), [1], [1])
    constant = attribute_combinations([np.zeros(5, dtype=np.int64)] * 2, 2, 5)
    assert constant.share_below.value == 0
    assert attribute_combinations([np.zeros(5, dtype=np.int64)] * 2, 2, 6).share_below.value == 1
    # A missing key is a category: alone with it is alone.
    missing = category_codes(pd.Series(pd.Categorical(["a", "a", None])))
    assert attribute_combinations([missing], 1, 2).unique.tolist() == [1]


@given(tables, st.integers(2, 4), st.data())
def test_people_are_counted_where_they_are_known(table: np.ndarray, k: int, data: st.DataObject) -> None:
    """Equal records of one person count once."""
    people = np.array(data.draw(st.lists(st.integers(0, 5), min_size=len(table), max_size=len(table))))
    found = attribute_combinations(list(table.T), 2, k, people)
    frame = pd.DataFrame(table).assign(person=people).drop_duplicates()
    assert found.records == len(frame)
    for at, subset in enumerate(found.sets):
        crowd = frame.groupby(list(subset))["person"].transform("nunique")
        assert (found.unique[at], found.below[at]) == ((crowd == 1).sum(), (crowd < k).sum())


def test_attribute_combinations_name_the_worst_keys() -> None:
    frame = people([30, 30, 40, 40], "abab")
    passed = one(AttributeCombinations(size=1), frame)
    assert passed.verdict is Verdict.PASS
    golden(passed.says)
    finding = one(AttributeCombinations(size=2), frame)
    assert (finding.verdict, finding.observed, finding.scope) == (Verdict.FAIL, 1, "age, area")
    golden(finding.says)
    assert one(AttributeCombinations(size=2, columns=("area",)), frame).verdict is Verdict.PASS
    assert one(AttributeCombinations(size=1, k=3), frame).observed == 1
