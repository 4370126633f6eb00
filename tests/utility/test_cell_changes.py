import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.utility.cell_changes import CellChanges, cell_changes

cells = st.lists(st.tuples(*[st.one_of(st.none(), st.integers(0, 2))] * 2), min_size=1, max_size=15)


def typed(values: list[int | None], kind: str) -> pd.Series:
    if kind == "category":
        return pd.Series(pd.Categorical([None if v is None else f"c{v}" for v in values]))  # its own categories
    if kind == "datetime64[us]":
        return pd.Series([pd.NaT if v is None else pd.Timestamp(2020, 1, 1 + v) for v in values], dtype=kind)
    if kind == "str":
        return pd.Series([None if v is None else str(v) for v in values], dtype=kind)
    return pd.Series(values, dtype=kind)


@pytest.mark.parametrize("kind", ["category", "Int64", "float64", "datetime64[us]", "str"])
@given(cells)
def test_counts_cell_by_cell_in_every_kind_whatever_the_index(
    kind: str, cells: list[tuple[int | None, int | None]]
) -> None:
    before, after = [b for b, _ in cells], [a for _, a in cells]
    found = cell_changes(typed(before, kind), typed(after, kind).set_axis([5] * len(cells)))
    n = len(cells)
    blanked, filled = (
        sum(b is not None and a is None for b, a in cells),
        sum(b is None and a is not None for b, a in cells),
    )
    assert found.suppressed == max(0, blanked - filled) / n
    assert found.changed + found.suppressed == pytest.approx(sum(a != b for b, a in cells) / n)


def test_by_hand() -> None:
    """Kept, changed, twice suppressed, filled in, missing in both: one missing value came from another record."""
    before = pd.Series([1, 2, 3, 3, None, None], dtype="Int64")
    after = pd.Series([1, 9, None, None, 4, None], dtype="Int64")
    assert cell_changes(before, after) == CellChanges(changed=3 / 6, suppressed=1 / 6)


def test_missing_values_that_moved_are_no_suppression() -> None:
    """A variable that half of the people were asked, drawn anew: as many answers are missing as before."""
    before, after = pd.Series([1.0, 2.0, np.nan, np.nan]), pd.Series([1.0, np.nan, np.nan, 2.0])
    assert cell_changes(before, after) == CellChanges(changed=0.5, suppressed=0.0)


def test_categories_are_compared_by_label_not_by_code() -> None:
    before = pd.Series(pd.Categorical(["a", "b"], categories=["a", "b"]))
    after = pd.Series(pd.Categorical(["a", "b"], categories=["b", "x", "a"]))
    assert cell_changes(before, after) == CellChanges(0.0, 0.0)


def test_columns_of_two_kinds() -> None:
    whole, real = pd.Series([1, 2, None], dtype="Int64"), pd.Series([1.0, 2.5, np.nan])
    assert cell_changes(whole, real) == CellChanges(changed=1 / 3, suppressed=0.0)
    banded = pd.Series(pd.Categorical(["1", "20-29", None]))
    assert cell_changes(whole, banded) == CellChanges(changed=1 / 3, suppressed=0.0)


def test_extremes() -> None:
    column = pd.Series([1.0, 2.0])
    gone = pd.Series([np.nan, np.nan])
    assert cell_changes(column, column) == (0, 0)
    assert cell_changes(column, gone) == (0, 1)
    assert cell_changes(gone, column) == (1, 0)
    assert cell_changes(gone, gone) == (0, 0)
