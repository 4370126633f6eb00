"""Unions of suppressed cells whose sum everybody can compute, and which of them are sensitive.

The suppressed parts of a published sum add up to what is published. If they are sensitive together, that sum tells what
no single cell may tell. Source: Torra (2013), "Secondary suppression"; "implicit cells" of Jewett (1993).

The rules that tables use are subadditive (Cox 1981): a union of cells that are not sensitive is not sensitive.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sluice.tabular.model.cells import Booleans, Cells
from sluice.tabular.rules.sensitivity import SensitivityRule
from sluice.tabular.suppression.rooms import Rooms
from sluice.tabular.suppression.targets import Need, Target, united
from sluice.tabular.suppression.unknown_cells import UnknownCells

_ROWS = 3  # that an attacker adds up or subtracts
_MOST_COMBINATIONS = 20_000  # of rows around one of them

Union = tuple[int, ...]


class Unions:
    """Which unions of unknowns can be computed, and what protection they need; remembers what the rules said."""

    def __init__(
        self,
        cells: Cells,
        unknowns: UnknownCells,
        sensitive: Booleans,
        rules: Sequence[SensitivityRule],
        rooms: Rooms,
        nonnegative: bool = True,
    ) -> None:
        self._rooms = rooms
        self._nonnegative = nonnegative
        self._cells, self._unknowns, self._rules = cells, unknowns, rules
        self._judged: dict[Union, Target | None] = {}
        self._sensitive = unknowns.any(sensitive)
        self._code = np.random.default_rng(0).integers(1, 2**62, len(unknowns))

    def sensitive(self, active: Booleans, near: NDArray[np.int32] | None = None, depth: int = _ROWS) -> list[Target]:
        """The sensitive ones among the unions whose sum follows from rows, added and subtracted.

        active : shape (u,), the unknowns that are in doubt at all; the others can be computed
        near   : unknowns; only unions that involve a row of theirs, all when not given
        cost   : 1 ms for the rows of one unknown, and once for each union that the rules have not seen before
        """
        from sluice.tabular.suppression.suppression_kernel import known_unions

        rows, columns = self._unknowns.rows, self._unknowns.columns
        if not self._rules or not rows.nnz:
            return []
        seeds = np.unique(columns[np.flatnonzero(active & self._sensitive) if near is None else near].indices)
        starts, members = known_unions(
            seeds, active, self._sensitive, rows.indptr, rows.indices, rows.data, columns.indptr, columns.indices,
            self._code, depth, _MOST_COMBINATIONS,
        )  # fmt: skip
        found = [tuple(np.sort(part).tolist()) for part in np.split(members, starts[1:-1]) if len(part)]
        self._judge([union for union in found if union not in self._judged])
        return [target for union in found if (target := self._judged[union]) is not None]

    def _judge(self, unions: list[Union]) -> None:
        if not unions:
            return
        first = self._unknowns.first
        merged, owners = united(self._cells, [first[list(union)] for union in unions])
        levels = np.array([np.where(rule.sensitive(merged), rule.protection(merged), 0) for rule in self._rules])
        for at, union in enumerate(unions):
            up = int(levels[:, at].max())
            self._judged[union] = None
            if up > 0:
                rules = tuple(rule for rule, level in zip(self._rules, levels[:, at], strict=True) if level > 0)
                total, contributors = int(merged.total[at]), int(merged.contributors[at])
                room = min(up, float(self._rooms.down[list(union)].sum()))
                others = int(max(total - room - 1, 0)) if room < up else 0
                self._judged[union] = Target(
                    union, Need(up, int(room)), rules, total, contributors, merged.largest[at], owners[at],
                    self._nonnegative, others=others,
                )  # fmt: skip
