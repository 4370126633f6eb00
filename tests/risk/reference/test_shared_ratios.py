"""Ratios that records have in common tell who belongs together; those of rates and of round numbers do not."""

import numpy as np
import pytest

from sluice.ground.arrays import FloatArray, IntArray
from sluice.risk.reference.shared_ratios import belong_together, shared_ratios

N = 900
CLUSTER = np.arange(N) // 15
REGION = CLUSTER // 10


def found(numbers: dict[str, FloatArray], others: list[IntArray]) -> list[tuple[str, ...]]:
    return [each.columns for each in shared_ratios(numbers, others, np.random.default_rng(1))]


def replicates(rng: np.random.Generator, kind: str) -> dict[str, FloatArray]:
    """Eight replicates of weights that were all masked by one factor a record."""
    weight = 100 * rng.lognormal(0, 0.7, N)
    by_cluster = {
        "balanced": lambda: np.where(rng.random(60) < 0.5, 0.5, 1.5),
        "bootstrap": lambda: rng.poisson(1, 60) * rng.uniform(0.9, 1.1, 60),
    }[kind]
    return {"weight": weight} | {f"r{at}": weight * by_cluster()[CLUSTER] for at in range(8)}


@pytest.mark.parametrize("kind", ["balanced", "bootstrap"])
def test_replicate_weights_show_clusters(kind: str) -> None:
    rng = np.random.default_rng(2)
    numbers = replicates(rng, kind)
    (shared,) = shared_ratios(numbers, [], rng)
    assert shared.columns == (*numbers,)
    of = {(int(group), int(cluster)) for group, cluster in zip(shared.group, CLUSTER, strict=True)}
    assert len(of) == len({cluster for _, cluster in of}) == 60
    order = rng.permutation(N)  # of a source in no order, the region tells
    moved = {name: values[order] for name, values in numbers.items()}
    assert found(moved, [REGION[order]]) == [(*numbers,)]
    assert not found(moved, [])


def test_each_weight_drawn_by_itself_shows_nothing() -> None:
    rng = np.random.default_rng(3)
    assert not found(
        {name: values * rng.lognormal(0, 0.1, N) for name, values in replicates(rng, "balanced").items()}, []
    )


def test_rates_and_round_numbers_are_no_clusters() -> None:
    rng = np.random.default_rng(4)
    pay = np.sort(np.round(rng.lognormal(8, 1, N), -1))  # in the order of the source
    rate = np.searchsorted(np.quantile(pay, [0.3, 0.6, 0.9]), pay) * 0.05 + 0.1
    assert not found({"pay": pay, "tax": pay * rate, "hours": rng.integers(1, 60, N) * 1.0}, [REGION])
    assert not found({"pay": rng.integers(1, 9, N) * 100.0, "rent": rng.integers(1, 9, N) * 10.0}, [REGION])


def test_equal_numbers() -> None:
    rng = np.random.default_rng(5)
    values = rng.permutation(60)[CLUSTER] + 100.0
    assert belong_together(CLUSTER, [values], [], rng)
    assert not belong_together(CLUSTER, [CLUSTER + 1.0], [], rng)  # the source is in its order
    some = rng.permutation(N)
    assert not belong_together(CLUSTER[some], [values[some]], [np.zeros(N, np.int64)], rng)
