"""Tables under other names: recognised where the figures leave no doubt, and only there.

Figures that agree because the cells are the same, and figures that agree by chance.
"""

from dataclasses import replace

import numpy as np
import pytest

from sluice.tabular.editions.matched_names import same_figures, with_names_of
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.cells import Cells
from sluice.tabular.model.dimension import Dimension
from tests.tabular.grids import line

REGION = [("Total", ""), ("N", "Total"), ("S", "Total"), ("N1", "N"), ("N2", "N"), ("S1", "S"), ("S2", "S")]


def cells(dimensions: list[Dimension], seed: int = 1, records: int = 300) -> Cells:
    rng = np.random.default_rng(seed)
    leaves = np.column_stack([rng.choice(dimension.leaves, records) for dimension in dimensions]).astype(np.int32)
    return aggregate(dimensions, leaves, np.arange(records), rng.integers(1, 10**6, records))


def other(prefix: str = "x") -> list[Dimension]:
    rows = [(f"{prefix}{code}", f"{prefix}{parent}" if parent else "") for code, parent in REGION]
    return [Dimension.of("area", rows), Dimension.flat("branch", ["p", "q", "r"], total="all")]


OURS = [Dimension.of("region", REGION), Dimension.flat("kind", ["a", "b", "c"])]


def names(table: Cells) -> dict[str, int]:
    return {table.name(cell): int(table.total[cell]) for cell in range(len(table))}


def test_dimensions_and_codes_get_these_names() -> None:
    now, earlier = cells(OURS), cells(other())
    found = with_names_of(now, earlier)
    assert found is not None
    assert names(found) == names(now)


def test_dimensions_in_another_order() -> None:
    now, earlier = cells(OURS), cells(OURS)
    turned = replace(earlier, dimensions=earlier.dimensions[::-1], codes=earlier.codes[:, ::-1])
    found = with_names_of(now, turned)
    assert found is not None
    assert [dimension.name for dimension in found.dimensions] == ["kind", "region"]


def test_a_dimension_more_is_seen_by_the_marginals() -> None:
    more = [*OURS, Dimension.flat("size", ["small", "large"])]
    drawn = np.random.default_rng(3)
    leaves = np.column_stack([drawn.choice(d.leaves, 300) for d in more]).astype(np.int32)
    amounts = drawn.integers(1, 10**6, 300)
    now = aggregate(OURS, leaves[:, :2], np.arange(300), amounts)
    earlier = aggregate([*other(), more[2]], leaves, np.arange(300), amounts)
    found = with_names_of(now, earlier)
    assert found is not None
    assert [d.name for d in found.dimensions] == ["region", "kind", "size of the earlier table"]
    at_total = found.codes[:, 2] == 0
    assert {name.rpartition(",")[0] for name in map(found.name, np.flatnonzero(at_total))} == set(names(now))


@pytest.mark.parametrize("doubt", ["other figures", "decimals", "contributors", "a revised cell", "two codes alike"])
def test_what_leaves_a_doubt_is_not_matched(doubt: str) -> None:
    now, earlier = cells(OURS), cells(other())
    if doubt == "other figures":
        earlier = cells(other(), seed=2)
    if doubt == "decimals":
        earlier = replace(earlier, decimals=1)
    if doubt == "contributors":
        earlier = replace(earlier, owners=np.where(earlier.owners < 0, -1, earlier.owners + 1000))
    if doubt == "a revised cell":  # of the innermost, so that the marginals still match
        inner = np.flatnonzero((earlier.codes > 2).all(axis=1))[:1]
        earlier = replace(earlier, total=earlier.total + np.isin(np.arange(len(earlier)), inner))
    if doubt == "two codes alike":
        leaves = np.array([[3, 1], [4, 1], [5, 2], [6, 3]], dtype=np.int32)
        now, earlier = (aggregate(d, leaves, np.arange(4), np.full(4, 700)) for d in (OURS, other()))
    assert with_names_of(now, earlier) is None


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
