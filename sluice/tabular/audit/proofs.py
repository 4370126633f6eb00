"""Proofs that somebody hands to the audit: nothing of them is believed, each is checked by plain arithmetic."""

from collections.abc import Iterator, Sequence
from itertools import islice, product
from typing import Protocol

import numpy as np
from scipy.sparse import csr_array

from sluice.tabular.audit.proven_interval import ProvenInterval, Question
from sluice.tabular.audit.whole_deviation import MULTIPLES
from sluice.tabular.model.cells import Booleans, Codes, Floats, Integers
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
    memory    : some 20 bytes for each cell of each proof
    """

    def __init__(
        self, equations: csr_array, free: Booleans, lower: Floats, upper: Floats, proofs: Sequence[Proof]
    ) -> None:
        held = list(_whole(equations, free, lower, upper, proofs))
        self._moved = np.concatenate([np.zeros(0, dtype=np.int32), *(moved for moved, _ in held)])
        self._change = np.concatenate([np.zeros(0), *(change for _, change in held)])
        lengths = [len(moved) for moved, _ in held]
        self._starts = np.cumsum([0, *lengths])
        self._turned = np.array(
            [bool((-change >= lower[moved]).all() and (-change <= upper[moved]).all()) for moved, change in held],
            dtype=bool,
        )
        entries = np.argsort(self._moved, kind="stable")  # those of a cell follow each other
        self._entries = entries.astype(np.int32)
        self._proof = np.repeat(np.arange(len(held), dtype=np.int32), lengths)[entries]
        self._cell_starts = np.searchsorted(self._moved[entries], np.arange(len(free) + 1))

    def alternatives(self, question: Question) -> list[ProvenInterval]:
        """Proofs that answer the question, each by itself: those that move fewest cells first, a few of them."""
        return list(islice(self._single(question, *self._within(question)), _ALTERNATIVES))

    def answer(self, question: Question) -> ProvenInterval | None:
        """How far the proofs within the question's limits show the cell to be open; None when that is not enough."""
        within = self._within(question)
        return next(self._single(question, *within), None) or self._joined(question, *within)

    def _single(self, question: Question, proofs: Codes, below: Floats, above: Floats) -> Iterator[ProvenInterval]:
        """Those that are enough by themselves; proofs, below, above: see `_within`."""
        lower, upper, width = question.need.enough
        enough = np.flatnonzero((below >= lower) & (above >= upper) & (below + above >= width))
        lengths = np.diff(self._starts)[proofs[enough]]
        for at in enough[np.argsort(lengths, kind="stable")].tolist():
            yield ProvenInterval(float(below[at]), float(above[at]), *self._falls(proofs[at]))

    def _joined(self, question: Question, proofs: Codes, below: Floats, above: Floats) -> ProvenInterval | None:
        """By the proof that goes furthest down and the one that goes furthest up."""
        if not len(proofs):
            return None
        down, up = int(np.argmax(below)), int(np.argmax(above))
        if not question.need.met(float(below[down]), float(above[up])):
            return None
        falls = [self._falls(proofs[at]) for at in (down, up)]
        moved = np.union1d(falls[0][0], falls[1][0])
        drop = np.zeros(len(moved))
        for cells, fall in falls:
            at = np.searchsorted(moved, cells)
            drop[at] = np.maximum(drop[at], fall)
        return ProvenInterval(float(below[down]), float(above[up]), moved, drop)

    def _within(self, question: Question) -> tuple[Codes, Floats, Floats]:
        """Which proofs move the cell and keep the limits of a question; how far below and above they move it."""
        entries = np.arange(self._cell_starts[question.cell], self._cell_starts[question.cell + 1])
        limited = question.limited
        if len(limited) and len(entries):
            proofs = self._proof[entries]
            # Who has parts of many cells is asked about by the few proofs of one, and the other way round.
            of_limited, of_proofs = self._cell_starts[limited + 1], self._starts[proofs + 1]
            if (of_limited - self._cell_starts[limited]).sum() < (of_proofs - self._starts[proofs]).sum():
                some, at = _ranges(self._cell_starts[limited], of_limited)
                below, above = self._reach(some)
                breaking = (question.lower[at] > -below) | (question.upper[at] < above)
                broken = np.zeros(len(self._turned), dtype=bool)
                broken[self._proof[some[breaking]]] = True
                entries = entries[~broken[proofs]]
            else:
                some, of = _ranges(self._starts[proofs], of_proofs)
                at = np.minimum(np.searchsorted(limited, self._moved[some]), len(limited) - 1)
                hit = limited[at] == self._moved[some]
                some, of, at = some[hit], of[hit], at[hit]
                below, above = _reach(self._change[some], self._turned[proofs[of]])
                keeps = np.ones(len(entries), dtype=bool)
                keeps[of[(question.lower[at] > -below) | (question.upper[at] < above)]] = False
                entries = entries[keeps]
        return self._proof[entries], *self._reach(entries)

    def _reach(self, entries: Integers) -> tuple[Floats, Floats]:
        """How far proofs move cells down and up, entry by entry."""
        return _reach(self._change[self._entries[entries]], self._turned[self._proof[entries]])

    def _falls(self, proof: int) -> tuple[Indices, Floats]:
        """The cells that a proof moves, in rising order, and how far each goes down."""
        inside = slice(self._starts[proof], self._starts[proof + 1])
        return self._moved[inside].astype(np.intp), _reach(self._change[inside], self._turned[proof])[0]


def _ranges(starts: Integers, ends: Integers) -> tuple[Integers, Integers]:
    """The whole numbers of several ranges, one range after another, and of which range each is."""
    lengths = ends - starts
    of = np.repeat(np.arange(len(starts)), lengths)
    return np.arange(len(of)) + (starts - np.cumsum(lengths) + lengths)[of], of


def _reach(change: Floats, turned: Booleans | np.bool_) -> tuple[Floats, Floats]:
    """How far a deviation goes down, and up; the same deviation turned round included, where it may be."""
    either = np.abs(change) * turned
    return np.maximum(-change, either), np.maximum(change, either)


def _whole(
    equations: csr_array, free: Booleans, lower: Floats, upper: Floats, proofs: Sequence[Proof]
) -> Iterator[tuple[Codes, Floats]]:
    """Of the deviations that hold, turned round where they hold only so: the cells, and the least whole multiple."""
    given = [(np.asarray(proof.cells, dtype=np.int64), np.asarray(proof.change, dtype=np.float64)) for proof in proofs]
    given = [
        (moved.astype(np.int32), change)
        for moved, change in given
        if _is_one(moved, change, len(free)) and free[moved].all()
    ]
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
