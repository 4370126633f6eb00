"""Interval disclosure (ID): how many original values lie in a narrow interval around their masked value.

Source: Torra (2013), "Rank swapping: Example II" and "Average of 1-7 variables", which give ID as a part of
the disclosure risk and do not define it. The rank intervals here, of p % of the records to either side and averaged
over p = 1..10, give Torra's figures for Census within 1.3 points; those in standard deviations are the other form in
use (Mateo-Sanz, Sebe and Domingo-Ferrer 2004).
"""

from typing import Literal

import numpy as np

from sluice.ground.arrays import FloatArray
from sluice.ground.errors import DataError
from sluice.risk.attacks.attack_success import share_at_risk
from sluice.risk.measurement import Measurement
from sluice.risk.spread import spread

WIDTHS = tuple(percent / 100 for percent in range(1, 11))


def interval_disclosure(
    original: FloatArray,
    released: FloatArray,
    by: Literal["rank", "spread", "standard_deviation"] = "rank",
    widths: tuple[float, ...] = WIDTHS,
) -> Measurement:
    """Share of the values that lie in the interval around their masked value, averaged over the widths.

    original, released : shape (n, d), NaN where missing, row i of both being the same record
    by                 : rank: between the masked values that are w = width * n ranks below and above (equal values
                         share the mean of their ranks); spread: within width (robust) spreads of the masked variable;
                         standard_deviation: within width standard deviations (n - 1), which one wild value can make
                         as large as it likes
    widths             : to either side, each in (0, 1]: a share of the records, or of a standard deviation
    missing            : a value that is missing in either file is no case; the others set ranks and deviations
    baseline           : the same share for masked values in random order, computed and not drawn
    returns            : a share of the values (Torra 2013 gives it in percent), higher is worse; one case for each
                         value
    raises             : DataError when the shapes differ or a width is not in (0, 1]
    cost               : O(widths d n log n)
    """
    if original.shape != released.shape or original.ndim != 2:
        raise DataError(f"interval disclosure compares value by value; got {original.shape} and {released.shape}.")
    if not widths or not all(0 < width <= 1 for width in widths):
        raise DataError(
            "widths of interval_disclosure must be shares in (0, 1]. Is one a percentage? Use 0.05 for 5 %."
        )
    success, expected = [], 0.0
    for known, masked in zip(original.T, released.T, strict=True):
        both = ~(np.isnan(known) | np.isnan(masked))
        order = np.argsort(masked[both])
        x, y = known[both][order], masked[both][order]
        rising = np.sort(x)
        inside = np.zeros(len(x))
        for width in widths:
            low, high = _intervals(y, by, width)
            inside += (low <= x) & (x <= high)
            # Each value against the intervals of all masked values: those that begin at or below it less those that end
            # before it.
            begun, ended = np.searchsorted(low, rising, "right"), np.searchsorted(high, rising, "left")
            expected += float((begun - ended).sum()) / max(len(x), 1)
        success.append(inside / len(widths))
    cases = np.concatenate(success) if success else np.zeros(0)
    measured = share_at_risk(cases, len(cases), expected / (len(widths) * len(cases)) if len(cases) else None)
    return Measurement(
        measured.value, original.size, len(cases), interval=measured.interval, baseline=measured.baseline
    )


def _intervals(ranked: FloatArray, by: str, width: float) -> tuple[FloatArray, FloatArray]:
    """The ends of the interval of each masked value; the values, and so both ends, in rising order."""
    if by != "rank":
        scale = spread(ranked) if by == "spread" else float(ranked.std(ddof=1)) if len(ranked) > 1 else 0.0
        half = width * scale
        return ranked - half, ranked + half
    last = len(ranked) - 1
    reach = int(width * len(ranked) * (1 + 1e-12))
    rank = (np.searchsorted(ranked, ranked, "left") + np.searchsorted(ranked, ranked, "right") - 1) / 2
    low, high = np.floor(rank - reach).astype(np.int64), np.ceil(rank + reach).astype(np.int64)
    return ranked[np.clip(low, 0, last)], ranked[np.clip(high, 0, last)]
