"""Records for tables that the product's own tests do not have: sparse, mostly sensitive, with heavy tails."""

import numpy as np
import pandas as pd

from tests.reader.published import Hierarchy

Rows = list[tuple[str, str]]


def tree(name: str, rng: np.random.Generator, branches: tuple[int, ...]) -> Rows:
    """Rows of code and parent; each group of a level has 2 up to so many parts."""
    rows, level = [("Total", "")], ["Total"]
    for most in branches:
        below = []
        for code in level:
            own = "" if code == "Total" else code
            new = [f"{own}{name}{part}" for part in range(int(rng.integers(2, most + 1)))]
            rows += [(each, code) for each in new]
            below += new
        level = below
    return rows


def drawn(
    seed: int, branches: dict[str, tuple[int, ...]], records: int, *, firms: int | None = None, skew: float = 1.0
) -> tuple[pd.DataFrame, dict[str, Rows]]:
    """Records over trees, denser in some leaves than in others.

    firms : how many contributors; values have heavy tails, larger ones for the same firm; as many as there are records:
            each has one record. None: records of people
    skew  : 0: leaves alike; the more, the more records in a few
    """
    rng = np.random.default_rng([seed, 20_261_122])
    rows = {name: tree(name, rng, of) for name, of in branches.items()}
    columns: dict[str, object] = {}
    size = np.exp(1.6 * rng.standard_t(3, firms).clip(-4, 6)) if firms else None
    home = None if not firms else np.arange(records) if firms == records else rng.integers(0, firms, records)
    for name in branches:
        leaves = Hierarchy.of(name, rows[name]).leaves
        weight = rng.pareto(1.2, len(leaves)) ** skew + 0.05
        columns[name] = rng.choice(leaves, records, p=weight / weight.sum())
    if home is not None and size is not None:
        columns["firm"] = [f"F{each}" for each in home]
        columns["value"] = np.ceil(50 * size[home] * rng.lognormal(0, 0.5, records)).astype(int)
    return pd.DataFrame(columns), rows
