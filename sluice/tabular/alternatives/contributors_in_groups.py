"""Contributors who use what they know against a table of changed values, played in groups that know more than each.

Somebody is met at the cells to which it contributes most. For single contributors these are numbered, and for each
binary digit those with a 1 read, then those with a 0: any two differ somewhere, so what no group can tell, no single
one can. For coalitions everybody but one reads. So a table with n contributors takes 2 log n plays, or n.
"""

from collections.abc import Callable

import numpy as np

from sluice.tabular.model.cells import Booleans, Cells, Floats

Told = tuple[Booleans, Booleans]
"""shapes (c,): the cells of which too much can be told, and those of which that stayed open"""


def play_contributors(
    cells: Cells,
    sensitive: Booleans,
    coalition: int,
    play: Callable[[Booleans, Booleans, bool], Told],
    asked_of: Booleans | None = None,
) -> Told:
    """What contributors can tell of the sensitive cells to which others contribute most.

    coalition : how many pool what they know; 0: nobody uses it
    asked_of  : shape (c,), those of the sensitive cells that are still to be asked about; all when not given
    play      : (readers, asked, alone) -> what was found; readers of shape (c,): the cells whose largest contributors
                read; alone: one contributor reads, so that what it can tell counts; else it is asked again
    cost      : 2 log n plays for n contributors, n for coalitions, and one for each contributor in whose groups
                something stayed open
    """
    failing, undecided = np.zeros((2, len(cells)), dtype=bool)
    left_over = sensitive if asked_of is None else asked_of
    if not coalition or not cells.owners.shape[1] or not left_over.any():
        return failing, undecided
    owner = np.where(sensitive | alone_in(cells, coalition), cells.owners[:, 0], -1)
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
    return failing, undecided & ~failing


def alone_in(cells: Cells, coalition: int) -> Booleans:
    """Shape (c,): the cells that have no contributors but so many, who know them when they read together.

    Somebody else may read than the last of them, the one who is asked about: then more is taken for known than is. A
    coalition is only ever cleared by that, and never told to know a cell.
    """
    few: Booleans = (cells.contributors > 0) & (cells.contributors <= max(coalition, 1))
    return few


def parts_of(cells: Cells, coalition: int, others: Booleans) -> Floats:
    """Shape (c,): what readers have of each cell at most, together; of `others` without its largest contributor."""
    count = max(coalition, 1)
    largest = cells.largest.astype(np.float64)
    all_of_them, without = largest[:, :count].sum(axis=1), largest[:, 1 : 1 + count].sum(axis=1)
    parts: Floats = np.where(others, without, all_of_them)
    return parts
