"""Attackers who know the published cells of a table, its hierarchies and their own contributions: an independent audit.

Unlike the audit it does not look at sums between cells: its unknowns are the innermost cells, of which each cell is a
sum, and each attack is one linear program over all of them. So it also checks the sums that the audit works with.
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from math import ceil

import numpy as np
from highspy import Highs, HighsLp, HighsModelStatus, MatrixFormat
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Cells, Status, Statuses
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.rules.sensitivity import Requirements

Attackers = frozenset[int]

_ENDS = (HighsModelStatus.kOptimal, HighsModelStatus.kUnbounded)  # what a linear program may come to


def leaves_of(dimension: Dimension, code: int) -> set[int]:
    """The leaves that a code adds up."""
    below = [part for group, parts in dimension.sums if group == code for part in parts]
    return set().union(*(leaves_of(dimension, part) for part in below)) if below else {code}


def innermost(cells: Cells) -> NDArray[np.float64]:
    """Shape (c, m): which of the m innermost cells each cell adds up, of a table that goes down to the leaves."""
    under = [[leaves_of(d, code) for code in range(len(d.codes))] for d in cells.dimensions]
    within = np.ones((len(cells), len(cells)), dtype=bool)
    for axis, held in enumerate(under):
        codes = cells.codes[:, axis]
        within &= np.array([[other in held[code] for other in codes] for code in codes])
    leaf = np.logical_and.reduce([np.isin(cells.codes[:, a], d.leaves) for a, d in enumerate(cells.dimensions)])
    return within[:, leaf].astype(float)


def rest_needs(cells: Cells, cell: int, attackers: Attackers, n: int, p: int) -> int:
    """By minimum frequency n and the p% rule, how much must stay open of what the others contribute to a cell."""
    shares = [
        int(share)
        for owner, share in zip(cells.owners[cell], cells.largest[cell], strict=True)
        if owner >= 0 and owner not in attackers
    ]
    known = int((cells.owners[cell] >= 0).sum()) - len(shares)
    others = int(cells.contributors[cell]) - known
    if not others:
        return 0
    total = int(cells.contributions.total[cell] - cells.largest[cell].sum()) + sum(shares)
    frequency = max(1, ceil(Fraction(shares[0], 10))) if others < n - 1 else 0
    return max(frequency, ceil(Fraction(p * shares[0], 100)) - (total - shares[0]), 0)


class Table:
    """What is published of a table, and what of it can be found out."""

    def __init__(self, cells: Cells, status: Statuses, requirement: Requirements, assumptions: Assumptions) -> None:
        self.cells, self.requirement, self.assumptions = cells, requirement, assumptions
        self.within = innermost(cells)
        self.low, self.high = assumptions.bounds(cells, requirement.sensitive)
        self.knowing = lru_cache(maxsize=None)(self._knowing)
        self.interval = lru_cache(maxsize=None)(self._interval)  # most coalitions know no more than others do
        self.known = (status == Status.PUBLISHED) | (self.low == self.high)
        self.sole = {
            int(cell): frozenset(cells.owners[cell, : cells.contributors[cell]].tolist())
            for cell in np.flatnonzero(~self.known & (cells.contributors <= assumptions.coalition))
        }

    def coalitions(self) -> Iterator[tuple[Attackers, tuple[int, ...]]]:
        """Everybody, then each coalition that knows a cell: who, and which cells it knows."""
        yield frozenset(), ()
        people = sorted(set().union(*self.sole.values()))
        for size in range(1, self.assumptions.coalition + 1):
            for some in map(frozenset, combinations(people, size)):
                if own := tuple(cell for cell, owners in self.sole.items() if owners <= some):
                    yield some, own

    def _interval(self, cell: int, own: tuple[int, ...]) -> tuple[float, float]:
        """The least and the most that a cell can be, for those who know these and the published ones."""
        solver, ends = self.knowing(own), []
        for sign in (1, -1):
            size = self.within.shape[1]
            solver.changeColsCost(size, np.arange(size, dtype=np.int32), sign * self.within[cell])
            solver.run()
            if solver.getModelStatus() not in _ENDS:  # the basis of the program before was a dead end
                solver.clearSolver()
                solver.run()
            status = solver.getModelStatus()
            assert status in _ENDS, status
            bounded = status == HighsModelStatus.kOptimal
            ends.append(sign * solver.getObjectiveValue() if bounded else -sign * np.inf)
        return ends[0], ends[1]

    def _knowing(self, own: tuple[int, ...]) -> Highs:
        """All innermost cells that fit what is published and what else is known, as a linear program."""
        held = self.known.copy()
        held[list(own)] = True
        rows, program = csr_array(self.within), HighsLp()
        program.num_row_, program.num_col_ = rows.shape
        program.col_cost_ = np.zeros(rows.shape[1])
        program.col_lower_ = np.full(rows.shape[1], 0.0 if self.assumptions.nonnegative else -np.inf)
        program.col_upper_ = np.full(rows.shape[1], np.inf)
        program.row_lower_ = np.where(held, self.cells.total, self.low)
        program.row_upper_ = np.where(held, self.cells.total, self.high)
        program.a_matrix_.format_ = MatrixFormat.kRowwise
        program.a_matrix_.start_, program.a_matrix_.index_, program.a_matrix_.value_ = (
            rows.indptr,
            rows.indices,
            rows.data,
        )
        solver = Highs()
        for option, value in (("output_flag", False), ("presolve", "off"), ("threads", 1)):
            solver.setOptionValue(option, value)
        solver.passModel(program)
        return solver

    def found_out(self, n: int, p: int, first: bool = False) -> list[tuple[int, Attackers]]:
        """The sensitive cells that somebody gets too near to, and who; asked by minimum frequency n and the p% rule."""
        found, total, requirement = [], self.cells.total, self.requirement
        for who, own in self.coalitions():
            for cell in map(int, np.flatnonzero(requirement.sensitive & ~self.known)):
                lower, upper = int(requirement.lower[cell]), int(requirement.upper[cell])
                if who.intersection(self.cells.owners[cell].tolist()):
                    upper = rest_needs(self.cells, cell, who, n, p)
                    theirs = np.isin(self.cells.owners[cell], list(who))
                    rest = int(total[cell] - self.cells.largest[cell][theirs].sum())
                    if rest == 0 and total[cell] and self.assumptions.zeros_known:
                        continue  # whose contributions are zero is known beforehand
                    lower = min(upper, max(rest, 0)) if self.assumptions.nonnegative else upper
                if cell in own or not (lower or upper):
                    continue
                low, high = self.interval(cell, own)
                if low > total[cell] - lower + 1e-3 * max(lower, 1) or high < total[cell] + upper - 1e-3 * max(
                    upper, 1
                ):
                    found.append((cell, who))
                    if first:
                        return found
        return found
