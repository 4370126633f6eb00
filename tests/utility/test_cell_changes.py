import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.utility.cell_changes import CellChanges, cell_changes, changed_in_few, coarse_share, tells_of_few

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


@pytest.mark.parametrize(
    ("cells", "few"), [((0, 0), False), ((1, 0), True), ((0, 1), True), ((5, 4), True), ((5, 5), False)]
)
def test_one_record_to_one_less_than_the_minimum_are_few(cells: tuple[int, int], few: bool) -> None:
    assert changed_in_few(CellChanges(*(each / 1000 for each in cells)), 1000, 10) is few


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


def few(before: list[float], after: list[float], minimum_cell: int = 3, *, paired: bool = True) -> bool:
    columns = (np.array(values, dtype=np.float64)[:, np.newaxis] for values in (before, after))
    return bool(tells_of_few(*columns, minimum_cell, paired_records=paired)[0])


def test_nobody_or_enough_people_are_not_few() -> None:
    values = [1.0, 2, 3, 4, 5, 6]
    assert not few(values, values)
    assert few(values, [1, 2, 3, 4, 7, 8])
    assert not few(values, [1, 2, 3, 5, 6, 7])
    assert few(values, [1, 2, 3, 4, 5, np.nan])  # one that was blanked
    assert not few(values, [1, 2, 3, 4, 7, 8], minimum_cell=1)


def test_the_p_percent_rule_on_changes() -> None:
    """Hundepool et al. (2012), section 4.2: (sum - first - second) < p % of the first is sensitive, at it is safe."""
    assert few([100, 50, 9, 0], [0, 0, 0, 0])
    assert not few([100, 50, 10, 0], [0, 0, 0, 0])


def test_unpaired_files_are_compared_as_heaps() -> None:
    values = [1.0, 2, 3, 4, 5, 900]
    assert not few(values, values[::-1], paired=False)
    assert few(values, [4, 3, 2, 1, 5, 6], paired=False)
    assert not few(values, [10, 20, 30, 40, 50, 60, 70], paired=False) or few(values, [9.5], paired=False)


@given(st.lists(st.floats(0, 100), min_size=1, max_size=12), st.randoms())
def test_the_order_of_records_is_without_effect(values: list[float], random: "np.random.Generator") -> None:
    other = [value + (1 if place % 2 else 0) for place, value in enumerate(values)]
    order = list(range(len(values)))
    random.shuffle(order)
    moved = [values[at] for at in order], [other[at] for at in order]
    assert few(values, other) == few(*moved)
    assert few(values, other, paired=False) == few(values, moved[1], paired=False)


def test_fewer_than_half_a_cell_are_none_and_more_are_a_cell() -> None:
    assert coarse_share(0.004, 1_000, 10) == 0
    assert coarse_share(0.006, 1_000, 10) == pytest.approx(0.01)
    assert coarse_share(0.3, 1_000, 10) == pytest.approx(0.3)


def test_extremes_of_few() -> None:
    assert coarse_share(0.123, 1_000, 1) == 0.123
    assert coarse_share(0.123, 0, 10) == 0.123
    assert coarse_share(0.9, 4, 10) == 0
    assert coarse_share(1.0, 15, 10) <= 1


@given(st.floats(0, 1), st.integers(1, 10_000), st.integers(2, 50))
def test_no_number_of_records_below_the_minimum_is_told(value: float, records: int, minimum_cell: int) -> None:
    told = coarse_share(value, records, minimum_cell) * records
    assert told == 0 or told >= min(minimum_cell, records) - 1e-6
