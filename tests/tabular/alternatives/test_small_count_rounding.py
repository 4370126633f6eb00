"""Small-count rounding. Its authors' R package SmallCountRounding is not at hand: no published figure is compared."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from sluice.tabular.alternatives import small_count_rounding as small_count_rounding_module
from sluice.tabular.alternatives.small_count_rounding import small_count_rounding
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.cells import Cells, equations_of
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.rules.sensitivity import Requirements
from tests.golden import golden
from tests.tabular.tables import business, tables


def counts(cells: Cells) -> Cells:
    """The table of how many contributors there are; they are made records of their own, so that counts add up."""
    sums = np.zeros(len(cells), dtype=bool)
    sums[cells.equations.indices[cells.equations.data > 0]] = True
    return replace(cells, total=_summed(cells, np.where(sums, 0, cells.contributors)))


def _summed(cells: Cells, inner: np.ndarray) -> np.ndarray:
    """Inner values and the sums that follow, by repeated substitution."""
    value, matrix = inner.astype(float), cells.equations.toarray()
    for _ in range(12):
        for row in matrix:
            value[np.argmax(row)] = -(row.clip(max=0) @ value)
    return value.astype(np.int64)


def inner_of(cells: Cells) -> np.ndarray:
    return np.setdiff1d(np.arange(len(cells)), cells.equations.indices[cells.equations.data > 0])


@given(tables(), st.integers(2, 8), st.integers(0, 99))
def test_no_small_count_is_left_and_all_adds_up(cells: Cells, base: int, seed: int) -> None:
    cells = counts(cells)
    rounded = small_count_rounding(cells, base, np.random.default_rng(seed))
    inner = inner_of(cells)
    assert not (cells.equations @ rounded.value).any()
    assert ((rounded.value == 0) | (rounded.value >= base)).all()
    small = (cells.total < base)[inner]
    assert set(rounded.value[inner][small].tolist()) <= {0, base}
    assert (rounded.value == cells.total)[inner][~small].all()
    assert ((rounded.low <= cells.total) & (cells.total <= rounded.high)).all()
    assert rounded.safe
    again = small_count_rounding(cells, base, np.random.default_rng(seed))
    assert (again.value == rounded.value).all()


@given(tables(most=9), st.integers(2, 5), st.integers(0, 99))
def test_no_single_cell_improves_the_margins(cells: Cells, base: int, seed: int) -> None:
    cells = counts(cells)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(small_count_rounding_module, "AS_DRAWN", 0.0)
        rounded = small_count_rounding(cells, base, np.random.default_rng(seed))
    reached = ((rounded.value - cells.total) ** 2).sum()
    for cell in inner_of(cells):
        if 0 < cells.total[cell] < base:
            inner = np.zeros(len(cells), dtype=np.int64)
            inner[inner_of(cells)] = rounded.value[inner_of(cells)]
            inner[cell] = base - inner[cell]
            assert ((_summed(cells, inner) - cells.total) ** 2).sum() >= reached


def test_the_best_of_all_choices_in_a_small_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twelve 1s, three to the base, in 3 x 4 cells: by enumeration of the 4,096 choices."""
    monkeypatch.setattr(small_count_rounding_module, "AS_DRAWN", 0.0)
    made = [Dimension.flat("a", ["a1", "a2", "a3"]), Dimension.flat("b", ["b1", "b2", "b3", "b4"])]
    leaves = np.array(list(product([1, 2, 3], [1, 2, 3, 4])), dtype=np.int32)
    cells = aggregate(made, leaves, np.arange(12), np.ones(12, dtype=np.int64))
    inner = inner_of(cells)
    best = np.inf
    for choice in product([0, 3], repeat=12):
        rows = np.reshape(choice, (3, 4))
        marginals = [*(rows.sum(axis=0) - 3), *(rows.sum(axis=1) - 4), rows.sum() - 12, *(rows.ravel() - 1)]
        best = min(best, np.square(marginals).sum())
    rounded = small_count_rounding(cells, 3, np.random.default_rng(1))
    assert len(inner) == 12
    assert ((rounded.value - cells.total) ** 2).sum() == best


def test_marginals_stay_near() -> None:
    """Better than each cell to its nearer end, and than each drawn by itself without bias."""
    cells = business("s1k")
    cells = replace(cells, total=cells.contributors)
    rounded = small_count_rounding(cells, 5, np.random.default_rng(0))
    inner = inner_of(cells)
    small = (cells.total[inner] > 0) & (cells.total[inner] < 5)
    near, drawn = np.zeros(len(cells), dtype=np.int64), np.zeros(len(cells), dtype=np.int64)
    near[inner] = np.where(small, np.where(cells.total[inner] >= 3, 5, 0), cells.total[inner])
    chance = np.random.default_rng(0).random(len(inner)) < cells.total[inner] / 5
    drawn[inner] = np.where(small, np.where(chance, 5, 0), cells.total[inner])
    reached = ((rounded.value - cells.total) ** 2).sum()
    assert reached < 0.5 * ((_summed(cells, near) - cells.total) ** 2).sum()
    assert reached < 0.5 * ((_summed(cells, drawn) - cells.total) ** 2).sum()


def test_requirements_are_held_to_what_an_attacker_reads() -> None:
    made = [Dimension.flat("a", ["u", "v"])]
    cells = aggregate(made, np.repeat([[1], [2]], [2, 9], axis=0).astype(np.int32), np.arange(11), np.ones(11, int))
    at = {code: int(np.flatnonzero(cells.codes[:, 0] == code)[0]) for code in (0, 1, 2)}
    sensitive = np.isin(np.arange(3), [at[1]])
    level = np.where(sensitive, 1, 0)
    rounded = small_count_rounding(
        cells, 5, np.random.default_rng(0), Requirements({}, sensitive, level, level, 0 * level)
    )
    assert rounded.safe
    assert rounded.value[at[1]] in (0, 5)
    level = np.where(sensitive, 4, 0)  # 2 + 4 is beyond 0 to 4 and 1 to 5
    rounded = small_count_rounding(
        cells, 5, np.random.default_rng(0), Requirements({}, sensitive, 0 * level, level, 0 * level)
    )
    assert rounded.failing.tolist() == [at[1]]
    assert not rounded.safe


def test_nothing_small_changes_nothing() -> None:
    made = [Dimension.flat("a", ["u", "v"])]
    cells = aggregate(made, np.repeat([[1], [2]], [7, 9], axis=0).astype(np.int32), np.arange(16), np.ones(16, int))
    assert (small_count_rounding(cells, 7, np.random.default_rng(0)).value == cells.total).all()


@pytest.mark.parametrize(("base", "sign"), [(1, 1), (-3, 1), (2.5, 1), (3, -1)])
def test_refused_bases_and_negative_counts(base: int, sign: int) -> None:
    cells = business("s1k")
    with golden.raises(DataError):
        small_count_rounding(replace(cells, total=sign * cells.total), base, np.random.default_rng(0))


def test_linked_tables_without_common_inner_cells() -> None:
    """a x b and a x c: the cells of a are sums of both, and rounding each by itself would not add up."""
    made = tuple(Dimension.flat(name, [name + "1", name + "2"]) for name in "abc")
    whole = aggregate(made, np.array([[1, 1, 1], [1, 2, 2], [2, 1, 2]], dtype=np.int32), np.arange(3), np.ones(3, int))
    kept = np.flatnonzero((whole.codes[:, 1] == 0) | (whole.codes[:, 2] == 0))
    codes = whole.codes[kept]
    cells = Cells(
        made,
        codes,
        *(getattr(whole, name)[kept] for name in ("total", "contributors", "largest", "owners")),
        equations_of(made, codes, [["a", "b"], ["a", "c"]]),
        whole.published[kept],
    )
    with golden.raises(DataError):
        small_count_rounding(cells, 3, np.random.default_rng(0))
