"""Component plane: how original and masked records lie on the first two principal components of the original.

Both files are drawn on one pair of axes, those of the original, in the space of `sluice.risk.coding`: whether clusters,
gaps and the whole shape survived is seen at a glance, and nothing is counted by it. A grid of counts is shown in place
of the points, which would be records.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd
from pydantic import Field

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.ground.document_parts import FrozenModel
from sluice.ground.variables import Variables
from sluice.risk.coding import Coding
from sluice.utility.comparison import Comparison
from sluice.utility.distribution import hidden_bins
from sluice.utility.measured import Found
from sluice.utility.utility_measure import Family

CELLS = 14  # along each axis
_DRAWN = 200_000  # records of each file at most, evenly spaced in it: more would not change the picture
_FITTED_ON = 20_000  # records among them that set the axes
_AT_ONCE = 50_000
_NAMED = 3  # variables of each axis

Shares = tuple[tuple[float | None, ...], ...]


class ComponentPlane(FrozenModel):
    """Shares of the records in each cell of a square grid, the topmost row first.

    A cell that holds fewer than the minimum number of records in either file is None in both, an empty one too. The
    outermost cells hold what lies beyond them: between them lie 98 % of the original.
    """

    explained: tuple[float, float] = Field(description="shares of the original's variance along the two axes")
    leading: tuple[tuple[str, ...], tuple[str, ...]] = Field(description="variables that weigh most on each axis")
    before: Shares
    after: Shares
    drawn: tuple[int, int] = Field(description="records of the original and of the masked file that are counted")
    overlap: float = Field(
        description="share of the records that both grids have in the same cells, 0 to 1; more is better"
    )


def component_plane(
    original: pd.DataFrame,
    recoded: pd.DataFrame,
    masked: pd.DataFrame,
    variables: Variables,
    released: Variables,
    minimum_cell: int,
) -> ComponentPlane | None:
    """Both files on the original's first two principal components; None where there are not two.

    original, variables : (n,) typed records
    recoded             : the same after the recodings alone, typed by `released`
    masked, released    : (m,) typed records in any order
    minimum_cell        : no cell shows fewer records, nor one that is left over by the others
    cost                : O((n + m) d) for d coordinates, of 200,000 records of each file at most; O(20,000 d²) for the
                          axes, which so many records set. The numbers drawn are stated

    Missing values, and groups that stand for several values, lie where `sluice.risk.coding` puts them: in the middle of
    what they may be. Variables that were not released are no part of the space.
    """
    if len(original) < 2 * minimum_cell or len(masked) < 2 * minimum_cell:
        return None
    drawn = _evenly(len(original), _DRAWN)
    original, recoded = original.iloc[drawn], recoded.iloc[drawn]
    masked = masked.iloc[_evenly(len(masked), _DRAWN)]
    coding = Coding.fit(original, recoded, variables, released)
    if coding.dimensions < 2:
        return None
    points = coding.original(original.iloc[_evenly(len(original), _FITTED_ON)])
    centre = points.mean(axis=0)
    values, vectors = np.linalg.eigh(np.cov(points - centre, rowvar=False))
    total = float(values.clip(min=0).sum())
    if not values[-2] > 1e-9 * total > 0:
        return None
    axes = vectors[:, [-1, -2]]
    axes = axes * np.sign(
        axes[np.abs(axes).argmax(axis=0), [0, 1]]
    )  # a sign means nothing: the largest weight is positive
    before = _projected(original, centre, axes, coding.original)
    after = _projected(masked, centre, axes, lambda frame: coding.released(frame)[0])
    ends = np.quantile(before, [0.01, 0.99], axis=0)
    edges = np.linspace(ends[0], ends[1], CELLS + 1, axis=1)[:, 1:-1]
    if not (np.diff(edges, axis=1) > 0).all():
        return None
    grids = np.array([_counts(before, edges), _counts(after, edges)])
    hidden = hidden_bins(grids, minimum_cell)
    return ComponentPlane(
        explained=(float(values[-1] / total), float(values[-2] / total)),
        leading=(_leading(axes[:, 0], coding), _leading(axes[:, 1], coding)),
        before=_shares(grids[0], hidden),
        after=_shares(grids[1], hidden),
        drawn=(len(original), len(masked)),
        overlap=_overlap(grids, hidden),
    )


def _evenly(records: int, most: int) -> IntArray:
    """Places of at most so many records, evenly spaced."""
    return np.arange(records) if records <= most else np.linspace(0, records - 1, most).astype(np.int64)


def _projected(
    frame: pd.DataFrame, centre: FloatArray, axes: FloatArray, points: Callable[[pd.DataFrame], FloatArray]
) -> FloatArray:
    parts = [(points(frame.iloc[start : start + _AT_ONCE]) - centre) @ axes for start in range(0, len(frame), _AT_ONCE)]
    return np.vstack(parts)


def _counts(projected: FloatArray, edges: FloatArray) -> IntArray:
    """(CELLS * CELLS,) row by row, the highest values of the second axis first."""
    across, up = (np.searchsorted(edges[axis], projected[:, axis], side="right") for axis in (0, 1))
    return np.bincount((CELLS - 1 - up) * CELLS + across, minlength=CELLS * CELLS).astype(np.int64)


def _shares(counts: IntArray, hidden: BoolArray) -> Shares:
    share = counts / counts.sum()
    return tuple(
        tuple(None if hidden[cell] else float(share[cell]) for cell in range(row * CELLS, (row + 1) * CELLS))
        for row in range(CELLS)
    )


def _overlap(grids: IntArray, hidden: BoolArray) -> float:
    """Of shares that are shown, those that are hidden taken as one cell."""
    shares = grids / grids.sum(axis=1, keepdims=True)
    together = np.column_stack([shares[:, ~hidden], shares[:, hidden].sum(axis=1)])
    return float(np.minimum(together[0], together[1]).sum())


def _leading(axis: FloatArray, coding: Coding) -> tuple[str, ...]:
    """Variables in the order of their weight, as far as one has a tenth of it."""
    ends = np.cumsum(coding.widths)[:-1]
    weights = np.array([float((part**2).sum()) for part in np.split(axis, ends)])
    order = np.argsort(-weights, kind="stable")[:_NAMED]
    return tuple(coding.names[place] for place in order if weights[place] >= 0.1)


def components(files: Comparison) -> Found:
    """No figure with a limit: a picture, which nothing hangs on; none where the file lacks what it should hold."""
    if files.of_few & {*files.released_numbers.names} or files.only_of_few:
        return Found({})  # the axes' shares of the variance would tell of them
    if not {*files.released} <= {*files.masked.columns} & {*files.recoded.columns}:
        return Found({})
    plane = component_plane(
        files.original, files.recoded, files.masked, files.variables, files.released, files.minimum_cell
    )
    return Found({}, {} if plane is None else {"components": plane})


COMPONENTS = Family(components, weighs=False)
