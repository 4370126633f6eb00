"""Columns of text and numbers, as tables read them, and what is said where records are refused.

The words are the same for records in memory and in a database, and hold no value.
"""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sluice.ground.errors import DataError, MeasureChoiceError, did_you_mean
from sluice.ground.sentence import count_of
from sluice.ground.values import MISSING_MARKS, NUMBER
from sluice.tabular.model.cells import Booleans, Integers
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.model.measure import MOST_DECIMALS

_GROUPED = re.compile(r"[+-]?\d{1,3}([ .,'’\u00a0\u2009\u202f]\d{3})+([.,]\d+)?")  # digits of thousands
_UNIT = re.compile(r"[+-]?[€$£¥]\s?[\d.,]*\d|[+-]?[\d.,]*\d\s?[%‰€$£¥]")


def numbers(column: "pd.Series[Any]") -> NDArray[Any]:
    """A column without missing values as numbers.

    column : its index tells which record each is, from 0
    raises : DataError where text is no number
    """
    if is_whole(column):
        if len(column) and column.max() >= 2**63:  # of an unsigned column: as a signed number it is negative
            raise DataError(too_large(str(column.name)))
        return column.to_numpy(dtype=np.int64)
    if pd.api.types.is_float_dtype(column.dtype):
        return column.to_numpy(dtype=np.float64)
    text = pd.Series(text_of(column), dtype="str")
    strange = ~text.str.fullmatch(NUMBER)
    if strange.any():
        first = int(column.index[np.flatnonzero(strange)[0]]) + 1
        point = " Write a point before the decimals." if text[strange].str.contains(",", regex=False).all() else ""
        if text[strange].isin(MISSING_MARKS).all():
            point = " Each of them holds a mark for missing, such as NA: leave such cells empty."
        elif text[strange].str.fullmatch(_GROUPED).all():
            point = " Leave out what stands between thousands, and write a point before the decimals."
        elif text[strange].str.fullmatch(_UNIT).all():
            point = " Write numbers alone, without a unit or a sign such as %."
        raise DataError(
            f"'{column.name}' must be a number; it is not in {_records(int(strange.sum()))}, first in record "
            f"{first}.{point}"
        )
    return np.array(text.tolist(), dtype=np.float64)


def whole_units(values: NDArray[Any], column: str, decimals: int | None) -> tuple[Integers, int]:
    """Values as whole numbers in units of 10 ** -decimals, and the decimals: those asked for, or as many as they have.

    A binary number stands for the shortest decimal number that it is nearest to; half a unit goes to the even one.

    raises : DataError for more than 6 decimals where none are asked for, or a value that is not finite or too large
    """
    if values.dtype.kind == "i":
        return halves_and_bounds(values.astype(np.int64), 0, column, decimals)
    if not np.isfinite(values).all():
        raise DataError(
            f"'{column}' must be finite; it is not in {count_of(int((~np.isfinite(values)).sum()), 'record')}."
        )
    if np.abs(values).max(initial=0) >= 2**53:
        raise DataError(too_large(column))
    for places in range(MOST_DECIMALS + 4):
        units = np.rint(values * 10.0**places)
        if np.array_equal(units / 10.0**places, values) and np.abs(units).max(initial=0) < 2**53:
            return halves_and_bounds(units.astype(np.int64), places, column, decimals)
    if decimals is None:
        raise too_fine(column)
    units = np.rint(values * 10.0**decimals)
    return halves_and_bounds(units.astype(np.int64), decimals, column, decimals)


def halves_and_bounds(units: Integers, places: int, column: str, decimals: int | None) -> tuple[Integers, int]:
    """Whole units of 10 ** -places at the decimals that are asked for."""
    if decimals is None and places > MOST_DECIMALS:
        raise too_fine(column)
    wanted = places if decimals is None else decimals
    if np.abs(units).max(initial=0) * 10.0 ** max(wanted - places, 0) >= 2**53:
        raise DataError(too_large(column))
    return to_decimals(units, places, wanted), wanted


def to_decimals(units: Integers, given: int, wanted: int) -> Integers:
    """Units of 10 ** -given as units of 10 ** -wanted; exactly half goes to the even one."""
    return units * 10 ** (wanted - given) if wanted >= given else halves_to_even(units, 10 ** (given - wanted))


def is_whole(column: "pd.Series[Any]") -> bool:
    """Whether the column holds whole numbers."""
    return bool(pd.api.types.is_integer_dtype(column.dtype))


def text_of(column: "pd.Series[Any]") -> NDArray[np.object_]:
    """Text without missing values: '' in their place."""
    if pd.api.types.is_float_dtype(column.dtype):
        raise DataError(f"'{column.name}' must be text or whole numbers; got numbers with decimals.")
    made = column.astype("object").where(column.notna(), "").to_numpy(dtype=object)
    return made if is_text(column) else np.array([str(each) for each in made], dtype=object)


def is_text(column: "pd.Series[Any]") -> bool:
    """Whether the column holds text and nothing else."""
    return bool(pd.api.types.is_string_dtype(column.dtype)) and column.dtype != object


def is_missing(column: "pd.Series[Any]") -> Booleans:
    """Shape (n,): missing values, and empty texts."""
    missing = column.isna().to_numpy(dtype=bool)
    if is_text(column) or column.dtype == object:
        missing = missing | (column.fillna("") == "").to_numpy(dtype=bool)
    return np.asarray(missing)


def halves_to_even(numerator: Integers, denominator: int) -> Integers:
    """numerator / denominator, rounded to whole numbers; exactly half goes to the even one."""
    whole, rest = np.divmod(numerator, denominator)
    up = (2 * rest > denominator) | ((2 * rest == denominator) & (whole % 2 == 1))
    return np.asarray(whole + up, dtype=np.int64)


def missing_value(column: str, count: int) -> DataError:
    says = f"'{column}' is missing in {_records(count)}. Complete them, or let records without it be left out"
    return MeasureChoiceError(says, "missing", "leave_out")


def negative_value(column: str, count: int) -> DataError:
    says = f"'{column}' is negative in {_records(count)}. If that is right, let the rules compare absolute values"
    return MeasureChoiceError(says, "negative", "absolute")


def duplicates(column: str, count: int) -> DataError:
    are = "is" if count == 1 else "are"
    says = (
        f"{_records(count)} {are} of a '{column}' that has another record in the same cell. If that is right, add them"
    )
    return MeasureChoiceError(says, "duplicates", "add")


def light_weight(column: str, count: int) -> str:
    return f"'{column}', a weight, must be 1 or more, for a record stands for itself; it is less in {_records(count)}."


def no_leaf(dimension: Dimension, counts: Mapping[str, int]) -> str:
    """What to say of records whose codes are no leaves; counts: code -> records, '' for a missing code.

    A text that is near no code is not repeated: it may be what another column holds.
    """
    reasons, leaves = [], [dimension.codes[leaf] for leaf in dimension.leaves]
    strange = sorted(code for code in counts if code)
    for code in strange:
        with_zeros = next((leaf for leaf in leaves if leaf != code and leaf.lstrip("0") == code), None)
        hint = f"Did you mean '{with_zeros}'? Read codes as text" if with_zeros else did_you_mean(code, leaves).strip()
        if code in dimension.position:
            reasons.append(f"'{code}' is a group, which others add up to")
        elif hint:
            reasons.append(f"'{code}' ({hint})")
        if len(reasons) == 3:
            break
    more = len(strange) - len(reasons)
    if counts.get("", 0):
        reasons.append(f"no code at all in {counts['']}")
    if more:
        reasons.append(f"{count_of(more, 'text')} unlike any code, not shown here")
    records = _records(sum(counts.values()))
    return f"'{dimension.name}' must be a leaf of its hierarchy; it is not in {records}: {'; '.join(reasons)}"


def too_large(column: str) -> str:
    return f"'{column}' is too large: it must stay below 2 ** 53 units of its last decimal."


def too_fine(column: str) -> DataError:
    says = f"'{column}' has more than {MOST_DECIMALS} decimals; say how many the table shall have"
    return MeasureChoiceError(says, "decimals")


def without(column: str, role: str, count: int, instead: str = "") -> DataError:
    """What to say of a contributor, holding or weight that records lack; instead: what else may be named."""
    return DataError(f"'{column}', the {role}, is missing in {_records(count)}{instead}.")


def _records(count: int) -> str:
    return count_of(count, "record")
