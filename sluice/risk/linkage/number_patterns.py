"""Patterns that masking left in numbers although it moved them: their digits, and their order on another scale.

Digits are the first two wherever the point is, the last two, or all behind the point, which of a date is the time of
day. Dates that were moved by whole weeks keep the day of the week, by whole years the day of the year; whole numbers
that were moved by multiples keep a remainder, as minutes do that were moved by hours. No measure of closeness sees
them. They count as variables of their own where true pairs agree in them more often than chance explains.

Where masking changed the scale as a whole, released numbers are aligned with the original ones. A column in another
currency, as an index, as a logarithm or with its sign reversed hides nobody: whoever compares the order of both files
undoes it.
"""

import numpy as np
import pandas as pd

from sluice.ground.arrays import BoolArray, FloatArray

_NEARER = 0.5  # aligned values lie at most so far, as a share of what they lie apart as they stand
_ALIGNED_PAIRS = 10_000  # pairs that tell

_DECIMALS = 6  # most decimals that last digits are looked for in
_APART = 0.1  # of the larger one: numbers farther from each other agree in their first digits by chance alone
_FEWEST = 100  # pairs that tell
_WHOLE = 0.5  # numbers nearer to each other than that have alike fractions for being near
_PAIRS = 20_000  # as many are enough
_SIGMAS = 4.0
_MORE = 0.02  # share of such pairs that agree, beyond chance
_EVEN = 0.9  # of the different numbers end where the last digit is; others were computed, such as an imputed mean


_FIRST, _LAST, _FRACTION = "first digits", "last digits", "fraction or time of day"
_WEEKDAY, _OF_MONTH, _OF_YEAR = "day of the week", "day of the month", "day of the year"
_CYCLES = {f"remainder by {cycle}": cycle for cycle in (60, 12, 7)}  # of time; of those that divide another, the larger


def with_digits(name: str) -> tuple[str, ...]:
    """A variable and its digits, by the names under which they are compared."""
    return name, *(
        f"{name} ({digits})" for digits in (_FIRST, _LAST, _FRACTION, _WEEKDAY, _OF_MONTH, _OF_YEAR, *_CYCLES)
    )


def kept_digits(before: FloatArray, after: FloatArray, dates: bool = False) -> dict[str, tuple[FloatArray, FloatArray]]:
    """The digits that masking kept, by their name, with their codes in both files.

    before, after : shape (n,), row i of both the same record, NaN where missing
    dates         : whether they are days since 1970
    returns       : codes of shape (n,), NaN where the number is missing; nothing for digits that were not kept
    cost          : that of some thousand pairs, which decide; O(n) where digits were kept
    """
    pairs = np.flatnonzero(np.isfinite(before) & np.isfinite(after))
    some = pairs[:: -(-len(pairs) // _PAIRS) or 1]
    if len(some) < _FEWEST:
        return {}
    a, b = before[some], after[some]
    found: dict[str, tuple[FloatArray, FloatArray]] = {}
    far = np.abs(a - b) > _APART * np.maximum(np.abs(a), np.abs(b))
    if _kept(_first(a), _first(b), far):
        found[_FIRST] = _first(before), _first(after)
    unit = unit_of(a)
    if unit is not None and _kept(_last(a, unit), _last(b, unit), a != b):
        found[_LAST] = _last(before, unit), _last(after, unit)
    elif _kept(_fraction(a), _fraction(b), np.abs(a - b) > _WHOLE):
        found[_FRACTION] = _fraction(before), _fraction(after)
    if dates:
        far = np.floor(a) != np.floor(b)
        whole = next(
            (part for part in (_OF_YEAR, _OF_MONTH) if _kept(_calendar(a, part), _calendar(b, part), far)), None
        )
        kept = [whole] if whole else []
        if _kept(_calendar(a, _WEEKDAY), _calendar(b, _WEEKDAY), far):
            kept.append(_WEEKDAY)
        found |= {part: (_calendar(before, part), _calendar(after, part)) for part in kept}
    elif unit == 1:
        moved = a != b
        agree = {
            name: float((a[moved] % cycle == b[moved] % cycle).mean())
            for name, cycle in _CYCLES.items()
            if _kept(a % cycle, b % cycle, moved)
        }
        best = max(agree, key=lambda name: agree[name], default=_LAST)
        # Steps of a hundred or of an hour leave both in part: what more pairs agree in counts.
        if best != _LAST and (_LAST not in found or agree[best] > float((_last(a, 1) == _last(b, 1))[moved].mean())):
            found.pop(_LAST, None)
            found[best] = before % _CYCLES[best], after % _CYCLES[best]
    return found


def _calendar(days: FloatArray, part: str) -> FloatArray:
    """The day of the week, of the month or of the year (31 a month) of days since 1970."""
    missing = np.isnan(days)
    whole = np.floor(np.where(missing, 0, days)).astype(np.int64)
    if part == _WEEKDAY:
        return np.where(missing, np.nan, whole % 7)
    dates = whole.astype("datetime64[D]")
    months = dates.astype("datetime64[M]")
    of_month = (dates - months.astype("datetime64[D]")).astype(np.int64)
    return np.where(missing, np.nan, of_month + (31 * (months.astype(np.int64) % 12) if part == _OF_YEAR else 0))


def _kept(before: FloatArray, after: FloatArray, moved: BoolArray) -> bool:
    """Whether pairs that moved agree more often than the same numbers would in any other order."""
    a, b = before[moved], after[moved]
    if len(a) < _FEWEST:
        return False
    codes, places = np.unique(np.concatenate([a, b]), return_inverse=True)
    shares = [np.bincount(part, minlength=len(codes)) / len(a) for part in np.split(places, 2)]
    chance = float(shares[0] @ shares[1])
    excess = float((a == b).mean()) - chance
    return bool(excess > max(_MORE, _SIGMAS * np.sqrt(chance * (1 - chance) / len(a))))


def _first(values: FloatArray) -> FloatArray:
    """The first two significant digits, with the sign; 0 for 0."""
    sizes = np.abs(values)
    with np.errstate(divide="ignore", invalid="ignore"):
        digits = np.floor(sizes / 10.0 ** (np.floor(np.log10(sizes)) - 1) + 1e-9)
    return np.where(sizes > 0, np.sign(values) * digits, sizes)


def _last(values: FloatArray, unit: float) -> FloatArray:
    with np.errstate(invalid="ignore"):
        return np.asarray(np.round(np.abs(values) / unit) % 100)


def _fraction(values: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore"):
        return np.asarray(np.round(values % 1.0, _DECIMALS) % 1.0)


def unit_of(values: FloatArray) -> float | None:
    """The power of ten, at most 1, that nearly all different values are multiples of; None where there is none.

    values : shape (n,); what is not finite is left out
    cost   : a sort
    """
    finite = np.unique(values[np.isfinite(values)])
    for decimals in range(_DECIMALS + 1):
        scaled = finite * 10.0**decimals
        if (np.abs(scaled - np.round(scaled)) <= 1e-6 + 1e-12 * np.abs(scaled)).mean() >= _EVEN:
            return float(10.0**-decimals)
    return None


def aligned(before: FloatArray, after: FloatArray) -> FloatArray:
    """The released values as they stand, or each as the original value of its rank or of its rank from above.

    Whichever brings true pairs together by ranks; another than the first one only if it halves what they lie apart.

    before, after : shape (n,), row i of both the same record, NaN where missing
    cost          : that of some thousand pairs, which decide; O(n log n) where the order is what tells
    """
    pairs = np.flatnonzero(~np.isnan(before) & ~np.isnan(after))
    if len(pairs) < 2:
        return after
    some = pairs[:: -(-len(pairs) // _ALIGNED_PAIRS)]
    values, sent = np.sort(before[some]), after[some]
    own = pd.Series(before[some]).rank(pct=True).to_numpy()
    choices = [sent, _at(values, sent), _at(values, -sent)]
    apart = [float(np.abs(_place(values, choice) - own).mean()) for choice in choices]
    best = int(np.argmin(apart))
    if best == 0 or apart[best] >= _NEARER * apart[0]:
        return after
    return _at(np.sort(before[~np.isnan(before)]), after if best == 1 else -after)


def _at(values: FloatArray, column: FloatArray) -> FloatArray:
    """For each number the original value at its rank; equal numbers have one."""
    ranks = pd.Series(column).rank(pct=True, method="average").to_numpy()
    places = np.where(np.isnan(ranks), 0, np.ceil(ranks * len(values) - 1e-9) - 1).astype(np.int64)
    return np.where(np.isnan(ranks), np.nan, values[np.clip(places, 0, len(values) - 1)])


def _place(values: FloatArray, column: FloatArray) -> FloatArray:
    """Share of the original values below, half of the equal ones included."""
    below, upto = np.searchsorted(values, column, "left"), np.searchsorted(values, column, "right")
    return np.asarray((below + upto + 1) / 2 / len(values))
