"""Typed columns of two files as arrays in which equal values are equal."""

import numpy as np
import pandas as pd
import pytest

from sluice.ground.comparable_values import comparable_values, is_missing, plain_values


def categories(*values: str | float, levels: list[str]) -> "pd.Series[str]":
    return pd.Series(pd.Categorical(values, categories=levels))


def test_equal_labels_are_equal_codes_whatever_the_files_list() -> None:
    one = categories("north", np.nan, "south", levels=["south", "north"])
    other = categories("south", "east", "north", levels=["east", "north", "south"])
    before, after = comparable_values(one, other)
    assert before.dtype == after.dtype == np.uint8
    np.testing.assert_array_equal(is_missing(before), [False, True, False])
    assert not is_missing(after).any()
    np.testing.assert_array_equal(before[:, None] == after, plain_values(one)[:, None] == plain_values(other))


def test_codes_are_in_the_order_of_the_labels_and_missing_comes_last() -> None:
    # As texts are ranked elsewhere: what is found of neighbours in that order does not depend on the form.
    column = categories("b", np.nan, "a", "c", levels=["c", "b", "a"])
    codes, _ = comparable_values(column, column)
    np.testing.assert_array_equal(np.argsort(codes, kind="stable"), [2, 0, 3, 1])


@pytest.mark.parametrize(("levels", "kind"), [(255, np.uint8), (256, np.uint16), (70_000, np.uint32)])
def test_no_code_is_taken_for_a_missing_value(levels: int, kind: type) -> None:
    names = [f"{place:05}" for place in range(levels)]
    codes, _ = comparable_values(categories(*names, levels=names), categories(names[0], levels=names))
    assert codes.dtype == kind
    np.testing.assert_array_equal(codes, np.arange(levels))
    assert not is_missing(codes).any()


def test_numbers_stay_numbers() -> None:
    before, after = comparable_values(pd.Series([1, None], dtype="Int64"), pd.Series([1.5, np.nan]))
    np.testing.assert_array_equal(before, [1.0, np.nan])
    np.testing.assert_array_equal(is_missing(after), [False, True])


def test_a_label_and_a_number_are_compared_as_they_are() -> None:
    before, after = comparable_values(categories("1", levels=["1"]), pd.Series([1.0]))
    assert before.dtype == object
    assert after.dtype == np.float64
