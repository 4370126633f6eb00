"""SUDA as a rule."""

from itertools import combinations
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from sluice.ground.errors import DataError
from sluice.ground.verdict import Verdict
from sluice.risk.classes import suda as module
from sluice.risk.classes.suda import Suda, dis_scores, minimal_sample_uniques, suda
from tests.golden import golden
from tests.risk.classes.ill_people import one, people

tables = st.integers(1, 5).flatmap(
    lambda keys: st.lists(st.tuples(*[st.integers(0, 2)] * keys), min_size=1, max_size=14).map(np.array)
)


def by_definition(table: np.ndarray, size: int) -> set[tuple[tuple[int, ...], int]]:
    """Every record with every set of keys on which it is unique, and on no part of which it is."""
    keys = range(table.shape[1])

    def unique(record: int, subset: tuple[int, ...]) -> bool:
        return int((table[:, list(subset)] == table[record, list(subset)]).all(axis=1).sum()) == 1

    return {
        (subset, record)
        for record in range(len(table))
        for s in range(1, size + 1)
        for subset in combinations(keys, s)
        if unique(record, subset)
        and not any(unique(record, part) for length in range(1, s) for part in combinations(subset, length))
    }


@given(tables, st.integers(1, 6))
def test_agrees_with_the_definition(table: np.ndarray, size: int) -> None:
    keys, count = list(table.T), table.shape[1]
    expected = by_definition(table, min(size, count))
    found = {(subset, int(each)) for subset, records in minimal_sample_uniques(keys, size) for each in records}
    assert found == expected
    last = min(size, count - 1)
    points = {s: prod(count - i for i in range(s, last + 1)) for s in range(1, count + 1)}
    score, by_key = np.zeros(len(table)), np.zeros((len(table), count))
    for subset, record in expected:
        score[record] += points[len(subset)]
        by_key[record, list(subset)] += points[len(subset)]
    scores = suda(keys, size)
    assert_allclose(scores.score, score)
    assert_allclose(scores.by_key, by_key)
    assert ((scores.score > 0) == [any(record == each for _, each in expected) for record in range(len(table))]).all()


def test_shares_of_keys() -> None:
    keys = [np.array([1, 0, 0]), np.array([0, 1, 0]), np.array([0, 1, 0])]
    scores = suda(keys)
    # By hand: {a} of record 0, {b} and {c} of record 1 score 2 each; {a, b} and {a, c} of record 2 score 1 each.
    assert scores.score.tolist() == [2, 4, 2]
    assert scores.by_key.tolist() == [[2, 0, 0], [0, 2, 2], [2, 1, 1]]
    assert_allclose(scores.key_shares, [1 / 2, 3 / 8, 3 / 8])


def test_extremes() -> None:
    one = suda([np.array([0]), np.array([3])])
    assert (one.score.tolist(), one.unique, one.paired) == ([2.0], 1, 0)  # two MSUs of one key, 1 point each
    assert one.dis(0.01).tolist() == [1.0]  # no pair: every unique match is right
    constant = suda([np.zeros(6, dtype=np.int64)] * 3)
    assert (constant.score.sum(), constant.unique) == (0, 0)
    assert constant.dis(0.5).tolist() == [0.0] * 6
    assert constant.key_shares.tolist() == [0, 0, 0]
    assert constant.share_at_risk(0, 0.5).value == 0
    census = suda([np.array([0, 1, 1, 1])])
    assert census.dis(1.0).tolist() == [1, 0, 0, 0]  # who is unique among all is unique


def test_the_file_level_probability_is_that_of_skinner_and_elliot() -> None:
    """Equal scores spread nothing: each gets U f / (U f + P (1 - f)), here 3 / (3 + 4 * 9) at f = 1/10."""
    assert_allclose(dis_scores(np.full(3, 6.0), 3, 4, 5, 0.1), 3 / 39)


def test_share_at_risk_counts_all_records() -> None:
    measured = suda([np.array([0, 1, 2, 2]), np.array([0, 0, 0, 0])]).share_at_risk(0.05, 0.1)
    assert (measured.value, measured.attempted, measured.completed) == (0.5, 4, 4)


def test_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = [np.arange(9)] * 2
    golden.refused(DataError, suda, [np.zeros(0, dtype=np.int64)])
    golden.refused(DataError, suda, keys, 0)
    golden.refused(DataError, suda, [np.array([0, 1])] * 18)
    golden.refused(DataError, suda(keys).dis, 10)
    golden.refused(DataError, suda([np.array([0, 1])] * 28, 1).dis, 0.1)
    assert_array_equal(suda([np.array([0, 1])] * 18, 2).score > 0, [True, True])
    monkeypatch.setattr(module, "_BYTES", 1)
    golden.refused(DataError, suda, [np.arange(9)] * 3)


@given(tables, st.data())
def test_several_records_of_one_person_are_unique_where_no_other_person_has_the_like(
    table: np.ndarray, data: st.DataObject
) -> None:
    people = np.array(data.draw(st.lists(st.integers(0, 5), min_size=len(table), max_size=len(table))))
    keys = range(table.shape[1])

    def unique(record: int, subset: tuple[int, ...]) -> bool:
        alike = (table[:, list(subset)] == table[record, list(subset)]).all(axis=1)
        return len(set(people[alike])) == 1

    expected = np.zeros(len(table))
    for record in range(len(table)):
        for size in range(1, table.shape[1] + 1):
            for subset in combinations(keys, size):
                parts = [part for s in range(1, size) for part in combinations(subset, s)]
                if unique(record, subset) and not any(unique(record, part) for part in parts):
                    most = min(table.shape[1], table.shape[1] - 1)
                    expected[record] += prod(table.shape[1] - i for i in range(size, most + 1))
    assert_allclose(suda(list(table.T), people=people).score, expected)


def test_suda_tells_the_share_of_records_at_risk() -> None:
    frame = people([30, 30, 40, 50], "aabb")
    # By hand: ages 40 and 50 are unique on one of two keys, the pair is not. DIS is 2 / (2 + 2 * 9) = 0.1 for both.
    assert one(Suda(sampling_fraction=0.1, above=0.11), frame).verdict is Verdict.PASS
    finding = one(Suda(sampling_fraction=0.1, above=0.09, at_most=0.25), frame)
    assert (finding.verdict, finding.observed, finding.limit) == (Verdict.FAIL, 0.5, 0.25)
    golden(finding.says)
    assert one(Suda(sampling_fraction=0.1, above=0.09, at_most=0.5), frame).verdict is Verdict.PASS  # met exactly
