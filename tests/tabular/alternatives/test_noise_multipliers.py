"""Noise multipliers: what holds of every table of them, and readers who know all but one factor."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from sluice.tabular.alternatives.altered_cells import AlteredCells
from sluice.tabular.alternatives.cell_key import record_keys
from sluice.tabular.alternatives.noise_multipliers import multiplied_cells, multipliers
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.cells import Cells
from sluice.tabular.model.dimension import Dimension
from tests.golden import golden
from tests.tabular.grids import needs_of

SECRET = b"sixteen bytes or more"


def keys(names: list[str], secret: bytes = SECRET) -> np.ndarray:
    return record_keys(names, secret)


def protected(
    leaves: np.ndarray, amounts: np.ndarray, owners: np.ndarray, least: float = 10, spread: float = 1
) -> tuple[Cells, AlteredCells]:
    made = [Dimension.flat("a", ["u", "v", "w"]), Dimension.flat("b", ["x", "y", "z"])]
    cells = aggregate(made, leaves, owners, amounts)
    factors = multipliers(keys([f"{o}" for o in owners]), keys([f"{o}" for o in owners]), least, spread)
    needs = needs_of(cells)
    return cells, multiplied_cells(cells, needs, leaves, amounts, factors, least, spread)


def records(number: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    leaves = rng.integers(1, 4, (number, 2)).astype(np.int32)
    return leaves, np.rint(np.exp(rng.normal(9, 1.5, number))).astype(np.int64), np.arange(number)


@given(st.integers(1, 60), st.integers(0, 2**32 - 1))
def test_adds_up_and_the_same_cell_has_the_same_figure_in_every_edition(number: int, seed: int) -> None:
    leaves, amounts, owners = records(number, seed)
    cells, made = protected(leaves, amounts, owners)
    assert not (cells.equations @ made.value).any()
    assert ((made.value == 0) == (cells.total == 0)).all()
    assert (np.abs(made.value - cells.total) * 10 <= 9 * cells.total + 10 * number).all()
    # The next edition lacks the last record: what it is not in has the figure it had.
    if number > 1:
        later, again = protected(leaves[:-1], amounts[:-1], owners[:-1])
        before = {tuple(code): value for code, value in zip(cells.codes.tolist(), made.value, strict=True)}
        now = {tuple(code): value for code, value in zip(later.codes.tolist(), again.value, strict=True)}
        differences = {before[code] - now.get(code, 0) for code in before} - {0}
        own = round(amounts[-1] * multipliers(keys([str(number - 1)]), keys([str(number - 1)]), 10)[0])
        # The difference of two editions, and of two tables that share all but one record, is its noisy value.
        assert differences == {own}
        assert abs(own - amounts[-1]) * 10 >= amounts[-1] - 10


def test_the_best_guess_of_one_record_is_wrong_more_often_than_right() -> None:
    """Who knows everybody else's values and factors is left with a record's value times its own."""
    names = [f"firm {number}" for number in range(40_000)]
    factors = multipliers(keys(names), keys(names), 10)
    assert (np.abs(factors - 1) >= 0.1 - 1e-9).all()
    assert (np.abs(factors - 1) <= 0.9).all()
    assert abs(factors.mean() - 1) < 0.005
    right = [np.mean(np.abs(factors * by - 1) <= 0.1) for by in np.linspace(0.4, 2.0, 161)]
    assert 0.42 < max(right) < 0.48  # 46 percent is what the method says of itself
    # Without the beginning at the level, the figure itself would be the best guess and often right.
    assert right[int(np.argmin(np.abs(np.linspace(0.4, 2.0, 161) - 1)))] < 0.01


def test_records_of_one_contributor_go_to_one_side() -> None:
    names = [f"record {number}" for number in range(1000)]
    factors = multipliers(keys(names), keys(["the firm"] * 1000), 10)
    assert ((factors > 1) == (factors[0] > 1)).all()
    assert len(set(factors.tolist())) == 1000
    other = multipliers(keys(names, b"another secret, as long"), keys(["the firm"] * 1000), 10)
    assert not np.allclose(factors, other)


def test_a_share_below_the_level_fails() -> None:
    """The p% rule at 10 asks for a tenth of the largest contribution; a twentieth leaves both sides in one guess."""
    leaves, amounts, owners = records(12, 3)
    _, enough = protected(leaves, amounts, owners, least=10)
    assert enough.attempted > 0
    assert enough.safe
    for least in (5, 9):
        _, little = protected(leaves, amounts, owners, least=least)
        assert len(little.failing) > 0
    # Of values so small that a tenth is no whole unit, rounding would undo the noise.
    _, small = protected(leaves, np.minimum(amounts, 4), owners)
    assert len(small.failing) > 0


@pytest.mark.parametrize("wrong", [{"least": 0.1}, {"spread": 0}])
def test_refused_settings(wrong: dict[str, float]) -> None:
    with golden.raises(DataError):
        protected(*records(5, 1), **wrong)


def test_amounts_that_are_not_those_of_the_table_are_refused() -> None:
    leaves, amounts, owners = records(5, 1)
    cells, _ = protected(leaves, amounts, owners)
    with golden.raises(DataError):
        multiplied_cells(cells, needs_of(cells), leaves, amounts + 1, np.ones(5), 10)
