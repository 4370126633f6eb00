"""What a reader of an adjusted table who knows the method, the policy and which cells were moved cannot exclude.

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
from dataclasses import dataclass
from functools import partial

import numpy as np

from sluice.tabular.alternatives.adjustment_contributors import read_alone
from sluice.tabular.alternatives.adjustment_region import AdjustedTable, Region, TableSearch
from sluice.tabular.alternatives.contributors_in_groups import Told, play_contributors
from sluice.tabular.model.cells import Booleans, Contributions, Floats, Integers

PARTS = 40  # of cells that are moved together, at most, for each question
FEW = 12  # questions that are asked cell by cell at once: in less time than it takes to look for one whole table
GUESS = 0.5  # the largest chance of a right guess to within what is asked


@dataclass(frozen=True, eq=False)
class AdjustmentFinding:
    """What a reader can tell of the moved cells.

    failing   : shape (c,), of which somebody can tell more than is asked
    undecided : shape (c,), of which that stayed open
    """

    failing: Booleans
    undecided: Booleans


def read_adjustment(table: AdjustedTable) -> AdjustmentFinding:
    """Play everybody, and where the policy has contributors use what they know, each of them and several together.

    cost : for everybody, and for each play of `play_contributors`, a few linear programs of all cells; for single
           contributors, that of `read_alone`
    """
    search, nobody = TableSearch(table), np.zeros(len(table.cells), dtype=bool)
    failing, undecided = play(table, nobody, table.moving, search)

    def contributors(readers: Booleans, asked: Booleans, alone: bool) -> Told:
        return play(table, readers, asked, search)

    if table.assumptions.coalition == 1:
        fails, open_ = read_alone(table, search)
    else:
        fails, open_ = play_contributors(table.cells, table.moving, table.assumptions.coalition, contributors)
    failing, undecided = failing | fails, undecided | open_
    if table.assumptions.coalition:
        failing |= table.moving & _near_to_the_largest(table)
    return AdjustmentFinding(failing, undecided & ~failing)


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


def play(table: AdjustedTable, readers: Booleans, asked: Booleans, search: TableSearch) -> Told:
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
    return failing, undecided & ~failing


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
    cells, known = table.cells, table.cells.contributions
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
