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


DIVISIONS = {"Northeast": "NY NJ PA MA", "South": "TX FL GA LA", "Midwest": "OH IL MI IN", "West": "CA WA AZ"}
CLASSES = {"residential": 0.45, "commercial": 0.33, "industrial": 0.17, "transportation": 0.05}


def utilities(seed: int, number: int) -> tuple[pd.DataFrame, dict[str, Rows | None]]:
    """Revenue of electric utilities by state and class of customers, as the form EIA-861 asks for it.

    Most are small and serve homes and shops of one state; a few are very large and sell in many. Large customers and
    railways have few suppliers, so that cells of one and of two are next to cells that one utility dominates.
    """
    rng = np.random.default_rng([seed, 861])
    states = [state for of in DIVISIONS.values() for state in of.split()]
    weight = rng.pareto(1.5, len(states)) + 0.2
    size = np.exp(1.9 * rng.standard_t(3, number).clip(-3, 6))
    found = []
    for utility in range(number):
        large = size[utility] > np.quantile(size, 0.93)
        served = rng.choice(states, int(rng.integers(3, 10)) if large else 1, replace=False, p=weight / weight.sum())
        for state in served:
            for kind, share in CLASSES.items():
                if rng.random() < (0.9 if large else 0.6) * share**0.4:
                    revenue = int(np.ceil(900 * size[utility] * share * rng.lognormal(0, 0.6)))
                    found.append((state, kind, f"U{utility}", revenue))
    rows = [("Total", ""), *((name, "Total") for name in DIVISIONS)]
    rows += [(state, name) for name, of in DIVISIONS.items() for state in of.split()]
    table = pd.DataFrame(found, columns=["state", "customers", "firm", "value"])
    return table, {"state": rows, "customers": None}
