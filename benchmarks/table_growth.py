"""How the processor time of protection and audit grows: with cells, with the share of sensitive cells, with dimensions.

    python -m benchmarks table_growth

Generated tables, the fast search on one process, against readers, contributors with their own parts, and unions. A rule
of thumb is fitted to each row of tables: seconds = a * cells ** b. The sensitive share is set by the minimum number of
contributors, from 1 to one that nearly no cell reaches; p% = 10 besides.
"""

from time import process_time

import numpy as np

from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Cells, Status
from sluice.tabular.rules.minimum_frequency import MinimumFrequency
from sluice.tabular.rules.p_percent import PPercent
from sluice.tabular.rules.sensitivity import SensitivityRule
from tasks.release.tables.protection import ProtectionRequest, audit_cells, protect_cells
from tests.tabular.generated import Shape, table_of

# nace-like, region-like and size; each about three times the one before
_CELLS = {
    "1k": Shape(31, [[3, (2, 4), 3], [3, 3], [3]], 20, 1.2),
    "3k": Shape(32, [[4, (3, 4), (2, 4)], [4, 4], [3]], 20, 1.2),
    "10k": Shape(33, [[5, (3, 4), (3, 4)], [5, (3, 4), 2], [3]], 20, 1.2),
    "30k": Shape(34, [[6, 4, (3, 5)], [5, 4, 3], [3]], 20, 1.2),
    "100k": Shape(35, [[9, 4, (3, 4), 2], [5, 4, 3], [3]], 20, 1.2),
}
_SHARED = Shape(36, [[4, 4], [3, 3], [3]], 8, 1.2, empty=0.0, evenness=2.0)
_SHARES = (0.05, 0.2, 0.5, 0.8, 1.0)
_DIMENSIONS = {
    "2": Shape(37, [[6, 6], [5, 5]], 20, 1.2),
    "3": Shape(38, [[3, 3], [3, 3], [7]], 20, 1.2),
    "4": Shape(39, [[3, 3], [4], [4], [3]], 20, 1.2),
    "5": Shape(40, [[4], [3], [3], [3], [3]], 20, 1.2),
}


def main(quick: bool = False) -> None:
    protect_cells(*_prepared(table_of(_DIMENSIONS["2"]), [MinimumFrequency(n=3)]))  # load the compiled loops
    print(f"{'':<18}{'cells':>8}{'sensitive':>11}{'suppressed':>11}{'protect, CPU s':>16}{'audit, CPU s':>14}  safe")
    found = []
    for name, shape in list(_CELLS.items())[: 2 if quick else None]:
        found.append(_measure(f"cells: {name}", table_of(shape), [MinimumFrequency(n=3), PPercent(p=10)]))
    for what, column in (("protection", 1), ("audit", 2)):
        cells, seconds = np.array([row[0] for row in found]), np.array([row[column] for row in found])
        exponent, _ = np.polyfit(np.log(cells), np.log(np.maximum(seconds, 0.01)), 1)
        print(f"  time of the {what} grows with the cells to the power of {exponent:.2f}")
    cells = table_of(_SHARED)
    for share in _SHARES[: 2 if quick else None]:
        n = int(np.quantile(cells.contributors, share)) + (share == 1.0)
        _measure(f"sensitive: {share:.0%}", cells, [MinimumFrequency(n=max(n, 1)), PPercent(p=10)])
    for number, shape in _DIMENSIONS.items():
        _measure(f"dimensions: {number}", table_of(shape), [MinimumFrequency(n=3), PPercent(p=10)])


def _prepared(cells: Cells, rules: list[SensitivityRule]) -> tuple[Cells, ProtectionRequest]:
    return cells, ProtectionRequest.of(cells, rules, Assumptions())


def _measure(name: str, cells: Cells, rules: list[SensitivityRule]) -> tuple[int, float, float]:
    """Cells, and the seconds of protection and of audit."""
    cells, request = _prepared(cells, rules)
    begun = process_time()
    made = protect_cells(cells, request)
    protected = process_time()
    safe = audit_cells(cells, made.status, request, made.certificates).safe
    audited = process_time()
    print(
        f"{name:<18}{len(cells):8,}{request.requirements.sensitive.mean():11.1%}"
        f"{(made.status != Status.PUBLISHED).mean():11.1%}{protected - begun:16.1f}{audited - protected:14.1f}  {safe}",
        flush=True,
    )
    return len(cells), protected - begun, audited - protected
