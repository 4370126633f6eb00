"""What noise makes likely: readers of one figure and of all, played with keys that are drawn anew."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from sluice.tabular.alternatives import likely_counts, noise_left
from sluice.tabular.alternatives.attacker_interval import NoisyCounts
from sluice.tabular.alternatives.likely_counts import LikelyCounts, LikelyTold
from sluice.tabular.alternatives.noise_left import left_variance
from sluice.tabular.alternatives.perturbation_table import Keys, NoiseInterval, PerturbationTable
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Cells, Floats, Integers
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.rules.minimum_frequency import MinimumFrequency
from sluice.tabular.rules.sensitivity import requirements_of
from tests.golden import golden

USUAL = PerturbationTable.of_largest_entropy(5, 2.5)
LARGE = np.arange(12) + 20


def flat(*sizes: int) -> list[Dimension]:
    return [Dimension.flat(f"d{axis}", [str(code) for code in range(size)]) for axis, size in enumerate(sizes)]


def two_levels(groups: int, parts: int) -> list[Dimension]:
    tree = [("Total", ""), *((f"{group}", "Total") for group in range(groups))]
    tree += [(f"{group}.{part}", f"{group}") for group in range(groups) for part in range(parts)]
    return [Dimension.of("a", tree), Dimension.flat("b", ["x", "y", "z"])]


def table(dimensions: list[Dimension], counts: Integers) -> Cells:
    """counts: of the leaves in order, as often as needed."""
    leaves = np.array(list(product(*(each.leaves for each in dimensions))), dtype=np.int32)
    leaves = np.repeat(leaves, np.resize(counts, len(leaves)), axis=0)
    return aggregate(dimensions, leaves, np.arange(len(leaves)), np.ones(len(leaves), dtype=np.int64))


def read(
    cells: Cells, noise: PerturbationTable, n: int = 3, coalition: int = 1, keys: Keys | None = None
) -> LikelyTold:
    rules = (MinimumFrequency(n=n),)
    needs = requirements_of(rules, cells.contributions)
    known = Assumptions(counts="contributors", coalition=coalition)
    open_ = np.zeros(len(cells)), np.full(len(cells), np.inf)
    keys = np.arange(len(cells), dtype=np.uint64) if keys is None else keys
    return LikelyCounts(NoisyCounts(cells, *open_, needs, rules, known), noise, keys).read()


def seldom(chance: float, size: int = 3) -> PerturbationTable:
    """Most counts are published as they are."""
    rows = [NoiseInterval(0, 0, 1.0, 1.0)]
    for count in range(1, 12):
        noise = min(size, count)
        rows += [NoiseInterval(count, -noise, chance, chance), NoiseInterval(count, 0, 1 - 2 * chance, 1 - chance)]
        rows.append(NoiseInterval(count, noise, chance, 1.0))
    return PerturbationTable.of_intervals(rows)


def dense(cells: Cells, variance: Floats) -> Floats:
    """The variance that is left, by a pseudo-inverse."""
    seen = np.isfinite(variance)
    scaled = cells.equations.toarray() * np.sqrt(np.where(seen, variance, 1e8))
    share: Floats = 1 - (np.linalg.pinv(scaled, rcond=1e-10) @ scaled).diagonal()
    return share * np.where(seen, variance, 1e8)


@pytest.mark.parametrize("sizes", [(6, 5), (2, 2, 2), (3,)])
def test_least_squares_leave_the_share_that_the_sizes_say(sizes: tuple[int, ...]) -> None:
    cells = table(flat(*sizes), LARGE)
    left = left_variance(cells.equations, np.full(len(cells), 2.5), np.arange(len(cells)))
    assert left == pytest.approx(2.5 * np.prod([size / (size + 1) for size in sizes]), rel=1e-8)


def test_least_squares_with_hierarchies_empty_cells_unlike_noise_and_figures_that_are_missing() -> None:
    cells = table(two_levels(3, 3), np.array([4, 0, 7, 2, 9, 0, 0, 3]))
    variance = np.random.default_rng(3).uniform(0.5, 4, len(cells))
    every = np.arange(len(cells))
    assert left_variance(cells.equations, variance, every) == pytest.approx(dense(cells, variance), rel=1e-6)
    variance[0] = np.inf
    left = left_variance(cells.equations, variance, every)
    assert left == pytest.approx(dense(cells, variance), rel=1e-2)
    assert not left_variance(cells.equations, np.zeros(len(cells)), every).any()


def test_random_right_sides_are_as_near_as_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = table(flat(8, 9), LARGE)
    variance, every = np.full(len(cells), 2.5), np.arange(len(cells))
    exact = left_variance(cells.equations, variance, every)
    monkeypatch.setattr(noise_left, "_EXACT", 0)
    probed = left_variance(cells.equations, variance, every)
    off = np.abs(probed / exact - 1)
    assert off.max() > 0
    assert (off <= noise_left.band(exact, variance)).mean() > 0.9


def test_many_sensitive_cells_are_judged_as_few_are(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = table(flat(5, 7), np.array([1, 2, 9, 2, 8, 7]))
    noise = PerturbationTable.of_largest_entropy(3, 0.8)
    one_by_one = read(cells, noise)
    monkeypatch.setattr(noise_left, "_EXACT", 6)
    monkeypatch.setattr(likely_counts, "_NEAREST", 6)
    assert (read(cells, noise).by_sums == one_by_one.by_sums).all()


@pytest.mark.parametrize("dimensions", [flat(6, 5), flat(2, 2, 2, 2), two_levels(3, 4)])
def test_an_interval_misses_the_truth_seldom_and_all_of_them_together_often(dimensions: list[Dimension]) -> None:
    """Why what one figure makes likely is never put together with what others do."""
    cells, rng = table(dimensions, LARGE), np.random.default_rng(8)
    equations = cells.equations.toarray().astype(np.float64)
    fit = np.eye(len(cells)) - np.linalg.pinv(equations) @ equations
    left = left_variance(cells.equations, USUAL.hiding_variance(cells.total), np.arange(len(cells)))
    reach = np.sqrt(2 * np.log(20) * left)
    own, summed = [], []
    for _ in range(60):
        figures = cells.total + USUAL.noise(cells.total, rng.integers(0, 2**64, len(cells), dtype=np.uint64))
        low, high = USUAL.plausible(figures)
        own.append((low <= cells.total) & (cells.total <= high))
        summed.append(np.abs(fit @ figures - cells.total) <= reach)
    assert np.mean(own) > 0.95
    assert np.mean(summed) > 0.95
    assert np.all(own, axis=1).mean() < 0.8


@pytest.mark.parametrize("noise", [USUAL, PerturbationTable.of_largest_entropy(4, 2, 2)])
def test_usual_noise_hides_small_counts_of_usual_tables(noise: PerturbationTable) -> None:
    for dimensions in (flat(6, 5), flat(20, 15), two_levels(4, 5)):
        assert not read(table(dimensions, np.array([1, 9, 2, 30, 8, 12, 7])), noise).failing.any()


@pytest.mark.parametrize("chance", [1e-6, 0.001, 0.02])
def test_noise_of_next_to_no_chance_fails_by_the_figures(chance: float) -> None:
    cells = table(flat(6, 5), np.array([1, 9, 2, 30, 8, 12, 7]))
    for noise in (seldom(chance), PerturbationTable.of_largest_entropy(5, chance)):
        told = read(cells, noise)
        assert (told.by_figure == (cells.total < 3)).all()
        golden.words(told.says())


def test_noise_of_one_count_in_five_is_found_where_sums_hold() -> None:
    """Integer programs of the likeliest table name 97 % of such counts, and least squares 58 %: noise is far from
    normal."""
    cells = table(flat(6, 5), np.array([1, 9, 2, 30, 8, 12, 7]))
    told = read(cells, seldom(0.1))
    assert not told.by_figure.any()
    assert (told.by_sums == (cells.total < 3)).all()
    assert seldom(0.1).hiding_variance(np.array([30]))[0] < seldom(0.1).variance / 5
    assert USUAL.hiding_variance(np.array([1, 2, 30])) == pytest.approx(2.5)


def test_many_dimensions_tell_what_few_hide() -> None:
    counts = np.array([1, 9, 2, 30, 8, 12, 7, 11])
    told = read(table(flat(2, 2, 2, 2, 2), counts), USUAL)
    assert told.by_sums.any()
    assert not told.by_figure.any()
    assert told.left == pytest.approx(np.sqrt(2.5 * (2 / 3) ** 5), rel=1e-6)
    golden.words(told.says())


def test_the_only_part_of_a_sum_has_its_noise_and_averages_nothing() -> None:
    """Of each row one cell is not empty: row and cell have the same records, so the same figure."""
    cells = table(flat(4, 4), np.diag([2, 20, 30, 40]).ravel())
    apart = read(cells, USUAL)
    keys = np.unique(cells.total, return_inverse=True)[1].astype(np.uint64)
    once = read(cells, USUAL, keys=keys)
    assert once.left == pytest.approx(np.sqrt(2.5 * 4 / 5))
    assert apart.left < once.left / 1.5
    assert not once.failing.any()


def test_who_is_in_a_cell_that_became_0_knows_more_than_anybody() -> None:
    """A count of 1 becomes 0 under most keys, and of those that do, 4 is too seldom: a contributor knows 1, 2 or 3."""
    cells = table(flat(6, 5), np.array([1, 9, 30, 8, 12, 7]))
    told = read(cells, USUAL, n=4)
    assert (told.by_figure == (cells.total < 4)).all()
    assert not read(cells, USUAL, n=4, coalition=0).by_figure.any()
    assert not read(table(flat(6, 5), np.array([2, 9, 30, 8, 12, 7])), USUAL, n=4).failing.any()


def test_a_figure_that_would_be_proof_under_other_keys_fails_under_every_key() -> None:
    """2 becomes 0 under 6 keys of 100 and 3 under fewer, and what becomes 0 is 3 at most: of some cells this is met."""
    noise = PerturbationTable.of_largest_entropy(3, 1)
    cells = table(flat(6, 5), np.array([2, 9, 30, 8, 12, 7]))
    told = read(cells, noise, n=4)
    assert not told.by_figure.any()
    assert (told.by_proof == (cells.total < 4)).all()
    golden.words(told.says())
    assert not read(cells, noise, n=3).failing.any()
    assert not read(table(flat(6, 5), np.array([3, *[9] * 29])), noise, n=4).by_proof.any()  # 1 key in 185


def test_a_cell_without_a_figure_is_told_by_its_parts_alone() -> None:
    cells = table(flat(2), np.array([1, 1]))
    hidden = replace(cells, published=cells.total == 1)
    assert not read(hidden, USUAL).failing.any()
    told = read(hidden, PerturbationTable.of_largest_entropy(5, 0.001))
    assert told.failing.all()
