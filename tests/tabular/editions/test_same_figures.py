"""Figures that agree because the cells are the same, and figures that agree by chance."""

import numpy as np
import pytest

from sluice.tabular.editions.same_figures import same_figures
from tests.tabular.grids import line


def agreeing(earlier: list[int], now: list[int]) -> int:
    before, after = line(*earlier), line(*now)
    return same_figures(before, after, np.ones(len(before), dtype=bool), np.ones(len(after), dtype=bool))


AMOUNTS = [48_213, 7_919, 30_011, 94_583, 15_667, 61_441, 5_003, 22_229]


@pytest.mark.parametrize("factor", [1, 1000, 0.1, 1.95583])
def test_figures_of_the_same_cells_agree_up_to_one_factor(factor: float) -> None:
    now = [round(value * factor) for value in reversed(AMOUNTS)]
    assert agreeing(AMOUNTS, now) >= len(AMOUNTS)


def test_revised_figures_and_few_of_many_do_not() -> None:
    assert agreeing(AMOUNTS, [value + 37 for value in AMOUNTS]) == 0
    others = [value + 37 for value in AMOUNTS[4:]]
    assert agreeing(AMOUNTS, [*AMOUNTS[:4], *others]) == 0


def test_small_and_crowded_figures_agree_by_chance() -> None:
    counts = list(range(100, 160))
    assert agreeing(list(range(12)), list(range(12))) == 0
    assert agreeing(counts, [count + 3 for count in counts]) == 0
