"""Copies: original records that stand in the released file, and original records that stand twice in the original.

The cumulative curves of the reference standard tolerate an excess of a few per cent of the records; a few per cent of
verbatim records would pass them. Copies are therefore counted over all records, and what is tolerated beyond the copies
that the reference itself holds is a policy's own, much smaller figure.

A leave-one-out reference is blind when the original holds the same person twice: the second copy is always found, in
any file. Equal records of different persons, on the other hand, are natural where few values are possible, and stay.
`unexplained_duplicates` tells the two apart.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from sluice.ground.arrays import BoolArray, IntArray
from sluice.risk.row_groups import row_groups

Pairs = Iterable[tuple[npt.NDArray[Any], npt.NDArray[Any]]]  # a variable of the original and of the released file

_SIGMAS = 3.0  # standard errors that chance passes about once in a thousand times
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


def lone_copies(pairs: Pairs, n: int, m: int) -> CopyCount:
    """Original records that are alone with their values, and of these, those whose values stand in the released file.

    The people whom nobody resembles are hit hardest, and `count_copies` may miss them: where masking separates many
    records from their twins, it finds fewer copies in all than the reference, however many lone records are verbatim.

    pairs   : as for `exact_copies`, of all n original and all m released records
    returns : of an independent file of the same people's kind, lone records find at most 2 f_2 twins in
              expectation, f_2 being the number of distinct records that stand twice: by Good's formula the
              expectation is 2 f_2 - 3 f_3 + 4 f_4 - ..., and its first term bounds it from above
    cost    : as `exact_copies`
    source  : Good (1953); Good and Toulmin (1956)
    """
    groups = row_groups(np.concatenate(pair) for pair in pairs)
    in_original = np.bincount(groups.of[:n], minlength=len(groups.size))
    in_release = np.bincount(groups.of[n:], minlength=len(groups.size))
    lone = int((in_original == 1).sum())
    by_chance = 2 * int((in_original == 2).sum()) * m / n
    return CopyCount(
        found=int(((in_original == 1) & (in_release > 0)).sum()),
        records=n,
        expected=min(lone, by_chance) / n,
        chance=_SIGMAS * sqrt(3 * (by_chance + 1)) / n,  # of the count itself, and of the estimate of what is expected
    )


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
