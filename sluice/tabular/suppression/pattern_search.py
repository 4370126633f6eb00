"""A suppression pattern with its proofs, and the moves that a search makes: protect a target, give a cell up.

The proofs are the state. More suppression never breaks one, so patterns of separate branches merge by union, and the
pattern is safe at any time for the targets that have their proofs.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sluice.tabular.model.cells import Codes, Floats
from sluice.tabular.suppression.block_program import BlockProgram
from sluice.tabular.suppression.insiders import Insiders
from sluice.tabular.suppression.proof_search import Proof, ProofSearch
from sluice.tabular.suppression.targets import Target, Unions
from sluice.tabular.suppression.unknown_cells import ProtectionRanges, UnknownCells

_MOST_USERS = 12  # targets; what more of them use can hardly be given up
_MOSTLY = 0.6  # share of unknowns that are suppressed in any case, from which on few others are given up
_ROUNDING = 1e-9  # relative
_LOOKED_AT = 30  # targets whose proofs may serve another


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
    fixed : shape (u,), suppressed whatever the proofs use: sensitive, withheld, or requested
    price : shape (u,), 0 for what is suppressed, else the cost, infinite for what must be published
    drawn : shape (u,), all changes that proofs were made of, added up at random
    first : shape (u,), suppressed when every target had its proofs for the first time; None before
    """

    def __init__(
        self,
        program: BlockProgram,
        unknowns: UnknownCells,
        ranges: Sequence[ProtectionRanges],
        insiders: Insiders,
        fixed: NDArray[np.bool_],
    ) -> None:
        self.price, self.cost, self.fixed = program.price, program.cost, fixed
        self._unknowns, self._program = unknowns, program
        self.uses = np.zeros(len(unknowns), dtype=np.int32)
        self.drawn, self._random = np.zeros(len(unknowns)), np.random.default_rng(0)
        self.users: dict[int, set[int]] = defaultdict(set)  # unknown -> targets
        self.targets: list[Target] = []
        self.proofs: list[tuple[Proof, ...]] = []
        self._number: dict[tuple[int, tuple[int, ...]], int] = {}
        self.first: NDArray[np.bool_] | None = None
        self.spent = 0.0  # the cost of what is suppressed and need not be
        self._moved: list[Codes] = []  # what came into doubt, or out of it
        self._clock = 1
        self._changed = np.zeros(len(unknowns), dtype=np.int64)  # when one of its neighbours did
        self._tried = np.zeros(len(unknowns), dtype=np.int64)
        self._hardest: dict[int, int] = {}  # unknown -> the target for which it could not be given up
        little_to_give_up = len(fixed) > 0 and bool(fixed.mean() > _MOSTLY)
        self._search = ProofSearch(program, ranges, insiders, self._at_hand, thrifty=little_to_give_up)

    @property
    def work(self) -> float:
        """What was done so far, in units that are the same on every machine; see `BlockProgram`."""
        return self._program.work

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
        at = self._number.setdefault((target.reader, target.unknowns), len(self.targets))
        if at == len(self.targets):
            self.targets.append(target)
            self.proofs.append(())
        return at

    def protect(self, at: int, limit: float, kept: tuple[Proof, ...] = ()) -> bool:
        """Find proofs of a target that has none, for less than `limit`; keep those given if they fit."""
        found = self._search.against_everybody(self.targets[at], limit, kept)
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
            for change in proof.changes:
                self.drawn[change.cells] += self._random.random() / np.abs(change.change).max() * change.change
            for cell in proof.cells.tolist():
                self.users[cell].add(at)

    def moves(self, target: Target, begun: Floats) -> bool:
        """Whether a proof that was taken since then moves the sum of a target, but for an unlikely chance.

        begun : `drawn` at the time
        """
        moved = (self.drawn - begun)[list(target.unknowns)]
        return bool(np.abs(moved.sum()) > _ROUNDING * np.abs(moved).sum())

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

    def give_up(self, cell: int, unions: Unions, enough: Callable[[], bool]) -> bool:
        """Publish a suppressed unknown and prove otherwise what used it; False, and nothing done, if none is cheaper.

        enough : whether to stop on the way

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
                if enough() or not self.protect(at, before - self.spent, kept):
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

    def _at_hand(self, unknown: int) -> Iterator[Proof]:
        for at in sorted(self.users[unknown])[:_LOOKED_AT]:
            yield from self.proofs[at]

    def _undo(self, replaced: Mapping[int, tuple[Proof, ...]], cell: int, before: float) -> None:
        for at in replaced:
            self.release(at)
        for at, proofs in replaced.items():
            self.take(at, proofs)
        self.price[cell], self.spent = 0, before
