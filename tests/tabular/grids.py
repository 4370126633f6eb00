"""Small tables by hand, patterns on them, and their audit."""

import numpy as np

from sluice.tabular.audit.audit import Audit, audit
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Cells, Status
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.rules.minimum_frequency import MinimumFrequency
from sluice.tabular.rules.p_percent import PPercent
from sluice.tabular.rules.sensitivity import Requirements, requirements_of

RULES = (MinimumFrequency(3), PPercent(10))
ALONE = Assumptions(unions=False)
BOX = [("a", "u"), ("a", "v"), ("b", "u"), ("b", "v")]
TWO_BOXES = [*BOX, ("a", "w"), ("b", "w")]


def table(records: list[tuple[str, str, int, int]]) -> Cells:
    """(row, column, contributor, value) -> cells of row x column, with totals."""
    rows, columns = (Dimension.flat(name, sorted({r[axis] for r in records})) for axis, name in enumerate(("r", "c")))
    leaves = np.array([(rows.position[r], columns.position[c]) for r, c, _, _ in records], dtype=np.int32)
    return aggregate(
        [rows, columns], leaves, np.array([r[2] for r in records]), np.array([r[3] for r in records], dtype=np.int64)
    )


def grid(sole: dict[tuple[str, str], int], others: int = 4, value: int = 25, shape: tuple[int, int] = (3, 3)) -> Cells:
    """A table of equal cells with several contributors each, but some with one: {(row, column): contributor}."""
    records, number = [], 1000
    for row in "abcdef"[: shape[0]]:
        for column in "uvwxyz"[: shape[1]]:
            if (row, column) in sole:
                records.append((row, column, sole[row, column], others * value))
            else:
                for _ in range(others):
                    records.append((row, column, number, value))
                    number += 1
    return table(records)


def at(cells: Cells, *codes: str) -> int:
    wanted = [d.position[code] for d, code in zip(cells.dimensions, codes, strict=True)]
    return int(np.flatnonzero((cells.codes == wanted).all(axis=1))[0])


def pattern(cells: Cells, suppressed: list[tuple[str, str]], needs: Requirements) -> np.ndarray:
    status = np.zeros(len(cells), dtype=np.uint8)
    for codes in suppressed:
        cell = at(cells, *codes)
        status[cell] = Status.PRIMARY if needs.sensitive[cell] else Status.SECONDARY
    return status


def run(cells: Cells, suppressed: list[tuple[str, str]], assumptions: Assumptions = ALONE) -> Audit:
    needs = requirements_of(RULES, cells.contributions)
    return audit(cells, pattern(cells, suppressed, needs), needs, RULES, assumptions)
