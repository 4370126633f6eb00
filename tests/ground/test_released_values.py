from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from sluice.ground.hierarchy import Hierarchy
from sluice.ground.released_values import DistinctValues, ReleasedValues, at_face_value, is_released, released_column
from tests.golden import golden

TEXTS = st.lists(st.tuples(st.sampled_from([*"abcde", None]), st.sampled_from([1.0, 2.0, 3.5, None])), max_size=40)


def read(found: DistinctValues) -> list[object]:
    return [[*found.distinct, None][code] for code in found.codes.tolist()]


@given(TEXTS)
def test_codes_name_the_values_whatever_the_column_holds(rows: list[tuple[str | None, float | None]]) -> None:
    texts, numbers = [row[0] for row in rows], [row[1] for row in rows]
    category = DistinctValues.of(pd.Series(pd.Categorical(texts, categories=list("edcbaz"))))
    assert read(category) == texts
    assert list(category.distinct) == list("edcbaz")
    assert read(DistinctValues.of(pd.Series(texts, dtype="str"))) == texts
    assert read(DistinctValues.of(pd.Series(numbers, dtype="float64"))) == numbers
    assert category.counts.sum() == len(rows)


@given(TEXTS)
def test_pairs_are_those_that_occur_as_often_as_they_do(rows: list[tuple[str | None, float | None]]) -> None:
    one = DistinctValues.of(pd.Series(pd.Categorical([row[0] for row in rows], categories=list("abcde"))))
    other = DistinctValues.of(pd.Series([row[1] for row in rows], dtype="float64"))
    left, right, counts = one.pairs(other)
    found = {
        ([*one.distinct, None][i], [*other.distinct, None][j]): n
        for i, j, n in zip(left.tolist(), right.tolist(), counts.tolist(), strict=True)
    }
    assert found == Counter(rows)


def test_a_byte_holds_255_categories_and_a_missing_value() -> None:
    def codes(size: int) -> str:
        return str(
            DistinctValues.of(pd.Series(pd.Categorical([None], categories=list(map(str, range(size)))))).codes.dtype
        )

    assert (codes(255), codes(256)) == ("uint8", "uint16")


def category(*values: str | None, of: str = "") -> pd.Series:
    return pd.Series(pd.Categorical(values, categories=list(of) or sorted({each for each in values if each})))


def behind(read: ReleasedValues) -> dict[str, list[object]]:
    names = [*read.known.distinct, None]
    return {label: [names[at] for at in read.behind(code).tolist()] for code, label in enumerate(read.told.distinct)}


def test_a_group_stands_for_the_values_that_were_recoded_to_it() -> None:
    original = pd.Series([18.0, 19, 19, 30, np.nan])
    recoded = category("young", "young", "young", "old", None)
    read = ReleasedValues.of(original, recoded, category("old", "young", None, "young"))
    assert behind(read) == {"old": [30], "young": [18, 19]}
    assert read.weight.tolist() == [1, 1, 2, 1]
    assert read.counts.tolist() == [1, 2, 1]
    assert read.means(np.array([18.0, 19, 30])) == pytest.approx([30, 18.5, np.nan], nan_ok=True)
    assert not read.is_lost


def test_a_released_value_to_which_nothing_was_recoded_is_itself_or_a_group_of_the_hierarchy() -> None:
    original = category("a", "b", "b", "c", of="abcd")
    tree = Hierarchy(rows={"a": ("ab", "*"), "b": ("ab", "*"), "c": ("cd", "*"), "d": ("cd", "*")})
    masked = category("ab", "cd", "d", "*")
    assert behind(ReleasedValues.of(original, None, masked, tree)) == {
        "*": ["a", "b", "c", "d"],
        "ab": ["a", "b"],
        "cd": ["c", "d"],
        "d": ["d"],
    }
    assert ReleasedValues.of(original, None, masked, tree).may_be_any.tolist() == [True, False, False, False, False]
    groups = category("b", "b", "b", "c", of="abcd")  # a group that bears the name of a value is the group
    assert behind(ReleasedValues.of(original, groups, groups))["b"] == ["a", "b"]


def test_the_rest_is_what_no_released_value_stands_for_where_it_is_as_frequent() -> None:
    original = category(*"aaaaabbccc")
    assert behind(ReleasedValues.of(original, None, category(*"aaaaaxxyyy")))["x"] == ["b", "c"]
    read = ReleasedValues.of(original, None, category(*"aaxxxxxxxx", *"x" * 90))
    assert behind(read)["x"] == []
    assert read.may_be_any.tolist() == [False, True, False]
    assert ReleasedValues.of(original, None, category(*"xxyy")).is_lost


def test_numbers_and_dates_are_read_at_their_face_value_and_categories_are_not() -> None:
    numbers, dates = pd.Series([1.0, 2.0]), pd.Series(np.array(["2001-01-01", "2002-01-01"], "datetime64[us]"))
    assert at_face_value(numbers, pd.Series([1, 2], dtype="Int64"))
    assert at_face_value(dates, dates)
    assert not at_face_value(dates, numbers)
    assert not at_face_value(numbers, category("a", "b"))
    rounded = ReleasedValues.of(pd.Series([1.0, 2.0, 9.0]), pd.Series([0.0, 0.0, 10.0]), pd.Series([0.0, 10.0, 3.0]))
    assert (rounded.is_face, rounded.counts.tolist()) == (True, [2, 1, 0, 1])
    assert not rounded.may_be_any.any()


@given(
    st.lists(st.sampled_from("abcdef"), min_size=2, max_size=30), st.lists(st.integers(0, 2), min_size=6, max_size=6)
)
def test_the_more_is_merged_the_more_a_value_may_stand_for(values: list[str], group: list[int]) -> None:
    """And it always stands for what it was."""
    original = category(*values, of="abcdef")
    finer = category(*(str(group["abcdef".index(each)]) for each in values), of="012")
    coarser = category(*("0" if each == "1" else each for each in finer), of="02")
    read = [ReleasedValues.of(original, each, each) for each in (original, finer, coarser)]
    sets = [[set(each.behind(code).tolist()) for code in each.told.codes.tolist()] for each in read]
    for itself, few, more, was in zip(*sets, read[0].known.codes.tolist(), strict=True):
        assert itself == {was}
        assert itself <= few <= more


FRAME = pd.DataFrame({"age": [1.0], "area=north": [0.3], "area=south": [0.7], "areal": [2.0]})


def test_a_column_as_itself_and_as_a_distribution():
    assert released_column(FRAME, "age").tolist() == [1.0]
    area = released_column(FRAME, "area")
    assert area.to_dict("list") == {"north": [0.3], "south": [0.7]}
    assert [is_released(FRAME, name) for name in ("age", "area", "areal", "are", "income")] == [
        True, True, True, False, False,
    ]  # fmt: skip


def test_a_column_that_is_not_released_is_refused():
    golden.refused(DataError, released_column, FRAME, "income")
