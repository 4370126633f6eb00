"""Proofs that somebody hands to the audit: nothing of them is believed, each is checked by plain arithmetic."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Protocol

import numpy as np
from scipy.sparse import csr_array

from sluice.tabular.audit.proven_interval import ProvenInterval, Question
from sluice.tabular.audit.whole_deviation import MULTIPLES
from sluice.tabular.model.cells import Booleans, Codes, Floats
from sluice.tabular.model.known_sums import Indices

_ALTERNATIVES = 12  # so that somebody who knows cells of one proof is refuted by another


class Proof(Protocol):
    """Deviations of some cells, in rising order, that attackers cannot tell from the truth."""

    @property
    def cells(self) -> Codes: ...

    @property
    def change(self) -> Floats: ...


class CheckedProofs:
    """The proofs that hold, by the cells that they move.

    equations : shape (e, c)
    free      : shape (c,), the cells that are neither published nor computable
    lower     : shape (c,), the least deviation that a reader believes possible of each cell; `upper` the largest. In
                whole units, as a deviation must be that proves something
    """

    def __init__(
        self, equations: csr_array, free: Booleans, lower: Floats, upper: Floats, proofs: Sequence[Proof]
    ) -> None:
        self._of: dict[int, list[tuple[float, float, _Deviation]]] = defaultdict(list)  # cell -> below, above
        for moved, change in _whole(equations, free, lower, upper, proofs):
            turned = bool((-change >= lower[moved]).all() and (-change <= upper[moved]).all())
            below, above = (np.maximum(sign * change, np.abs(change) * turned).clip(0) for sign in (-1, 1))
            deviation = _Deviation(moved, below, above)
            for cell, down, up in zip(moved.tolist(), below.tolist(), above.tolist(), strict=True):
                self._of[cell].append((down, up, deviation))

    def alternatives(self, question: Question) -> list[ProvenInterval]:
        """Proofs that answer the question, each by itself: those that move fewest cells first, a few of them."""
        need = question.need
        enough = [each for each in self._of.get(question.cell, ()) if need.met(each[0], each[1])]
        enough.sort(key=lambda each: len(each[2].moved))
        usable = (each for each in enough if each[2].within(question))
        return [
            ProvenInterval(below, above, each.moved, each.below) for below, above, each in islice(usable, _ALTERNATIVES)
        ]

    def answer(self, question: Question) -> ProvenInterval | None:
        """How far the proofs within the question's limits show the cell to be open; None when that is not enough."""
        single = self.alternatives(question)
        if single:
            return single[0]
        usable = [each for each in self._of.get(question.cell, ()) if each[2].within(question)]
        if not usable:
            return None
        down, up = max(usable, key=lambda each: each[0]), max(usable, key=lambda each: each[1])
        if not question.need.met(down[0], up[1]):
            return None
        moved = np.union1d(down[2].moved, up[2].moved)
        drop = np.zeros(len(moved))
        for each in (down[2], up[2]):
            at = np.searchsorted(moved, each.moved)
            drop[at] = np.maximum(drop[at], each.below)
        return ProvenInterval(down[0], up[1], moved, drop)


@dataclass(frozen=True, eq=False)
class _Deviation:
    """Of s cells, in rising order: how far each goes down, and up; the same deviation turned round included."""

    moved: Indices
    below: Floats
    above: Floats

    def within(self, question: Question) -> bool:
        """Whether it keeps the limits of a question."""
        lower, upper = question.limits(self.moved, -self.below, self.above)
        return bool((lower <= -self.below).all() and (upper >= self.above).all())


def _whole(
    equations: csr_array, free: Booleans, lower: Floats, upper: Floats, proofs: Sequence[Proof]
) -> Iterator[tuple[Indices, Floats]]:
    """Of the deviations that hold, turned round where they hold only so: the cells, and the least whole multiple."""
    given = [(np.asarray(proof.cells, dtype=np.int64), np.asarray(proof.change, dtype=np.float64)) for proof in proofs]
    given = [(moved, change) for moved, change in given if _is_one(moved, change, len(free)) and free[moved].all()]
    by_cell = equations.T.tocsr()
    for times, sign in product(MULTIPLES, (1, -1)):
        if not given:
            return
        lengths = [len(moved) for moved, _ in given]
        moved, change = np.concatenate([each for each, _ in given]), np.concatenate([each for _, each in given])
        exact = sign * times * change
        made = np.rint(exact)
        good = (np.abs(exact - made) <= 1e-5 + 1e-7 * np.abs(exact)) & (made >= lower[moved]) & (made <= upper[moved])
        starts = np.cumsum([0, *lengths])
        holds = np.logical_and.reduceat(good, starts[:-1])
        sums = csr_array((made, moved, starts), shape=(len(given), len(free))) @ by_cell
        holds &= np.asarray(abs(sums).sum(axis=1)).ravel() == 0
        holds &= np.logical_or.reduceat(made != 0, starts[:-1])
        for at in np.flatnonzero(holds).tolist():
            inside = slice(starts[at], starts[at + 1])
            stays = made[inside] == 0
            yield moved[inside][~stays], made[inside][~stays]
        given = [each for each, done in zip(given, holds.tolist(), strict=True) if not done]


def _is_one(moved: Indices, change: Floats, cells: int) -> bool:
    """Whether it names each cell once and says how far it moves; up and down at once would be no move at all."""
    if moved.ndim != 1 or moved.shape != change.shape or not len(moved) or not np.isfinite(change).all():
        return False
    return bool(moved[0] >= 0 and moved[-1] < cells and (np.diff(moved) > 0).all())
