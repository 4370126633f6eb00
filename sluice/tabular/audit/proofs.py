"""Proofs that somebody hands to the audit: nothing of them is believed, each is checked by plain arithmetic."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import islice
from typing import Protocol

import numpy as np
from scipy.sparse import csr_array

from sluice.tabular.audit.proven_interval import ProvenInterval, Question
from sluice.tabular.model.cells import Booleans, Codes, Floats
from sluice.tabular.model.known_sums import Indices

_ALTERNATIVES = 12  # so that somebody who knows cells of one proof is refuted by another
_NOTHING = 1e-7  # of a bound: what double precision leaves
_OF_WHAT_IT_SHOWS = 1e-6  # that a sum may be off by: a proof of 5 units is none when a sum is off by 1


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
    lower     : shape (c,), the least deviation that attackers believe possible of each cell; `upper` the largest
    """

    def __init__(
        self, equations: csr_array, free: Booleans, lower: Floats, upper: Floats, proofs: Sequence[Proof]
    ) -> None:
        by_cell = equations.T.tocsr()
        self._of: dict[int, list[tuple[float, float, Indices]]] = defaultdict(list)  # cell -> below, above, moved
        for proof in proofs:
            moved, change = np.asarray(proof.cells, dtype=np.int64), np.asarray(proof.change, dtype=np.float64)
            if not _is_one(moved, change, len(free)) or not free[moved].all():
                continue
            off = float(np.abs(change @ by_cell[moved]).max(initial=0))
            below, above = np.zeros(len(moved)), np.zeros(len(moved))
            for way in (change, -change):
                if (way >= lower[moved] - _NOTHING).all() and (way <= upper[moved] + _NOTHING).all():
                    below, above = np.maximum(below, -way), np.maximum(above, way)
            for cell, down, up in zip(moved.tolist(), below.tolist(), above.tolist(), strict=True):
                if off <= _OF_WHAT_IT_SHOWS * max(down, up):
                    self._of[cell].append((down, up, moved))

    def alternatives(self, question: Question) -> list[ProvenInterval]:
        """Proofs that answer the question, each by itself: those that move fewest cells first, a few of them."""
        known, need = set(question.known.tolist()), question.need
        enough = [each for each in self._of.get(question.cell, ()) if need.met(each[0], each[1])]
        enough.sort(key=lambda each: len(each[2]))
        usable = (each for each in enough if known.isdisjoint(each[2].tolist()))
        return [ProvenInterval(below, above, moved) for below, above, moved in islice(usable, _ALTERNATIVES)]

    def answer(self, question: Question) -> ProvenInterval | None:
        """How far the proofs that move no known cell show the cell to be open; None when that is not enough."""
        single = self.alternatives(question)
        if single:
            return single[0]
        known = set(question.known.tolist())
        usable = [each for each in self._of.get(question.cell, ()) if known.isdisjoint(each[2].tolist())]
        if not usable:
            return None
        down, up = max(usable, key=lambda each: each[0]), max(usable, key=lambda each: each[1])
        if not question.need.met(down[0], up[1]):
            return None
        return ProvenInterval(down[0], up[1], np.union1d(down[2], up[2]))


def _is_one(moved: Indices, change: Floats, cells: int) -> bool:
    """Whether it names each cell once and says how far it moves; up and down at once would be no move at all."""
    if moved.ndim != 1 or moved.shape != change.shape or not len(moved) or not np.isfinite(change).all():
        return False
    return bool(moved[0] >= 0 and moved[-1] < cells and (np.diff(moved) > 0).all())
