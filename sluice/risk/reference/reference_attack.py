"""The attacks that the reference standard compares: on the released file, and on a file that the person is not in.

A measure gives two cumulative curves: that of the masked file and that of the reference standard.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from pydantic import BaseModel, ConfigDict

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.ground.verdict import Verdict
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
    units: IntArray  # (n,) who belongs together of those attacked

    @cached_property
    def alone(self) -> bool:
        """Whether each of those attacked is of a unit by itself."""
        return len(np.unique(self.units)) == len(self.units)

    def units_of(self, mine: BoolArray) -> tuple[IntArray, IntArray] | None:
        """Who belongs together of some of them, in both curves; None where nobody does."""
        return None if self.alone else (self.units[mine], self.units[mine])

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
    units: IntArray | None = None,
    together: IntArray | None = None,
) -> ReferenceAttack:
    """Attack at most `records` original records, drawn at random, in both files.

    original, released, holdout : coded records, shapes (., d); without a holdout the reference of each record is the
                                  original without the person's household, left out by its places, so that equal records
                                  of others stay
    units                       : who belongs together in the reference, which begins with the original records; None:
                                  nobody of the original is in the holdout, and without one each is alone
    together                    : who belongs together of the original records, as they are counted; None: nobody
    raises                      : ValueError when a file holds no more than `neighbours` records of other households
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
    left_out = np.arange(n) if units is None and holdout is None else units
    attacked = original.take(rows, axis=0)
    whole = prediction(attacked, released, neighbours)
    part = whole if m == size else prediction(attacked, released.take(some_of(m, size, rng), axis=0), neighbours)
    reference = prediction(
        attacked, others if size == len(others) else others.take(reference_rows, axis=0), neighbours,
        None if left_out is None else (left_out[rows], left_out[reference_rows]),
    )  # fmt: skip
    of = rows if together is None else together[rows]
    return ReferenceAttack(part, whole.distance, reference, rows, n, m / size, min(1.0, m / n), of)


def some_of(n: int, size: int, rng: np.random.Generator) -> IntArray:
    """`size` of the rows 0..n-1 at random, in rising order; all of them without a draw."""
    return np.arange(n) if size == n else np.sort(rng.choice(n, size, replace=False))


class Curve(BaseModel):
    """Share of the original records whose measure is at most `grid[i]`, for the masked file and for the reference.

    Each step of the grid holds at least the report's minimum number of records, so that no single record shows.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    measure: str  # distance, ambiguity or uncertainty
    grid: tuple[float, ...]
    masked: tuple[float, ...]
    reference: tuple[float, ...]
    statistic: float  # D+ = largest excess of `masked` over `reference`, over all values, not only the grid
    at: float  # the value of the measure where D+ is attained, rounded to the grid
    margin: float
    p_value: float
    verdict: Verdict
    binding: bool


def curve_grid(masked: FloatArray, reference: FloatArray, minimum_cell: int, steps: int = 100) -> tuple[float, ...]:
    """Values of the measure at which the two cumulative shares may be published.

    masked, reference : shapes (n,) and (m,), finite
    minimum_cell      : every step of the grid, the part above it included, holds so many records of either distribution
                        or none of it
    returns           : rising values of three significant digits, at most `steps` + 1; they end below the largest
                        measures where these are few. Empty when there are too few records to show anything
    """
    masked, reference = np.sort(masked), np.sort(reference)
    pooled = np.concatenate([masked, reference])
    if not len(pooled):
        return ()
    candidates = {float(f"{value:.3g}") for value in np.quantile(pooled, np.linspace(0, 1, steps + 1))}
    grid: list[float] = []
    reached = (0, 0)
    for value in sorted(candidates):
        at = (int(np.searchsorted(masked, value, "right")), int(np.searchsorted(reference, value, "right")))
        below = [now - before for now, before in zip(at, reached, strict=True)]
        above = [len(masked) - at[0], len(reference) - at[1]]
        # Nor may the value itself be that of the largest few: as many must reach it as may be published.
        reach = [len(values) - int(np.searchsorted(values, value, "left")) for values in (masked, reference)]
        if any(below) and all(count == 0 or count >= minimum_cell for count in below + above + reach):
            grid.append(value)
            reached = at
    return tuple(grid)


def shares_at(values: FloatArray, grid: tuple[float, ...]) -> tuple[float, ...]:
    """Share of the values that are at most each point of the grid."""
    ordered = np.sort(values)
    return tuple(float(share) for share in np.searchsorted(ordered, grid, "right") / max(1, len(ordered)))
