"""Quasi-identifier search: by brute force, on Adult, and on a column that hides behind a name of no meaning."""

from collections import Counter
from itertools import combinations
from random import Random

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.arrays import IntArray
from sluice.ground.errors import DataError
from sluice.risk.classes import quasi_identifier_search
from sluice.risk.classes.quasi_identifier_search import combination, search_quasi_identifiers
from tests.golden import golden
from tests.reference_data import reference_path

TABLES = st.integers(2, 5).flatmap(
    lambda width: st.lists(st.tuples(*[st.integers(0, 3)] * width), min_size=2, max_size=30)
)


def columns_of(rows: list[tuple[int, ...]]) -> list[IntArray]:
    return [np.array(column, dtype=np.int64) for column in zip(*rows, strict=True)]


def by_hand(rows: list[tuple[int, ...]], chosen: tuple[int, ...]) -> tuple[float, float, float]:
    """Distinct ratio, separation ratio and share alone, pair by pair."""
    seen = [tuple(row[at] for at in chosen) for row in rows]
    pairs = list(combinations(seen, 2))
    times = Counter(seen)
    return (
        len(times) / len(rows),
        sum(a != b for a, b in pairs) / len(pairs),
        sum(times[each] == 1 for each in seen) / len(rows),
    )


@given(TABLES)
def test_every_figure_is_that_of_brute_force(rows: list[tuple[int, ...]]) -> None:
    found = search_quasi_identifiers(columns_of(rows), most_together=4, kept=1000)
    for each in (*found.single, *found.best):
        assert (each.distinct, each.separation, each.alone) == pytest.approx(by_hand(rows, each.columns))
    width = len(rows[0])
    for size in range(2, min(4, width) + 1):
        assert {c.columns for c in found.best if len(c.columns) == size} == set(combinations(range(width), size))


@given(TABLES)
def test_the_sets_that_single_out_most_come_first_and_no_set_is_better(rows: list[tuple[int, ...]]) -> None:
    found = search_quasi_identifiers(columns_of(rows), most_together=3, kept=2)
    for size in {len(each.columns) for each in found.best}:
        worst = max(by_hand(rows, key)[2] for key in combinations(range(len(rows[0])), size))
        shares = [each.alone for each in found.best if len(each.columns) == size]
        assert shares == sorted(shares, reverse=True)
        assert shares[0] == pytest.approx(worst)


@given(TABLES)
def test_the_gain_of_a_column_is_the_largest_that_any_set_has_of_it(rows: list[tuple[int, ...]]) -> None:
    found = search_quasi_identifiers(columns_of(rows), most_together=3)
    width = len(rows[0])
    for at, gain in enumerate(found.gain):
        sets = [key for size in (2, 3) for key in combinations(range(width), size) if at in key]
        gains = [by_hand(rows, key)[2] - by_hand(rows, tuple(k for k in key if k != at))[2] for key in sets]
        assert gain == pytest.approx(max(gains))


@given(TABLES, st.randoms(use_true_random=False))
def test_the_order_of_the_records_decides_nothing(rows: list[tuple[int, ...]], random: Random) -> None:
    again = list(rows)
    random.shuffle(again)
    assert search_quasi_identifiers(columns_of(rows)) == search_quasi_identifiers(columns_of(again))


def test_with_more_sets_than_are_all_looked_at_the_worst_is_found_by_extending(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    columns = [rng.integers(0, high, 2000) for high in (2, 3, 90, 4, 60, 2, 40, 5)]
    whole = search_quasi_identifiers(columns, most_together=3, kept=1)
    monkeypatch.setattr(quasi_identifier_search, "_MOST_SETS", 0)
    assert search_quasi_identifiers(columns, most_together=3, kept=1).best == whole.best


def test_it_says_how_many_records_were_compared_and_measures_what_it_returns_on_all() -> None:
    rng = np.random.default_rng(1)
    columns = [rng.integers(0, high, 5000) for high in (80, 30, 9)]
    found = search_quasi_identifiers(columns, most_records=500)
    assert (found.records, found.of) == (500, 5000)
    assert found.best[-1] == combination(columns, (0, 1, 2))


def test_columns_all_alike_single_out_nobody_and_a_key_everybody() -> None:
    same, key = np.zeros(50, dtype=np.int64), np.arange(50)
    found = search_quasi_identifiers([same, key])
    assert [(c.distinct, c.separation, c.alone) for c in found.single] == [(1 / 50, 0, 0), (1, 1, 1)]
    assert found.gain == (0, 1)


@pytest.mark.parametrize("columns", [[], [np.zeros(1, dtype=np.int64)]])
def test_no_pair_of_records_is_refused(columns: list[IntArray]) -> None:
    golden.refused(DataError, search_quasi_identifiers, columns)


def test_on_adult_the_weight_and_then_age_hours_and_race_single_out_most() -> None:
    """Shares of unique combinations as pandas counts them."""
    frame = pd.read_csv(reference_path("adult", "adult.data.gz"), header=None, usecols=[0, 2, 8, 9, 12])
    columns = [frame[c].factorize()[0].astype(np.int64) for c in frame]
    found = search_quasi_identifiers(columns, most_together=2, kept=1)
    assert found.best[0].columns == (0, 1)
    assert found.best[0].alone == pytest.approx((frame.groupby([0, 2])[8].transform("size") == 1).mean())
    without = search_quasi_identifiers([columns[at] for at in (0, 2, 3, 4)], kept=1)
    assert [each.columns for each in without.best] == [(0, 3), (0, 1, 3)]
    assert without.best[1].alone == pytest.approx((frame.groupby([0, 8, 12])[9].transform("size") == 1).mean())
