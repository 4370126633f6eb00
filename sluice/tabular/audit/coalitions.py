"""Attackers who are contributors themselves: whose cells they know, and what must stay open to them."""

from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from itertools import combinations

import numpy as np

from sluice.tabular.audit.proven_interval import Need
from sluice.tabular.model.cells import Booleans, Cells, Contributions
from sluice.tabular.model.known_sums import Indices
from sluice.tabular.rules.sensitivity import Requirements, SensitivityRule

Owners = frozenset[int]


class Insiders:
    """The contributors (or holdings) of a table's suppressed cells, alone or up to `size` of them together.

    free        : shape (c,), the cells that are neither published nor computable
    nonnegative : no contribution is negative, so nobody believes that the others have less than nothing
    zeros_known : that others contribute nothing is known beforehand
    """

    def __init__(
        self,
        cells: Cells,
        free: Booleans,
        requirements: Requirements,
        rules: Sequence[SensitivityRule],
        size: int,
        nonnegative: bool = True,
        zeros_known: bool = True,
    ) -> None:
        self.cells, self.size, self._nonnegative = cells, size, nonnegative
        self._requirements, self._rules, self._zeros_known = requirements, rules, zeros_known
        self.cells_known = free & (cells.contributors <= size) & (cells.contributors > 0)
        small = np.flatnonzero(self.cells_known)
        self._small = set(small.tolist())
        self._cells_of: dict[int, list[int]] = {}
        for cell in small:
            for owner in cells.owners[cell, : cells.contributors[cell]]:
                self._cells_of.setdefault(int(owner), []).append(int(cell))
        self.need_of = lru_cache(maxsize=None)(self._need_of)
        self.known_to = lru_cache(maxsize=None)(self._known_to)

    def _known_to(self, coalition: Owners) -> frozenset[int]:
        """The suppressed cells that all belong to the coalition."""
        own = {cell for owner in coalition for cell in self._cells_of.get(owner, ())}
        return frozenset(cell for cell in own if self.contributors_of(cell) <= coalition)

    def contributors_of(self, cell: int) -> Owners:
        """Of a cell that has few enough."""
        return frozenset(self.cells.owners[cell, : self.cells.contributors[cell]].tolist())

    def joined(self, coalition: Owners, support: Iterable[int]) -> set[Owners]:
        """The larger coalitions that know one of these cells; the smallest that hold the given one."""
        made = {coalition | self.contributors_of(cell) for cell in support if cell in self._small}
        return {larger for larger in made if len(larger) <= self.size and larger != coalition}

    def joined_by_contributors(self, cell: int, coalition: Owners) -> list[Owners]:
        """The coalitions with one contributor to the cell more, to whom more must stay open than without.

        By what the coalition computes of the cell, that contributor may know another's part.
        """
        if not coalition or len(coalition) >= self.size:
            return []
        need = self.need_of(cell, coalition)
        others = set(self.cells.owners[cell].tolist()) - coalition - {-1}
        larger = [coalition | {owner} for owner in sorted(others)]
        needs = [(some, self.need_of(cell, some)) for some in larger]
        return [some for some, more in needs if more.upper > need.upper or more.lower > need.lower]

    def _need_of(self, cell: int, coalition: Owners) -> Need:
        """What must stay open to a coalition: of the cell without their shares, where they contribute to it."""
        required, cells = self._requirements, self.cells
        need = Need(float(required.lower[cell]), float(required.upper[cell]), float(required.sliding[cell]))
        owners = cells.owners[cell]
        inside = np.isin(owners, list(coalition)) & (owners >= 0)
        if not inside.any():
            return need
        rest = np.zeros_like(cells.largest[cell])
        left = cells.largest[cell][~inside]
        rest[: len(left)] = left
        total = int(cells.contributions.total[cell] - cells.largest[cell][inside].sum())
        if total == 0 and self._zeros_known:
            return Need(0.0, 0.0, 0.0)
        without = Contributions(np.array([total]), np.array([cells.contributors[cell] - inside.sum()]), rest[None, :])
        called = {name for name, by in required.by_rule.items() if by[cell]}
        levels = [int(rule.protection(without, outsider=True)[0]) for rule in self._rules if rule.rule in called]
        if called - {rule.rule for rule in self._rules} or not levels:
            return need  # required by other means than a rule
        level = float(max(levels))
        return Need(min(level, max(float(total), 0.0)) if self._nonnegative else level, level, need.sliding)

    @cached_property
    def raised(self) -> dict[int, list[Owners]]:
        """For each sensitive cell, the coalitions to whom more must stay open than to an outsider."""
        found: dict[int, list[Owners]] = {}
        for cell in np.flatnonzero(self._requirements.sensitive).tolist():
            outside = self.need_of(cell, frozenset())
            inside = [int(owner) for owner in self.cells.owners[cell] if int(owner) in self._cells_of]
            for size in range(1, self.size + 1):
                for some in combinations(inside, size):
                    need = self.need_of(cell, frozenset(some))
                    if need.upper > outside.upper or need.lower > outside.lower:
                        found.setdefault(cell, []).append(frozenset(some))
        return found


def positions(cells: Iterable[int]) -> Indices:
    """As a sorted array."""
    return np.array(sorted(cells), dtype=np.intp)
