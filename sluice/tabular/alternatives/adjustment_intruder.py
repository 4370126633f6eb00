"""What an intruder of an adjusted table cannot exclude, who knows method, policy and which cells were moved.

Of each moved cell the truth is at least its level below the published figure or above it: two sides with a gap between
them, without an end, as the moves were drawn without one. The level is a function of the contributions, so the gap is
that of the truth that is looked at: of a cell of one contributor under p percent it ends at y / (1 + p) and y / (1 -
p). Sides belong together by the sums of the table, by caps on the other cells, and by what contributors know: a
candidate is a whole table.

Each moved cell must be possible at its level below and above the truth, or beyond. A candidate that takes many cells to
the other side, or further away on their own, proves that of all of them; where none does it is looked for in halves,
and what is open then is asked cell by cell (`ShortMoves`). Of few cells, as for a coalition against one contributor,
that is asked first: it takes a thirtieth of the time.

Source: this project's own; the attack on the two values that are left when all moves are of the same size is old.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from sluice.tabular.alternatives.adjustment_region import AdjustedTable, Region, TableSearch
from sluice.tabular.alternatives.altered_cells import Disclosed, play_contributors
from sluice.tabular.alternatives.whole_moves import UndecidedError
from sluice.tabular.model.cells import Booleans, Contributions, Floats, Integers

Question = tuple[int, bool]
"""a cell, and whether it must be possible above its total; else below"""

PARTS = 40  # of cells that are moved together, at most, for each question
FEW = 12  # questions that are asked cell by cell at once: in less time than it takes to look for one whole table
GUESS = 0.5  # the largest chance of a right guess to within what is asked


def read_adjustment(table: AdjustedTable) -> Disclosed:
    """Play everybody, and where the policy has contributors use what they know, each of them and several together.

    cost : for everybody, and for each play of `play_contributors`, a few linear programs of all cells; for single
           contributors, that of `read_alone`
    """
    search, nobody = TableSearch(table), np.zeros(len(table.cells), dtype=bool)

    def contributors(readers: Booleans, asked: Booleans, alone: bool) -> Disclosed:
        return play(table, readers, asked, search)

    anybody = play(table, nobody, table.moving, search)
    if table.assumptions.coalition == 1:
        theirs = read_alone(table, search)
    else:
        theirs = play_contributors(table.cells, table.moving, table.assumptions.coalition, contributors)
    near = table.moving & _near_to_the_largest(table) if table.assumptions.coalition else nobody
    return Disclosed.to_any(anybody, theirs, Disclosed(near, nobody))


def _close(
    search: TableSearch, open_: Booleans, moved: Booleans, bounds: Callable[[Booleans], tuple[Floats, Floats]]
) -> None:
    """Close the questions about cells that a whole table moves together; where none moves all, in halves.

    open_  : shape (c,), changed in place
    bounds : of all cells, with some moved
    """
    waiting = [np.flatnonzero(moved)]
    for _ in range(PARTS):
        if not waiting:
            break
        part = waiting.pop(0)
        together = np.zeros(len(open_), dtype=bool)
        together[part] = True
        if len(part) and search.holds_a_table(*bounds(together)):
            open_[part] = False
        elif len(part) > 1:
            waiting += np.array_split(part, 2)


def play(table: AdjustedTable, readers: Booleans, asked: Booleans, search: TableSearch) -> Disclosed:
    """Of the cells that are asked about, which can be told too nearly, and of which that stayed open.

    readers : shape (c,), the cells whose largest contributors read: alone in a cell, they know it
    """
    region = Region.of(table, readers)
    total, needs = table.cells.total, table.requirements
    # Nobody asks for more than what is known beforehand leaves.
    lower = np.where(asked, np.minimum(needs.lower, np.maximum(total - region.least, 0)), 0).astype(np.int64)
    upper = np.where(asked, np.minimum(needs.upper, np.maximum(region.most - total, 0)), 0).astype(np.int64)
    failing, undecided = np.zeros((2, len(total)), dtype=bool)
    for open_, change in ((lower > 0, -lower), (upper > 0, upper)):
        few = np.count_nonzero(open_) <= FEW
        if few:
            failing |= _settle(search, region, open_, change)
        if open_.any():
            _move_together(search, region, open_, change)
        if not few:
            failing |= _settle(search, region, open_, change)
        undecided |= open_
    return Disclosed(failing, undecided & ~failing)


def _move_together(search: TableSearch, region: Region, open_: Booleans, change: Integers) -> None:
    """Close the questions whose cells whole tables move: further on their own side, or to the other one.

    open_ : shape (c,), changed in place
    """
    total, rose = region.table.cells.total, region.table.rose
    within = (total + change >= region.low) & (total + change <= region.high)
    outward = rose == (change < 0)
    _close(search, open_, open_ & within & outward, partial(region.on_side, change=change))
    _close(search, open_, open_ & region.held & region.two_sided & ~outward, region.across)
    _close(search, open_, open_ & within & ~outward, partial(region.on_side, change=change))


def _settle(search: TableSearch, region: Region, open_: Booleans, change: Integers) -> Booleans:
    """Ask cell by cell; which of them cannot change so far, shape (c,).

    open_ : shape (c,), changed in place: what stays open is undecided
    """
    failing = np.zeros(len(open_), dtype=bool)
    for cell in np.flatnonzero(open_):
        found = region.allows(int(cell), int(change[cell]), search)
        failing[cell], open_[cell] = found is False, found is None
    return failing


def _near_to_the_largest(table: AdjustedTable) -> Booleans:
    """Shape (c,): whether the largest contributor, who takes its part out, can tell too much of the others' together.

    It knows that the cell fell where below the gap nothing would be left for the others. Then it is left with values
    from the gap upwards without an end, as likely as the move was drawn, and guesses right with the chance of that.
    """
    cells = table.cells.to_contributors
    known = cells.contributions
    if known.largest.shape[1] < 2 or not table.assumptions.own_parts:
        return np.zeros(len(cells), dtype=bool)
    own = known.largest[:, 0]
    rest = Contributions(known.total - own, known.contributors - 1, np.pad(known.largest[:, 1:], ((0, 0), (0, 1))))
    asked = np.zeros(len(cells), dtype=np.int64)
    for rule in table.rules:
        called = table.requirements.by_rule.get(rule.rule)
        if called is not None:
            asked = np.maximum(asked, np.where(called, rule.protection(rest, outsider=True), 0))
    asked = np.where(rest.total > 0, asked, 0)
    lower = np.minimum(asked, np.maximum(rest.total, 0)) if table.assumptions.nonnegative else asked
    below, above = table.sides
    least = cells.total - rest.total if table.assumptions.nonnegative else np.full(len(cells), -np.inf)
    # Downwards on its own side, or across the gap if that leaves the others anything; upwards there is no end.
    down = np.where(table.rose, True, (cells.total - lower >= above) | (below >= least))
    level = np.maximum(np.maximum(table.requirements.lower, table.requirements.upper), 1)
    guess = 1 - np.exp(-2 * asked / (table.spread * level))
    near: Booleans = (asked > 0) & ~down & (guess > GUESS)
    return near


def read_alone(table: AdjustedTable, search: TableSearch) -> Disclosed:
    """What single contributors can tell of the moved cells to which others contribute most.

    A table in place of the true one is believed by everybody but those who are alone in a cell in which it differs, or
    have a larger part of a cell than it leaves. So a first short change of a moved cell convinces nearly all, of every
    cell that it moves far enough; a second one that keeps to what the others know convinces these; or each of them gets
    a change of its own. Where there is none, a contributor can tell the cell too nearly.

    cost : two questions of `ShortMoves` for each moved cell, or four, and those of the contributors who are left
    """
    asked, failing, undecided = _Asked(table, search), *np.zeros((2, len(table.cells)), dtype=bool)
    for cell, upwards in asked.change:
        try:
            failing[cell] |= not asked.convinces_all(cell, upwards)
        except UndecidedError:
            undecided[cell] = True
    return Disclosed(failing, undecided & ~failing)


class _Asked:
    """The questions, and who is still to be convinced.

    change : of each question, how far the cell must be possible from its total, below 0 downwards
    """

    def __init__(self, table: AdjustedTable, search: TableSearch) -> None:
        cells, needs, moving = table.cells.to_contributors, table.requirements, table.moving
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
