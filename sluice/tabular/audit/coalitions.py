"""Attackers who are contributors themselves: whose cells they know, and what must stay open to them."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sluice.tabular.audit.proven_interval import Need, ProvenInterval, Question
from sluice.tabular.model.cells import Booleans, Cells, Contributions, Floats, Integers
from sluice.tabular.model.known_sums import Indices
from sluice.tabular.rules.sensitivity import Requirements, SensitivityRule

Owners = frozenset[int]


class Exposed(NamedTuple):
    """Of a proof, h cells by which some coalition may refute it."""

    cells: Indices  # shape (h,)
    falls: Floats  # shape (h,), how far each of them falls


_KEPT = 20_000  # answers of each kind: neighbouring cells ask for the same, and many are asked for once


class Insiders:
    """The contributors (or holdings) of a table's suppressed cells, alone or up to `size` of them together.

    free        : shape (c,), the cells that are neither published nor computable
    nonnegative : no contribution is negative, so nobody believes that the others have less than nothing
    zeros_known : that others contribute nothing is known beforehand, but of sensitive cells of zeros
    others      : shape (c,), how much of each cell is certainly not one contributor's
    own_parts   : whoever is among the largest contributors that a cell lists knows that it is at least its own part
    knows       : shape (c, t), what each of these knows it to be at least, where that is more; see `known_parts`

    spare : shape (c,), how far a cell may fall without coming below what `size` of its contributors have in it; below 0
            where they are all that it has, and know it; infinite where nobody uses what it has
    """

    def __init__(
        self,
        cells: Cells,
        free: Booleans,
        requirements: Requirements,
        rules: Sequence[SensitivityRule],
        size: int,
        others: Floats,
        nonnegative: bool = True,
        zeros_known: bool = True,
        own_parts: bool = True,
        knows: Integers | None = None,
    ) -> None:
        self.cells, self.size, self._nonnegative = cells, size, nonnegative
        self._requirements, self._rules, self._zeros_known = requirements, rules, zeros_known
        self._others = others
        known = free & (cells.contributors <= size) & (cells.contributors > 0)
        self._small, self._sole = known, known & (cells.contributors == 1)
        self._cells_of: dict[int, list[int]] = {}
        for cell in np.flatnonzero(known):
            for owner in cells.owners[cell, : cells.contributors[cell]]:
                self._cells_of.setdefault(int(owner), []).append(int(cell))
        self._total = cells.total.astype(np.float64)
        self._knows = cells.largest if knows is None else knows
        own_parts = own_parts and nonnegative and size > 0
        left = self._total - self._knows[:, : max(size, 1)].sum(axis=1)
        self.spare = np.where(known, -1.0, np.maximum(left, 0.0) if own_parts else np.inf)
        at, rank = np.nonzero((cells.owners >= 0) & (cells.largest > 0) & free[:, None] & own_parts)
        order = np.argsort(cells.owners[at, rank], kind="stable")
        self._part_owner, self._part_cell = cells.owners[at, rank][order], at[order]
        self._part = self._knows[at, rank][order].astype(np.float64)
        self._own_parts = own_parts
        self._one: dict[Owners, Owners] = {}  # the same ones refute many proofs: each is held once
        self._need_without = lru_cache(maxsize=_KEPT)(self._need_without_parts)
        self.known_to = lru_cache(maxsize=_KEPT)(self._known_to)
        self._limits = lru_cache(maxsize=_KEPT)(self._limits_of)
        self._listed = lru_cache(maxsize=_KEPT)(self._parts_in)

    def _known_to(self, coalition: Owners) -> frozenset[int]:
        """The suppressed cells that all belong to the coalition."""
        own = {cell for owner in coalition for cell in self._cells_of.get(owner, ())}
        return frozenset(cell for cell in own if self.contributors_of(cell) <= coalition)

    def shared_by(self, coalition: Owners) -> frozenset[int]:
        """The suppressed cells that others have a part in, too, and of which the coalition uses its own."""
        return frozenset(self._parts_of(coalition)[0].tolist()) - self.known_to(coalition)

    def _parts_of(self, coalition: Owners) -> tuple[Indices, Floats]:
        """The suppressed cells that the coalition has a part in, in rising order, and how large it is."""
        runs = [np.arange(*np.searchsorted(self._part_owner, [owner, owner + 1])) for owner in coalition]
        inside = np.concatenate(runs) if runs else np.zeros(0, dtype=np.intp)
        cells, which = np.unique(self._part_cell[inside], return_inverse=True)
        parts = np.bincount(which, weights=self._part[inside], minlength=len(cells)).astype(np.float64)
        return cells, parts

    def _limits_of(self, coalition: Owners) -> tuple[Indices, Floats, Floats]:
        """The cells that a coalition knows something of, in rising order: how far they may move, down and up."""
        own = positions(self.known_to(coalition))
        cells, parts = self._parts_of(coalition)
        others = ~np.isin(cells, own)
        cells, parts = cells[others], parts[others]
        limited = np.r_[own, cells]
        lower = np.r_[np.zeros(len(own)), np.minimum(parts - self._total[cells], 0.0)]
        upper = np.r_[np.zeros(len(own)), np.full(len(cells), np.inf)]
        order = np.argsort(limited)
        return limited[order], lower[order], upper[order]

    def question(self, cell: int, coalition: Owners, label: NDArray[np.int32]) -> Question:
        """What to ask on behalf of a coalition; label: shape (c,), which cells hang together."""
        limited, lower, upper = self._limits(coalition)
        near = label[limited] == label[cell]
        need = self.need_of(cell, coalition)
        return Question(cell, need, limited[near], lower[near], upper[near], shy=not coalition)

    def contributors_of(self, cell: int) -> Owners:
        """Of a cell that has few enough."""
        return frozenset(self.cells.owners[cell, : self.cells.contributors[cell]].tolist())

    def exposed(self, proofs: Sequence[ProvenInterval]) -> list[Exposed]:
        """Of each proof the cells by which some coalition may refute it, and how far these fall."""
        if not proofs:
            return []
        support, drop = (np.concatenate([getattr(proof, name) for proof in proofs]) for name in ("support", "drop"))
        hit = np.flatnonzero(drop > self.spare[support])
        cells, falls = support[hit], drop[hit]
        ends = np.searchsorted(hit, np.cumsum([len(proof.support) for proof in proofs]))[:-1]
        return [Exposed(*each) for each in zip(np.split(cells, ends), np.split(falls, ends), strict=True)]

    def joined(self, coalition: Owners, exposed: Exposed) -> set[Owners]:
        """The larger coalitions that refute a proof: they know a cell that it moves, or own more of one than it leaves.

        The smallest that hold the given one.
        """
        made: set[Owners] = set()
        if len(coalition) >= self.size:
            return made
        if self.size == 1:
            return {
                self._one.setdefault(larger, larger) for larger in (frozenset({one}) for one in self.alone(exposed))
            }
        for cell, fall in zip(exposed.cells.tolist(), exposed.falls.tolist(), strict=True):
            if self._small[cell]:
                made.add(coalition | self.contributors_of(cell))
            if self._own_parts:
                made.update(self._with_too_large_a_part(coalition, cell, self._total[cell] - fall))
        return {
            self._one.setdefault(larger, larger) for larger in made if len(larger) <= self.size and larger != coalition
        }

    def alone(self, exposed: Exposed) -> set[int]:
        """The contributors who refute a proof, each by itself."""
        cells, falls = exposed
        parts, left = self._knows[cells], np.maximum(self._total[cells] - falls, 0)
        hit = (self.cells.owners[cells] >= 0) & (parts > left[:, None]) & self._own_parts
        hit[:, 0] |= self._sole[cells]
        return set(self.cells.owners[cells][hit].tolist())

    def _with_too_large_a_part(self, coalition: Owners, cell: int, left: float) -> Iterator[Owners]:
        """The coalitions, the smallest that hold the given one, whose parts of a cell are more than is left of it."""
        parts = self._listed(cell)
        missing = left - sum(parts.get(owner, 0) for owner in coalition)
        others = [owner for owner in parts if owner not in coalition]
        minimal: list[frozenset[int]] = []
        for count in range(1, self.size - len(coalition) + 1):
            for some in map(frozenset, combinations(others, count)):
                if sum(parts[owner] for owner in some) > missing and not any(less <= some for less in minimal):
                    minimal.append(some)
                    yield coalition | some

    def refutes(self, coalition: Owners, exposed: Exposed) -> bool:
        """Whether a coalition knows a cell that a proof moves, or has more of one than the proof leaves."""
        known = self.known_to(coalition)
        pairs = list(zip(exposed.cells.tolist(), exposed.falls.tolist(), strict=True))
        if any(cell in known for cell, _ in pairs):
            return True
        if not self._own_parts:
            return False
        for cell, fall in pairs:
            parts = self._listed(cell)
            if sum(parts.get(owner, 0) for owner in coalition) > self._total[cell] - fall:
                return True
        return False

    def _parts_in(self, cell: int) -> dict[int, int]:
        """Who is listed among the contributors of a cell, and how much each knows it to be at least."""
        pairs = zip(self.cells.owners[cell].tolist(), self._knows[cell].tolist(), strict=True)
        return {owner: part for owner, part in pairs if owner >= 0 and part > 0}

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

    def need_of(self, cell: int, coalition: Owners) -> Need:
        """What must stay open to a coalition: of the cell without their shares, where they contribute to it."""
        return self._need_without(cell, coalition.intersection(self.cells.owners[cell].tolist()) - {-1})

    def _need_without_parts(self, cell: int, contributing: Owners) -> Need:
        """What must stay open to some of a cell's contributors, or to others where there are none."""
        required, cells = self._requirements, self.cells
        need = Need(float(required.lower[cell]), float(required.upper[cell]), float(required.sliding[cell]))
        if not contributing:
            return need
        inside = np.isin(cells.owners[cell], list(contributing))
        rest = np.zeros_like(cells.largest[cell])
        left = cells.largest[cell][~inside]
        rest[: len(left)] = left
        total = int(cells.contributions.total[cell] - cells.largest[cell][inside].sum())
        if total == 0 and self._zeros_known and cells.contributions.total[cell]:
            return Need(0.0, 0.0, 0.0)
        without = Contributions(np.array([total]), np.array([cells.contributors[cell] - inside.sum()]), rest[None, :])
        called = {name for name, by in required.by_rule.items() if by[cell]}
        levels = [int(rule.protection(without, outsider=True)[0]) for rule in self._rules if rule.rule in called]
        level = float(max(levels, default=0))
        lower = upper = level
        if called - {rule.rule for rule in self._rules} or not levels:  # required by other means than a rule
            if need.sliding:
                return need
            lower, upper = max(level, need.lower), max(level, need.upper)
        below = max(total - float(self._others[cell]), 0.0)  # nobody can be asked to believe in less than nothing
        return Need(min(lower, below) if self._nonnegative else lower, upper, need.sliding)

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
