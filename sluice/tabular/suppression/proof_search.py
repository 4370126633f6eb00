"""Proofs that a target is in doubt, whoever attacks: the cheapest at prices that the search for a pattern sets.

An attacker who contributes alone to a suppressed cell knows it, so a proof that changes that cell proves nothing to
this attacker: several proofs are found, such that every attacker, or coalition, finds one of which it knows no cell.
Source of the attack: Jewett (1993).
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sluice.tabular.model.cells import Codes, Floats
from sluice.tabular.suppression.block_program import BlockProgram, Change
from sluice.tabular.suppression.targets import Coalition, Need, Target, searched_change
from sluice.tabular.suppression.unknown_cells import UnknownCells

_NOBODY: Coalition = frozenset()
_NOTHING = Need(0, 0)
_NOISE = 1e-3  # of the largest change: what moves less may move by rounding


@dataclass(frozen=True, eq=False)
class Proof:
    """That a target is in doubt as far as the need says, for whoever is not among those it exposes.

    changes : one upwards and one downwards, or one that may go both ways
    both    : whether it is one that may
    cells   : shape (s,), the unknowns that they change, in rising order
    known   : the sets of contributors, each of which knows a cell of it wholly
    """

    changes: tuple[Change, ...]
    both: bool
    cells: Codes
    need: Need
    known: frozenset[Coalition]


class ProofSearch:
    """Finds proofs at the prices of a program, which are as before when it returns.

    at_hand : the proofs, made for whatever target, that change an unknown; they may serve another target, too
    """

    def __init__(
        self,
        program: BlockProgram,
        unknowns: UnknownCells,
        contributors: NDArray[np.int64],
        owners: NDArray[np.int64],
        coalition: int,
        at_hand: Callable[[int], Iterable[Proof]],
    ) -> None:
        self._program, self._price = program, program.price
        self._unknowns, self._coalition, self._at_hand = unknowns, coalition, at_hand
        self._knowers: dict[int, Coalition] = {}  # unknown -> those who know it together
        self._known_by: dict[int, list[int]] = defaultdict(list)  # owner -> unknowns
        for unknown in np.flatnonzero(contributors <= coalition).tolist():
            together = frozenset(owners[unknown, : contributors[unknown]].tolist())
            self._knowers[unknown] = together
            for owner in together:
                self._known_by[owner].append(unknown)
        self._is_known = contributors <= coalition
        self._room = np.minimum(unknowns.down, unknowns.up)

    def against_everybody(self, target: Target, limit: float, kept: tuple[Proof, ...]) -> tuple[Proof, ...] | None:
        """Proofs for less than `limit` such that each coalition knows no cell of one of them; None when there are none.

        kept : proofs of the target that are used again where they fit
        """
        paid: list[tuple[Codes, Floats]] = []
        found = self._share_nobody(target, limit, kept, paid)
        for cells, prices in reversed(paid):
            self._price[cells] = prices
        return found

    def _share_nobody(
        self, target: Target, left: float, kept: tuple[Proof, ...], paid: list[tuple[Codes, Floats]]
    ) -> tuple[Proof, ...] | None:
        """One proof more than a coalition has members, no two of which expose one contributor; or one for each."""
        full = target.greatest_need(self._coalition)
        fit = (proof for proof in kept if full.within(proof.need))
        first = next(fit, None) or self._prove(target, full, _NOBODY, left)
        if first is None:
            return None
        left -= self._pay(first, paid)
        proofs, exposed = [first], self._exposed(target, first)
        safe = not exposed
        while not safe:
            need = full if self._coalition > 1 else self._most(target, exposed)
            fit = (p for p in kept if need.within(p.need) and not exposed & self._exposed(target, p))
            proof = next(fit, None) or self._prove(target, need, exposed, left)
            if proof is None:
                return self._against_each(target, first, left, paid)
            left -= self._pay(proof, paid)
            proofs.append(proof)
            new = self._exposed(target, proof)
            safe = not new or len(proofs) > self._coalition
            exposed |= new
        return tuple(proofs)

    def _against_each(
        self, target: Target, first: Proof, left: float, paid: list[tuple[Codes, Floats]]
    ) -> tuple[Proof, ...] | None:
        """A proof for each coalition that knows a cell of the proof it would otherwise meet."""
        proofs = [first]
        waiting = [(_NOBODY, first)]
        seen = {_NOBODY}
        while waiting:
            beaten, proof = waiting.pop()
            for together in sorted(proof.known, key=sorted):
                attackers = beaten | together
                if len(attackers) > self._coalition or attackers in seen:
                    continue
                seen.add(attackers)
                need = target.greatest_need(self._coalition, attackers)  # one who contributes may join them
                if need == _NOTHING:
                    continue
                other = self._prove(target, need, attackers, left, together=True)
                if other is None:
                    return None
                left -= self._pay(other, paid)
                proofs.append(other)
                waiting.append((attackers, other))
        return tuple(proofs)

    def _exposed(self, target: Target, proof: Proof) -> Coalition:
        """The contributors who, together with others, know a cell of a proof and have something to learn."""
        return frozenset(owner for together in proof.known if self._matters(target, together) for owner in together)

    def _matters(self, target: Target, together: Coalition) -> bool:
        """Whether some may learn of the target what they do not know."""
        return self._coalition > 1 or target.need_against(together) != _NOTHING

    def _most(self, target: Target, exposed: Coalition) -> Need:
        """The need that meets those of all who are exposed."""
        needs = [target.need_against(frozenset([owner])) for owner in exposed]
        return Need(max(need.up for need in needs), max(need.down for need in needs))

    def _pay(self, proof: Proof, paid: list[tuple[Codes, Floats]]) -> float:
        """Make the cells of a proof free for the next one; what they cost."""
        new = proof.cells[self._price[proof.cells] > 0]
        prices = self._price[new].copy()
        paid.append((new, prices))
        self._price[new] = 0
        return float(prices.sum())

    def _prove(
        self, target: Target, need: Need, avoided: Coalition, limit: float, together: bool = False
    ) -> Proof | None:
        """A proof that changes nothing that those avoided know, be it with others.

        together : it may change what they know with others only
        """
        known = sorted({cell for owner in avoided for cell in self._known_by[owner]})
        if together:
            known = [cell for cell in known if self._knowers[cell] <= avoided]
        banned = np.array(known, dtype=np.int64)
        prices = self._price[banned].copy()
        self._price[banned] = np.inf
        try:
            return self._changes(target, need, max(limit, 0))
        finally:
            self._price[banned] = prices

    def _changes(self, target: Target, need: Need, limit: float) -> Proof | None:
        """A change that may go both ways, else one upwards and one downwards; a little larger than it need be."""
        cells = list(target.unknowns)
        room_up, room_down = float(self._unknowns.up[cells].sum()), float(self._unknowns.down[cells].sum())
        sizes = [(searched_change(need.up, room_up), searched_change(need.down, room_down))]
        if np.isinf(limit):  # the last resort: exactly as large as it must be
            sizes.append((float(need.up), float(need.down)))
        for up, down in sizes:
            if max(up, down) <= min(room_up, room_down):
                both = self._found_before(cells, max(up, down)) or self._program.cheapest(
                    cells, max(up, down), 0, limit
                )
                if both is not None:
                    return self._proof(need, (both,), True)
            pair = self._pair(cells, up, down, limit)
            if pair is not None:
                return self._proof(need, pair, False)
        return None

    def _found_before(self, cells: list[int], level: float) -> Change | None:
        """A change of the proofs at hand that costs nothing and moves a target enough, both ways, larger or smaller."""
        if len(cells) > 1 or not self._program.wide(cells[0]):
            return None
        target = cells[0]
        best: Change | None = None
        for change in (proof.changes[0] for proof in self._at_hand(target) if proof.both):
            if best is not None and len(change.cells) >= len(best.cells):
                continue
            place = int(np.searchsorted(change.cells, target))
            if place == len(change.cells) or change.cells[place] != target:
                continue
            size = np.abs(change.change)
            if size[place] < _NOISE * size.max() or self._price[change.cells].any():
                continue
            scale = level / float(change.change[place])
            if (abs(scale) * size <= self._room[change.cells]).all():
                best = Change(change.cells, scale * change.change)
        return best

    def _pair(self, cells: list[int], up: float, down: float, limit: float) -> tuple[Change, ...] | None:
        changes: list[Change] = []
        paid: list[tuple[Codes, Floats]] = []
        try:
            for side, size in ((1, up), (-1, down)):
                if size > 0:
                    change = self._program.cheapest(cells, size, side, limit)
                    if change is None:
                        return None
                    changes.append(change)
                    new = change.cells[self._price[change.cells] > 0]
                    paid.append((new, self._price[new].copy()))
                    limit = max(0.0, limit - float(self._price[new].sum()))
                    self._price[new] = 0
        finally:
            for new, prices in reversed(paid):
                self._price[new] = prices
        return tuple(changes)

    def _proof(self, need: Need, changes: tuple[Change, ...], both: bool) -> Proof:
        cells = np.unique(np.concatenate([change.cells for change in changes])) if changes else np.zeros(0, np.int32)
        known = frozenset(self._knowers[cell] for cell in cells[self._is_known[cells]].tolist())
        return Proof(changes, both, cells, need, known)
