"""gconfid 2 (Statistics Canada, GPL), run as a black box: its suppression, and its rules on the cells of a table."""

from time import perf_counter
from typing import Any

import gconfid
import numpy as np
import pandas as pd
from answering import AXES, answer, read_business

Frames = dict[str, pd.DataFrame]


def pattern(frames: Frames, cost: str, second: str) -> dict[str, Any]:
    """Which of given cells it suppresses, primaries with them.

    frames : `cells` with their total and level (0 where a cell is not sensitive), `equations` with row, column, sign
    """
    total, level = frames["cells"]["total"].astype(float), frames["cells"]["level"].astype(float)
    cells = pd.DataFrame(
        {
            "CellId": np.arange(len(total)) + 1,
            "Total": total,
            "TotalNoise": total,
            "Sensitivity": np.where(level > 0, level, -1.0),
            "Status": np.where(level > 0, "S", "V"),
            "Type": "C",
        }
    )
    equations = frames["equations"]
    constraints = pd.DataFrame(
        {"ConstraintId": equations["row"] + 1, "CellId": equations["column"] + 1, "Coefficient": equations["sign"]}
    )
    begun = perf_counter()
    ran = gconfid.Suppression(
        incell=cells,
        inconstraint=constraints,
        cost_function1=cost,
        cost_function2=second or None,
        outsuppress="pandas",
        capture=True,
    )
    seconds = perf_counter() - begun
    status = ran.outsuppress.set_index("CellId")["OutStatus"].reindex(cells["CellId"])
    return {"suppressed": status.isin(["S", "X"]).tolist(), "seconds": seconds}


def release(frames: Frames, source: str) -> dict[str, Any]:
    """From records to a pattern, by its own sensitivity (p% = 10, at least 3)."""
    records, hierarchies = read_business(source)
    begun = perf_counter()
    sensitivity = _sensitivity(records, hierarchies, "pq 0.10", 3)
    found = gconfid.Suppression(
        incell=sensitivity.outcell,
        inconstraint=sensitivity.outconstraint,
        cost_function1="SIZE",
        outsuppress="pandas",
        capture=True,
    ).outsuppress
    seconds = perf_counter() - begun
    hidden = found[(found["Type"] == "C") & (found["OutStatus"] != "P")]
    sensitive = sensitivity.outcell.set_index("CellId")["Status"] == "S"
    secondary = int((~sensitive.reindex(hidden["CellId"]).to_numpy()).sum())
    return {"secondary": secondary, "value": float(hidden["TotalVar"].sum()), "seconds": seconds}


def rules(frames: Frames, source: str) -> dict[str, Any]:
    """For each cell whether it fails each rule: its sensitivity module, once for each; seconds with the reading."""
    begun = perf_counter()
    records, hierarchies = read_business(source)
    found = {}
    for rule, written, least in (
        ("minimum_frequency 3", "pq 0.01", 3),
        ("p_percent 10", "pq 0.10", None),
        ("p_percent 15", "pq 0.15", None),
        ("dominance 2 75", "nk 2 75", None),
        ("dominance 2 85", "nk 2 85", None),
    ):
        cells = _sensitivity(records, hierarchies, written, least).outcell
        cells = cells[cells["Type"] == "C"].set_index(list(AXES))
        found[rule] = cells["NbRespondents"] < least if least else cells["Status"] == "S"
    return {"cells": pd.DataFrame(found).reset_index().to_dict("list"), "seconds": perf_counter() - begun}


def _sensitivity(
    records: pd.DataFrame, hierarchies: dict[str, pd.DataFrame], rule: str, least: int | None
) -> gconfid.Sensitivity:
    tree = []
    for rows in hierarchies.values():
        groups = rows[rows["parent"] != ""].groupby("parent", sort=False)["code"]
        tree.append(" : ".join(f"{parent} {' '.join(codes)}" for parent, codes in groups) + ";")
    return gconfid.Sensitivity(
        indata=records,
        unit_id="id",
        var="value",
        dimension=" ".join(AXES),
        hierarchy=" ".join(tree),
        s_rule=rule,
        min_resp=least,
        outcell="pandas",
        outconstraint="pandas",
        presort=True,
        capture=True,
    )


if __name__ == "__main__":
    answer("gconfid", {"pattern": pattern, "release": release, "rules": rules})
