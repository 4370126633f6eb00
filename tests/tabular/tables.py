"""Tables for tests: the generated business data, and tables of random shape."""

from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Cells
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.rules.minimum_frequency import MinimumFrequency
from sluice.tabular.rules.p_percent import PPercent
from sluice.tabular.rules.sensitivity import requirements_of
from sluice.tabular.suppression.suppression import Suppression, suppress
from tests.reference_data import reference_path

RULES = (MinimumFrequency(n=3), PPercent(p=10))


def read_text(path: Path) -> pd.DataFrame:
    """A CSV whose cells are all text: 'NA' is a code."""
    return pd.read_csv(path, dtype=str, keep_default_na=False)


@lru_cache
def business(name: str, by: str = "id") -> Cells:
    """nace x region x size of the generated business data, by contributor or by holding; s1k or s10k."""
    folder = reference_path("business_generated", name)
    records = read_text(folder / "micro.csv.gz")
    dimensions = []
    for axis in ("nace", "region", "size"):
        rows = read_text(folder / f"hier_{axis}.csv")
        dimensions.append(Dimension.of(axis, list(zip(rows.code, rows.parent, strict=True))))
    leaves = np.column_stack([records[d.name].map(d.position).to_numpy(np.int32) for d in dimensions])
    return aggregate(
        dimensions, leaves, records[by].astype(np.int64).to_numpy(), records["value"].astype(np.int64).to_numpy()
    )


@lru_cache
def protected_business(by: str = "id", coalition: int = 1) -> Suppression:
    """The business table of a thousand cells suppressed by `RULES`, once for all tests that look at it."""
    cells = business("s1k", by)
    return suppress(cells, requirements_of(RULES, cells.contributions), RULES, Assumptions(coalition=coalition))


@st.composite
def dimensions(draw: st.DrawFn, name: str, groupings: bool = True, depth: int = 3) -> Dimension:
    """A tree of depth 1 to `depth`, sometimes with a second grouping of its leaves."""
    rows, level = [("Total", "")], ["Total"]
    for _ in range(draw(st.integers(1, depth))):
        below = []
        for code in level:
            parts = draw(st.integers(0 if len(rows) > 1 else 2, 3))
            below += [f"{'' if code == 'Total' else code}{name}{part}" for part in range(parts)]
            rows += [(below[len(below) - parts + part], code) for part in range(parts)]
        if not below:
            break
        level = below
    groups = {parent for _, parent in rows}
    leaves = [code for code, _ in rows if code not in groups]
    others = []
    if groupings and len(leaves) > 2 and draw(st.booleans()):
        into = draw(st.lists(st.integers(0, 1), min_size=len(leaves), max_size=len(leaves)))
        used = sorted(set(into))
        if len(used) > 1:
            others = [
                [
                    ("Total", ""),
                    *((f"{name}G{g}", "Total") for g in used),
                    *((leaf, f"{name}G{g}") for leaf, g in zip(leaves, into, strict=True)),
                ]
            ]
    return Dimension.of(name, rows, *others)


@st.composite
def tables(draw: st.DrawFn, least: int = 1, most: int = 60, groupings: bool = True) -> Cells:
    """A table of one to three dimensions and random records; some contributors have several.

    Three dimensions are no deeper than two levels: else a few records make hundreds of cells, of one record each.
    """
    names = "abc"[: draw(st.integers(1, 3))]
    made = [draw(dimensions(name, groupings, depth=3 if len(names) < 3 else 2)) for name in names]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    records = draw(st.integers(least, most))
    leaves = np.column_stack([rng.choice(d.leaves, records) for d in made]).astype(np.int32)
    value = np.rint(np.exp(rng.normal(3, 1.5, records))).astype(np.int64)
    return aggregate(
        made,
        leaves,
        rng.integers(0, max(1, draw(st.sampled_from([records, 2 * records, records // 2]))), records),
        value,
    )
