"""People found by a value, or a pair of values, that they alone have."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.risk.reference.unique_values import Columns, UniqueValues, unique_values, values_beside_unique_ones

RNG = np.random.default_rng(1)
INCOME = np.round(np.exp(RNG.normal(10, 1, 500)), 2)
TEXTS = np.array([f"code {i}" for i in range(500)], dtype=object)


def lazily(columns: dict[str, tuple[np.ndarray, np.ndarray]]) -> Columns:
    return {name: partial(tuple, pair) for name, pair in columns.items()}


def worst(found: list[UniqueValues]) -> UniqueValues:
    return max(found, key=lambda each: each.count.excess)


def test_worked_by_hand() -> None:
    # 1 and 2 are unique, 3 stands twice. 1 is on its own record, and 2 on another; each record is as likely by chance.
    found = unique_values(lazily({"x": (np.array([1.0, 2, 3, 3, np.nan]), np.array([1.0, 9, 2, 3, np.nan]))}))
    exactly = next(each for each in found if each.how == "exactly")
    assert (exactly.names, exactly.count.found, exactly.count.records) == (("x",), 1, 5)
    assert exactly.count.expected == pytest.approx(2 / 5 / 5)
    # Of two released records with the same value, the own one is as likely as the other.
    twice = np.arange(40.0) // 2
    both = unique_values(lazily({"x": (np.arange(40.0), np.where(np.arange(40) % 2, twice * 2, np.arange(40.0)))}))
    assert next(each for each in both if each.how == "exactly").count.found == 10


@pytest.mark.parametrize(
    ("change", "how"),
    [
        (lambda values: values, "exactly"),
        (lambda values: 1.8 * values + 32, "by rank"),
        (lambda values: np.round(values, -1), "to 4 digits"),
        (lambda values: values + RNG.normal(0, 0.5, len(values)), "on a grid"),
    ],
    ids=["verbatim", "another unit", "rounded", "a hair of noise"],
)
def test_each_resolution_finds_what_the_others_miss(change, how) -> None:
    found = {each.how: each.count for each in unique_values(lazily({"income": (INCOME, change(INCOME))}))}
    assert found[how].found > 100
    assert found[how].excess > 0.15


def test_texts_and_missing_values() -> None:
    found = worst(unique_values(lazily({"code": (TEXTS, TEXTS)})))
    assert (found.count.found, found.how) == (500, "exactly")
    one_missing = np.where(np.arange(500) == 7, np.nan, 1.0)
    assert all(
        each.count.found == 0 for each in unique_values(lazily({"x": (one_missing, one_missing)}))
    )  # no value, no find


def test_a_pair_tells_people_apart_whom_neither_value_does() -> None:
    one, two = np.repeat(np.arange(20.0), 20), np.tile(np.arange(20.0), 20)
    columns = {"a": (one, one), "b": (two, two), "c": (one, RNG.permutation(one))}
    found = {each.names: each.count for each in unique_values(lazily(columns)) if each.how == "exactly"}
    assert (found["a", "b"].found, found["a", "b"].excess > 0.9) == (400, True)
    assert found["a",].found == found["b",].found == 0
    assert found["b", "c"].excess < 0.01
    single = {"a": (np.arange(400.0), np.arange(400.0)), "b": (two, two)}
    both = {each.names: each.count for each in unique_values(lazily(single)) if each.how == "exactly"}
    assert (both["a",].found, both["a", "b"].found) == (400, 0)  # each person is counted once


@given(st.integers(2, 300), st.integers(0, 2**32 - 1))
def test_another_order_of_the_records_changes_nothing_and_other_people_are_not_found(values: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    mine, others = (rng.integers(0, values, (2, 300)).astype(float) ** 2 for _ in range(2))
    assert worst(unique_values(lazily({"x": (mine[0], others[0]), "y": (mine[1], others[1])}))).count.excess <= 0.005
    columns = {"x": (mine[0], mine[0]), "y": (mine[1], others[1])}
    order = rng.permutation(300)
    again = {name: (before[order], after[order]) for name, (before, after) in columns.items()}
    assert [each.count.found for each in unique_values(lazily(columns))] == [
        each.count.found for each in unique_values(lazily(again))
    ]


def test_a_value_leads_to_the_record_only_if_its_owners_other_values_stand_there() -> None:
    group = np.array(list("abcd"), dtype=object)[RNG.integers(0, 4, 500)]
    shuffled = RNG.permutation(500)
    verbatim = {"income": (INCOME, INCOME[shuffled]), "group": (group, group[shuffled])}
    found = worst(values_beside_unique_ones(lazily(verbatim)))
    assert found.names == ("income", "group")
    assert found.count.found > 480
    assert found.count.expected == pytest.approx(0.25, abs=0.07)  # the next person's group, by chance
    permuted = {"income": (INCOME, RNG.permutation(INCOME)), "group": (group, group[shuffled])}
    assert worst(values_beside_unique_ones(lazily(permuted))).count.excess < 0
    # Where the group follows from the income, the next person's tells it as well.
    band = np.where(np.median(INCOME) < INCOME, "high", "low").astype(object)
    banded = {"income": (INCOME, INCOME[shuffled]), "band": (band, band[shuffled])}
    assert worst(values_beside_unique_ones(lazily(banded))).count.excess < 0.01


def test_nothing_is_unique_among_equals() -> None:
    assert values_beside_unique_ones(lazily({"x": (np.ones(9), np.ones(5)), "y": (np.ones(9), np.ones(5))})) == []
    assert all(each.count.found == 0 for each in unique_values(lazily({"x": (np.ones(9), np.ones(9))})))
