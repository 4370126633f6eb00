"""Capacity cuts: what every safe pattern must suppress enough of, found where a pattern, whole or in part, falls short.

Source: Fischetti and Salazar-González (2001), sections 3 and 4: capacity constraints from the dual of the attacker's
problem, with coefficients lowered to the level; bridge-less and cover inequalities. Goes beyond it: each contributor,
or coalition, that knows cells wholly has a problem of its own, in which these cells do not change.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sluice.tabular.model.cells import Booleans, Cells, Codes, Floats
from sluice.tabular.model.known_sums import components
from sluice.tabular.rules.sensitivity import SensitivityRule
from sluice.tabular.suppression.attacker_program import AttackerProgram
from sluice.tabular.suppression.effort import Effort
from sluice.tabular.suppression.targets import Coalition, Target, united
from sluice.tabular.suppression.unknown_cells import UnknownCells

_NOBODY: Coalition = frozenset()
_TINY = 1e-9
_LEAN = 1e-3  # openness of unknowns that are published: of many equal proofs the one that leans on few of them
_CAPS = (1.0, 8.0)  # levels that one change may have; a small cap gives the stronger cuts


@dataclass(frozen=True, eq=False)
class Cut:
    """The suppressed among these unknowns must weigh `least` or more."""

    unknowns: Codes
    weights: Floats
    least: float = 1.0

    def falls_short(self, x: Floats, by: float) -> bool:
        """Whether a pattern, whole or in part, misses it by more than so much."""
        return float(self.weights @ x[self.unknowns]) < self.least - by


@dataclass(frozen=True, eq=False)
class Demand:
    """The sides on which a target must be in doubt: one, or both together for an interval of some width."""

    target: Target
    sides: tuple[int, ...]
    level: float


@dataclass(eq=False)
class _Place:
    """The attacker's problem around a target: over what is suppressed, and over all unknowns in the same sums."""

    unknowns: UnknownCells
    rows: NDArray[np.intp]
    openness: Floats
    programs: dict[bool, AttackerProgram] = field(default_factory=dict)

    def program(self, lean: bool) -> AttackerProgram:
        if lean not in self.programs:
            inside = np.unique(self.unknowns.rows[self.rows].indices).astype(np.intp)
            at = inside if lean else inside[self.openness[inside] > 0]
            openness = self.openness[at] + (_LEAN if lean else 0)
            self.programs[lean] = AttackerProgram(self.unknowns, self.rows, at, openness)
        return self.programs[lean]


class CapacityCuts:
    """Finds cuts for what the targets require; remembers proofs, as most hold for the next pattern, too."""

    def __init__(
        self,
        cells: Cells,
        unknowns: UnknownCells,
        demands: Sequence[Demand],
        coalition: int,
        effort: Effort = Effort(),  # noqa: B008
    ) -> None:
        self._unknowns, self._demands, self._coalition = unknowns, demands, coalition
        self._effort = effort
        contributors, owners = cells.contributors[unknowns.first], cells.owners[unknowns.first]
        self._knowers: dict[int, Coalition] = {}
        self._known_by: dict[int, list[int]] = {}
        for unknown in np.flatnonzero(contributors <= coalition).tolist():
            together = frozenset(owners[unknown, : contributors[unknown]].tolist())
            self._knowers[unknown] = together
            for owner in together:
                self._known_by.setdefault(owner, []).append(unknown)
        self._proofs: dict[tuple[int, Coalition], tuple[Codes, Floats]] = {}

    def violated(self, x: Floats, by: float, whole: bool = False) -> list[Cut]:
        """Cuts that x falls short of.

        x     : shape (u,), 0 to 1, how far each unknown is suppressed
        by    : how far it must fall short, at least
        whole : x is a pattern, of zeros and ones; no cut then means that it meets all demands, unless time ran out
        cost  : a linear program for each demand and each attacker who is not refuted by a proof for another
        """
        open_ = np.where(x > _TINY, x, 0)
        label = components(self._unknowns.rows, open_ > 0)
        in_row = np.full(self._unknowns.rows.shape[0], -1)
        entries = self._unknowns.rows.tocoo()
        of = open_[entries.coords[1]] > 0
        in_row[entries.coords[0][of]] = label[entries.coords[1][of]]
        found: dict[bytes, Cut] = {}
        order = sorted(range(len(self._demands)), key=lambda at: label[self._demands[at].target.unknowns[0]])
        place, current = None, -1
        for at in order:
            if self._effort.spent:
                break
            here = int(label[self._demands[at].target.unknowns[0]])
            if place is None or here != current:
                place, current = _Place(self._unknowns, np.flatnonzero(in_row == here), open_), here
            for cut in self._cuts_of(at, place, open_, by, whole):
                found.setdefault(cut.unknowns.tobytes() + cut.weights.round(9).tobytes(), cut)
        return list(found.values())

    def _cuts_of(self, at: int, place: _Place, x: Floats, by: float, whole: bool) -> Iterator[Cut]:
        """Nobody first; then every coalition that knows a cell which the proof so far changes, and so on."""
        demand = self._demands[at]
        proofs: list[tuple[float, frozenset[int]]] = []
        waiting, seen = [_NOBODY], {_NOBODY}
        while waiting:
            attackers = waiting.pop()
            level = self._level(demand, attackers)
            known = self._known_to(attackers)
            if level <= 0 or demand.target.unknowns[0] in known:
                continue
            proof = next((cells for proven, cells in proofs if proven >= level and known.isdisjoint(cells)), None)
            if proof is None:
                moved, cut = self._attack(at, attackers, level, place, x, by, whole)
                if cut is not None:
                    yield cut
                if moved is None:
                    continue
                proof = frozenset(moved.tolist())
                proofs.append((level, proof))
            for unknown in sorted(proof & self._knowers.keys()):
                larger = attackers | self._knowers[unknown]
                if len(larger) <= self._coalition and larger not in seen:
                    seen.add(larger)
                    waiting.append(larger)

    def _known_to(self, attackers: Coalition) -> frozenset[int]:
        """The unknowns whose contributors are all among the attackers."""
        theirs = {unknown for owner in attackers for unknown in self._known_by.get(owner, ())}
        return frozenset(unknown for unknown in theirs if self._knowers[unknown] <= attackers)

    def _level(self, demand: Demand, attackers: Coalition) -> float:
        """What these attackers must be left with; not more than everybody must, so that no safe pattern is cut off."""
        if len(demand.sides) > 1:
            return demand.level
        need = demand.target.need_against(attackers)
        return min(demand.level, need.up if demand.sides == (1,) else need.down)

    def _attack(
        self,
        at: int,
        attackers: Coalition,
        level: float,
        place: _Place,
        x: Floats,
        by: float,
        whole: bool,
    ) -> tuple[Codes | None, Cut | None]:
        """The unknowns of a proof that the target is in doubt, or else a cut, or neither where x is no pattern."""
        remembered = self._proofs.get((at, attackers))
        if remembered is not None and (x[remembered[0]] >= remembered[1] - _TINY).all():
            return remembered[0], None
        demand = self._demands[at]
        target = demand.target.unknowns[0]
        known = np.array(sorted(self._known_to(attackers)), dtype=np.intp)
        for cap in (_CAPS[0], np.inf if whole else _CAPS[1]):
            program = place.program(False)
            found = [(side, *program.furthest(target, side, level, cap, 1, known)) for side in demand.sides]
            if sum(size for _, size, *_ in found) >= 1 - by:
                moved = [np.flatnonzero(np.abs(change) > _TINY) for _, _, change, *_ in found]
                cells = np.concatenate([program.at[some] for some in moved])
                needed = np.concatenate([openness[some] for (*_, openness, _), some in zip(found, moved, strict=True)])
                self._proofs[at, attackers] = cells, needed
                return cells, None
            if cap == _CAPS[0]:
                lean = place.program(True)
                cut = self._cut(
                    [(lean, side, lean.furthest(target, side, level, cap, 1e3, known)[-1]) for side in demand.sides],
                    target, level, known,
                )  # fmt: skip
                if cut.falls_short(x, by):
                    return None, cut
            cut = self._cut([(program, side, multipliers) for side, *_, multipliers in found], target, level, known)
            if cut.falls_short(x, by):
                return None, cut
        return None, None

    def _cut(
        self,
        proofs: Sequence[tuple[AttackerProgram, int, Floats]],
        target: int,
        level: float,
        known: NDArray[np.intp],
    ) -> Cut:
        limits = np.zeros(len(self._unknowns))
        for program, side, multipliers in proofs:
            limits += program.limits(multipliers, target, side, level, known)
        at = np.flatnonzero(limits > 0).astype(np.int32)
        return Cut(at, np.minimum(limits[at], 1))


def bridgeless_cuts(unknowns: UnknownCells, fixed: Booleans) -> Iterator[Cut]:
    """An unknown that is suppressed, though it need not be, has company in each sum, or it could be computed.

    A cheapest pattern has no unknown that can be computed: publishing it changes nothing.
    """
    rows = unknowns.rows
    for start, end in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
        inside = rows.indices[start:end]
        if not fixed[inside].any():
            for at in range(len(inside)):
                weights = np.ones(len(inside))
                weights[at] = -1
                yield Cut(inside.astype(np.int32), weights, 0.0)


def union_cuts(
    cells: Cells, unknowns: UnknownCells, rules: Sequence[SensitivityRule], pattern: Booleans, fixed: Booleans
) -> Iterator[Cut]:
    """Where the suppressed parts of a published sum are sensitive together: the sum or further parts must join them.

    pattern : shape (u,), what is suppressed
    fixed   : shape (u,), what is suppressed in every pattern; the others may be published instead

    A part that suffices alone counts 1, another half: it takes two of those at least, whatever the rule.
    """
    rows, first = unknowns.rows, unknowns.first
    for start, end in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
        inside, sign = rows.indices[start:end], rows.data[start:end]
        parts, total = inside[sign < 0], inside[sign > 0]
        base, others = parts[pattern[parts]], parts[~pattern[parts]]
        if len(base) < 2 or len(total) != 1 or pattern[total[0]] or (sign[sign < 0] != -1).any():
            continue
        merged, _ = united(cells, [first[base], *(first[[*base, other]] for other in others)])
        called = np.logical_or.reduce([rule.sensitive(merged) for rule in rules])
        if called[0]:
            free = base[~fixed[base]]
            weights = np.concatenate([[1.0], np.where(called[1:], 0.5, 1.0), np.full(len(free), -1.0)])
            yield Cut(np.concatenate([total, others, free]).astype(np.int32), weights, 1.0 - len(free))
