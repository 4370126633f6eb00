"""Cells given by all their contributions, for tests that judge them at once and one by one."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from sluice.tabular.model.cells import Contributions

LARGE = 2**53 - 1  # the largest total that a table may hold

cells = st.lists(st.integers(0, 10**12), min_size=1, max_size=8)
many_cells = st.lists(
    st.one_of(
        cells, st.lists(st.integers(0, 12), min_size=1, max_size=8), st.lists(st.just(0), min_size=1, max_size=4)
    ),
    min_size=1,
    max_size=20,
)
percents = st.one_of(st.integers(1, 100), st.integers(100, 10_000).map(lambda hundredths: hundredths / 100))


def contributions_of(given: Sequence[Sequence[int]], kept: int = 8) -> Contributions:
    """What the rules may look at of cells of at most `kept` contributions each."""
    largest = np.zeros((len(given), kept), dtype=np.int64)
    for row, cell in enumerate(given):
        largest[row, : len(cell)] = sorted(cell, reverse=True)
    return Contributions(largest.sum(axis=1), np.array([len(cell) for cell in given], dtype=np.int64), largest)


def lacking(share: Fraction, part: int, rest: int) -> int:
    """share * part - rest, rounded up, 0 at least; by Python's fractions."""
    short = share * part - rest
    return max(0, -(-short.numerator // short.denominator))
