"""An earlier table under other names: which dimension and code is which, or how many of its figures are the same.

Codes, dimensions, variables and units may have other names; totals of the same records have not, and who compares them
finds out. The measures are this project's own.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product

import numpy as np

from sluice.tabular.model.cells import Booleans, Cells, Floats, Integers, keys_of
from sluice.tabular.model.dimension import Dimension

_LEAST = 100  # units: smaller figures agree by chance
_FEWEST = 5  # figures that agree, below which nobody would conclude anything
_MOST = 0.5  # of the figures of the smaller of two tables
_BY_CHANCE = 1e-6  # of so many that agree, below which chance does not explain it
_SCALES = 10.0 ** np.arange(-9, 10)  # euro in place of thousand euro

Figures = tuple[bool, tuple[int, ...]]  # whether a code is a leaf, and the totals by which it is recognised


def with_names_of(now: Cells, earlier: Cells) -> Cells | None:
    """The earlier cells with the dimensions and codes of these; None where that is not certain.

    It is, where each dimension of one of the two is one of the other's, every code of the smaller of both has figures
    that no other code has, and all cells that are the same by that have one total, and the same contributors.

    cost : O(c log c) for each pair of dimensions
    """
    if earlier.decimals != now.decimals:
        return None
    matched: dict[int, tuple[int, dict[int, int]]] = {}  # axis of the earlier table -> axis of this one, and codes
    for old, new in product(range(len(earlier.dimensions)), range(len(now.dimensions))):
        codes = _matched_codes(earlier, old, now, new)
        if codes is None:
            continue
        if old in matched or any(new == axis for axis, _ in matched.values()):
            return None  # it may be either
        matched[old] = new, codes
    if not matched or len(matched) < min(len(earlier.dimensions), len(now.dimensions)):
        return None
    dimensions = tuple(
        _renamed(dimension, now.dimensions[matched[axis][0]], matched[axis][1])
        if axis in matched
        else replace(dimension, name=f"{dimension.name} of the earlier table")
        for axis, dimension in enumerate(earlier.dimensions)
    )
    renamed = replace(earlier, dimensions=dimensions)
    return renamed if _are_the_same(renamed, now) else None


def _matched_codes(earlier: Cells, old: int, now: Cells, new: int) -> dict[int, int] | None:
    """The codes of one dimension by those of another, by all cells that have them, else by their marginals alone."""
    for alone in (False, True):
        before, after = _by_figures(earlier, old, alone), _by_figures(now, new, alone)
        both = before.keys() & after.keys()
        # A total and one code more are no dimension; all codes of the smaller one must be known again.
        if len(both) > 2 and len(both) == min(_codes(earlier, old), _codes(now, new)):
            return {before[figures]: after[figures] for figures in both}
    return None


def _codes(cells: Cells, axis: int) -> int:
    return len(np.unique(cells.codes[:, axis]))


def _by_figures(cells: Cells, axis: int, alone: bool) -> Mapping[Figures, int]:
    """The codes that are told apart by their figures.

    alone : by the total over all other dimensions; else by the totals of all cells with the code
    """
    seen = (np.delete(cells.codes, axis, axis=1) == 0).all(axis=1) if alone else np.ones(len(cells), dtype=bool)
    groups = {group for group, _ in cells.dimensions[axis].sums}
    figures = {
        int(code): (
            int(code) not in groups,
            tuple(sorted(cells.total[seen & (cells.codes[:, axis] == code)].tolist())),
        )
        for code in np.unique(cells.codes[seen, axis])
    }
    often = Counter(figures.values())
    return {of: code for code, of in figures.items() if often[of] == 1}


def _renamed(dimension: Dimension, now: Dimension, codes: Mapping[int, int]) -> Dimension:
    """A dimension under the name and the codes of another; codes that this one has not are marked as the earlier's."""
    names = tuple(
        now.codes[codes[at]] if at in codes else f"{code} of the earlier table"
        for at, code in enumerate(dimension.codes)
    )
    return Dimension(now.name, names, dimension.sums)


def _are_the_same(earlier: Cells, now: Cells) -> bool:
    """Whether cells of the same codes have one total and the same contributors."""
    axes = {dimension.name: axis for axis, dimension in enumerate(earlier.dimensions)}
    places = np.zeros((len(earlier), len(now.dimensions)), dtype=np.int32)
    here = np.ones(len(earlier), dtype=bool)
    for axis, dimension in enumerate(now.dimensions):
        if dimension.name in axes:
            old = earlier.dimensions[axes[dimension.name]]
            position = np.array([dimension.position.get(code, -1) for code in old.codes], dtype=np.int32)
            places[:, axis] = position[earlier.codes[:, axes[dimension.name]]]
            here &= places[:, axis] >= 0
    for name, axis in axes.items():
        if name not in {dimension.name for dimension in now.dimensions}:
            here &= earlier.codes[:, axis] == 0
    at = np.flatnonzero(here)
    _, left, right = np.intersect1d(
        keys_of(now.dimensions, places[at]), keys_of(now.dimensions, now.codes), return_indices=True
    )
    left = at[left]
    kept = min(earlier.owners.shape[1], now.owners.shape[1])
    return bool(
        len(left)
        and (earlier.total[left] == now.total[right]).all()
        and (np.sort(earlier.owners[left, :kept]) == np.sort(now.owners[right, :kept])).all()
    )


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
