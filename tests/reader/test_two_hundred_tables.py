"""Two hundred generated tables of counts and magnitudes through the product: nobody learns what the rules forbid."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sluice.errors import DataError
from tests.reader.play import MAGNITUDES, fewer_than, generated

SHAPES: list[dict[str, tuple[int, ...]]] = [
    {"a": (4,), "b": (4,)},
    {"a": (2, 3), "b": (3,)},
    {"a": (3,), "b": (3,), "c": (2,)},
    {"a": (3, 2, 2)},
    {"a": (2, 2), "b": (2, 2)},
]
EACH = settings(max_examples=100, suppress_health_check=list(HealthCheck))


@pytest.mark.slow
@EACH
@given(
    st.integers(0, 10**6),
    st.sampled_from(SHAPES),
    st.integers(2, 5),
    st.integers(10, 80),
    st.sampled_from([0.0, 0.5, 1.0]),
    st.integers(1, 2),
)
def test_counts(seed: int, shape: dict[str, tuple[int, ...]], n: int, people: int, skew: float, together: int) -> None:
    try:
        played = generated(seed, shape, people, fewer_than(n), skew=skew, together=together)
    except DataError:
        return  # refused: nothing is published
    assert played.found().found == {}


@pytest.mark.slow
@EACH
@given(
    st.integers(0, 10**6),
    st.sampled_from(SHAPES),
    st.integers(10, 60),
    st.sampled_from([0.0, 1.0]),
    st.booleans(),
    st.integers(1, 2),
)
def test_magnitudes(
    seed: int, shape: dict[str, tuple[int, ...]], records: int, skew: float, once: bool, together: int
) -> None:
    firms = records if once else max(3, records // 3)
    try:
        played = generated(seed, shape, records, MAGNITUDES, firms=firms, skew=skew, together=together)
    except DataError:
        return
    assert played.found().found == {}
