from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from sluice.utility.analyses.query_comparison import QueryAnswer, compare_answers, compared_query
from tests.golden import golden

nan = float("nan")


def made(rows: dict[str, list[float]], behind: dict[str, list[int]] | None = None) -> QueryAnswer:
    figures = tuple("abc"[: len(next(iter(rows.values()), [0.0]))])
    behind = behind or {name: [50] * len(row) for name, row in rows.items()}
    return QueryAnswer(
        ("sex",),
        figures,
        {(name,): np.array(row) for name, row in rows.items()},
        {(name,): np.array(counts) for name, counts in behind.items()},
    )


def test_differences_by_hand() -> None:
    before = made({"f": [100, 0, 5], "m": [10, nan, -4]})
    after = made({"f": [80, 0, 0], "m": [20, nan, 4]})
    found = compare_answers(before, after, 10)
    np.testing.assert_allclose(found.differences, [[0.2, 0, 1], [0.5, 0, 1]])
    assert found.difference == pytest.approx(2.7 / 6)  # in steps of 1/50 of a record, a half of it in two groups
    assert found.compared == 6


def test_a_difference_is_told_as_coarsely_as_one_record_may_change_it() -> None:
    """Behind the figures of f stand 20 records: whatever one of them has moves a figure by a twentieth or so."""
    behind = {"f": [20, 1000], "m": [1000, 1000]}
    before = made({"f": [100, 100], "m": [100, 100]}, behind)
    told = []
    for one in (87, 88):  # two worlds, which differ in one record's part
        found = compare_answers(before, made({"f": [one, 100], "m": [93, 100]}, behind), 10)
        told.append(compared_query("q", found))
        assert found.difference == 0.05  # 0.05 or 0.0475, in steps of 1 / 20 / 2 and never less than it is
    assert told[0] == told[1]
    assert [(each.group, each.difference) for each in told[0].groups] == [(("f",), 0.05), (("m",), 0.04)]
    assert [each.difference for each in told[0].figures] == [0.1, 0.0]


def test_rows_that_one_file_lacks_are_wholly_different() -> None:
    found = compare_answers(made({"f": [1], "m": [1]}), made({"f": [1], "x": [1]}), 10)
    assert found.rows == (("f",), ("m",), ("x",))
    assert found.differences.tolist() == [[0], [1], [1]]


def test_figures_with_few_records_behind_them_are_passed_over() -> None:
    before = made({"f": [1, 1], "m": [1, 1]}, {"f": [9, 50], "m": [2, 3]})
    after = made({"f": [2, 2], "m": [9, 9], "x": [1, 1]}, {"f": [50, 50], "m": [50, 50], "x": [3, 50]})
    found = compare_answers(before, after, 10)
    assert found.rows == (("f",), ("x",))
    np.testing.assert_array_equal(found.differences, [[nan, 0.5], [nan, 1]])
    shown = compared_query("q", found)
    assert [each.group for each in shown.groups] == [("x",), ("f",)]
    assert [(each.figure, each.difference) for each in shown.figures] == [("a", None), ("b", 0.75)]
    none = compare_answers(before, after, 100)
    assert none.compared == 0
    assert np.isnan(none.difference)
    assert compared_query("q", none).difference is None


numbers = st.lists(st.floats(-1e6, 1e6) | st.just(nan), min_size=2, max_size=2)
tables = st.dictionaries(st.sampled_from("fgm"), numbers, max_size=3)


@given(tables, tables)
def test_differences_are_shares_alike_from_both_sides(first: Any, second: Any) -> None:
    if not first or not second:
        return
    here, there = compare_answers(made(first), made(second), 10), compare_answers(made(second), made(first), 10)
    assert 0 <= here.difference <= 1
    assert here.difference == pytest.approx(there.difference)
    assert compare_answers(made(first), made(first), 10).difference == 0


def test_other_columns_are_refused() -> None:
    golden.refused(DataError, compare_answers, made({"f": [1]}), made({"f": [1, 2]}), 10)
