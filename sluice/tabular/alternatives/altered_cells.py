"""What a method that changes values, instead of suppressing them, hands on: the values, and what they still tell.

Contributors who use what they know are played in groups that know more than each.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sluice.ground.errors import DataError
from sluice.tabular.model.cells import Booleans, Cells, Floats, Integers


class Disclosed(NamedTuple):
    """What intruders can tell of c cells with changed values; every method that looks for it answers with this.

    failing   : shape (c,), the cells of which somebody can tell more than is asked
    undecided : shape (c,), those of which that stayed open
    """

    failing: Booleans
    undecided: Booleans

    @classmethod
    def to_any(cls, *found: "Disclosed") -> "Disclosed":
        """What at least one of several intruders can tell."""
        failing = np.logical_or.reduce([each.failing for each in found])
        return cls(failing, np.logical_or.reduce([each.undecided for each in found]) & ~failing)


Play = Callable[[Booleans, Booleans, bool], Disclosed]
"""(readers, asked, alone) -> what was found; readers of shape (c,): the cells whose largest contributors read; asked of
shape (c,); alone: one contributor reads, so that what it can tell counts; else it is asked again"""


@dataclass(frozen=True, eq=False)
class AlteredCells:
    """Values to publish in place of the totals of c cells.

    value     : shape (c,), in units of the table; every equation of the cells holds exactly
    low, high : shape (c,), between which an attacker who knows the method, and its parameters, finds each total
    failing   : positions of the sensitive cells of which the attacker can tell more than is required
    attempted : how many sensitive cells were to be attacked
    completed : how many of them were
    says      : in words, what was done and what an attacker can still learn; no values
    concern   : in words, what a person must decide on before such values are published; None where nothing is
    """

    value: Integers
    low: Floats
    high: Floats
    failing: Integers
    attempted: int
    completed: int
    says: str
    concern: str | None = None

    @classmethod
    def attacked(
        cls,
        value: Integers,
        bounds: tuple[Floats, Floats],
        sensitive: Booleans,
        found: Disclosed,
        says: str,
        concern: str | None = None,
    ) -> "AlteredCells":
        """Of sensitive cells, shape (c,), of which intruders found so much."""
        attempted = int(sensitive.sum())
        completed = attempted - int(found.undecided.sum())
        return cls(value, *bounds, np.flatnonzero(found.failing), attempted, completed, says, concern)

    @property
    def safe(self) -> bool:
        """Whether every sensitive cell was attacked, and none fails."""
        return self.completed == self.attempted and not len(self.failing)


def refuse_unless_additive(cells: Cells, value: Integers, method: str) -> None:
    """Whatever a solver says: values that do not add up are not published.

    raises : DataError
    """
    if (cells.equations.astype(np.int64) @ value).any():
        raise DataError(f"{method} found values that do not add up; nothing may be published of them.")


def refuse_negative(cells: Cells, method: str, hint: str) -> None:
    """raises : DataError when a total is negative, naming the cell."""
    negative = np.flatnonzero(cells.total < 0)
    if len(negative):
        raise DataError(
            f"{method} takes totals of 0 or more; {len(negative)} are negative, the first at "
            f"{cells.name(int(negative[0]))}. {hint}"
        )


def play_contributors(
    cells: Cells,
    sensitive: Booleans,
    coalition: int,
    play: Play,
    asked_of: Booleans | None = None,
) -> Disclosed:
    """What contributors can tell of the sensitive cells to which others contribute most.

    Somebody is met at the cells to which it contributes most. For single contributors these are numbered, and for each
    binary digit those with a 1 read, then those with a 0: any two differ somewhere, so what no group can tell, no
    single one can. For coalitions everybody but one reads. So a table with n contributors takes 2 log n plays, or n.

    coalition : how many pool what they know; 0: nobody uses it
    asked_of  : shape (c,), those of the sensitive cells that are still to be asked about; all when not given
    cost      : 2 log n plays for n contributors, n for coalitions, and one for each contributor in whose groups
                something stayed open
    """
    failing, undecided = np.zeros((2, len(cells)), dtype=bool)
    left_over = sensitive if asked_of is None else asked_of
    if not coalition or not cells.owners.shape[1] or not left_over.any():
        return Disclosed(failing, undecided)
    owner = np.where(sensitive | alone_in(cells, coalition), cells.own_parts.owners[:, 0], -1)
    mine, asked_at = np.flatnonzero(owner >= 0), np.flatnonzero(left_over)
    people, number = np.unique(owner[mine], return_inverse=True)
    of = np.full(len(owner), -1, dtype=np.int64)
    of[mine] = number
    order = np.arange(len(people))
    open_ = order[:, None] != of[asked_at]  # of what each has still to be asked
    digits = range(int(max(len(people) - 1, 0)).bit_length())
    groups = [(order >> digit & 1) == side for digit in digits for side in (0, 1)]
    for group in groups if coalition == 1 else [order != one for one in order]:
        readers = np.zeros(len(owner), dtype=bool)
        readers[mine] = group[number]
        asked = left_over & ~readers
        told, left = play(readers, asked, False)
        open_[np.ix_(group, (asked & ~told & ~left)[asked_at])] = False
        if coalition > 1:
            undecided |= told | left
    for one in np.flatnonzero(open_.any(axis=1)) if coalition == 1 else ():
        asked = np.zeros(len(owner), dtype=bool)
        asked[asked_at[open_[one]]] = True
        told, left = play(of == one, asked, True)
        failing, undecided = failing | told, undecided | left
    return Disclosed(failing, undecided & ~failing)


def alone_in(cells: Cells, coalition: int) -> Booleans:
    """Shape (c,): the cells that have no contributors but so many, who know them when they read together.

    Somebody else may read than the last of them, the one who is asked about: then more is taken for known than is. A
    coalition is only ever cleared by that, and never told to know a cell.
    """
    number = cells.own_parts.contributors
    few: Booleans = (number > 0) & (number <= max(coalition, 1))
    return few


def parts_of(cells: Cells, coalition: int, others: Booleans) -> Floats:
    """Shape (c,): what readers have of each cell at most, together; of `others` without its largest contributor."""
    count = max(coalition, 1)
    largest = cells.own_parts.largest.astype(np.float64)
    all_of_them, without = largest[:, :count].sum(axis=1), largest[:, 1 : 1 + count].sum(axis=1)
    parts: Floats = np.where(others, without, all_of_them)
    return parts
