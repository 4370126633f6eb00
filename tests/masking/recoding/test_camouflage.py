"""Camouflage. The references print no figures of it; linear programming over the convex hull is independent of it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from sluice.ground.errors import PlanError
from sluice.masking.recoding.camouflage import Camouflage, Interval
from tests.golden import golden

QUERIES = ("sum", "mean", "minimum", "maximum", "count")


def truth_of(query: str, values: np.ndarray, limit: float) -> float:
    if query == "count":
        return float((values >= limit).sum())
    return float({"sum": np.sum, "mean": np.mean, "minimum": np.min, "maximum": np.max}[query](values))


def answer_of(camouflage: Camouflage, query: str, subset: np.ndarray, limit: float) -> Interval:
    if query == "count":
        return camouflage.count(subset, at_least=limit)
    answer: Interval = getattr(camouflage, query)(subset)
    return answer


def test_sums_are_answered_by_the_range_over_the_convex_hull() -> None:
    """For a linear query the answer is what linear programming finds over all convex combinations."""
    rng = np.random.default_rng(0)
    values = rng.lognormal(10, 1, 40)
    camouflage = Camouflage(values, 5000.0, rng, vectors=6)
    for _ in range(20):
        subset = np.flatnonzero(rng.random(40) < 0.3)
        sums = camouflage.vectors[:, subset].sum(axis=1)
        ends = [
            sign * linprog(sign * sums, A_eq=np.ones((1, 6)), b_eq=[1.0], bounds=(0, 1)).fun for sign in (1.0, -1.0)
        ]
        assert camouflage.sum(subset) == pytest.approx(ends, rel=1e-9)
        assert camouflage.mean(subset) == pytest.approx(np.array(ends) / len(subset), rel=1e-9)


def test_extremes_hold_the_range_over_the_convex_hull() -> None:
    """The smallest possible maximum is a linear programme; the answer may be wider, never narrower."""
    rng = np.random.default_rng(1)
    values = rng.normal(0, 10, 12)
    camouflage = Camouflage(values, 8.0, rng, vectors=4)
    everybody = np.arange(12)
    # minimise t, with t >= every value of the combination
    bound = np.column_stack([camouflage.vectors.T, -np.ones(12)])
    least = linprog([0, 0, 0, 0, 1], A_ub=bound, b_ub=np.zeros(12), A_eq=[[1, 1, 1, 1, 0]], b_eq=[1],
                    bounds=[(0, 1)] * 4 + [(None, None)]).fun  # fmt: skip
    low, high = camouflage.maximum(everybody)
    assert low <= least + 1e-9
    assert high == camouflage.vectors.max()
    assert camouflage.minimum(everybody).low == camouflage.vectors.min()


def test_a_small_case_by_hand() -> None:
    camouflage = Camouflage(np.array([10.0, 20.0, 30.0]), 4.0, np.random.default_rng(0), vectors=3)
    camouflage.vectors = np.array([[9.0, 18.0, 32.0], [13.0, 22.0, 28.0], [11.0, 19.0, 29.0]])
    camouflage.low, camouflage.high = np.array([9.0, 18.0, 28.0]), np.array([13.0, 22.0, 32.0])
    assert camouflage.sum(np.array([0, 1])) == pytest.approx((27.0, 35.0))
    assert camouflage.mean(np.array([True, True, True])) == pytest.approx((59.0 / 3, 63.0 / 3))
    assert camouflage.minimum(np.array([1, 2])) == (18.0, 22.0)
    assert camouflage.maximum(np.array([0, 1])) == (18.0, 22.0)
    assert camouflage.count(np.arange(3), at_least=20.0) == (1, 2)
    assert camouflage.count(np.arange(3), at_most=12.0) == (0, 1)
    assert camouflage.count(np.arange(3), at_least=9.0, at_most=22.0) == (2, 2)


@given(
    values=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=25),
    width=st.floats(0.01, 1e5),
    vectors=st.integers(3, 8),
    seed=st.integers(0, 10_000),
)
def test_no_answer_excludes_the_truth_or_any_camouflaging_vector(
    values: list[float], width: float, vectors: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    truth = np.array(values)
    camouflage = Camouflage(truth, width, rng, vectors)
    members = [truth, *camouflage.vectors, rng.dirichlet(np.ones(vectors)) @ camouflage.vectors]
    slack = 1e-9 * (np.abs(truth).sum() + width)
    for _ in range(8):
        subset = rng.random(len(truth)) < 0.5
        subset[rng.integers(len(truth))] = True
        limit = rng.choice(truth) + width * rng.normal()
        for query in QUERIES:
            low, high = answer_of(camouflage, query, subset, limit)
            assert low <= truth_of(query, truth[subset], limit) <= high
            for member in members:
                assert low - slack <= truth_of(query, member[subset], limit) <= high + slack
    # Each record by itself: what fits all answers spans the width, and the truth is inside it.
    assert np.ptp(camouflage.vectors, axis=0) == pytest.approx(np.full(len(truth), width), abs=1e-8, rel=1e-8)
    assert (camouflage.low <= truth).all()
    assert (truth <= camouflage.high).all()
    for record in range(len(truth)):
        alone = camouflage.sum(np.array([record]))
        assert alone.high - alone.low >= width * (1 - 1e-6) - 1e-8


def test_the_truth_is_a_convex_combination_and_not_the_middle() -> None:
    rng = np.random.default_rng(3)
    values = rng.normal(0, 100, 200)
    camouflage = Camouflage(values, 50.0, rng, vectors=5)
    system = np.vstack([(camouflage.vectors - values).T, np.ones(5)])
    weights, *_ = np.linalg.lstsq(system, np.append(np.zeros(200), 1.0), rcond=None)
    assert weights @ camouflage.vectors == pytest.approx(values, abs=1e-8)
    assert weights.min() > 0
    place = (values - camouflage.low) / 50.0
    assert np.quantile(place, 0.9) - np.quantile(place, 0.1) > 0.2
    assert np.abs(place - 0.5).mean() > 0.05


def test_the_stated_limit_who_knows_one_value_less_than_vectors_finds_all() -> None:
    """Known records give equations for the weights: four of them and the sum of the weights settle five vectors."""
    rng = np.random.default_rng(4)
    values = rng.normal(0, 100, 30)
    camouflage = Camouflage(values, 50.0, rng, vectors=5)
    system = np.vstack([camouflage.vectors[:, :4].T, np.ones(5)])
    weights = np.linalg.solve(system, np.append(values[:4], 1.0))
    assert weights @ camouflage.vectors == pytest.approx(values, abs=1e-6)
    # With one equation less the fifth record is still uncertain.
    ends = [
        sign * linprog(sign * camouflage.vectors[:, 4], A_eq=system[1:], b_eq=np.append(values[1:4], 1.0)).fun
        for sign in (1.0, -1.0)
    ]
    assert ends[1] - ends[0] > 0.1


def test_widths_of_their_own_and_narrow_means() -> None:
    rng = np.random.default_rng(0)
    values = rng.lognormal(10, 1, 10_000)
    widths = np.repeat([1e3, 5e3], 5000)  # two classes of records that everybody can tell apart
    camouflage = Camouflage(values, widths, rng)
    assert camouflage.high - camouflage.low == pytest.approx(widths)
    mean = camouflage.mean(np.ones(10_000, dtype=bool))
    assert mean.high - mean.low < 0.01 * values.mean()


def test_the_same_query_has_the_same_answer() -> None:
    camouflage = Camouflage(np.arange(30.0), 5.0, np.random.default_rng(0))
    mask = np.arange(30) % 3 == 0
    first = camouflage.sum(mask)
    camouflage.maximum(np.arange(4))
    assert camouflage.sum(mask) == first == camouflage.sum(np.flatnonzero(mask)[::-1])


def test_one_record_and_equal_records() -> None:
    alone = Camouflage(np.array([7.0]), 2.0, np.random.default_rng(0))
    assert alone.sum(np.array([0])) == pytest.approx(alone.minimum(np.array([0])))
    assert alone.minimum(np.array([0])) == alone.maximum(np.array([0]))
    equal = Camouflage(np.zeros(50), 1.0, np.random.default_rng(0))
    assert len(set(equal.low)) == 50  # equal values do not show as equal


@pytest.mark.parametrize(
    ("values", "width", "vectors"),
    [([], 1.0, 3), ([1.0, np.nan], 1.0, 3), ([1.0], 0.0, 3), ([1.0], 1.0, 2), ([1e18], 1.0, 3)],
)
def test_what_camouflages_nothing_is_refused(values: list[float], width: float, vectors: int) -> None:
    with golden.raises(PlanError):
        Camouflage(np.array(values), width, np.random.default_rng(0), vectors)


@pytest.mark.parametrize("subset", [np.array([], dtype=int), np.zeros(4, dtype=bool), [True], [4], [-1], [1, 1], [0.5]])
def test_subsets_that_are_none_are_refused(subset: np.ndarray | list[float]) -> None:
    camouflage = Camouflage(np.arange(4.0), 1.0, np.random.default_rng(0))
    with golden.raises(PlanError):
        camouflage.sum(np.array(subset))
