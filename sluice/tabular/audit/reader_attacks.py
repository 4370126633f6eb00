"""The attacks of one reader on one pattern: on its own, and with what contributors and coalitions know."""

import gc
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from copy import copy
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_start_method

import numpy as np

from sluice.ground.parallel_jobs import end_with_parent
from sluice.ground.progress import counted
from sluice.tabular.audit.breach import Breach, Learned
from sluice.tabular.audit.coalitions import Exposed, Insiders, Owners, positions
from sluice.tabular.audit.proofs import CheckedProofs, Proof
from sluice.tabular.audit.proven_interval import Need, ProvenInterval, Question
from sluice.tabular.audit.suppressed_cells import SuppressedCells
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Booleans, Cells, Floats
from sluice.tabular.model.known_sums import Indices, components, computable
from sluice.tabular.rules.intruders import Intruder, known_parts
from sluice.tabular.rules.sensitivity import Requirements, SensitivityRule

_EXACTLY = 0.5  # units; an interval narrower than this holds one whole number
_NOBODY: Owners = frozenset()
_MANY = 5_000  # sensitive cells: to attack so many in several processes saves more than it costs
_PARTS = 4  # of the cells, for each process: some take longer than others
_TOGETHER = 10_000  # questions that are asked at once: each takes some kilobytes


@dataclass(frozen=True, eq=False)
class _Refutation:
    """An interval that is wide enough, and the cells by which some coalition may know better."""

    below: float
    above: float
    exposed: Exposed


@dataclass(frozen=True, eq=False)
class _Part:
    """What the attacks on some cells found, in another process."""

    proven: Floats  # shape (3, n): below, above and widths
    breaches: list[Breach]
    attempted: int
    completed: int


class ReaderAttacks:
    """What a reader can learn of the suppressed cells.

    hidden       : shape (c,), the cells that are not published
    asked        : what rules and people ask, of which a reader may be asked more
    rules        : that say what must stay open to who takes its own part out of a cell; none: as much as to others
    certificates : proofs to be checked first

    free         : shape (c,), the cells that are neither published nor computable
    below, above : shape (c,), how far below and above its value somebody who contributes nothing must believe a
                   sensitive cell possible, as far as it was looked for; NaN for other cells
    breaches, attempted, completed : see `Audit`
    """

    def __init__(
        self,
        cells: Cells,
        hidden: Booleans,
        reader: Intruder,
        asked: Requirements,
        rules: Sequence[SensitivityRule],
        assumptions: Assumptions,
        certificates: Sequence[Proof],
    ) -> None:
        self._cells, self._reader, self._hidden, self._asked = cells, reader, hidden, asked
        self.breaches: list[Breach] = []
        self.attempted = self.completed = 0
        total = cells.total.astype(np.float64)
        lower, upper = reader.lower - total, reader.upper - total
        self._fixed = lower == upper
        movable = hidden & ~self._fixed
        self.free = movable.copy()
        self.free[[cell for cell, _, _ in computable(cells.equations, movable)]] = False
        self._label = components(cells.equations, self.free)
        self._proofs = CheckedProofs(cells.equations, self.free, lower, upper, certificates)
        self._insiders = Insiders(
            cells.to_contributors,
            self.free,
            reader.requirements,
            rules,
            assumptions.coalition if reader.insiders else 0,
            reader.others,
            assumptions.nonnegative,
            assumptions.zeros_known,
            assumptions.own_parts,
            known_parts(cells, asked, rules) if assumptions.statuses and assumptions.coalition == 1 else None,
        )
        self._suppressed = SuppressedCells(cells.equations, self.free, lower, upper, self._label, self._insiders.spare)
        self.below, self.above = np.full(len(cells), np.nan), np.full(len(cells), np.nan)
        self._widths = np.full(len(cells), np.nan)

    def play(self, workers: int = 1) -> None:
        """Try every attack."""
        sensitive, insiders = self._reader.requirements.sensitive, self._insiders
        shut = np.flatnonzero(sensitive & self._hidden & ~self.free)
        self.below[shut] = self.above[shut] = self._widths[shut] = 0.0
        self.attempted, self.completed = self.attempted + len(shut), self.completed + len(shut)
        for cell in shut.tolist():
            if not insiders.need_of(cell, _NOBODY).met(0.0, 0.0):
                self._breach(cell, _NOBODY, 0.0, 0.0)
        targets = np.flatnonzero(sensitive & self.free)
        if workers == 1 or len(targets) < _MANY or get_start_method() != "fork":  # others would copy all of this
            self._attack(targets.tolist(), workers)
            return
        with ProcessPoolExecutor(workers, initializer=_begin, initargs=(self,)) as pool:
            parts = np.array_split(targets, _PARTS * workers)
            attacked = counted(pool.map(_attack_part, parts), "attacks on sensitive cells", len(parts))
            for part, found in zip(parts, attacked, strict=True):
                self.below[part], self.above[part], self._widths[part] = found.proven
                self.breaches += found.breaches
                self.attempted, self.completed = self.attempted + found.attempted, self.completed + found.completed

    def part(self, targets: Indices) -> "_Part":
        """What the attacks on some cells find."""
        attacks = copy(self)
        attacks.breaches, attacks.attempted, attacks.completed = [], 0, 0
        attacks._attack(targets.tolist(), 1)
        proven = np.stack([attacks.below[targets], attacks.above[targets], attacks._widths[targets]])
        return _Part(proven, attacks.breaches, attacks.attempted, attacks.completed)

    def _attack(self, targets: list[int], workers: int) -> None:
        """Outsiders first; then every coalition that refutes the proof so far, and so on."""
        insiders = self._insiders
        proofs: dict[int, list[_Refutation]] = {cell: [] for cell in targets}
        waiting = [(cell, _NOBODY) for cell in targets]
        seen: dict[int, set[Owners]] = {cell: {_NOBODY} for cell in targets}
        while waiting:
            later: list[tuple[int, Owners]] = []
            for start in range(0, len(waiting), _TOGETHER):
                later += self._round(waiting[start : start + _TOGETHER], proofs, seen, workers)
            waiting = [(cell, who) for cell, who in later if cell not in insiders.known_to(who)]

    def _round(
        self,
        waiting: Sequence[tuple[int, Owners]],
        proofs: dict[int, list[_Refutation]],
        seen: dict[int, set[Owners]],
        workers: int,
    ) -> list[tuple[int, Owners]]:
        """Ask of each cell what a coalition can learn of it; what is to be asked next."""
        insiders = self._insiders
        questions = [insiders.question(cell, who, self._label) for cell, who in waiting]
        intervals = self._answers(questions, workers)
        exposed = insiders.exposed(intervals)
        later: list[tuple[int, Owners]] = []
        for (cell, who), question, interval, cells in zip(waiting, questions, intervals, exposed, strict=True):
            self.attempted += 1
            self.completed += interval.complete
            if not who:
                self.below[cell], self.above[cell] = interval.below, interval.above
                self._widths[cell] = (interval.below + interval.above) * max(interval.stretch, 1.0)
            if not interval.complete:
                continue
            if not question.need.met(interval.below, interval.above):
                self._breach(cell, who, interval.below, interval.above)
                continue
            if cell not in proofs:
                continue  # nobody larger is left to ask about it
            proof = _Refutation(interval.below, interval.above, cells)
            proofs[cell].append(proof)
            if not who and len(cells.cells):
                proofs[cell] += self._others(question)
            new = self._open_to(cell, who, proof, proofs[cell], seen[cell])
            new += self._new(cell, insiders.joined_by_contributors(cell, who), seen[cell])
            if not who:
                new += self._new(cell, insiders.raised.get(cell, ()), seen[cell])
                if not new or insiders.size == 1:
                    del proofs[cell], seen[cell]
            later += new
        return later

    def _answers(self, questions: Sequence[Question], workers: int) -> list[ProvenInterval]:
        """By the proofs that were handed in, as far as they hold and are enough; else by a search."""
        proven = [self._proofs.answer(question) for question in questions]
        left = [question for question, interval in zip(questions, proven, strict=True) if interval is None]
        searched = iter(self._suppressed.intervals(left, workers))
        return [interval if interval is not None else next(searched) for interval in proven]

    def _others(self, question: Question) -> list[_Refutation]:
        """Further proofs that were handed in."""
        found = self._proofs.alternatives(question)
        exposed = self._insiders.exposed(found)
        return [_Refutation(each.below, each.above, cells) for each, cells in zip(found, exposed, strict=True)]

    @staticmethod
    def _new(cell: int, coalitions: Sequence[Owners], seen: set[Owners]) -> list[tuple[int, Owners]]:
        found = [who for who in coalitions if who not in seen]
        seen.update(found)
        return [(cell, who) for who in found]

    def _open_to(
        self, cell: int, who: Owners, first: _Refutation, proofs: list[_Refutation], seen: set[Owners]
    ) -> list[tuple[int, Owners]]:
        """The coalitions that a proof leaves open: they refute it, and no other proof holds for them."""
        insiders = self._insiders

        @cache  # for this cell alone: kept for all cells, these would take gigabytes
        def alone(proof: _Refutation) -> set[int]:
            return insiders.alone(proof.exposed)

        def refutes(larger: Owners, proof: _Refutation) -> bool:
            if insiders.size == 1:
                return not larger.isdisjoint(alone(proof))
            return insiders.refutes(larger, proof.exposed)

        found: list[tuple[int, Owners]] = []
        stack = [(who, first)]
        while stack:
            base, proof = stack.pop()
            for larger in insiders.joined(base, proof.exposed):
                if larger in seen:
                    continue
                seen.add(larger)
                need = insiders.need_of(cell, larger)
                fits = (p for p in proofs if need.met(p.below, p.above) and not refutes(larger, p))
                other = next(fits, None)
                if other is None:
                    found.append((cell, larger))
                else:
                    stack.append((larger, other))
        return found

    def _breach(self, cell: int, who: Owners, below: float, above: float) -> None:
        learned: Learned = "exactly" if below + above < _EXACTLY else "nearly"
        of_reader, of_rules = self._reader.requirements, self._asked
        asked = Need(
            float(min(of_rules.lower[cell], of_reader.lower[cell])),
            float(min(of_rules.upper[cell], of_reader.upper[cell])),
            float(min(of_rules.sliding[cell], of_reader.sliding[cell])),
        )
        if learned == "nearly" and not who and asked.met(below, above):
            learned = "sensitive"
        known = positions(self._insiders.known_to(who))
        shared = positions(self._insiders.shared_by(who))
        known, shared = (some[self._label[some] == self._label[cell]] for some in (known, shared))
        breach = Breach.of_cell(self._cells, cell, self._reader.says, who, known.tolist(), shared.tolist(), learned)
        self.breaches.append(breach)

    def narrowest(self, most: int = 10) -> tuple[tuple[int, float], ...]:
        """The sensitive cells with the least to spare: proven width over the one that is asked for."""
        required = self._reader.requirements
        wanted = np.maximum(required.lower + required.upper, required.sliding)
        there = np.flatnonzero(~np.isnan(self._widths) & (wanted > 0))
        spare = self._widths[there] / wanted[there]
        return tuple((int(there[at]), float(spare[at])) for at in np.argsort(spare, kind="stable")[:most])


_attacks: ReaderAttacks  # in a process of its own


def _begin(attacks: ReaderAttacks) -> None:
    global _attacks
    end_with_parent()
    _attacks = attacks
    gc.freeze()  # to look through what the processes share would copy it


def _attack_part(targets: Indices) -> _Part:
    return _attacks.part(targets)
