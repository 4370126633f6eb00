"""Tables of random records, one table by hand, and a changed table made of its records anew."""

import numpy as np
from hypothesis import strategies as st

from sluice.tabular.advice.coarsening import Coarsening
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.cells import Cells
from sluice.tabular.model.dimension import Dimension
from tests.tabular.tables import dimensions


@st.composite
def records(draw: st.DrawFn) -> tuple[list[Dimension], np.ndarray, np.ndarray, np.ndarray]:
    names = "ab"[: draw(st.integers(1, 2))]
    made = [draw(dimensions(name, depth=4 - len(names))) for name in names]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    count = draw(st.integers(1, 25))
    leaves = np.column_stack([rng.choice(d.leaves, count) for d in made]).astype(np.int32)
    return made, leaves, rng.integers(0, 25, count), rng.integers(1, 100, count)


def again(
    cells: Cells, change: Coarsening, leaves: np.ndarray, owner: np.ndarray, value: np.ndarray, kept: int = 60
) -> Cells:
    """The changed table from the records."""
    made = list(cells.dimensions)
    made[change.axis] = change.dimension
    leaves = leaves.copy()
    leaves[:, change.axis] = change.of_leaf[leaves[:, change.axis]]
    assert np.isin(leaves[:, change.axis], change.dimension.leaves).all()
    return aggregate(made, leaves, owner, value, kept)


def small() -> Cells:
    """By industry: X1 and X2 have two contributors each, X3, Y1, Y2 five; each gives 10."""
    rows = [
        ("Total", ""),
        ("X", "Total"),
        ("Y", "Total"),
        ("X1", "X"),
        ("X2", "X"),
        ("X3", "X"),
        ("Y1", "Y"),
        ("Y2", "Y"),
    ]
    industry = Dimension.of("ind", rows)
    counts = {"X1": 2, "X2": 2, "X3": 5, "Y1": 5, "Y2": 5}
    leaves = np.repeat([industry.position[code] for code in counts], list(counts.values()))[:, None]
    return aggregate([industry], leaves.astype(np.int32), np.arange(len(leaves)), np.full(len(leaves), 10))
