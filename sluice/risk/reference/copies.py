"""Copies: original records that stand in the released file, and original records that stand twice in the original.

The cumulative curves of the reference standard tolerate an excess of a few per cent of the records; a few per cent of
verbatim records would pass them. Copies are therefore counted over all records, and what is tolerated beyond the copies
that the reference itself holds is a policy's own, much smaller figure.

A leave-one-out reference is blind when the original holds the same person twice: the second copy is always found, in
any file. Equal records of different persons, on the other hand, are natural where few values are possible, and stay.
`unexplained_duplicates` tells the two apart.

A file that moved every column by itself, as permutation does, holds each value somewhere by design. Somebody's nearly
unique value then stands beside the commonest values of all others, which may be theirs as well: a copy that tells
nothing, though no file of other people would hold it. `combinations_by_chance` says how often that happens.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.risk.coded_points import Points
from sluice.risk.row_groups import row_groups

Pairs = Iterable[tuple[npt.NDArray[Any], npt.NDArray[Any]]]  # a variable of the original and of the released file

_SIGMAS = 3.0  # standard errors that chance passes about once in a thousand times
_RARE = 25  # released records that hold a value: it may stand anywhere, and what is beside it is what counts
_BESIDE = 50  # records next to these on either side, in the order of the value, which say what is usually beside it
_ATTACKED = 20_000  # people whose combinations are looked up: enough for any share
_AT_ONCE = 2_000_000  # coordinates
_HARDLY = (0.01, 0.05, 0.2, 1.0)  # chances up to which people are counted by themselves
_MULTIPLICITIES = 4  # runs of so many multiplicities are looked at: single to fourfold records and their neighbours


@dataclass(frozen=True)
class CopyCount:
    """How many original records were found in a file, compared with what the reference would have given anyway."""

    found: int  # original records found in the released file; many is worse
    records: int  # original records looked for
    expected: float  # share found in the reference, for a file of the released one's size
    chance: float  # how far the share found may lie above the expected one by chance alone

    @property
    def excess(self) -> float:
        """Share found beyond expectation and chance."""
        return self.found / self.records - self.expected - self.chance


def count_copies(found_in_release: BoolArray, found_in_reference: BoolArray, size_ratio: float = 1.0) -> CopyCount:
    """Compare two findings on the same original records.

    found_in_release, found_in_reference : shape (n,), n >= 1
    size_ratio : records released / records of the reference; a larger file matches more by chance, in proportion at
                 most. Below 1 the reference must be drawn down to the released file's size first
    returns    : chance is three standard errors of the records that only the reference matches (at least one): in a
                 file that tells no more, as many are matched by the release alone (McNemar). Where the reference
                 matches nobody, chance excuses next to nothing
    """
    n = len(found_in_release)
    ratio = max(1.0, size_ratio)
    only_reference = int((found_in_reference & ~found_in_release).sum())
    return CopyCount(
        found=int(found_in_release.sum()),
        records=n,
        expected=min(1.0, float(found_in_reference.mean()) * ratio),
        chance=_SIGMAS * sqrt(2 * (only_reference + 1) * ratio) / n,
    )


def exact_copies(pairs: Pairs, n: int, reference_rows: IntArray) -> tuple[BoolArray, BoolArray]:
    """Which original records stand, value for value, in the released file; and which would without themselves.

    pairs          : variable by variable, of shapes (n,) and (m,), on the released file's own categories; missing
                     equals missing. They may be worked out one after the other
    reference_rows : the original rows that make up the reference, each once; a record is never its own match
    returns        : two arrays of shape (n,): found in the release; found in the reference
    cost           : O(columns (n + m) log(n + m)), less where few columns tell all records apart
    """
    groups = row_groups(np.concatenate(pair) for pair in pairs)
    own = groups.of[:n]
    in_release = np.bincount(groups.of[n:], minlength=len(groups.size))[own]
    in_reference = np.bincount(own[reference_rows], minlength=len(groups.size))[own]
    in_reference[reference_rows] -= 1
    return in_release > 0, in_reference > 0


def lone_copies(pairs: Pairs, n: int, m: int) -> tuple[CopyCount, BoolArray, BoolArray]:
    """Original records that are alone with their values, and of these, those whose values stand in the released file.

    The people whom nobody resembles are hit hardest, and `count_copies` may miss them: where masking separates many
    records from their twins, it finds fewer copies in all than the reference, however many lone records are verbatim.

    pairs   : as for `exact_copies`, of all n original and all m released records
    returns : the count; and of shape (n,) who is alone, and who of these is found. Of an independent file of the same
              people's kind, lone records find at most 2 f_2 twins in expectation, f_2 being the number of distinct
              records that stand twice: by Good's formula the expectation is 2 f_2 - 3 f_3 + 4 f_4 - ..., and its first
              term bounds it from above
    cost    : as `exact_copies`
    source  : Good (1953); Good and Toulmin (1956)
    """
    groups = row_groups(np.concatenate(pair) for pair in pairs)
    in_original = np.bincount(groups.of[:n], minlength=len(groups.size))
    in_release = np.bincount(groups.of[n:], minlength=len(groups.size))
    lone = in_original == 1
    by_chance = 2 * int((in_original == 2).sum()) * m / n
    found = (lone & (in_release > 0))[groups.of[:n]]
    count = CopyCount(
        found=int(found.sum()),
        records=n,
        expected=min(int(lone.sum()), by_chance) / n,
        chance=_SIGMAS * sqrt(3 * (by_chance + 1)) / n,  # of the count itself, and of the estimate of what is expected
    )
    return count, lone[groups.of[:n]], found


@dataclass(frozen=True)
class Combinations:
    """How likely people's values stand together in a file that tells nothing of who has which combination."""

    rare: BoolArray  # (n,) people with a value that few released records have
    looked_up: BoolArray  # (n,) these, or every so manieth of them
    every: int
    below: FloatArray  # (n,) chance by the records next below these in its order; 0 for all others
    above: FloatArray  # (n,) and by those next above

    def beyond(self, found: BoolArray, reference: BoolArray) -> list[CopyCount]:
        """Of the people with a rare value whom the reference does not find, those found beyond chance.

        found, reference : shape (n,), the findings that were counted
        returns          : of those who would hardly be found, where the luck of others hides nothing; and last of all
                           of them. Who these are is told by the records below, and by those above what is expected
        """
        n, counts = len(found) // self.every, []
        for hardly in _HARDLY:
            counted = self.looked_up & ~reference & (self.below <= hardly)
            lucky = (self.above if hardly < 1 else (self.below + self.above) / 2)[counted]
            chance = _SIGMAS * sqrt(float((lucky * (1 - lucky)).sum()) + 1) / n
            counts.append(CopyCount(int((found & counted).sum()), n, float(lucky.sum()) / n, chance))
        return counts


def combinations_by_chance(
    original: Points, released: Points, widths: Sequence[int], rows: IntArray, near: float
) -> Combinations:
    """How likely each person's values stand together in the released file if it tells nothing of their combination.

    A person's rarest value, which c released records have and at most 25, may stand anywhere. In q of the records next
    to these in its order, which do not have it, the other values are the person's. Had the c been any of them, one at
    least would be a copy with 1 - (1 - q)^c. A copied record never counts in q, for it has the value: so copies are
    not excused by themselves, and not at all where nobody else shares the other values, or no value is rare.

    original, released : shapes (n, d) and (m, d), the coordinates of one variable beside each other
    widths             : coordinates of each variable; only those with one, or one beside which a second tells what is
                         missing, have an order
    rows               : shape (r,), the people looked at
    near               : how far from each other records are equal, 0 or more
    returns            : of these people; where more than 20,000 have a rare value, of every so manieth
    cost               : O(w m log m) time for w variables, and 100 d for each person looked up
    """
    rare, chance, every = np.zeros(len(rows), np.bool_), np.zeros((2, len(rows))), 1
    looked_up = rare
    starts = [int(start) for start in np.cumsum([0, *widths[:-1]])]
    ordered = [start for start, width in zip(starts, widths, strict=True) if width <= 2]
    if ordered and len(released) and len(rows):
        people = original[rows]
        columns = {start: column for start, column in enumerate(released.T) if start in ordered}
        held = np.column_stack([_held(people[:, start], np.sort(columns[start]), near) for start in ordered])
        rarest, least = held.argmin(axis=1), held.min(axis=1)
        rare = (least > 0) & (least <= _RARE)
        every = max(1, -(-int(rare.sum()) // _ATTACKED))
        looked_up = rare & ((np.cumsum(rare) - 1) % every == 0)
        for place, start in enumerate(ordered):
            of = np.flatnonzero(looked_up & (rarest == place))
            block = np.arange(start, start + widths[starts.index(start)])
            if len(of):
                shares = _beside(people[of], released, columns[start], block, near)
                chance[:, of] = 1 - (1 - shares) ** least[of]
    return Combinations(rare, looked_up, every, *chance)


def _held(values: FloatArray, ordered: FloatArray, near: float) -> IntArray:
    """How many of the ordered values are near each value."""
    return np.searchsorted(ordered, values + near, "right") - np.searchsorted(ordered, values - near, "left")


def _beside(people: FloatArray, released: Points, column: FloatArray, block: IntArray, near: float) -> FloatArray:
    """Of the records next below those that have each person's value, and of those next above, the shares that are near
    in all but this variable: shape (2, r)."""
    m, d = len(released), people.shape[1]
    among_equal = np.zeros(m)  # a number that says nothing of where they stand in the file
    for place, (coordinate, factor) in enumerate(zip(released.T, _factors(d), strict=True)):
        if place not in block:
            among_equal += factor * coordinate
    order = np.lexsort((among_equal, column))
    ordered = column[order]
    low = np.searchsorted(ordered, people[:, block[0]] - near, "left")
    high = np.searchsorted(ordered, people[:, block[0]] + near, "right")
    first = np.searchsorted(ordered, ordered[np.maximum(low - _BESIDE, 0)], "left")  # all that are equal to the last
    last = np.searchsorted(ordered, ordered[np.minimum(high + _BESIDE, m) - 1], "right")
    below, above = (first, low), (high, last)
    only_above, only_below = low == 0, high == m
    sides = (
        [np.where(only_above, up, down) for down, up in zip(below, above, strict=True)],
        [np.where(only_below, down, up) for down, up in zip(below, above, strict=True)],
    )
    steps = (np.arange(_BESIDE) + 0.5) / _BESIDE
    others = np.delete(np.arange(d), block)
    shares = np.zeros((2, len(people)))
    at_once = max(1, _AT_ONCE // (_BESIDE * d))
    for begin in range(0, len(people), at_once):
        part = slice(begin, begin + at_once)
        for side, (start, end) in enumerate(sides):
            wide = (end - start)[part]
            picked = start[part][:, None] + (steps * wide[:, None]).astype(np.int64)
            points = released[order[np.minimum(picked, m - 1)]][:, :, others]
            apart = ((points - people[part][:, None, others]) ** 2).sum(axis=2)
            shares[side, part] = (apart <= near * near).mean(axis=1) * (wide > 0)
    return shares


def _factors(d: int) -> FloatArray:
    return np.random.default_rng(0).uniform(1, 2, d)


@dataclass(frozen=True)
class Duplicates:
    """Records of one file that are equal to another one of it in every variable."""

    share: float  # of the records that have a twin
    unexplained: bool  # more often than independent persons could have them


def unexplained_duplicates(multiplicities: IntArray) -> Duplicates:
    """Whether the duplicates of a file can come of different persons with equal values.

    Let f_j be the number of distinct records that stand j times. For independent persons, however their values are
    distributed, each distinct record stands Poisson-many times around an expectation of its own, and E(j! f_j) are
    moments of one distribution; so by Cauchy and Schwarz

        E((j+1)! f_{j+1})^2 <= E(j! f_j) E((j+2)! f_{j+2}),    that is    (j+1) f_{j+1}^2 <= (j+2) f_j f_{j+2}.

    A file in which persons were doubled has too many pairs for its single and threefold records. Each count is given
    three standard errors in the file's favour. Few doubled persons among many (up to about 15 % of 2,000 records, 4 %
    of 20,000, more where natural twins abound) look like chance; they blind the reference in that share of the records
    at most. A second record of a person that differs from the first, however little, is not seen here.

    multiplicities : how often each distinct record stands, shape (g,), at least one
    source         : the inequality is the one behind Chao's estimator of the unseen (Chao 1984, 1987)
    """
    counts = np.bincount(np.minimum(multiplicities, _MULTIPLICITIES + 3), minlength=_MULTIPLICITIES + 4)
    low = np.maximum(0.0, np.sqrt(counts) - _SIGMAS / 2) ** 2
    high = (np.sqrt(counts + 1) + _SIGMAS / 2) ** 2
    unexplained = any(
        (j + 1) * low[j + 1] ** 2 > (j + 2) * high[j] * high[j + 2] for j in range(1, _MULTIPLICITIES + 1)
    )
    repeated = int(multiplicities[multiplicities > 1].sum())
    return Duplicates(share=repeated / int(multiplicities.sum()), unexplained=unexplained)
