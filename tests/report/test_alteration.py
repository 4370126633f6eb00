"""The distance of published values to the true ones: what it says, and that it leads back to no cell."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sluice.report.report_page import render
from sluice.report.table_summary import LEAST_CHANGED, Alteration, _range, summarise
from sluice.tabular.advice.table_utility import table_utility
from sluice.tabular.model.cells import Cells, Integers
from sluice.tabular.rules.sensitivity import requirements_of
from tests.report.pages import Page, flat, on_tables

BASE = 3


def counts(leaves: int, seed: int = 1) -> tuple[Cells, Integers]:
    """A table of counts with one dimension, no leaf a multiple of 3, and its values rounded to multiples of 3."""
    rng = np.random.default_rng(seed)
    inner = BASE * rng.integers(1, 40, leaves) + rng.integers(1, BASE, leaves)
    cells = replace(flat(leaves), total=np.r_[inner.sum(), inner])
    return cells, BASE * np.round(cells.total / BASE).astype(np.int64)


def of(cells: Cells, value: Integers, minimum_cell: int = 3) -> Alteration:
    return Alteration.of(cells, np.ones(len(cells), dtype=bool), value, minimum_cell)


def with_leaf(cells: Cells, at: int, number: int) -> Cells:
    total = cells.total.copy()
    total[at] = number
    total[0] = total[1:].sum()
    return replace(cells, total=total)


def test_by_hand() -> None:
    """Every leaf is 1 off, the total of 1,230 as published 1,200: (40 + 30) / 41 and a share of each."""
    cells = replace(flat(40), total=np.r_[1240, np.full(40, 31)])
    value = np.r_[1200, np.full(40, 30)]
    assert of(cells, value) == Alteration(mean_absolute=(1, 2), mean_relative=(0.02, 0.05), hellinger=(0, 0))
    in_cents = replace(cells, decimals=2)
    assert of(in_cents, value).mean_absolute == (0.01, 0.02)


@pytest.mark.parametrize(("leaves", "minimum"), [(1, 1), (LEAST_CHANGED - 1, 3), (LEAST_CHANGED + 5, 40)])
def test_too_few_changed_cells_give_no_figure(leaves: int, minimum: int) -> None:
    assert of(*counts(leaves), minimum) == Alteration()


def test_cells_that_are_not_changed_or_not_published_do_not_count() -> None:
    cells, value = counts(LEAST_CHANGED + 1)
    assert of(cells, value).mean_absolute is not None
    unchanged = value.copy()
    unchanged[1:3] = cells.total[1:3]
    assert of(cells, unchanged) == Alteration()
    visible = np.ones(len(cells), dtype=bool)
    visible[1:3] = False
    assert Alteration.of(cells, visible, value, 3) == Alteration()


def test_marginals_do_not_count_as_they_may_follow_from_the_others() -> None:
    cells, value = counts(LEAST_CHANGED - 1)
    assert value[0] != cells.total[0]
    assert of(cells, value) == Alteration()


def test_an_attacker_solves_exact_figures_over_few_cells_and_gets_none() -> None:
    """Who knows the base tries all true values; the exact figures of three cells leave one solution."""
    cells, value = counts(3, seed=4)

    def figures(total: Integers) -> tuple[float, ...]:
        found = table_utility(replace(cells, total=total), value.astype(np.float64))
        return round(found.mean_absolute, 9), round(found.mean_relative, 9), round(found.hellinger, 9)

    asked = figures(cells.total)
    solutions = [
        inner
        for off in product(range(1 - BASE, BASE), repeat=3)
        if figures(np.r_[sum(inner := value[1:] + off), inner]) == asked
    ]
    assert [tuple(inner) for inner in solutions] == [tuple(cells.total[1:])]
    assert of(cells, value) == Alteration()


@pytest.mark.chain
def test_nearly_every_cell_may_have_another_value_by_the_same_figures() -> None:
    """Who knows all cells but two, and the figures, is left with several values of each of the two.

    Of 100 cells one is told so: a small one, by whose share a figure lies beside the end of its range.
    """
    told, steps = [], [*range(1 - BASE, 0), *range(1, BASE)]
    for seed in range(20, 45):
        rng = np.random.default_rng(seed)
        cells, value = counts(LEAST_CHANGED, seed)
        asked = of(cells, value)
        for at in range(1, len(cells), 5):
            others = rng.permutation(np.delete(np.arange(1, len(cells)), at - 1))
            told.append(
                not any(
                    of(with_leaf(with_leaf(cells, at, value[at] + one), other, value[other] + two), value) == asked
                    for other in others
                    for one, two in product(steps, repeat=2)
                    if value[at] + one != cells.total[at]
                )
            )
    assert np.mean(told) <= 0.01


@given(st.floats(1e-6, 1e9))
@example(999999999.9999999)  # its logarithm is that of 10 ** 9
def test_a_range_holds_its_figure_and_is_a_step_of_the_ladder(figure: float) -> None:
    found = _range(figure)
    assert found is not None
    low, high = found
    assert low <= figure <= high
    assert round(high / low, 6) in (2, 2.5)


def test_the_page_gives_ranges_or_says_why_not() -> None:
    for leaves, says in ((LEAST_CHANGED, "mean absolute difference, EUR"), (9, "Too few cells were changed")):
        cells, value = counts(leaves)
        requirements = requirements_of([], cells.contributions)
        status = np.zeros(len(cells), dtype=np.uint8)
        table = summarise(cells, status, requirements, "t", ["d"], 3, None, value)
        assert says in Page(render(on_tables(table))).section("table-0")
