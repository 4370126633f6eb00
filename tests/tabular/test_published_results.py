"""Results that other programs published of small tables, beside ours: equal, or what is said of the difference.

The list for users is in benchmarks/README.md.
"""

import numpy as np
import pandas as pd

import sluice
from sluice.ground.verdict import Verdict
from sluice.tabular.alternatives.small_count_rounding import small_count_rounding
from sluice.tabular.model.cells import Cells
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.model.measure import Measure
from sluice.tabular.model.numbered_records import records_of

# R package SmallCountRounding 1.0.3, vignette, tables 1 and 2: counts, and what PLSrounding makes of them by base 5.
COUNTS = [[6, 0, 1, 3, 4], [1, 2, 3, 1, 2], [0, 1, 1, 0, 2]]
THEIRS = [[6, 0, 0, 5, 5], [0, 0, 5, 0, 0], [0, 0, 0, 0, 5]]


def cells_of(counts: list[list[int]]) -> Cells:
    rows = [(f"r{i}", f"c{j}") for i, of in enumerate(counts) for j, count in enumerate(of) for _ in range(count)]
    frame = pd.DataFrame(rows, columns=["r", "c"])
    dimensions = [Dimension.flat("r", ["r0", "r1", "r2"]), Dimension.flat("c", [f"c{j}" for j in range(5)])]
    return records_of(frame, dimensions, Measure()).cells(dimensions)


def margins(table: np.ndarray) -> np.ndarray:
    return np.concatenate([table.sum(axis=0), table.sum(axis=1), [table.sum()]])


def test_small_counts_are_rounded_as_near_as_small_count_rounding_does() -> None:
    """Which cells become 0 or 5 is another choice: theirs is fixed, a quarter of ours drawn. In the middle of the draws
    margins are off as theirs: by 1.67 on average, and by 4 at most."""
    theirs = np.abs(margins(np.array(THEIRS)) - margins(np.array(COUNTS)))
    assert (theirs.max(), round(float(theirs.mean()), 2)) == (4, 1.67)
    most, average = [], []
    cells = cells_of(COUNTS)
    inner = np.array([cells.codes[:, 0] > 0, cells.codes[:, 1] > 0]).all(axis=0)
    for seed in range(20):
        made = small_count_rounding(cells, 5, np.random.default_rng(seed))
        kept = inner & (cells.total >= 5)
        assert (made.value[kept] == cells.total[kept]).all()
        assert np.isin(made.value[inner & ~kept], (0, 5)).all()
        off = np.abs(made.value - cells.total)[~inner]
        most.append(off.max())
        average.append(off.mean())
    assert np.median(most) <= theirs.max()
    assert np.median(average) <= theirs.mean() + 0.01


def test_a_pattern_that_gauss_suppression_published_is_safe() -> None:
    """R package GaussSuppression, vignette on small counts: example1 of 2014, maxN = 1; of ages and three countries."""
    counts = {
        ("young", "S"): 5,
        ("young", "I"): 2,
        ("young", "P"): 0,
        ("old", "S"): 6,
        ("old", "I"): 3,
        ("old", "P"): 4,
    }
    suppressed = {("young", "I"), ("young", "P"), ("old", "I"), ("old", "P")}
    rows = []
    for age in ("young", "old", "Total"):
        for geo in ("S", "I", "P", "Total"):
            of = sum(n for (a, g), n in counts.items() if age in (a, "Total") and geo in (g, "Total"))
            rows.append((age, geo, of, str((age, geo) in suppressed).upper()))
    table = pd.DataFrame(rows, columns=["age", "geo", "value", "suppressed"])
    published = table.assign(
        status=table["suppressed"].map({"TRUE": "suppressed", "FALSE": "published"}),
        value=table["value"].where(table["suppressed"] == "FALSE"),
    )
    found = sluice.audit(published[["age", "geo", "status", "value"]], ["age", "geo"])
    assert (found.verdict, found.suppressed) == (Verdict.PASS, 4)
    careless = published.copy()
    at = (careless["age"] == "old") & (careless["geo"] == "P")
    careless.loc[at, ["status", "value"]] = ["published", 4]
    assert sluice.audit(careless[["age", "geo", "status", "value"]], ["age", "geo"]).verdict is Verdict.FAIL
