"""Forms: what a released value shows beside its size, which masking may have given to some and not to others.

How fine a number is (a multiple of 5, of a hundredth), its last digit, whether a date is the first of a month, whether
cells are blank or equal each other: everybody sees that. Whether a value was altered is seen by whoever knows what the
person answered. Sizes are left to the rules that compare values.

Source: Wong, Fu, Wang and Pei (2007), for what a method does to records that it treats alike.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
import pandas as pd

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.comparable_values import comparable_values, is_missing
from sluice.risk.linkage.number_patterns import unit_of

_GRAINS = (1e-4, 1e-3, 0.01, 0.1, 0.5, 1, 2, 5, 10, 20, 25, 50, 100, 250, 500, 1000)
_FEWEST = 5  # people of whom a form is another than before
_COMPARED = 20  # columns, at most, that are compared with each other
_BLANK = -1


@dataclass(frozen=True)
class Form:
    """One form of one column, or of two.

    what   : blank or not, altered or not, grain or last digit of a number, start of a date, equality of two numbers
    state  : (n,) codes of the released values, -1 where it is blank; in order where the form has one
    before : (n,) the same of the original values
    """

    what: Literal["blank", "altered", "grain", "digit", "start", "equal"]
    columns: tuple[str, ...]
    state: IntArray
    before: IntArray

    @property
    def differs(self) -> bool:
        """Whether masking changed it for some people, and released values have several."""
        changed = np.count_nonzero(self.state != self.before)
        return bool(changed >= _FEWEST and (self.state != self.state[0]).any())


def grain_of(values: FloatArray) -> IntArray:
    """The place of the largest unit, from a ten-thousandth to a thousand, of which each number is a multiple, from 1;
    0 where it is finer than that, shape (n,); what is missing is 0."""
    different, of = np.unique(values, return_inverse=True)
    size, found = np.abs(np.nan_to_num(different)), np.zeros(len(different), np.int64)
    tolerance = 1e-6 * _GRAINS[0] + 1e-15 * size
    for place, unit in enumerate(_GRAINS, 1):
        found[np.abs(size - np.rint(size / unit) * unit) <= tolerance] = place
    return np.where(np.isnan(values), 0, found[of])


def forms_of(original: Mapping[str, "pd.Series[Any]"], masked: Mapping[str, "pd.Series[Any]"]) -> list[Form]:
    """Each form that some released values have, others have not, and masking changed for a few people at least.

    original, masked : typed columns of length n, row i of both the same person's; columns that only the masked file has
                       are passed over
    cost             : a sort of the different values of each column, and O(n) for each pair of twenty numbers
    """
    return [form for form in _forms(original, masked) if form.differs]


def _forms(original: Mapping[str, "pd.Series[Any]"], masked: Mapping[str, "pd.Series[Any]"]) -> Iterator[Form]:
    numbers: list[tuple[str, FloatArray, FloatArray]] = []
    for name in masked:
        if name not in original:
            continue
        before, after = comparable_values(original[name], masked[name])
        gone, blank = is_missing(before), is_missing(after)
        yield Form("blank", (name,), blank.astype(np.int64), gone.astype(np.int64))
        if before.dtype.kind != after.dtype.kind:
            continue
        altered = np.where(gone | blank, _BLANK, (before != after) * 1)
        yield Form("altered", (name,), altered, np.minimum(altered, 0))
        if before.dtype.kind == "f" and (altered > 0).any():
            numbers.append((name, before, after))
            for what, of in _of_numbers(masked[name], before):
                yield Form(what, (name,), np.where(blank, _BLANK, of(after)), np.where(gone, _BLANK, of(before)))
    for (one, *of_one), (two, *of_two) in combinations(numbers[:_COMPARED], 2):
        before, after = ((a == b) * 1 for a, b in zip(of_one, of_two, strict=True))
        yield Form("equal", (one, two), after, before)


def _of_numbers(
    column: "pd.Series[Any]", before: FloatArray
) -> Iterator[tuple[Literal["grain", "digit", "start"], Callable[[FloatArray], IntArray]]]:
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        yield "start", _of_dates
        return
    yield "grain", grain_of
    yield "digit", _last_digit(before)


def _last_digit(numbers: FloatArray) -> Callable[[FloatArray], IntArray]:
    """The digit at the place where the numbers of a column end."""
    unit = unit_of(numbers) or 1.0

    def digit(values: FloatArray) -> IntArray:
        return np.asarray(np.rint(np.abs(np.nan_to_num(values)) / unit) % 10, np.int64)

    return digit


def _of_dates(days: FloatArray) -> IntArray:
    """0 with a time of day, 1 without, 2 the first of a month, 3 of a year."""
    there = np.nan_to_num(days)
    dates = np.floor(there).astype(np.int64).astype("datetime64[D]")
    starts = [(dates == dates.astype(f"datetime64[{unit}]")) & (there % 1 == 0) for unit in ("M", "Y")]
    return np.asarray((there % 1 == 0) * 1 + starts[0] + starts[1], np.int64)
