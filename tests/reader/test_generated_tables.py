"""Nobody who has read the files and the documents of a generated table learns what its rules forbid."""

from typing import Any

import numpy as np
import pytest

from tests.reader.knowledge import told_primary
from tests.reader.play import MAGNITUDES, Played, fewer_than, generated

SPARSE, DEEP = {"a": (4, 4), "b": (5,), "c": (3,)}, {"a": (4, 4), "b": (4, 3)}
MOSTLY_SENSITIVE = {"a": (6,), "b": (5, 3)}


def more(*seeds: int) -> list[Any]:
    """Tables that take longer and show no more."""
    return [pytest.param(seed, marks=pytest.mark.exhaustive) for seed in seeds]


def sparse(n: int) -> Played:
    return generated(n, SPARSE, 400, fewer_than(n))


def mostly_sensitive(n: int) -> Played:
    return generated(10 + n, MOSTLY_SENSITIVE, 120, fewer_than(n), skew=0.5)


@pytest.mark.parametrize("n", [2, *more(3, 4, 5)])
def test_sparse_counts(n: int) -> None:
    assert sparse(n).found().found == {}


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_mostly_sensitive_counts(n: int) -> None:
    assert mostly_sensitive(n).found().found == {}


@pytest.mark.parametrize("seed", more(21, 22, 23))
def test_magnitudes(seed: int) -> None:
    assert generated(seed, SPARSE, 500, MAGNITUDES, firms=500).found().found == {}


@pytest.mark.parametrize("seed", [31, 33, *more(32)])
def test_magnitudes_of_firms_with_several_records(seed: int) -> None:
    assert generated(seed, DEEP, 300, MAGNITUDES, firms=120).found().found == {}


def test_all_suppressed_cells_have_one_word() -> None:
    played = mostly_sensitive(3)
    assert not played.published.tells_status
    assert not told_primary(played.published).any()
    assert len(np.unique(list(played.published.word))) == 2
