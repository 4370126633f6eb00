"""Subsample equivalent: how small a random sample of the original loses as much as the masked file does.

Source: the report of NIST's SDNist tool, which says of a k-marginal score which subsample of the original has the same.
Differs from it: any loss can be compared, fractions are interpolated, and the draws are stated with an interval.

A loss has no scale that everybody knows; that a file is as good as one record in ten, and no better, is understood.
"""

from collections.abc import Callable, Sequence
from math import exp, isnan, sqrt

import numpy as np
from pydantic import Field

from sluice.ground.arrays import Codes, FloatArray, narrow
from sluice.ground.document_parts import FrozenModel
from sluice.ground.errors import DataError

FRACTIONS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9)
_FEWEST = 2  # records of a subsample
_STUDENT = {2: 12.71, 3: 4.30, 4: 3.18, 5: 2.78, 6: 2.57, 7: 2.45, 8: 2.36, 9: 2.31, 10: 2.26}  # 95 %, by draws


class SubsampleEquivalent(FrozenModel):
    """The file is as good as a random sample of `share` of the original's records; lower is worse.

    share    : 0 to 1; 1 for a file that lost nothing
    interval : 95 %, over the draws, for the share at which subsamples lose as much on average
    at_most  : in some draw even the smallest subsample that was tried loses less: the share may be smaller than it says
    """

    share: float = Field(ge=0, le=1)
    interval: tuple[float, float]
    at_most: bool
    draws: int = Field(ge=2)


def subsample_equivalent(
    loss_of: Callable[[Codes], float],
    records: int,
    observed: float,
    rng: np.random.Generator,
    draws: int = 5,
    fractions: Sequence[float] = FRACTIONS,
) -> SubsampleEquivalent | None:
    """At which share of the original's records the loss of a random subsample is the observed one.

    loss_of   : the loss of the file that has these records of the original, shape (m,), positions without repetition,
                and no others. It must be 0 for all records, and fall on average as the subsample grows
    records   : n, of the original
    observed  : the masked file's loss by the same measure
    draws     : random orders of the records; the subsamples of one draw are the first records of its order
    fractions : sizes that are tried, from small to large, until all lose less than was observed
    returns   : None where the observed loss is unknown, or the original has too few records for two sizes
    raises    : DataError for fewer than 2 draws, or fractions that do not rise within 0 to 1
    cost      : `draws` times the losses of the subsamples, of which the largest is the first that is good enough

    Between two sizes f the loss is taken to be linear in sqrt((1 - f) / f), to which the error of a random sample
    without replacement is proportional.
    """
    if draws < 2:
        raise DataError(f"draws of subsamples must be at least 2; got {draws}.")
    if any(not 0 < fraction < 1 for fraction in fractions) or sorted(set(fractions)) != list(fractions):
        raise DataError("fractions of subsamples must rise, between 0 and 1.")
    sizes = sorted({size for f in fractions if _FEWEST <= (size := round(f * records)) < records})
    if isnan(observed) or len(sizes) < 2:
        return None
    orders = [narrow(rng.permutation(records), records) for _ in range(draws)]
    losses: list[list[float]] = []
    for size in sizes:
        losses.append([loss_of(order[:size]) for order in orders])
        if max(losses[-1]) < observed:
            break
    tried = np.array(sizes[: len(losses)]) / records
    found = [_share(tried, np.array(curve), observed) for curve in zip(*losses, strict=True)]
    middle = float(np.log(found).mean())
    half = _STUDENT.get(draws, 1.96) * float(np.log(found).std(ddof=1)) / sqrt(draws)
    return SubsampleEquivalent(
        share=min(1.0, exp(middle)),
        interval=(exp(middle - half), min(1.0, exp(middle + half))),
        at_most=any(share <= tried[0] * (1 + 1e-9) for share in found),
        draws=draws,
    )


def _share(tried: FloatArray, losses: FloatArray, observed: float) -> float:
    """Where the curve of one draw has the observed loss; the smallest size where even that loses less."""
    scale = np.append(0.0, np.sqrt((1 - tried[::-1]) / tried[::-1]))
    rising = np.maximum.accumulate(np.append(0.0, losses[::-1]))
    at = float(np.interp(observed, rising, scale)) if observed > 0 else 0.0
    return 1 / (1 + at**2)
