"""A suppression pattern with its proofs, and the moves that a search makes: protect a target, give a cell up.

The proofs are the state. More suppression never breaks one, so patterns of separate branches merge by union, and the
pattern is safe at any time for the targets that have their proofs.

An attacker who contributes alone to a suppressed cell knows it, so a proof that changes that cell proves nothing to
this attacker: several proofs are kept, such that every attacker, or coalition, finds one of which it knows no cell.
Source of the attack: Jewett, "Disclosure analysis for the 1992 economic census" (US Bureau of the Census 1993).
"""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sluice.tabular.block_program import BlockProgram, Change
from sluice.tabular.cells import Codes
from sluice.tabular.targets import Coalition, Need, Target, asked
from sluice.tabular.unions import Unions
from sluice.tabular.unknown_cells import UnknownCells

Floats = NDArray[np.float64]

_NOBODY: Coalition = frozenset()
_NOTHING = Need(0, 0)
_MOST_USERS = 12  # targets; what more of them use can hardly be given up
_LOOKED_AT = 30  # targets whose proofs may serve another
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


@dataclass(frozen=True, eq=False)
class State:
    """A pattern to go back to: the proofs of the targets, what it costs, and when what was tried and changed."""

    proofs: tuple[tuple[Proof, ...], ...]
    spent: float
    tried: NDArray[np.int64]
    changed: NDArray[np.int64]


class PatternSearch:
    """The proofs of each target, and which unknowns they suppress.

    cost  : shape (u,), above 0
    fixed : shape (u,), suppressed whatever the proofs use: sensitive, withheld, or asked for
    price : shape (u,), 0 for what is suppressed, else the cost, infinite for what must be published
    """

    def __init__(
        self,
        program: BlockProgram,
        unknowns: UnknownCells,
        contributors: NDArray[np.int64],
        owners: NDArray[np.int64],
        coalition: int,
        fixed: NDArray[np.bool_],
    ) -> None:
        self.program, self.price, self.cost, self.fixed = program, program.price, program.cost, fixed
        self._unknowns, self._coalition = unknowns, coalition
        self.uses = np.zeros(len(unknowns), dtype=np.int32)
        self.users: dict[int, set[int]] = defaultdict(set)  # unknown -> targets
        self.targets: list[Target] = []
        self.proofs: list[tuple[Proof, ...]] = []
        self._number: dict[tuple[int, ...], int] = {}
        self.spent = 0.0  # the cost of what is suppressed and need not be
        self._moved: list[Codes] = []  # what came into doubt, or out of it
        self._clock = 1
        self._changed = np.zeros(len(unknowns), dtype=np.int64)  # when something beside it did
        self._tried = np.zeros(len(unknowns), dtype=np.int64)
        self.knowers: dict[int, Coalition] = {}  # unknown -> those who know it together
        self._known_by: dict[int, list[int]] = defaultdict(list)  # owner -> unknowns
        self._hardest: dict[int, int] = {}  # unknown -> the target for which it could not be given up
        for unknown in np.flatnonzero(contributors <= coalition).tolist():
            together = frozenset(owners[unknown, : contributors[unknown]].tolist())
            self.knowers[unknown] = together
            for owner in together:
                self._known_by[owner].append(unknown)
        self._is_known = contributors <= coalition
        self._room = np.minimum(unknowns.down, unknowns.up)

    @property
    def active(self) -> NDArray[np.bool_]:
        """Shape (u,): what the proofs change."""
        return self.uses > 0

    @property
    def suppressed(self) -> NDArray[np.bool_]:
        """Shape (u,): what is suppressed."""
        return self.fixed | (self.uses > 0)

    def index(self, target: Target) -> int:
        """The number of a target, which is taken up if it is new; it has no proofs then."""
        at = self._number.setdefault(target.unknowns, len(self.targets))
        if at == len(self.targets):
            self.targets.append(target)
            self.proofs.append(())
        return at

    def protect(self, at: int, limit: float, kept: tuple[Proof, ...] = ()) -> bool:
        """Find proofs of a target that has none, for less than `limit`; keep those given if they fit."""
        found = self._defend(self.targets[at], limit, kept)
        if found is None:
            return False
        self.take(at, found)
        return True

    def take(self, at: int, proofs: tuple[Proof, ...]) -> None:
        """Suppress what the proofs of a target use."""
        self.proofs[at] = proofs
        for proof in proofs:
            new = proof.cells[self.uses[proof.cells] == 0]
            self.uses[proof.cells] += 1
            self.price[new] = 0
            self.spent += float(self.cost[new[~self.fixed[new]]].sum())
            self._moved.append(new)
            for cell in proof.cells.tolist():
                self.users[cell].add(at)

    def release(self, at: int) -> tuple[Proof, ...]:
        """Take the proofs of a target out, and publish what no other uses."""
        proofs, self.proofs[at] = self.proofs[at], ()
        for proof in proofs:
            self.uses[proof.cells] -= 1
            unused = proof.cells[self.uses[proof.cells] == 0]
            self._moved.append(unused)
            unused = unused[~self.fixed[unused]]
            self.price[unused] = self.cost[unused]
            self.spent -= float(self.cost[unused].sum())
            for cell in proof.cells.tolist():
                self.users[cell].discard(at)
        return proofs

    def _moved_since(self) -> NDArray[np.int32]:
        """What is in doubt and was not when `_moved` was emptied, or the other way round."""
        moved, times = np.unique(np.concatenate(self._moved), return_counts=True)
        odd: NDArray[np.int32] = moved[times % 2 == 1]
        return odd

    def give_up(self, cell: int, unions: Unions) -> bool:
        """Publish a suppressed unknown and prove otherwise what used it; False, and nothing done, if none is cheaper.

        A union that its proof made safe needs none any more when its sum cannot be computed then. The target at which
        the last attempt failed comes first: it mostly fails again, at once, and else the others follow its new proof.
        """
        self._moved, before = [], self.spent
        replaced = {at: self.release(at) for at in sorted(self.users[cell])}
        self.price[cell] = np.inf
        waiting = [at for at in replaced if len(self.targets[at].unknowns) == 1]
        freed = [u for at in replaced if len(self.targets[at].unknowns) > 1 for u in self.targets[at].unknowns]
        hardest = self._hardest.get(cell)
        waiting.sort(key=lambda at: (at != hardest, -self.targets[at].need.up, at))
        while True:
            for at in waiting:
                kept = tuple(proof for proof in replaced[at] if cell not in proof.cells)
                if not self.protect(at, before - self.spent, kept):
                    self._hardest[cell] = at
                    self._undo(replaced, cell, before)
                    return False
            changed = np.union1d(self._moved_since(), np.array(freed, dtype=np.int32))
            waiting = [self.index(target) for target in unions.sensitive(self.active, changed)]
            if not waiting:
                break
            replaced |= {at: self.proofs[at] for at in waiting if at not in replaced}
        if self.spent >= before * (1 - 1e-9):
            self._undo(replaced, cell, before)
            return False
        self.price[cell] = self.cost[cell]
        self._changed_near(self._moved_since())
        return True

    def state(self) -> State:
        """What `restore` goes back to."""
        return State(tuple(self.proofs), self.spent, self._tried.copy(), self._changed.copy())

    def restore(self, state: State) -> None:
        """Go back to the proofs that targets had; targets taken up since have none."""
        then = [*state.proofs, *[()] * (len(self.proofs) - len(state.proofs))]
        odd = [at for at, old in enumerate(then) if self.proofs[at] is not old]
        for at in odd:
            self.release(at)
        for at in odd:
            self.take(at, then[at])
        self.spent, self._tried, self._changed = state.spent, state.tried, state.changed

    def worth_a_look(self, cell: int) -> bool:
        """False when nothing near the proofs that use an unknown has changed since it was last tried to give it up."""
        if len(self.users[cell]) > _MOST_USERS:
            return False
        proofs = [proof.cells for at in self.users[cell] for proof in self.proofs[at]]
        if self._tried[cell] > max(int(self._changed[cells].max(initial=0)) for cells in proofs):
            return False
        self._tried[cell] = self._clock
        return True

    def looked_at(self, unknowns: Collection[int]) -> None:
        """Note that it was tried already to give these up."""
        self._tried[list(unknowns)] = self._clock
        self._clock += 1

    def _changed_near(self, unknowns: NDArray[np.int32]) -> None:
        """Note the time at every unknown that shares a row with one of these."""
        rows, columns = self._unknowns.rows, self._unknowns.columns
        near = columns[unknowns].indices
        self._clock += 1
        self._changed[rows[np.unique(near)].indices] = self._clock
        self._clock += 1

    def _undo(self, replaced: Mapping[int, tuple[Proof, ...]], cell: int, before: float) -> None:
        for at in replaced:
            self.release(at)
        for at, proofs in replaced.items():
            self.take(at, proofs)
        self.price[cell], self.spent = 0, before

    # proofs against everybody

    def _defend(self, target: Target, limit: float, kept: tuple[Proof, ...]) -> tuple[Proof, ...] | None:
        """Proofs such that each coalition knows no cell of one of them; prices are as before on return."""
        paid: list[tuple[Codes, Floats]] = []
        found = self._share_nobody(target, limit, kept, paid)
        for cells, prices in reversed(paid):
            self.price[cells] = prices
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
                need = target.need_against(attackers)
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
        new = proof.cells[self.price[proof.cells] > 0]
        prices = self.price[new].copy()
        paid.append((new, prices))
        self.price[new] = 0
        return float(prices.sum())

    def _prove(
        self, target: Target, need: Need, avoided: Coalition, limit: float, together: bool = False
    ) -> Proof | None:
        """A proof that changes nothing that those avoided know, be it with others.

        together : it may change what they know with others only
        """
        known = sorted({cell for owner in avoided for cell in self._known_by[owner]})
        if together:
            known = [cell for cell in known if self.knowers[cell] <= avoided]
        banned = np.array(known, dtype=np.int64)
        prices = self.price[banned].copy()
        self.price[banned] = np.inf
        try:
            return self._changes(target, need, max(limit, 0))
        finally:
            self.price[banned] = prices

    def _changes(self, target: Target, need: Need, limit: float) -> Proof | None:
        """A change that may go both ways, else one upwards and one downwards; a little larger than it need be."""
        cells = list(target.unknowns)
        room_up, room_down = float(self._unknowns.up[cells].sum()), float(self._unknowns.down[cells].sum())
        sizes = [(asked(need.up, room_up), asked(need.down, room_down))]
        if np.isinf(limit):  # the last resort: exactly as large as it must be
            sizes.append((float(need.up), float(need.down)))
        for up, down in sizes:
            if max(up, down) <= min(room_up, room_down):
                both = self._found_before(cells, max(up, down)) or self.program.cheapest(cells, max(up, down), 0, limit)
                if both is not None:
                    return self._proof(need, (both,), True)
            pair = self._pair(cells, up, down, limit)
            if pair is not None:
                return self._proof(need, pair, False)
        return None

    def _found_before(self, cells: list[int], level: float) -> Change | None:
        """A change of the proofs at hand that costs nothing and moves a target enough, both ways, larger or smaller."""
        if len(cells) > 1 or not self.program.wide(cells[0]):
            return None
        target = cells[0]
        best: Change | None = None
        for at in sorted(self.users[target])[:_LOOKED_AT]:
            for proof in self.proofs[at]:
                if proof.both:
                    change = proof.changes[0]
                    if best is not None and len(change.cells) >= len(best.cells):
                        continue
                    place = int(np.searchsorted(change.cells, target))
                    if place == len(change.cells) or change.cells[place] != target:
                        continue
                    size = np.abs(change.change)
                    if size[place] < _NOISE * size.max() or self.price[change.cells].any():
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
                    change = self.program.cheapest(cells, size, side, limit)
                    if change is None:
                        return None
                    changes.append(change)
                    new = change.cells[self.price[change.cells] > 0]
                    paid.append((new, self.price[new].copy()))
                    limit = max(0.0, limit - float(self.price[new].sum()))
                    self.price[new] = 0
        finally:
            for new, prices in reversed(paid):
                self.price[new] = prices
        return tuple(changes)

    def _proof(self, need: Need, changes: tuple[Change, ...], both: bool) -> Proof:
        cells = np.unique(np.concatenate([change.cells for change in changes])) if changes else np.zeros(0, np.int32)
        known = frozenset(self.knowers[cell] for cell in cells[self._is_known[cells]].tolist())
        return Proof(changes, both, cells, need, known)
