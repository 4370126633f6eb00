"""A pattern that was published before and of which only the file is known, as an edition that a table is judged beside.

What the file suppresses may have been revised since, and nobody outside the house knows. The attacker is taken to
believe the least revision that fits the file, which leaves most cells to be one and the same unknown in both.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array, eye_array, hstack, vstack

from sluice.ground.errors import DataError, MeasureChoiceError
from sluice.publication.pattern_file import Pattern
from sluice.tabular.model.cells import Booleans, Cells, Integers, equations_of, keys_of
from tasks.release.tables.protection_method import SecondarySuppression
from tasks.release.tables.published_cells import PublishedCells
from tasks.release.tables.table_editions import Edition

_MANY = 2**40  # contributors: no rule calls a cell sensitive of which nothing is known
_SECONDS = 60


@dataclass(frozen=True, eq=False)
class PreviousPattern:
    """The pattern of a file; `name` stands in sentences."""

    name: str
    pattern: Pattern
    tables: Sequence[Sequence[str]] | None = None

    def edition(self, now: Cells, nonnegative: bool) -> Edition:
        """The edition beside which cells of the same dimensions are protected.

        nonnegative : no total is negative
        raises      : DataError for more decimals than the cells have, and for totals that do not add up
        cost        : an integer program of the suppressed cells, where any cell was revised
        """
        pattern = self.pattern
        if pattern.decimals > now.decimals:
            raise MeasureChoiceError(
                f"{self.name} has values of {pattern.decimals} decimals and this table of {now.decimals}; give it as "
                "many",
                "decimals",
                str(pattern.decimals),
            )
        value = pattern.value * 10 ** (now.decimals - pattern.decimals)
        equations = equations_of(pattern.dimensions, pattern.codes, self.tables)
        equations = equations[np.flatnonzero(np.diff(equations.indptr) > 1)]  # of parts that no table had then
        at, known = _among(pattern, now)
        guess = np.where(known, now.total[at], 0)
        total = np.where(pattern.has, value, guess)
        if (equations @ total.astype(np.float64)).any():
            total[~pattern.has] = self._least_revision(equations, value, ~pattern.has, guess, nonnegative)
        same = known & (total == now.total[at])
        cells = Cells(
            dimensions=pattern.dimensions,
            codes=pattern.codes,
            total=total,
            contributors=np.where(same, now.contributors[at], _MANY),
            largest=np.where(same[:, None], now.largest[at], 0),
            owners=np.where(same[:, None], now.owners[at], -1),
            equations=equations,
            published=np.ones(len(pattern), dtype=bool),
            decimals=now.decimals,
            asking=now.asking,
        )
        return Edition(self.name, "", SecondarySuppression(), cells, PublishedCells(pattern.status))

    def _least_revision(
        self, equations: csr_array, value: Integers, hidden: Booleans, guess: Integers, nonnegative: bool
    ) -> Integers:
        """Whole numbers of the suppressed cells that fit the published ones, as near as can be to those of today."""
        right = -(equations[:, np.flatnonzero(~hidden)] @ value[~hidden].astype(np.float64))
        inside = csr_array(equations[:, np.flatnonzero(hidden)])
        count = inside.shape[1]
        eye, today = eye_array(count), guess[hidden].astype(np.float64)
        found = None
        if count:
            nothing = csr_array((inside.shape[0], count))
            distance = vstack([hstack([eye, -eye]), hstack([-eye, -eye])])
            found = milp(
                np.r_[np.zeros(count), np.ones(count)],
                integrality=np.r_[np.ones(count), np.zeros(count)],
                bounds=Bounds(np.r_[np.full(count, 0 if nonnegative else -np.inf), np.zeros(count)], np.inf),
                constraints=[
                    LinearConstraint(hstack([inside, nothing]), right, right),
                    LinearConstraint(distance, -np.inf, np.r_[today, -today]),
                ],
                options={"time_limit": _SECONDS},
            ).x
        whole = np.zeros(count, dtype=np.int64) if found is None else np.rint(found[:count]).astype(np.int64)
        if (inside.astype(np.int64) @ whole != right).any():
            raise DataError(f"{self.name}: its published totals do not add up, whatever its suppressed cells are.")
        return whole


def _among(pattern: Pattern, now: Cells) -> tuple[Integers, Booleans]:
    """For each cell of the pattern its place among those of today, and whether it has one."""
    ours, theirs = keys_of(now.dimensions, now.codes), keys_of(now.dimensions, pattern.codes)
    order = np.argsort(ours)
    at = order[np.minimum(np.searchsorted(ours[order], theirs), len(ours) - 1)]
    return at, ours[at] == theirs
