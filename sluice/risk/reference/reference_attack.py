"""The attacks that the reference standard compares: on the released file, and on a file that the person is not in."""

from dataclasses import dataclass

import numpy as np

from sluice.ground.arrays import FloatArray, IntArray
from sluice.risk.coded_points import Points
from sluice.risk.reference.prediction import Prediction, prediction


@dataclass(frozen=True)
class ReferenceAttack:
    """What each of n attacked original records finds. Small is worse in every measure."""

    released: Prediction  # in a released file of the reference's size
    whole: FloatArray  # (n,) prediction distance in the whole released file
    reference: Prediction  # in a file of other people's records
    rows: IntArray  # (n,) the original records attacked, by their place in the file, rising
    records: int  # all original records
    size_ratio: float  # all released records / records of the reference, at least 1
    sampled: float  # all released records / all original records, at most 1

    @property
    def attacked(self) -> int:
        return len(self.whole)


def attack(
    original: Points,
    released: Points,
    holdout: Points | None,
    neighbours: int,
    records: int,
    rng: np.random.Generator,
) -> ReferenceAttack:
    """Attack at most `records` original records, drawn at random, in both files.

    original, released, holdout : coded records, shapes (., d); without a holdout the reference of each record is the
                                  original without that record, left out by its place, so that equal records of others
                                  stay
    raises                      : ValueError when a file holds no more than `neighbours` records
    source                      : Lasko and Vinterbo (2010), section II.A. Differs from it: files of unequal size are
                                  made equal first

    In a larger file every person has a nearer neighbour by its size alone, so of the larger file a random part is
    attacked. `whole` keeps all released records: no copy hides in the part left out.
    """
    n, m = len(original), len(released)
    others = original if holdout is None else holdout
    size = min(m, len(others))
    rows = some_of(n, min(n, records), rng)
    reference_rows = some_of(len(others), size, rng)
    own_row = None
    if holdout is None:
        place = np.full(n, -1)
        place[reference_rows] = np.arange(size)
        own_row = place[rows]
    whole = prediction(original[rows], released, neighbours)
    part = whole if m == size else prediction(original[rows], released.take(some_of(m, size, rng), axis=0), neighbours)
    reference = prediction(
        original[rows], others if size == len(others) else others.take(reference_rows, axis=0), neighbours, own_row
    )
    return ReferenceAttack(part, whole.distance, reference, rows, n, size_ratio=m / size, sampled=min(1.0, m / n))


def some_of(n: int, size: int, rng: np.random.Generator) -> IntArray:
    """`size` of the rows 0..n-1 at random, in rising order; all of them without a draw."""
    return np.arange(n) if size == n else np.sort(rng.choice(n, size, replace=False))
