"""Lone copies: people whom nobody resembles, and who stand in the release with values that masking left as they were.

It belongs to the reference standard, and needs to know which released record is whose.
"""

import pandas as pd

from policies.reference_standard import NAMES_OF_GROUPS, Column, ReferenceStandard
from sluice.risk.coding import plain_values
from sluice.risk.copies import lone_copies
from sluice.risk.resolution import on_one_grid
from sluice.variables import Variables
from sluice.verdict import Finding, Verdict

_MOST = 0.5  # of a variable's values are as they were: it is kept


def judge_lone_copies(
    standard: ReferenceStandard,
    recoded: pd.DataFrame,
    aligned: pd.DataFrame,
    released: Variables,
    minimum_cell: int = 10,
) -> Finding:
    """Whether more lone people are copied than chance and the standard's `copies_excess` allow.

    Looked at twice: by all variables, and by those alone of which masking kept most values. Else one variable that is
    perturbed beyond recognition would hide that all others are verbatim.

    recoded, aligned : the original after the recodings alone, and the released file, typed by `released`; row i of both
                       is the same record
    """
    columns = {
        name: on_one_grid(plain_values(recoded[name]), plain_values(aligned[name]))
        for name, variable in released.items()
        if name in recoded.columns and variable.role not in NAMES_OF_GROUPS
    }
    kept = [name for name, pair in columns.items() if _share_equal(*pair) >= _MOST]
    counts = [
        (names, lone_copies([columns[name][0] for name in names], [columns[name][1] for name in names]))
        for names in (list(columns), kept)
        if names
    ]
    if not counts:
        says = "No released variable can be compared with the original data."
        return Finding(rule="lone_copies", verdict=Verdict.UNKNOWN, says=says, stage="reference", completed=0)
    names, count = max(counts, key=lambda each: each[1].excess)
    how = f"are alone with their values of {', '.join(names)}, and stand in the release with them"
    return standard.judge_copies("lone_copies", how, count, 1.0, len(recoded), minimum_cell)


def _share_equal(before: Column, after: Column) -> float:
    return float(((before == after) | (pd.isna(before) & pd.isna(after))).mean())
