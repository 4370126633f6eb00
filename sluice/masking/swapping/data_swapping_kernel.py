"""The loop of data swapping: each unit finds a partner in another area among those that may swap with it."""

import numba
import numpy as np
import numpy.typing as npt
from numpy.random import Generator

IntArray = npt.NDArray[np.int64]

_TRIES = 64  # draws for a partner before the cells of the group are counted through


@numba.njit(cache=True)
def find_partners(
    wanted: IntArray,
    needed: IntArray,
    partners: IntArray,
    areas: IntArray,
    order: IntArray,
    cells: IntArray,
    starts: IntArray,
    groups: IntArray,
    rng: Generator,
) -> None:
    """Give each wanted unit a uniform free partner of its group that lies in another area; fills `partners`.

    wanted   : units, in the order in which they choose
    needed   : shape (areas,), swaps that an area still needs; a unit of an area that needs none does not choose.
               Counted down by both partners
    partners : shape (n,), -1 where free
    areas    : shape (n,)
    order    : the free units, sorted by group and area; those of one group and area are a cell
    cells    : shape of `order`, the cell of each place
    starts   : shape (c + 1,), the first place of each cell
    groups   : shape (c + 1,), the group of each cell, numbered from 0 without gaps; the last entry is their number
    """
    left = starts[1:] - starts[:-1]  # free units of a cell are its first ones
    first_cell = np.searchsorted(groups, np.arange(groups[-1] + 1))
    in_group = starts[first_cell[1:]] - starts[first_cell[:-1]]
    place = np.empty(len(partners), dtype=np.int64)
    for at in range(len(order)):
        place[order[at]] = at
    for unit in wanted:
        if partners[unit] >= 0 or needed[areas[unit]] <= 0:
            continue
        cell = cells[place[unit]]
        group = groups[cell]
        eligible = in_group[group] - left[cell]
        if eligible == 0:
            continue
        start, stop = starts[first_cell[group]], starts[first_cell[group + 1]]
        chosen = -1
        for _ in range(_TRIES):
            at = start + int(rng.random() * (stop - start))
            other = cells[at]
            if other != cell and at < starts[other] + left[other]:
                chosen = order[at]
                break
        if chosen < 0:
            skip = int(rng.random() * eligible)
            for other in range(first_cell[group], first_cell[group + 1]):
                if other == cell:
                    continue
                if skip < left[other]:
                    chosen = order[starts[other] + skip]
                    break
                skip -= left[other]
        partners[unit], partners[chosen] = chosen, unit
        in_group[group] -= 2
        for one in (unit, chosen):
            needed[areas[one]] -= 1
            own = cells[place[one]]
            left[own] -= 1
            last = order[starts[own] + left[own]]
            order[place[one]], order[place[last]] = last, one
            place[one], place[last] = place[last], place[one]
