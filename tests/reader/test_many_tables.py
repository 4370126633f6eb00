"""Many generated tables of counts and magnitudes through the product: nobody learns what the rules forbid."""

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from tests.reader.play import MAGNITUDES, fewer_than, generated

SHAPES: list[dict[str, tuple[int, ...]]] = [
    {"a": (4,), "b": (4,)},
    {"a": (2, 3), "b": (3,)},
    {"a": (3,), "b": (3,), "c": (2,)},
    {"a": (3, 2, 2)},
    {"a": (2, 2), "b": (2, 2)},
]


Decorator = Callable[[Callable[..., None]], Callable[..., None]]


def drawn_from(*those: st.SearchStrategy[object]) -> Decorator:
    """Decorate a test of tables of any seed and shape, and of these."""
    every = given(st.integers(0, 10**6), st.sampled_from(SHAPES), *those)
    return lambda test: settings(suppress_health_check=list(HealthCheck))(every(test))


def tables_of_counts(most: int) -> Decorator:
    """Of 10 to `most` people."""
    skew = st.sampled_from([0.0, 0.5, 1.0])
    return drawn_from(st.integers(2, 5), st.integers(10, most), skew, st.integers(1, 2))


def tables_of_amounts(most: int) -> Decorator:
    """Of up to `most` records of firms."""
    return drawn_from(st.integers(10, most), st.sampled_from([0.0, 1.0]), st.booleans(), st.integers(1, 2))


def counts(seed: int, shape: dict[str, tuple[int, ...]], n: int, people: int, skew: float, together: int) -> None:
    try:
        played = generated(seed, shape, people, fewer_than(n), skew=skew, together=together)
    except DataError:
        return  # refused: nothing is published
    assert played.found().found == {}


def amounts(seed: int, shape: dict[str, tuple[int, ...]], records: int, skew: float, once: bool, together: int) -> None:
    firms = records if once else max(3, records // 3)
    try:
        played = generated(seed, shape, records, MAGNITUDES, firms=firms, skew=skew, together=together)
    except DataError:
        return
    assert played.found().found == {}


test_counts_of_few_people = pytest.mark.exhaustive(tables_of_counts(most=60)(counts))
test_amounts_of_few_records = pytest.mark.exhaustive(tables_of_amounts(most=30)(amounts))
test_counts_of_more_people = pytest.mark.exhaustive(tables_of_counts(most=80)(counts))
test_amounts_of_more_records = pytest.mark.longest(tables_of_amounts(most=60)(amounts))
