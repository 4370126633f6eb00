from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from sluice.risk.classes import equivalence_classes as module
from sluice.risk.classes.class_values import class_values
from sluice.risk.classes.classes_with_missing_keys import matching_records
from sluice.risk.classes.equivalence_classes import category_codes, classes_of, equivalence_classes

small_frames = st.integers(1, 3).flatmap(
    lambda columns: st.lists(st.tuples(*[st.sampled_from(["a", "b", None])] * columns), min_size=1, max_size=12).map(
        lambda rows: pd.DataFrame(rows, columns=[f"k{i}" for i in range(columns)]).astype("category")
    )
)


def test_frequencies_published_by_sdcmicro() -> None:
    """The `francdat` example of sdcMicro's guidelines (listing "sample and estimated population frequency counts")."""
    frame = pd.DataFrame(
        {
            "Key1": [1, 1, 1, 3, 4, 4, 6, 1],
            "Key2": [2, 2, 2, 3, 3, 3, 2, 2],
            "Key3": [5, 1, 1, 1, 1, 1, 1, 5],
            "Key4": [1, 1, 1, 5, 4, 1, 5, 1],
        },
        dtype="Int64",
    )
    assert classes_of(frame, list(frame)).frequencies.tolist() == [2, 2, 2, 1, 1, 1, 1, 2]


def test_a_missing_key_is_a_category_as_sdcmicro_writes_it_out() -> None:
    """sdcMicro, tests/testthat/test_freqCalc.R, expected table of method 5 (own category).

    They stand there in comments, as the results its authors want; they were not read off a run of sdcMicro.
    """

    def suppressed(*status: str | None) -> pd.DataFrame:
        return pd.DataFrame({"region": ["A"] * 5, "status": status, "agegroup": ["5"] * 5}).astype("category")

    thrice = suppressed(None, "married", "married", None, None)
    assert classes_of(thrice, list(thrice)).frequencies.tolist() == [3, 2, 2, 3, 3]


@given(small_frames, st.randoms())
def test_neither_row_order_nor_index_matters(frame: pd.DataFrame, random: "np.random.Generator") -> None:
    order = list(range(len(frame)))
    random.shuffle(order)
    moved = frame.iloc[order].set_axis([7] * len(frame))  # every label the same
    for count in (lambda f: classes_of(f, list(f)).frequencies, lambda f: matching_records(f, list(f))):
        assert_array_equal(count(moved), count(frame)[order])


@given(small_frames)
def test_classes_agree_with_a_groupby_that_keeps_missing_keys(frame: pd.DataFrame) -> None:
    classes = classes_of(frame, list(frame))
    expected = frame.groupby(list(frame), dropna=False, observed=True)[frame.columns[0]].transform(len)
    assert_array_equal(classes.frequencies, expected)
    assert_array_equal(classes.sizes, np.bincount(classes.labels))


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(["a", "b", None, "a", None], dtype="category"),
        pd.Series([1, 2, None, 1, None], dtype="Int64"),
        pd.Series([0.5, 7.25, np.nan, 0.5, np.nan], dtype="float64"),
        pd.Series(pd.to_datetime(["2020-01-01", "2021-01-01", None, "2020-01-01", None])).astype("datetime64[us]"),
        pd.Series(["a", "b", None, "a", None], dtype="str"),
    ],
    ids=["category", "Int64", "float64", "datetime", "text"],
)
def test_every_kind_of_column_keeps_missing_as_its_own_and_largest_code(column: pd.Series) -> None:
    assert category_codes(column).tolist() == [0, 1, 2, 0, 2]


def test_ordinal_codes_follow_the_declared_order() -> None:
    column = pd.Series(pd.Categorical(["low", "high", "mid"], categories=["low", "mid", "high"], ordered=True))
    assert category_codes(column).tolist() == [0, 2, 1]


def test_a_full_set_of_127_categories_and_a_missing_value_do_not_overflow_eight_bits() -> None:
    labels = [f"c{i:03}" for i in range(127)]
    codes = category_codes(pd.Series(pd.Categorical([*labels, None], categories=labels)))
    assert codes.tolist() == list(range(128))


def test_exact_for_more_combinations_than_fit_64_bits() -> None:
    rng = np.random.default_rng(1)
    keys = [rng.integers(0, 1000, 500) for _ in range(40)]  # 10^120 possible combinations
    keys = [np.concatenate([key, key[:100]]) for key in keys]  # the first 100 records stand twice
    classes = equivalence_classes(keys)
    assert classes.frequencies.tolist() == [2] * 100 + [1] * 400 + [2] * 100


def test_exact_for_codes_that_are_themselves_64_bits_wide() -> None:
    wide = np.array([2**62, 2**62, 0, 2**61], dtype=np.int64)
    assert equivalence_classes([wide, wide, wide]).frequencies.tolist() == [2, 2, 1, 1]


def test_the_histogram_and_the_hash_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    keys = [rng.integers(0, values, 2000).astype(np.int8) for values in (3, 10, 100)]
    by_histogram = equivalence_classes(keys).frequencies
    monkeypatch.setattr(module, "_HISTOGRAM_CELLS", 0)
    assert_array_equal(equivalence_classes(keys).frequencies, by_histogram)


@pytest.mark.parametrize("count", [classes_of, matching_records])
def test_one_record_and_no_record(count: Callable[..., object]) -> None:
    frame = pd.DataFrame({"k": pd.Categorical(["a"])})
    for rows, expected in ((1, [1]), (0, [])):
        result = count(frame.head(rows), ["k"])
        frequencies = result.frequencies if hasattr(result, "frequencies") else result
        assert list(frequencies) == expected


def test_all_keys_missing_is_one_class() -> None:
    frame = pd.DataFrame({"k": pd.Series([np.nan] * 4), "l": pd.Series([pd.NA] * 4, dtype="Int64")})
    assert classes_of(frame, ["k", "l"]).sizes.tolist() == [4]
    assert matching_records(frame, ["k", "l"]).tolist() == [4] * 4


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 6)), min_size=1, max_size=25).map(np.array))
def test_values_in_classes_are_counted(pairs: np.ndarray) -> None:
    classes = equivalence_classes([pairs[:, 0]])
    expected = pd.Series(pairs[:, 1]).groupby(classes.labels).value_counts().sort_index()
    for cells in (2**26, 0):  # by a histogram and by a sort
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "_HISTOGRAM_CELLS", cells)
            found = class_values(classes, pairs[:, 1])
        assert list(zip(found.holder, found.value, strict=True)) == list(expected.index)
        assert found.records.tolist() == expected.tolist()
        assert np.bincount(found.holder, weights=found.share) == pytest.approx(np.ones(len(classes.sizes)))
        assert found.overall.sum() == pytest.approx(1)


@pytest.mark.chain
@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int32, np.int64])
def test_the_compiled_loops_agree_with_the_plain_ones(kind: type, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(
        {
            name: pd.Categorical.from_codes(
                rng.integers(-1, 20, 5000).astype(kind), [str(value) for value in range(20)]
            )
            for name in "abc"
        }
    )
    codes = [category_codes(frame[name]).astype(kind) for name in frame]
    plain = classes_of(frame, list(frame))
    monkeypatch.setattr(module, "_MANY", 0)
    monkeypatch.setattr(module, "_BLOCK", 999)
    for compiled in (classes_of(frame, list(frame)), equivalence_classes(codes)):
        assert_array_equal(compiled.frequencies, plain.frequencies)
        assert_array_equal(compiled.sizes[compiled.labels], plain.frequencies)
        assert sorted(compiled.sizes) == sorted(plain.sizes)


def test_codes_stay_narrow_when_values_are_missing() -> None:
    column = pd.Series(pd.Categorical(["a", None, "b"]))
    assert category_codes(column).dtype == np.int8
    labels = [str(value) for value in range(127)]
    assert category_codes(pd.Series(pd.Categorical([*labels, None], categories=labels))).dtype == np.int16
