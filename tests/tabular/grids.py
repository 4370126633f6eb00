"""Small tables by hand, patterns on them, and their audit."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from sluice.tabular.audit.pattern_audit import Audit, audit
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Cells, Status
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.rules.sensitivity import Requirements, requirements_of
from tests.tabular.tables import RULES

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


def needs_of(cells: Cells) -> Requirements:
    """What the rules of `RULES` ask for."""
    return requirements_of(RULES, cells.contributions)


def run(cells: Cells, suppressed: list[tuple[str, str]], assumptions: Assumptions = ALONE) -> Audit:
    needs = needs_of(cells)
    return audit(cells, pattern(cells, suppressed, needs), needs, RULES, assumptions)


def square(
    values: Sequence[Sequence[int]] | np.ndarray, contributors: int = 1, alone: Collection[tuple[int, int]] = ()
) -> Cells:
    """Rows a1, a2, ... and columns b1, b2, ...; each inner cell is of so many in equal shares, or of one alone."""
    array, records = np.array(values), []
    for place, value in np.ndenumerate(array):
        many = 1 if place in alone else contributors
        records += [(*place, (int(value) + one) // many) for one in range(many)]
    rows, columns, shares = np.array(records).T
    made = [Dimension.flat(name, [f"{name}{at + 1}" for at in range(size)]) for name, size in zip("ab", array.shape)]  # noqa: B905
    return aggregate(made, np.column_stack([rows, columns]).astype(np.int32) + 1, np.arange(len(shares)), shares)


def line(*values: int) -> Cells:
    """A total, and its parts a1, a2, ..., each of one contributor; in this order."""
    made = [Dimension.flat("a", [f"a{at}" for at in range(1, len(values) + 1)])]
    leaves = np.arange(1, len(values) + 1, dtype=np.int32)[:, None]
    return aggregate(made, leaves, np.arange(len(values)), np.array(values))


def asked(cells: Cells, levels: Mapping[Any, tuple[int, int]] | None = None, sliding: int = 0) -> Requirements:
    """Requirements by hand: of these cells, by their codes or places, so much below and above, and so wide."""
    found = Requirements({}, np.zeros(len(cells), dtype=bool), *np.zeros((3, len(cells)), dtype=np.int64))
    for which, (lower, upper) in (levels or {}).items():
        cell = int(np.flatnonzero((cells.codes == which).all(axis=1))[0]) if isinstance(which, tuple) else which
        found.sensitive[cell], found.lower[cell], found.upper[cell], found.sliding[cell] = True, lower, upper, sliding
    return found


def hiding(needs: Requirements, hidden: np.ndarray) -> np.ndarray:
    """The statuses of a table of which these cells are suppressed."""
    return np.where(hidden, np.where(needs.sensitive, Status.PRIMARY, Status.SECONDARY), 0).astype(np.uint8)
