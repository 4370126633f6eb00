"""Contributors who read an adjusted table one by one: what each of them can tell of the cells of others.

A table in place of the true one is believed by everybody but those who are alone in a cell in which it differs, or have
a larger part of a cell than it leaves. So a first short change of a moved cell convinces nearly all, of every cell that
it moves far enough; a second one that keeps to what the others know convinces these; or each of them gets a change of
its own. Where there is none, a contributor can tell the cell too nearly.
"""

import numpy as np

from sluice.tabular.alternatives.adjustment_region import AdjustedTable, TableSearch
from sluice.tabular.alternatives.contributors_in_groups import Told
from sluice.tabular.alternatives.whole_moves import UndecidedError
from sluice.tabular.model.cells import Integers

Question = tuple[int, bool]
"""a cell, and whether it must be possible above its total; else below"""


def read_alone(table: AdjustedTable, search: TableSearch) -> Told:
    """What single contributors can tell of the moved cells to which others contribute most.

    cost : two questions of `ShortMoves` for each moved cell, or four, and those of the contributors who are left
    """
    asked, failing, undecided = _Asked(table, search), *np.zeros((2, len(table.cells)), dtype=bool)
    for cell, upwards in asked.change:
        try:
            failing[cell] |= not asked.convinces_all(cell, upwards)
        except UndecidedError:
            undecided[cell] = True
    return failing, undecided & ~failing


class _Asked:
    """The questions, and who is still to be convinced.

    change : of each question, how far the cell must be possible from its total, below 0 downwards
    """

    def __init__(self, table: AdjustedTable, search: TableSearch) -> None:
        cells, needs, moving = table.cells, table.requirements, table.moving
        self._total, self._owner, self._sole = cells.total, cells.owners[:, 0], search.sole
        self._moves = search.moves
        least, most = table.bounds(None)
        self._part = np.full(len(cells), -np.inf)  # of the largest contributor
        if table.assumptions.own_parts and table.assumptions.nonnegative and cells.largest.shape[1] > 1:
            self._part = cells.largest[:, 0].astype(np.float64)
            second = np.where(moving & (self._owner >= 0), cells.largest[:, 1], cells.largest[:, 0])
            least = np.minimum(np.maximum(least, second), cells.total)
        self._down, self._up = np.floor(cells.total - least), np.floor(most - cells.total)
        people = np.unique(self._owner[(moving | self._sole) & (self._owner >= 0)])
        read = moving & np.array([len(people) > np.isin(owner, people) for owner in self._owner])
        lower = np.minimum(needs.lower, self._down).astype(np.int64)
        upper = np.minimum(needs.upper, self._up).astype(np.int64)
        self.change: dict[Question, int] = {}
        for cell in np.flatnonzero(read).tolist():
            self.change |= {(cell, False): -int(lower[cell])} if lower[cell] else {}
            self.change |= {(cell, True): int(upper[cell])} if upper[cell] else {}
        self._doubtful: dict[Question, set[int]] = {}  # whom the changes that were found so far do not convince

    def convinces_all(self, cell: int, upwards: bool) -> bool:
        """Whether there is a table for everybody who may ask about a cell. Raises UndecidedError."""
        asked = (cell, upwards)
        if asked not in self._doubtful and not self._found(asked, set()):
            return False
        if self._doubtful[asked] and not self._found_for_all(asked):
            return all(self._found(asked, {owner}) for owner in sorted(self._doubtful[asked]))
        return True

    def _found_for_all(self, asked: Question) -> bool:
        """Whether one table convinces all who doubt."""
        try:
            return self._found(asked, self._doubtful[asked])
        except UndecidedError:
            return False

    def _found(self, asked: Question, readers: set[int]) -> bool:
        """Whether there is a table that these believe."""
        down, up = self._down.copy(), self._up.copy()
        theirs = np.isin(self._owner, sorted(readers))
        down[theirs] = np.minimum(down, np.maximum(self._total - self._part, 0))[theirs]
        down[theirs & self._sole] = up[theirs & self._sole] = 0
        found = self._moves.found(asked[0], self.change[asked], down, up)
        if found is not None:
            self._note(found)
        return found is not None

    def _note(self, found: Integers) -> None:
        """Whom a table convinces, of every question that it answers."""
        known = (found != 0) & (self._sole | (self._total + found < self._part))
        doubtful = set(self._owner[known].tolist())
        for cell in np.flatnonzero(found).tolist():
            asked = (cell, bool(found[cell] > 0))
            if asked in self.change and abs(found[cell]) >= abs(self.change[asked]):
                left = doubtful - {int(self._owner[cell]), -1}
                self._doubtful[asked] = self._doubtful.get(asked, left) & left
