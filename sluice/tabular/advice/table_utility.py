"""What a protected table is still good for, compared with the true one.

Sources: Shlomo (2007), section 5: distances, Hellinger distance, change of the association of two variables (Cramér's
V), ranks. Every figure is over published cells alone; a suppressed one has no value and is counted as lost.
"""

from dataclasses import dataclass
from itertools import combinations
from math import sqrt

import numpy as np

from sluice.ground.errors import DataError
from sluice.tabular.model.cells import Cells, Floats


@dataclass(frozen=True)
class TableUtility:
    """Figures of c cells of which users may see n; NaN where there is nothing to measure.

    cells              : n, without marginals that are not published
    suppressed         : how many have no value
    value_lost         : sum of the true sizes of those
    value_lost_share   : of the sum of all n, 0 to 1
    changed            : how many have a value other than the true one
    mean_absolute      : mean |value - total| in units of the table; worse is larger
    largest_absolute   : the largest of them
    mean_relative      : mean |value - total| / |total|, over totals other than 0
    marginals_mean       : mean_absolute of the cells that are sums
    hellinger          : distance of the two distributions over inner cells, 0 (the same) to 1; NaN with negative ones
    rank_correlation   : Spearman's, of values and totals; 1 is best
    association_change : largest |V' - V| over pairs of dimensions, of Cramér's V of the leaves' two-way table; over
                         pairs without a suppressed cell
    """

    cells: int
    suppressed: int
    value_lost: int
    value_lost_share: float
    changed: int
    mean_absolute: float
    largest_absolute: float
    mean_relative: float
    marginals_mean: float
    hellinger: float
    rank_correlation: float
    association_change: float


def table_utility(cells: Cells, value: Floats) -> TableUtility:
    """Compare published values with the totals.

    value  : shape (c,), in units of the table; NaN where suppressed
    raises : DataError when the shape is another
    cost   : O(c log c)
    """
    if value.shape != cells.total.shape:
        raise DataError(f"table_utility needs one value for each of {len(cells)} cells; got {len(value)}.")
    published = cells.published
    seen = published & ~np.isnan(value)
    lost = published & np.isnan(value)
    size = np.abs(cells.total)
    truth, given = cells.total[seen].astype(np.float64), value[seen].astype(np.float64)
    apart = np.abs(given - truth)
    sums = np.zeros(len(cells), dtype=bool)
    sums[cells.equations.indices[cells.equations.data > 0]] = True
    inner = seen & ~sums
    return TableUtility(
        cells=int(published.sum()),
        suppressed=int(lost.sum()),
        value_lost=int(size[lost].sum()),
        value_lost_share=float(size[lost].sum() / size[published].sum()) if size[published].any() else np.nan,
        changed=int((apart > 0).sum()),
        mean_absolute=_mean(apart),
        largest_absolute=float(apart.max()) if len(apart) else np.nan,
        mean_relative=_mean(apart[truth != 0] / np.abs(truth[truth != 0])),
        marginals_mean=_mean(apart[sums[seen]]),
        hellinger=hellinger_distance(cells.total[inner].astype(np.float64), value[inner].astype(np.float64)),
        rank_correlation=_rank_correlation(truth, given),
        association_change=_association_change(cells, value),
    )


def hellinger_distance(first: Floats, second: Floats) -> float:
    """sqrt(1/2 sum (sqrt p - sqrt q)^2) of two distributions, each given up to a factor; NaN if one is none."""
    if not len(first) or min(first.min(), second.min()) < 0 or not first.any() or not second.any():
        return float("nan")
    p, q = first / first.sum(), second / second.sum()
    return float(np.sqrt(0.5 * ((np.sqrt(p) - np.sqrt(q)) ** 2).sum()))


def cramers_v(table: Floats) -> float:
    """Association of rows and columns, 0 to 1; NaN with fewer than two rows or columns that are not empty."""
    table = table[table.any(axis=1)][:, table.any(axis=0)]
    if min(table.shape) < 2 or table.min() < 0:
        return float("nan")
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    chi_square = float(((table - expected) ** 2 / expected).sum())
    return sqrt(chi_square / float(table.sum()) / (min(table.shape) - 1))


def _mean(figures: Floats) -> float:
    return float(figures.mean()) if len(figures) else float("nan")


def _rank_correlation(first: Floats, second: Floats) -> float:
    if len(first) < 2 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return float("nan")
    from scipy.stats import rankdata

    return float(np.corrcoef(rankdata(first), rankdata(second))[0, 1])


def _association_change(cells: Cells, value: Floats) -> float:
    changes = []
    for pair in combinations(range(len(cells.dimensions)), 2):
        others = [axis for axis in range(len(cells.dimensions)) if axis not in pair]
        inside = (cells.codes[:, others] == 0).all(axis=1) & cells.published
        for axis in pair:
            inside &= np.isin(cells.codes[:, axis], cells.dimensions[axis].leaves)
        if not inside.any() or np.isnan(value[inside]).any():
            continue
        at = tuple(cells.codes[inside][:, list(pair)].T)
        tables = []
        for figures in (cells.total.astype(np.float64), value):
            table = np.zeros([len(cells.dimensions[axis].codes) for axis in pair])
            table[at] = figures[inside]
            tables.append(cramers_v(table))
        changes.append(abs(tables[1] - tables[0]))
    known = [change for change in changes if not np.isnan(change)]
    return max(known) if known else float("nan")
