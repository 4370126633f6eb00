"""acro's rules on the cells of a table: a cross tabulation for each combination of levels, as it knows no hierarchy."""

import logging
from itertools import product
from time import perf_counter
from typing import Any

import pandas as pd
from acro import ACRO
from answering import AXES, answer, read_business


def rules(frames: dict[str, pd.DataFrame], source: str) -> dict[str, Any]:
    """For each cell whether it fails each rule; the seconds hold the reading of the records."""
    logging.disable(logging.CRITICAL)
    begun = perf_counter()
    records, hierarchies = read_business(source)
    levels = {axis: _levels(records[axis], rows) for axis, rows in hierarchies.items()}
    session = ACRO(suppress=False)
    made = []
    for p, k in ((10, 75), (15, 85)):
        session.config.update(safe_threshold=3, safe_nk_n=2, safe_nk_k=k / 100, safe_pratio_p=p / 100)
        for nace, region, size in product(*levels.values()):
            session.crosstab([nace, region], [size], values=records["value"], aggfunc="sum")
            failed = session.results.get_index(-1).outcome.stack()  # noqa: PD013
            failed.index.names = AXES
            for rule, check in (
                ("minimum_frequency 3", "MinimumThresholdCheck"),
                (f"p_percent {p}", "PPercentCheck"),
                (f"dominance 2 {k}", "NKCheck"),
            ):
                made.append(failed.str.contains(check).rename("found").reset_index().assign(rule=rule))
    table = pd.concat(made).pivot_table(index=list(AXES), columns="rule", values="found", aggfunc="max")
    return {"cells": table.reset_index().to_dict("list"), "seconds": perf_counter() - begun}


def _levels(leaves: "pd.Series[str]", rows: pd.DataFrame) -> list["pd.Series[str]"]:
    """The codes of the records at each level, from the leaves up."""
    parent, made = dict(zip(rows["code"], rows["parent"], strict=True)), [leaves]
    while made[-1].iloc[0] != "Total":
        made.append(made[-1].map(parent).rename(leaves.name))
    return made


if __name__ == "__main__":
    answer("acro", {"rules": rules})
