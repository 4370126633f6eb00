"""What contributors know of the unknowns: those that are theirs alone, and that no other is below their own part.

Source of the first: Jewett (1993). A change that takes a cell below what somebody contributes to it cannot be true, for
that contributor; nor can any change of a cell that is known wholly. A coalition adds up its parts.
"""

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sluice.tabular.model.cells import Cells, Codes, Floats, Integers
from sluice.tabular.suppression.targets import Coalition
from sluice.tabular.suppression.unknown_cells import UnknownCells


class Insiders:
    """The contributors of u unknowns, alone or up to `coalition` of them together.

    own_parts : whether they know that an unknown is at least their part of it; it takes contributions of 0 or more
    """

    def __init__(self, cells: Cells, unknowns: UnknownCells, coalition: int, own_parts: bool) -> None:
        first = unknowns.first
        self.coalition = coalition
        self._contributors = cells.contributors[first]
        self._total, self._largest = cells.total[first], cells.largest[first]
        self._owners = cells.owners[first]
        self._wholly = (self._contributors <= coalition) & (self._owners[:, 0] >= 0)
        self._parts = own_parts and coalition > 0
        together = self._largest[:, :coalition].sum(axis=1) if self._parts else np.zeros(len(first), dtype=np.int64)
        self._untouched = self._total - together  # so far down is beyond nobody's part
        self._knowers: dict[int, Coalition] = {
            unknown: frozenset(self._owners[unknown, : self._contributors[unknown]].tolist()) - {-1}
            for unknown in np.flatnonzero(self._wholly).tolist()
        }
        owner, unknown = self._owners.ravel(), np.repeat(np.arange(len(first)), self._owners.shape[1])
        inside = (owner >= 0) & (self._parts | self._wholly[unknown])
        order = np.lexsort((unknown[inside], owner[inside]))
        self._owner, self._unknown = owner[inside][order], unknown[inside][order]
        self._part = np.maximum(self._largest.ravel()[inside][order], 0)
        self._scratch = np.full(len(first), -1, dtype=np.int64)

    def exposed(self, unknowns: Codes, change: Floats, both: bool) -> frozenset[Coalition]:
        """The smallest sets of contributors who know that a change is none, or its opposite if it may go both ways."""
        found = {self._knowers[unknown] for unknown in unknowns[self._wholly[unknowns]].tolist()}
        if not self._parts:
            return frozenset(found)
        depth = np.abs(change) if both else -change
        below = (depth > self._untouched[unknowns]) & (self._contributors[unknowns] > 1)  # of two, too, each knows one
        deep, least = unknowns[below], self._total[unknowns[below]] - depth[below]
        if self.coalition == 1:
            more = (self._largest[deep] > least[:, None]) & (self._owners[deep] >= 0)
            return frozenset(found.union(frozenset([owner]) for owner in self._owners[deep][more].tolist()))
        for unknown, left in zip(deep.tolist(), least.tolist(), strict=True):
            found.update(self._below(unknown, left))
        return frozenset(found)

    def _below(self, unknown: int, least: float) -> set[Coalition]:
        """The smallest sets of contributors whose parts of an unknown are together more than this."""
        found: set[Coalition] = set()
        owners = self._owners[unknown].tolist()
        part = {owner: int(of) for owner, of in zip(owners, self._largest[unknown], strict=True) if owner >= 0}
        for size in range(1, self.coalition + 1):
            for some in map(frozenset, combinations(part, size)):
                if sum(part[owner] for owner in some) > least and not any(smaller <= some for smaller in found):
                    found.add(some)
        return found

    def by_knowledge(self, owners: Coalition) -> list[int]:
        """Those who know something of the fewest unknowns first."""
        each = np.array(sorted(owners))
        known = np.searchsorted(self._owner, each, side="right") - np.searchsorted(self._owner, each)
        ordered: list[int] = each[np.argsort(known, kind="stable")].tolist()
        return ordered

    def knowledge(self, avoided: Coalition, together: bool) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
        """What changes must keep to for these to believe them: unknowns that stay, others, and how far down these may.

        together : these, and nobody else; otherwise each of them with whomever else, up to a coalition
        """
        from sluice.tabular.suppression.suppression_kernel import largest_parts

        nothing = np.zeros(0, dtype=np.intp)
        if not avoided:
            return nothing, nothing, np.zeros(0)
        each = np.array(sorted(avoided))
        start, end = np.searchsorted(self._owner, each), np.searchsorted(self._owner, each, side="right")
        theirs, most = largest_parts(start, end, self._unknown, self._part, self._scratch)
        known = self._wholly[theirs]
        if together:
            known &= np.array([self._knowers.get(unknown, frozenset([-1])) <= avoided for unknown in theirs.tolist()])
        wholly, partly, most = theirs[known], theirs[~known], most[~known]
        if not self._parts:
            return wholly, nothing, np.zeros(0)
        if self.coalition > 1:
            most = self._most(partly, each, together)
        return wholly, partly, (self._total[partly] - most).astype(np.float64)

    def _most(self, unknowns: NDArray[np.intp], avoided: Integers, together: bool) -> Integers:
        """Shape (s,): the most that a coalition has of each, of those avoided alone, or with others."""
        own, largest = np.isin(self._owners[unknowns], avoided), self._largest[unknowns]
        if together:
            theirs: Integers = np.where(own, largest, 0).sum(axis=1)
            return theirs
        first = np.where(own, largest, 0).max(axis=1)  # and the largest of the others join in
        others = largest.copy()
        others[np.arange(len(unknowns)), np.where(own, largest, -1).argmax(axis=1)] = 0
        others.sort(axis=1)
        most: Integers = first + (others[:, -(self.coalition - 1) :].sum(axis=1) if self.coalition > 1 else 0)
        return most
