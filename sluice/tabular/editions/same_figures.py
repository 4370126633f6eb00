"""Cells of two publications that are the same under other names: whoever compares their figures finds out.

Codes, dimensions, variables and units may have other names; totals of the same records have not. The measure is this
project's own.
"""

from collections.abc import Iterator

import numpy as np

from sluice.tabular.model.cells import Booleans, Cells, Floats, Integers

_LEAST = 100  # units: smaller figures agree by chance
_FEWEST = 5  # figures that agree, below which nobody would conclude anything
_MOST = 0.5  # of the figures of the smaller of two tables
_BY_CHANCE = 1e-6  # of so many that agree, below which chance does not explain it
_SCALES = 10.0 ** np.arange(-9, 10)  # euro in place of thousand euro


def same_figures(earlier: Cells, now: Cells, of_earlier: Booleans, of_now: Booleans) -> int:
    """How many figures of two tables agree, up to one factor, of those where most do; 0 where there are none.

    of_earlier, of_now : shape (e,) and (n,), the cells that are compared, which names do not match already
    cost               : O(tables of both, times 20 factors, times c log c of their cells)
    """
    found = 0
    tables = list(_figures(now, of_now))
    for before in _figures(earlier, of_earlier):
        for after in tables:
            if min(len(before), len(after)) >= _FEWEST:
                factors = {*_SCALES, float(after.max() / before.max())}
                found = max(found, *(_agreeing(before, after, factor) for factor in factors))
    return found


def _figures(cells: Cells, which: Booleans) -> Iterator[Integers]:
    """The different large figures of each table of the cells, where a table is all that is not at the same totals."""
    _, table = np.unique(cells.codes > 0, axis=0, return_inverse=True)
    size = np.abs(cells.total)
    for each in range(int(table.max(initial=-1)) + 1):
        figures: Integers = np.unique(size[(table.ravel() == each) & which & cells.published & (size >= _LEAST)])
        yield figures


def _agreeing(before: Integers, after: Integers, factor: float) -> int:
    """How many figures agree under this factor; 0 where chance explains it, or most do not."""
    from scipy.stats import poisson  # takes time to load

    scaled = before * factor
    scaled = scaled[scaled >= _LEAST]
    if len(scaled) < _FEWEST:
        return 0
    at = np.searchsorted(after, scaled)
    near = np.stack([after[np.maximum(at - 1, 0)], after[np.minimum(at, len(after) - 1)]])
    tolerance = 0.5 + 1e-9 * scaled
    agree = int((np.abs(near - scaled) <= tolerance).any(axis=0).sum())
    if agree < max(_FEWEST, _MOST * min(len(before), len(after))):
        return 0
    # How densely figures of that size lie says how often one is met by chance.
    around = np.searchsorted(after, 1.25 * scaled) - np.searchsorted(after, 0.8 * scaled)
    chance: Floats = np.minimum(around * 2 * tolerance / (0.45 * scaled), 1.0)
    return agree if float(poisson.sf(agree - 1, chance.sum())) < _BY_CHANCE else 0
