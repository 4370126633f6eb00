"""Orders are found within classes, bounds are those of the people next to a record, and chance keeps no order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.risk.reference.order_within_classes import Order, Part, between, orders_of

N = 1_500
RNG = np.random.default_rng(7)
VALUE = RNG.integers(0, 60, N)
WORK, SEX = RNG.integers(0, 9, N), RNG.integers(0, 2, N)
ALL = np.arange(N)


def part(name: str, codes: np.ndarray) -> Part:
    _, found = np.unique(codes, return_inverse=True)
    return Part(name, found, int(found.max()) + 1, whole=True)


def scale(of: np.ndarray) -> Part:
    """A scale of each class's own, upwards in some and downwards in others."""
    slope = RNG.uniform(0.5, 2, int(of.max()) + 1) * RNG.choice([-1, 1], int(of.max()) + 1)
    return part("scale", np.round(slope[of] * VALUE + RNG.normal(0, 200, len(slope))[of], 6))


OTHERS = [part("work", WORK), part("sex", SEX), part("noise", RNG.permutation(N))]


@pytest.mark.parametrize(
    ("of", "names"), [(WORK * 0, ()), (WORK, ("work",)), (SEX, ("sex",)), (2 * WORK + SEX, ("sex", "work"))]
)
def test_the_classes_are_found(of: np.ndarray, names: tuple[str, ...]) -> None:
    best = orders_of(VALUE, True, [scale(of), *OTHERS], ["scale"], ALL, np.random.default_rng(1))[0]
    assert (best.column.column, tuple(sorted(best.columns[1:]))) == ("scale", names)
    assert best.steps < 0.3


def test_chance_keeps_no_order() -> None:
    assert not orders_of(VALUE, True, OTHERS, [], ALL, np.random.default_rng(1))
    assert not orders_of(VALUE, False, OTHERS, [], ALL, np.random.default_rng(1))


def test_an_order_of_what_is_known_is_no_news() -> None:
    parts = [scale(WORK), *OTHERS]
    assert orders_of(VALUE, True, parts, ["work"], ALL, np.random.default_rng(1))
    assert not orders_of(VALUE, True, parts, ["noise"], ALL, np.random.default_rng(1))


def test_bounds_by_hand() -> None:
    """Two classes, the second downwards; at an end nothing bounds a value on the side on which the class goes on."""
    values = np.array([1, 3, 3, 5, 9, 7, 4, 4])
    order = Order(part("scale", np.array([0, 1, 2, 3, 0, 1, 2, 3])), (part("of", np.repeat([0, 1], 4)),), 0.0)
    learned = np.array([0, 1, 3, 4, 5, 7])
    low, high = between(order, order.labels, values, learned, np.array([2, 6]), 1)
    assert (low.tolist(), high.tolist()) == ([3, 4], [5, 7])
    low, high = between(order, order.labels, values, np.array([1, 2, 4, 5, 6]), np.array([0, 3, 7]), 1)
    assert (low.tolist(), high.tolist()) == ([0, 3, 0], [3, 9, 4])


@given(st.integers(0, 10_000), st.sampled_from([1, 2, 5]), st.booleans())
def test_bounds_hold_for_whatever_keeps_the_order(seed: int, near: int, down: bool) -> None:
    rng = np.random.default_rng(seed)
    values, of = rng.integers(0, 12, 120), rng.integers(0, 3, 120)
    order = Order(part("scale", -values if down else values), (part("of", of),), 0.0)
    known = rng.random(120) < 0.6
    low, high = between(order, order.labels, values, np.flatnonzero(known), np.flatnonzero(~known), near)
    inside = (low <= values[~known]) & (values[~known] <= high)
    assert inside[_is_clear(values, of, known)[~known]].all()


def _is_clear(values: np.ndarray, of: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Whose class has four known values: of fewer nobody sees which way it goes."""
    return np.array([len(np.unique(values[known & (of == each)])) > 3 for each in of])
