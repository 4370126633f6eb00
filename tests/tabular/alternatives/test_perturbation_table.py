import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.optimize import minimize

from sluice.ground.errors import DataError
from sluice.tabular.alternatives.perturbation_table import NoiseInterval, PerturbationTable
from tests.golden import golden


def moments(table: PerturbationTable) -> tuple[np.ndarray, np.ndarray]:
    noise = np.arange(-table.maximum, table.maximum + 1)
    return table.probabilities @ noise, table.probabilities @ noise**2


def entropy(share: np.ndarray) -> float:
    return -float(sum(p * np.log(p) for p in share if p > 0))


def test_the_row_of_large_counts_in_the_vignette_of_ptable() -> None:
    """R package ptable 1.0.0, vignette "Introduction to the ptable-Package", `str(create_cnt_ptable(D = 2, V = 1))`.

    Its row of 2 has p = 0.0638 for the noise -2 and 0.383 for 0. Its row of 1 (0.3665, 0.3665, 0.1676, 0.0995) is not
    reproduced: it asks for probabilities that fall from the mode, and has a variance of 0.932 instead of 1.
    """
    row = PerturbationTable.of_largest_entropy(2, 1).probabilities[2]
    assert row[0] == pytest.approx(0.0638, abs=5e-5)
    assert row[2] == pytest.approx(0.383, abs=5e-4)
    assert row == pytest.approx(row[::-1], abs=1e-12)


@pytest.mark.parametrize(("maximum", "variance", "threshold"), [(2, 1, 0), (3, 2, 1), (5, 3, 2), (4, 2.5, 0)])
def test_as_a_general_solver_has_it(maximum: int, variance: float, threshold: int) -> None:
    table = PerturbationTable.of_largest_entropy(maximum, variance, threshold)
    noise = np.arange(-maximum, maximum + 1)
    for count in range(1, len(table.probabilities)):
        allowed = (count + noise == 0) | (count + noise > threshold)
        values = noise[allowed].astype(float)
        solution = minimize(
            lambda p: float((p * np.log(p)).sum()),
            np.full(len(values), 1 / len(values)),
            jac=lambda p: np.log(p) + 1,
            method="SLSQP",
            bounds=[(1e-12, 1)] * len(values),
            constraints=[
                {"type": "eq", "fun": lambda p: p.sum() - 1},
                {"type": "eq", "fun": lambda p, v=values: p @ v},
                {"type": "eq", "fun": lambda p, v=values: p @ v**2 - variance},
            ],
            options={"ftol": 1e-14, "maxiter": 500},
        )
        ours = table.probabilities[count]
        assert (ours[~allowed] == 0).all()
        assert ours[allowed] == pytest.approx(solution.x, abs=2e-5)
        assert entropy(ours) >= -solution.fun - 1e-8


@given(st.integers(1, 12), st.integers(0, 4), st.floats(0.02, 0.98))
@example(9, 4, 0.9179578707630529)  # the last steps change the convex function by less than it is rounded by
def test_the_conditions_hold_for_every_count(maximum: int, threshold: int, at: float) -> None:
    largest = threshold  # of the counts from 1 to the threshold, each must reach 0 and something above the threshold
    least = max((count * (threshold + 1 - count) for count in range(1, largest + 1)), default=0)
    most = maximum  # of the count 1, which has noise of -1 at least
    variance = least + at * (most - least)
    if maximum <= threshold or least >= most:
        with pytest.raises(DataError):
            PerturbationTable.of_largest_entropy(maximum, least + (most - least) / 2 if least < most else 1, threshold)
        return
    table = PerturbationTable.of_largest_entropy(maximum, variance, threshold)
    mean, second = moments(table)
    assert mean == pytest.approx(np.zeros(len(mean)), abs=1e-8)
    assert second[1:] == pytest.approx(np.full(len(mean) - 1, variance), rel=1e-8)
    assert table.probabilities.sum(axis=1) == pytest.approx(np.ones(len(mean)), abs=1e-12)
    assert (table.probabilities >= 0).all()
    counts, at_noise = np.nonzero(table.probabilities)
    result = counts + at_noise - maximum
    assert ((result == 0) | (result > threshold)).all()
    assert table.probabilities[0, maximum] == 1
    assert table.probabilities[-1] == pytest.approx(table.probabilities[-1, ::-1], abs=1e-8)


def test_the_lookup_draws_as_the_table_says() -> None:
    """Every key once on a fine grid: the shares are the probabilities, to the width of the grid."""
    table = PerturbationTable.of_largest_entropy(5, 3, 2)
    grid = 2**16
    keys = np.arange(grid, dtype=np.uint64) << np.uint64(48)
    for count, row in enumerate(table.probabilities):
        noise = table.noise(np.full(grid, count), keys)
        shares = np.bincount(noise + 5, minlength=11) / grid
        assert shares == pytest.approx(row, abs=1.01 / grid)
        assert (shares[row == 0] == 0).all()
    large = table.noise(np.full(grid, 10**9), keys)
    assert (large == table.noise(np.full(grid, len(table.probabilities) - 1), keys)).all()


def test_the_first_and_the_last_key_get_noise_that_is_possible() -> None:
    table = PerturbationTable.of_largest_entropy(3, 2, 1)
    ends = np.array([0, 2**64 - 1], dtype=np.uint64)
    for count in range(20):
        results = count + table.noise(np.full(2, count), ends)
        assert ((results == 0) | (results > 1)).all()
    assert (table.noise(np.zeros(2, dtype=np.int64), ends) == 0).all()


@pytest.mark.parametrize(("maximum", "variance", "threshold"), [(1, 0.5, 0), (3, 2, 1), (5, 3, 2)])
def test_origins_are_the_counts_that_can_be_published_so(maximum: int, variance: float, threshold: int) -> None:
    table = PerturbationTable.of_largest_entropy(maximum, variance, threshold)
    last = len(table.probabilities) - 1
    reached: dict[int, list[int]] = {}
    for count in range(60):
        for at in np.flatnonzero(table.probabilities[min(count, last)]):
            reached.setdefault(count + int(at) - maximum, []).append(count)
    figures = np.array([figure for figure in sorted(reached) if figure < 50])
    low, high = table.origins(figures)
    assert low.tolist() == [min(reached[figure]) for figure in figures]
    assert high.tolist() == [max(reached[figure]) for figure in figures]
    for impossible in [-1, *range(1, threshold + 1)]:
        with golden.raises(DataError):
            table.origins(np.array([impossible]))


@pytest.mark.parametrize("chance", [1e-6, 0.001, 0.02])
def test_large_noise_of_next_to_no_chance_hides_nothing(chance: float) -> None:
    """Nearly every count is published as it is: who reads 2 knows it, whatever else could have become 2."""
    rows = [NoiseInterval(0, 0, 1.0, 1.0)]
    for count in range(1, 9):
        noise = min(3, count)
        rows += [NoiseInterval(count, -noise, chance, chance), NoiseInterval(count, 0, 1 - 2 * chance, 1 - chance)]
        rows.append(NoiseInterval(count, noise, chance, 1.0))
    small = np.array([1, 2, 4])
    for table in (PerturbationTable.of_intervals(rows), PerturbationTable.of_largest_entropy(5, chance)):
        low, high = table.plausible(small)
        assert low.tolist() == high.tolist() == small.tolist()
        assert (np.subtract(*table.origins(small)[::-1]) > 2).all()


@pytest.mark.parametrize("asked", [(4, 2, 2), (5, 3, 2), (4, 3, 2), (3, 2, 1), (8, 6, 4)])
def test_of_usual_tables_a_0_may_well_be_the_least_count_that_is_published(asked: tuple[int, int, int]) -> None:
    table = PerturbationTable.of_largest_entropy(*asked)
    assert table.plausible(np.array([0]))[1] > table.threshold


def test_the_least_and_the_largest_variance_leave_no_choice() -> None:
    assert PerturbationTable.of_largest_entropy(3, 3).probabilities[1] == pytest.approx([0, 0, 0.75, 0, 0, 0, 0.25])
    tight = PerturbationTable.of_largest_entropy(5, 2, 2).probabilities
    assert tight[1] == pytest.approx([0, 0, 0, 0, 2 / 3, 0, 0, 1 / 3, 0, 0, 0])
    assert PerturbationTable.of_largest_entropy(1, 1).probabilities[1] == pytest.approx([0.5, 0, 0.5])


@pytest.mark.parametrize("asked", [(2, 2.5), (5, 1, 2), (2, 1, 5), (0, 1), (2, float("nan")), (2, 1, -1)])
def test_refusals(asked: tuple[float, ...]) -> None:
    with golden.raises(DataError):
        PerturbationTable.of_largest_entropy(*asked)  # type: ignore[arg-type]
