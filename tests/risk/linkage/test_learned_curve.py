"""Learned curves: pieces, steps and bent lines of one known number, beside what a straight line tells."""

import numpy as np
import pytest

from sluice.risk.linkage.learned_curve import LearnedCurves
from sluice.risk.linkage.mapped_columns import Column

RNG = np.random.default_rng(2)
X = RNG.normal(size=(800, 2))
ROWS, JUDGED = np.arange(0, 800, 2), np.arange(1, 800, 2)
KNOWN = (Column("a", X[:, 0], True), Column("label", np.zeros(800), False), Column("b", X[:, 1], True))


def told(released: np.ndarray) -> tuple[LearnedCurves | None, np.ndarray]:
    y = (released - released.mean(axis=0)) / released.std(axis=0)
    return LearnedCurves.learn(KNOWN, y[ROWS], y[ROWS], ROWS), y


@pytest.mark.parametrize(
    ("made", "noise", "most"),
    [
        (X[:, 1] % 0.5, 0.0, 0.3),
        (np.abs(X[:, 1]), 0.0, 0.05),
        (np.sin(4 * X[:, 1]), 1.0, 0.75),
        ((X[:, 1] + X[:, 0]) % 2, 0.0, 0.3),
        (np.abs(X[:, 1] - X[:, 0]), 0.0, 0.05),
    ],
    ids=["teeth", "folded", "waves in noise", "teeth of a sum", "a difference without its sign"],
)
def test_a_number_is_told_by_the_one_known_number_or_the_two_it_comes_of(
    made: np.ndarray, noise: float, most: float
) -> None:
    made = made + noise * made.std() * RNG.normal(size=800)
    curves, y = told(np.column_stack([made, RNG.normal(size=800)]))
    assert curves is not None
    missed = ((y - curves.of(np.arange(800)))[JUDGED] ** 2).mean(axis=0)
    assert missed[0] < most
    assert curves.of(JUDGED)[:, 1].tolist() == [0.0] * len(JUDGED)  # noise has no curve
    assert ((curves.left**2).mean(axis=0) < [most + 0.1, 1.2]).all()  # about what is missed of others


def test_who_lacks_the_value_is_expected_in_the_middle() -> None:
    values = X.copy()
    values[JUDGED[:3], 1] = np.nan
    released = (X[:, [1]] % 0.5) / 0.15
    curves = LearnedCurves.learn((Column("b", values[:, 1], True),), released[ROWS], released[ROWS], ROWS)
    assert curves is not None
    assert curves.of(JUDGED[:3]).tolist() == [[0.0]] * 3


def test_noise_has_no_curves() -> None:
    assert told(RNG.normal(size=(800, 4)))[0] is None
    assert LearnedCurves.learn((), np.ones((400, 1)), np.ones((400, 1)), ROWS) is None


@pytest.mark.filterwarnings("error")
def test_a_number_that_is_missing_for_all_who_are_known_tells_nothing_and_warns_nobody() -> None:
    rng = np.random.default_rng(3)
    told, unknown = rng.normal(size=60), np.full(60, np.nan)
    y = (told - told.mean())[:, None]
    known = [Column("told", told, True), Column("unknown", unknown, True)]
    curves = LearnedCurves.learn(known, y, y, np.arange(60))
    assert curves is not None
    assert np.abs(curves.left).mean() < 0.2
