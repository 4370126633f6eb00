"""The audit of a problem in the JJ format: what anybody can compute of its suppressed cells, and whether that is as far
from their values as their protection asks. It holds every value: the file is confidential, and none is told."""

from pathlib import Path
from time import perf_counter

import numpy as np

from sluice.ground.errors import DataError
from sluice.sources.jj_file import read_jj
from sluice.tabular.model.feasibility_interval import TotalsDoNotAddError, feasibility_intervals
from tasks.workbench.audited_table import AuditedTable

_EXACTLY = 0.5  # units of the last decimal
_NEAR = 1e-6


def audit_jj(path: Path, workers: int = 1) -> AuditedTable:
    """By the bounds, protections and equations of the file alone.

    raises : DataError for a file of another form, and for values that contradict its equations or bounds
    cost   : two linear programs a suppressed cell
    """
    begun = perf_counter()
    problem = read_jj(path)
    unit = 10.0**problem.decimals
    suppressed = np.isin(problem.status, ("u", "m"))
    hidden = np.flatnonzero(suppressed)
    value = np.where(suppressed, np.nan, problem.value * unit)
    outside = (problem.value < problem.low) | (problem.value > problem.high)
    if outside.any():
        raise DataError(f"{path}: the value of the cell {problem.names[int(np.argmax(outside))]} is beyond its bounds")
    gap = np.abs(problem.equations @ problem.value) * unit
    wrong = np.flatnonzero(gap > _EXACTLY)
    if len(wrong):
        raise DataError(f"{path}: {len(wrong):,} of its equations do not hold, the first of them number {wrong[0] + 1}")
    try:
        low, high = feasibility_intervals(
            problem.equations, value, hidden, problem.low * unit, problem.high * unit, workers
        )
    except TotalsDoNotAddError as error:
        raise DataError(
            f"{path}: its equation number {error.equation + 1} contradicts the bounds of its cells"
        ) from None
    true = problem.value[hidden] * unit
    unsafe = problem.status[hidden] == "u"
    exact = high - low < _EXACTLY
    asked = [each[hidden] * unit for each in (problem.lower, problem.upper, problem.sliding)]
    near = (low > true - asked[0] + _NEAR) | (high < true + asked[1] - _NEAR) | (high - low < asked[2] - _NEAR)
    breaches = [
        f"anybody can compute the cell {problem.names[cell]} {how}"
        for which, how in ((exact, "exactly"), (near & ~exact, "more nearly than its protection allows"))
        for cell in hidden[unsafe & which].tolist()
    ]
    complete = not (np.isnan(low).any() or np.isnan(high).any())
    return AuditedTable(
        with_records=False,
        cells=len(problem.names),
        suppressed=len(hidden),
        primary=int(unsafe.sum()),
        secondary=int((~unsafe).sum()),
        safe=not breaches and complete,
        complete=complete,
        breaches=tuple(breaches),
        exact=tuple(f"the cell {problem.names[cell]}" for cell in hidden[exact].tolist()),
        details={"with_rules": False},
        seconds=perf_counter() - begun,
    )
