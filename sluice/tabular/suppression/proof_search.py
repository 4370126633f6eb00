"""Proofs that a target is in doubt, whoever attacks: the cheapest at prices that the search for a pattern sets.

A contributor who knows a suppressed cell, or that it is no less than its own part, is not convinced by a proof that
changes that cell, or takes it lower: several proofs are found, such that every contributor, or coalition, finds one
that it must believe. Source of the attack: Jewett (1993).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from sluice.tabular.model.cells import Codes, Floats
from sluice.tabular.suppression.block_program import BlockProgram, Change
from sluice.tabular.suppression.insiders import Insiders
from sluice.tabular.suppression.targets import Coalition, Need, Target, searched_change
from sluice.tabular.suppression.unknown_cells import ProtectionRanges

_NOBODY: Coalition = frozenset()
_HARD = 3  # contributors whom nothing near a target convinces, from which on it is not tried for others
_FINITE = float(np.finfo(np.float64).max)  # a limit that nothing exceeds, and that permits no last resort


@dataclass(frozen=True, eq=False)
class Proof:
    """That a target is in doubt as far as the need says, for whoever is not among those it exposes.

    changes : one upwards and one downwards, or one that may go both ways
    both    : whether it is one that may
    cells   : shape (s,), the unknowns that they change, in rising order
    known   : the sets of contributors, each of which knows that a change is none
    """

    changes: tuple[Change, ...]
    both: bool
    cells: Codes
    need: Need
    known: frozenset[Coalition]

    def exposes(self, attackers: Coalition) -> bool:
        """Whether some of them know better."""
        sizes = range(len(attackers) + 1)  # few: as many as may pool what they know
        return any(frozenset(some) in self.known for size in sizes for some in combinations(attackers, size))


class ProofSearch:
    """Finds proofs at the prices of a program, which are as before when it returns.

    ranges   : of each reader
    at_hand : the proofs, made for whatever target and reader, that change an unknown; they may serve another, too
    thrifty : whether first proofs are taken from there where they can be; else they are short, and easier to replace
    """

    def __init__(
        self,
        program: BlockProgram,
        ranges: Sequence[ProtectionRanges],
        insiders: Insiders,
        at_hand: Callable[[int], Iterable[Proof]],
        thrifty: bool,
    ) -> None:
        self._program, self._price = program, program.price
        self._ranges, self._insiders, self._at_hand = ranges, insiders, at_hand
        self._coalition, self._thrifty = insiders.coalition, thrifty

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
            splits = (
                self._coalition == 1 and len(exposed) > 1
            )  # the last resort is for those whom nothing else convinces
            proof = next(fit, None) or self._prove(target, need, exposed, min(left, _FINITE) if splits else left)
            if proof is None:
                if self._coalition > 1:
                    return self._against_each(target, proofs, left, kept, paid)
                return self._against_groups(target, first, exposed, left, kept, paid)
            left -= self._pay(proof, paid)
            proofs.append(proof)
            new = self._exposed(target, proof)
            safe = not new or len(proofs) > self._coalition
            exposed |= new
        return tuple(proofs)

    def _against_groups(
        self,
        target: Target,
        first: Proof,
        exposed: Coalition,
        left: float,
        kept: tuple[Proof, ...],
        paid: list[tuple[Codes, Floats]],
    ) -> tuple[Proof, ...] | None:
        """Further proofs for contributors who are exposed, each by itself, and who cannot all be convinced by one.

        One proof for each half of them, or for each half of a half: mostly far fewer than one for each contributor.
        Those who know most come first, as they are hardest to convince; whom a proof for others convinces needs none.
        Whom nothing near the target convinces, the last resort does, again as many as possible at once.
        """
        proofs, waiting, hard = [first], _halves(self._insiders.by_knowledge(exposed)), list[int]()
        for last_resort in (False, True):
            while waiting:
                some = self._unconvinced(target, waiting.pop(), proofs)
                if not some:
                    continue
                if len(hard) >= _HARD and not last_resort:
                    hard += some
                    continue
                alone = [frozenset([owner]) for owner in some]
                need = self._most(target, frozenset(some))
                fit = (proof for proof in kept if need.within(proof.need) and proof.known.isdisjoint(alone))
                limit = left if last_resort else min(left, _FINITE)
                proof = next(fit, None) or self._prove(target, need, frozenset(some), limit)
                if proof is not None:
                    left -= self._pay(proof, paid)
                    proofs.append(proof)
                elif len(some) > 1:
                    waiting += _halves(some)
                elif last_resort or left <= _FINITE:
                    return None
                else:
                    hard += some
            waiting = [hard]
        return tuple(proofs)

    @staticmethod
    def _unconvinced(target: Target, owners: list[int], proofs: Sequence[Proof]) -> list[int]:
        """Those who believe none of the proofs."""
        open_ = []
        for owner in owners:
            alone = frozenset([owner])
            need = target.need_against(alone)
            if not any(alone not in proof.known and need.within(proof.need) for proof in proofs):
                open_.append(owner)
        return open_

    def _against_each(
        self,
        target: Target,
        proofs: list[Proof],
        left: float,
        kept: tuple[Proof, ...],
        paid: list[tuple[Codes, Floats]],
    ) -> tuple[Proof, ...] | None:
        """A proof for each coalition that does not believe the one it would otherwise meet; the first to begin with."""
        waiting = [(_NOBODY, proofs[0])]
        seen = {_NOBODY}
        while waiting:
            beaten, proof = waiting.pop()
            for together in sorted(proof.known, key=sorted):
                attackers = beaten | together
                if len(attackers) > self._coalition or attackers in seen:
                    continue
                seen.add(attackers)
                need = target.greatest_need(self._coalition, attackers)  # one who contributes may join them
                if need.nothing:
                    continue
                fit = (p for p in (*proofs, *kept) if need.within(p.need) and not p.exposes(attackers))
                other = next(fit, None) or self._prove(target, need, attackers, left, together=True)
                if other is None:
                    return None
                if other not in proofs:
                    left -= self._pay(other, paid)
                    proofs.append(other)
                waiting.append((attackers, other))
        return tuple(proofs)

    def _exposed(self, target: Target, proof: Proof) -> Coalition:
        """The contributors who, alone or together with others, know a cell of a proof and have something to learn."""
        if not target.insiders or (self._coalition == 1 and target.need_against(_NOBODY).nothing):
            return _NOBODY
        knowing = _NOBODY.union(*proof.known)
        if self._coalition > 1:
            return knowing
        idle = [owner for owner in knowing & target.listed if target.need_against(frozenset([owner])).nothing]
        return knowing.difference(idle)

    def _most(self, target: Target, exposed: Coalition) -> Need:
        """The need that meets those of all who are exposed."""
        listed = exposed & target.listed
        needs = [target.need_against(frozenset([owner])) for owner in listed]
        if len(listed) < len(exposed):  # to all others it is one and the same
            needs.append(target.need_against(_NOBODY))
        return Need(*(max(of) for of in zip(*((need.up, need.down, need.wide) for need in needs), strict=True)))

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
        """A proof that those avoided believe, each be it with others.

        together : they alone
        """
        with self._known_to(avoided, target.reader, together):
            return self._changes(target, need, max(limit, 0))

    @contextmanager
    def _known_to(self, avoided: Coalition, reader: int, together: bool) -> Iterator[None]:
        wholly, partly, down = self._insiders.knowledge(avoided, together)
        prices = self._price[wholly].copy()
        self._price[wholly] = np.inf
        try:
            with self._ranges[reader].narrowed(partly, down):
                yield
        finally:
            self._price[wholly] = prices

    def _changes(self, target: Target, need: Need, limit: float) -> Proof | None:
        """The cheapest among the changes that meet a need."""
        best, least = None, limit
        for up, down in self._sizes(target, need):
            changes, both = self._change(target, up, down, least)
            if changes is None:
                continue
            proof = self._proof(need, changes, both)
            price = float(self._price[proof.cells].sum())
            if best is None or price < least:
                best, least = proof, price
            if price == 0:
                break
        return best

    def _sizes(self, target: Target, need: Need) -> list[tuple[int, int]]:
        """How far up and down a target may move to be in as much doubt as is needed."""
        missing = need.wide - need.up - need.down
        if missing <= 0:
            return [(need.up, need.down)]
        ranges, cells = self._ranges[target.reader], list(target.unknowns)
        most_up, most_down = float(ranges.up[cells].sum()), float(ranges.down[cells].sum())
        more_up = int(min(missing, max(most_up - need.up, 0)))
        more_down = int(min(missing, max(most_down - need.down, 0)))
        if more_up + more_down < missing:
            return []
        sizes = [
            (need.up + missing - more_down, need.down + more_down),
            (need.up + more_up, need.down + missing - more_up),
        ]
        return list(dict.fromkeys(sizes))

    def _change(self, target: Target, up: int, down: int, limit: float) -> tuple[tuple[Change, ...] | None, bool]:
        """A change that may go both ways, else one upwards and one downwards; a little larger than it need be."""
        cells, ranges = list(target.unknowns), self._ranges[target.reader]
        room_up, room_down = float(ranges.up[cells].sum()), float(ranges.down[cells].sum())
        if up > room_up or down > room_down:
            return None, False
        sizes = [(searched_change(up, room_up), searched_change(down, room_down), False)]
        if np.isinf(limit):  # the last resort: exactly as large as it must be, whatever it takes
            sizes.append((up, down, True))
        for more, less, last_resort in sizes:
            if min(up, down) > 0 and max(more, less) <= min(room_up, room_down):
                both = self._found_before(target, max(up, down), 0, limit) or self._program.cheapest(
                    cells, max(more, less), 0, limit, ranges, last_resort
                )
                if both is not None:
                    return (both,), True
            pair = self._pair(target, more, less, limit, last_resort)
            if pair is not None:
                return pair, False
        return None, False

    def _found_before(self, target: Target, level: int, side: int, limit: float) -> Change | None:
        """A change of the proofs at hand that costs nothing and moves a target enough; or several times such a change.

        side : as in `BlockProgram.cheapest`
        """
        at = target.unknowns[0]
        if len(target.unknowns) > 1:
            return None
        if np.isinf(limit) and not (self._thrifty or target.reader or self._program.wide(at)):
            return None
        best: Change | None = None
        down, up = self._ranges[target.reader].within(0 if side == 0 else 1)
        here = np.int32(at)  # of another type, each search would copy what it looks through
        for change in (change for proof in self._at_hand(at) for change in proof.changes):
            if best is not None and len(change.cells) >= len(best.cells):
                continue
            place = int(change.cells.searchsorted(here))
            if place == len(change.cells) or change.cells[place] != at or self._price[change.cells].any():
                continue
            moved = float(change.change[place])
            times = np.ceil(level / abs(moved)) * (side or 1) * np.sign(moved)
            several = times * change.change
            if (several <= up[change.cells]).all() and (several >= -down[change.cells]).all():
                best = Change(change.cells, several)
        return best

    def _pair(self, target: Target, up: int, down: int, limit: float, last_resort: bool) -> tuple[Change, ...] | None:
        cells, ranges = list(target.unknowns), self._ranges[target.reader]
        changes: list[Change] = []
        paid: list[tuple[Codes, Floats]] = []
        try:
            for side, size in ((1, up), (-1, down)):
                if size > 0:
                    change = self._found_before(target, size, side, limit) or self._program.cheapest(
                        cells, size, side, limit, ranges, last_resort
                    )
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
        known = [self._insiders.exposed(change.cells, change.change, both) for change in changes]
        return Proof(changes, both, cells, need, frozenset().union(*known))


def _halves(owners: list[int]) -> list[list[int]]:
    """Two, neither of them empty; the only one where there is no second."""
    middle = len(owners) // 2
    return [half for half in (owners[:middle], owners[middle:]) if half]
