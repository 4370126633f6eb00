"""A guess at how a file was masked gives something back where it is right, and nothing elsewhere."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from sluice.ground.variables import Kind, Variable
from sluice.risk.transparency.attack import Pairs
from sluice.risk.transparency.masking_traces import Trace, traces

N, NAMES = 600, tuple("abcdef")
DRAWS = np.random.default_rng(123_456_789).normal(size=(4, N, len(NAMES)))
VALUES = (DRAWS[0] + DRAWS[0, :, :1]).round(3)


def found(before: NDArray[np.float64], after: NDArray[np.float64]) -> dict[str, Trace]:
    original, masked = pd.DataFrame(before, columns=NAMES), pd.DataFrame(after, columns=NAMES)
    variables = {name: Variable(name=name, kind=Kind.CONTINUOUS) for name in NAMES}
    pairs = Pairs(original, variables, original, masked, variables, np.arange(N), np.random.default_rng(0))
    return {trace.method: trace for trace in traces(pairs)}


def shares(trace: Trace) -> tuple[float, float]:
    (leak,) = trace.leaks
    assert leak.measured.baseline is not None
    return leak.measured.value, leak.measured.baseline


SHARED = 3 * DRAWS[1][np.arange(N) % 40]


@pytest.mark.parametrize(
    "after", [VALUES + SHARED, (VALUES + SHARED) / np.sqrt(10), VALUES - SHARED], ids=["added", "shrunk", "subtracted"]
)
def test_changes_that_several_people_share(after: NDArray[np.float64]) -> None:
    trace = found(VALUES, after.round(3))["shared changes"]
    right, anyway = shares(trace)
    assert right > 0.9
    assert anyway < 0.2


def test_factors_that_several_people_share() -> None:
    before = np.exp(VALUES).round(3) + 1
    assert shares(found(before, (before * np.exp(SHARED / 6)).round(3))["shared changes"])[0] > 0.5


@pytest.mark.parametrize(
    "masking",
    [
        lambda values: np.column_stack([np.roll(column, 50 + 9 * j) for j, column in enumerate(values.T)]),
        lambda values: pd.DataFrame(values).rolling(8, min_periods=1).mean().to_numpy(),
    ],
    ids=["rolled", "moving average"],
)
def test_values_of_other_rows(masking: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> None:
    right, anyway = shares(found(VALUES, masking(VALUES).round(3))["values of other rows"])
    assert right > 0.8
    assert anyway < 0.3


def test_what_is_mixed_with_another_record() -> None:
    others = VALUES[np.random.default_rng(77).permutation(N)]
    right, anyway = shares(found(VALUES, (0.3 * VALUES + 0.7 * others).round(3))["mixtures"])
    assert right > 0.95
    assert anyway < 0.01


def test_noise_and_orders_of_seeds_that_anybody_tries() -> None:
    noise = np.random.RandomState(42).normal(size=VALUES.shape)
    right, anyway = shares(found(VALUES, ((VALUES + 3 * noise) / np.sqrt(10)).round(3))["a guessed seed"])
    assert right > 0.9 > 0.3 > anyway
    masked = pd.DataFrame(VALUES).apply(lambda column: column.sample(frac=1, random_state=column.name).to_numpy())
    right, anyway = shares(found(VALUES, masked.to_numpy())["a guessed order"])
    assert right == 1 > 0.3 > anyway


def test_ranks_that_are_exchanged_alike_in_all_columns() -> None:
    def exchanged(orders: list[int]) -> NDArray[np.float64]:
        made = VALUES.copy()
        for column, seed in zip(made.T, orders, strict=True):
            window = np.arange(N) + np.random.default_rng(seed).uniform(0, 0.3 * N, N)
            column[column.argsort(kind="stable")] = np.sort(column)[window.argsort()]
        return made

    right, anyway = shares(found(VALUES, exchanged([1] * len(NAMES)))["one order of ranks"])
    assert right == 1 > 0.2 > anyway
    assert found(VALUES, exchanged([*range(len(NAMES))])) == {}


def permuted(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.random.default_rng(987_654_321).permuted(values, axis=0)


@pytest.mark.parametrize(
    "masking",
    [
        lambda values: values,
        lambda values: values + DRAWS[2],
        lambda values: (values + 2 * DRAWS[2]).round(1),
        lambda values: (values + 3 * DRAWS[2] @ np.linalg.cholesky(np.cov(values.T)).T) / np.sqrt(10),
        permuted,
        lambda values: values.round(0),
        lambda values: np.minimum(values, 1),
        lambda values: values.reshape(-1, 5, len(NAMES)).mean(axis=1).repeat(5, axis=0),
    ],
    ids=["none", "noise", "strong noise", "shrunk noise", "permuted", "rounded", "top-coded", "microaggregated"],
)
@pytest.mark.parametrize(
    "before",
    [VALUES[VALUES[:, 0].argsort()], (3 * DRAWS[0].cumsum(axis=0)).round(0)],
    ids=["sorted", "time series of whole numbers"],
)
def test_what_is_masked_otherwise_leaves_no_trace(
    masking: Callable[[NDArray[np.float64]], NDArray[np.float64]], before: NDArray[np.float64]
) -> None:
    assert found(before, masking(before).round(3)) == {}
