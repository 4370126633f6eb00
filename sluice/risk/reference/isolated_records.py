"""Isolated records: whether the people who lie far from all others can still be found near their own record.

Noise that hides the many hardly hides the few: where values spread widely, as incomes do, a person far out moves by
little of the distance to the next one. The curves of the reference standard do not show it, for these people are few,
nor do copies, for nobody's values are left as they were.

Source: Lasko and Vinterbo (2010), section II.A, compares with a file of other people; here this is done for the most
isolated people alone. Who is isolated, and how far a stranger's record is from them, must not be read off the same
records: an unusually far neighbour is usually followed by a nearer one. So the other people are halved at random. Of
the people farthest from one half, it is counted for whom the other half, and for whom the release, holds a record less
than a quarter as far.
"""

from dataclasses import replace
from math import ceil

import numpy as np

from sluice.ground.arrays import FloatArray, IntArray
from sluice.risk.coded_points import Points, keys_of
from sluice.risk.distances.neighbours import nearest_neighbours
from sluice.risk.distances.neighbours_of_others import nearest_of_others
from sluice.risk.reference.copies import CopyCount, count_copies
from sluice.risk.row_groups import row_groups

_NEARER = 0.25  # of the distance to the nearest of one half of the others
_LOOK_ALIKES = 20  # records that are looked at around each isolated person
_FEWEST = 100  # isolated people are looked at, where there are twice as many in all: fewer would tell little


def isolated_records(
    original: Points,
    released: Points,
    holdout: Points | None,
    rows: IntArray,
    share: float,
    rng: np.random.Generator,
    units: IntArray | None = None,
    paired: bool = False,
) -> CopyCount | None:
    """How many of the most isolated people the release betrays, compared with a file of others.

    original, released, holdout : coded records, shapes (., d); without a holdout the others are the original records
                                  but those of the person's household, left out by their places; `units` as in
                                  `attack`
    rows                        : shape (r,), the original records looked at
    share                       : of these so many are isolated: those farthest from their nearest, and at least 100 or
                                  half of them all
    paired                      : row i of both files is the same person: then somebody is found by their own record
                                  alone, and by one of t records as near with a chance of 1 / t. Strong noise fills the
                                  space around the isolated with the records of others, which betray nobody
    returns                     : found and expected as for copies; None when nobody is apart from all others
    cost                        : that of nearest_neighbours with k = 1, of r queries in half of the others
    """
    others = original if holdout is None else holdout
    half = len(others) // 2
    if half < 2 or len(rows) < 2:
        return None
    content = row_groups(keys_of(others)).of  # which is told by, in whatever order the records come
    drawn = np.argsort(content, kind="stable")[rng.permutation(len(others))]
    one, other = drawn[:half], drawn[half : half + min(half, len(released))]
    together = np.arange(len(original)) if units is None and holdout is None else units
    apart = _nearest(original, rows, others, one, together)
    if others is not original:
        content = row_groups(keys_of(original)).of
    isolated = np.lexsort((content[rows], -apart))[: max(int(share * len(rows)), min(_FEWEST, len(rows) // 2))]
    isolated = isolated[apart[isolated] > 0]
    if not len(isolated):
        return None
    near = _NEARER * apart[isolated]
    people = original.take(rows[isolated], axis=0)
    nearest = nearest_neighbours(people, released, min(_LOOK_ALIKES, len(released))).distance
    in_release = nearest[:, 0] < near
    in_reference = _nearest(original, rows[isolated], others, other, together) < near
    count = count_copies(in_release, in_reference, len(released) / len(other))
    if not paired:
        return count
    own = np.linalg.norm(people[:] - released[rows[isolated]], axis=1) < near
    on_own = (own & in_release) / np.maximum((nearest < near[:, None]).sum(axis=1), 1)
    return replace(count, found=min(count.found, ceil(on_own.sum())))


def _nearest(original: Points, rows: IntArray, others: Points, part: IntArray, units: IntArray | None) -> FloatArray:
    """Distance of each of the rows to the nearest of a part of the others, without those of its unit."""
    people, records = original.take(rows, axis=0), others.take(part, axis=0)
    if units is None:
        return nearest_neighbours(people, records, 1).distance[:, 0]
    return nearest_of_others(people, records, 1, units[rows], units[part]).distance[:, 0]
