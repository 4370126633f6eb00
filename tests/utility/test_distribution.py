"""Intervals of histograms: even ones, and others where a tail would leave nearly all values in one."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.variables import Kind, Variable
from sluice.utility.cell_changes import CellChanges
from sluice.utility.distribution import Distribution, distribution, intervals, without_few_changes

AGE = Variable(name="age", kind=Kind.INTEGER)
INCOME = Variable(name="income", kind=Kind.CONTINUOUS)
numbers = st.lists(st.one_of(st.none(), st.integers(-100, 1000)), max_size=120)


def counted(shown: tuple[int | None, ...]) -> int:
    return sum(count or 0 for count in shown)


def test_intervals_of_a_uniform_variable() -> None:
    values = pd.Series(np.arange(1000), dtype="Int64")
    shown = distribution(values, values, AGE, minimum_cell=10)
    assert shown.bins[:2] == ("under 100", "100 to 199")
    assert shown.bins[-1] == "900 or more"
    assert shown.before == shown.after == (100,) * 10
    real = distribution(values.astype(float) / 1000, None, INCOME, minimum_cell=10)
    assert real.bins[1] == "0.1 to 0.2"
    assert real.after == ()


def test_extremes_of_the_original_show_nowhere() -> None:
    plain = np.repeat(np.arange(20.0, 60.0), 10)
    spread = np.concatenate([plain, [-7e7, 123456789.0]])
    shown = distribution(pd.Series(spread), None, INCOME, minimum_cell=5)
    assert shown.bins == distribution(pd.Series(plain), None, INCOME, minimum_cell=5).bins
    assert not any("123" in name or "7e" in name for name in shown.bins)
    assert counted(shown.before) == len(spread)


@given(numbers, numbers, st.integers(1, 12), st.randoms())
def test_no_small_count_shows_or_can_be_worked_out(
    before: list[int | None], after: list[int | None], minimum: int, random: "np.random.Generator"
) -> None:
    one, other = pd.Series(before, dtype="Int64"), pd.Series(after, dtype="Int64")
    shown = distribution(one, other, AGE, minimum)
    for column, counts in ((one, shown.before), (other, shown.after)):
        assert len(counts) == len(shown.bins)
        assert all(count is None or count >= minimum for count in counts)
        hidden = sum(count is None for count in counts)
        remainder = int(column.count()) - counted(counts)
        assert remainder >= 0
        if hidden and hidden < len(counts):
            assert hidden >= 2
            assert remainder == 0 or remainder >= minimum
    random.shuffle(before)
    assert distribution(pd.Series(before, dtype="Int64").set_axis([3] * len(before)), other, AGE, minimum) == shown


def test_a_single_small_category_takes_the_next_larger_with_it() -> None:
    variable = Variable(name="town", kind=Kind.NOMINAL, categories=("a", "b", "c", "d"), labels={"a": "Aachen"})
    column = pd.Series(pd.Categorical(["a"] * 50 + ["b"] * 20 + ["c"] * 40 + ["d"] * 3, categories=list("abcd")))
    assert distribution(column, column, variable, minimum_cell=10) == Distribution(
        ("Aachen", "b", "c", "d"), (50, None, 40, None), (50, None, 40, None)
    )


def test_a_count_that_is_small_in_one_file_is_hidden_in_both() -> None:
    """Else the masked count next to a small share of changed cells would tell the hidden one."""
    variable = Variable(name="town", kind=Kind.NOMINAL, categories=("a", "b", "c"))
    before = pd.Series(pd.Categorical(["a"] * 9 + ["b"] * 30 + ["c"] * 40, categories=list("abc")))
    after = pd.Series(pd.Categorical(["a"] * 10 + ["b"] * 29 + ["c"] * 40, categories=list("abc")))
    shown = distribution(before, after, variable, minimum_cell=10)
    assert shown.before == shown.after == (None, None, 40)


def test_undeclared_rare_categories_are_not_named() -> None:
    variable = Variable(name="job", kind=Kind.NOMINAL)
    column = pd.Series(["clerk"] * 30 + ["nurse"] * 20 + ["astronaut"] * 2 + ["pope"] + [None]).astype("category")
    shown = distribution(column, None, variable, minimum_cell=5)
    assert shown == Distribution(("clerk", "nurse", "all others"), (30, None, None), ())


def test_many_categories_are_pooled() -> None:
    names = [f"c{i:02}" for i in range(40)]
    variable = Variable(name="job", kind=Kind.NOMINAL, categories=tuple(names))
    column = pd.Series(pd.Categorical([name for i, name in enumerate(names) for _ in range(10 + i)], categories=names))
    shown = distribution(column, None, variable, minimum_cell=10)
    assert len(shown.bins) == 30
    assert shown.bins[-1] == "all others"
    assert counted(shown.before) == len(column)


def test_dates_are_shown_by_year() -> None:
    dates = pd.Series(pd.date_range("2001-01-01", "2010-12-31", freq="D")).astype("datetime64[us]")
    shown = distribution(dates, None, Variable(name="entry", kind=Kind.DATE), minimum_cell=5)
    assert shown.bins == ("before 2002", *map(str, range(2002, 2010)), "2010 or later")
    assert shown.before[1] == 365


def test_extremes() -> None:
    nothing = Distribution()
    assert distribution(pd.Series(["x"] * 99, dtype="str"), None, Variable(name="t", kind=Kind.TEXT), 3) == nothing
    assert distribution(pd.Series([4.0] * 99), None, INCOME, 3) == nothing  # one value: an edge would tell it
    assert distribution(pd.Series([1.0, 2.0]), None, INCOME, 3) == nothing
    assert distribution(pd.Series([], dtype=float), None, INCOME, 3) == nothing
    assert distribution(pd.Series([np.nan] * 9), None, INCOME, 3) == nothing
    mostly_zero = pd.Series([0.0] * 995 + [1.0, 2.0, 3.0, 4.0, 5.0])
    assert distribution(mostly_zero, None, INCOME, 3) == Distribution(
        ("under 1", "1 to 2", "2 to 3", "3 or more"), (995, None, None, None), ()
    )


def test_a_variable_of_small_counts_only_shows_none() -> None:
    variable = Variable(name="town", kind=Kind.NOMINAL, categories=("a", "b", "c"))
    column = pd.Series(pd.Categorical(["a", "b"], categories=list("abc")))
    assert distribution(column, None, variable, minimum_cell=5).before == (None, None, None)


def test_counts_of_the_original_do_not_tell_which_values_were_blanked() -> None:
    counts = Distribution(("a", "b", "c", "d"), (40, 50, 60, 30), (38, 35, 60, 30))
    few = CellChanges(changed=0, suppressed=9 / 180)
    assert without_few_changes(counts, few, 180, 10) == counts._replace(before=(None,) * 4)
    blanked = CellChanges(changed=0, suppressed=17 / 180)
    assert without_few_changes(counts, blanked, 180, 10) == counts._replace(before=(None, None, 60, 30))
    noisy = CellChanges(changed=0.5, suppressed=17 / 180)  # a difference is then no number of people
    assert without_few_changes(counts, noisy, 180, 10) == counts
    assert without_few_changes(counts, CellChanges(0, 0), 180, 10) == counts


def shares(values: np.ndarray, edges: list[float]) -> np.ndarray:
    return np.histogram(values, [-np.inf, *edges, np.inf])[0] / len(values)


def test_a_uniform_variable_has_even_intervals() -> None:
    edges, names = intervals(np.arange(1000.0), Kind.INTEGER, 10)
    assert edges == [100.0 * step for step in range(1, 10)]
    assert names[:2] == ("under 100", "100 to 199")


def test_a_long_tail_has_growing_intervals_that_no_one_fills() -> None:
    incomes = np.sort(np.random.default_rng(1).lognormal(10, 2, 20_000))
    edges, names = intervals(incomes, Kind.CONTINUOUS, 10)
    assert shares(incomes, edges).max() < 0.4
    assert "10,000 to 20,000" in names or "10,000 to 30,000" in names
    assert (shares(incomes, edges)[[0, -1]] > 0.005).all()


def test_a_tail_on_both_sides_of_zero_has_equal_shares() -> None:
    values = np.sort(np.random.default_rng(1).standard_t(0.7, 20_000))
    edges, names = intervals(values, Kind.CONTINUOUS, 10)
    assert shares(values, edges).max() < 0.2
    assert len(names) == len(edges) + 1


def test_zeros_stay_one_interval_and_the_others_are_spread() -> None:
    gains = np.sort(np.concatenate([np.zeros(9_000), np.round(np.random.default_rng(2).lognormal(8, 1, 1_000))]))
    edges, names = intervals(gains, Kind.INTEGER, 10)
    found = shares(gains, edges)
    assert found[0] >= 0.9
    assert found[1:].max() < 0.05
    assert all("." not in name for name in names)


@pytest.mark.parametrize("kind", [Kind.CONTINUOUS, Kind.INTEGER])
@given(st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=150), st.integers(3, 20))
def test_enough_values_lie_in_either_open_interval(kind: Kind, given: list[float], minimum: int) -> None:
    values = np.sort(np.round(given) if kind is Kind.INTEGER else np.array(given, dtype=float))
    edges, names = intervals(values, kind, minimum)
    assert len(names) == (len(edges) + 1 if edges else 0)
    assert edges == sorted(set(edges))
    if edges:
        assert (values < edges[0]).sum() >= minimum
        assert (values >= edges[-1]).sum() >= minimum


def test_what_is_too_few_or_too_much_alike_has_none() -> None:
    assert intervals(np.full(99, 4.0), Kind.CONTINUOUS, 3) == ([], ())
    assert intervals(np.array([1.0, 2.0]), Kind.CONTINUOUS, 3) == ([], ())
    assert intervals(np.array([]), Kind.CONTINUOUS, 3) == ([], ())
