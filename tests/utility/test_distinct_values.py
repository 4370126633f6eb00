from collections import Counter

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from sluice.utility.distinct_values import DistinctValues

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
