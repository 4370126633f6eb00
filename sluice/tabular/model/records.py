"""From columns of text and numbers to numbered records, which tables are aggregated from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sluice.errors import DataError, did_you_mean
from sluice.reading.values import NUMBER
from sluice.tabular.model.aggregation import LARGEST_KEPT, aggregate, halves_to_even
from sluice.tabular.model.cells import Booleans, Cells, Codes, Integers, Table, keys_of
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.model.measure import MOST_DECIMALS, Measure

LARGEST_UNITS = 2**62  # of a contribution, which must fit into 64 bits


@dataclass(frozen=True, eq=False)
class Records:
    """The n records that a table adds up.

    leaves      : shape (n, d), the position of each record's leaf in each dimension
    contributor : shape (n,), whose record it is (or which holding's), as a number
    names       : name of each contributor by its number; None where records or numbers serve as contributors
    value       : shape (n,), in units of 10 ** -decimals
    weighted    : shape (n,), the part of the totals where that is not `value`, and `weight` in units of 1 / `unit`
    left_out    : how many records had no value
    added_up    : how many records were added to another of the same contributor in the same cell
    """

    leaves: Codes
    contributor: Integers
    names: NDArray[np.object_] | None
    value: Integers
    weighted: Integers | None
    weight: Integers | None
    unit: int
    decimals: int
    left_out: int
    added_up: int

    def cells(
        self,
        dimensions: Sequence[Dimension],
        kept: int = LARGEST_KEPT,
        tables: Sequence[Table] | None = None,
        withheld: Mapping[str, Sequence[str | int]] | None = None,
    ) -> Cells:
        """The cells of the tables; see `aggregate`."""
        return aggregate(
            dimensions,
            self.leaves,
            self.contributor,
            self.value,
            kept,
            weighted=self.weighted,
            weight=self.weight,
            unit=self.unit,
            tables=tables,
            withheld=withheld,
            decimals=self.decimals,
        )


def records_of(frame: pd.DataFrame, dimensions: Sequence[Dimension], measure: Measure) -> Records:
    """The records of a frame, by the rules of the measure.

    frame  : a column of text for each dimension, bearing its name, and the columns of the measure; numbers as numbers
             or text. An empty text is missing
    raises : DataError for a column that is absent, a code that is no leaf of its hierarchy, a missing contributor, a
             number that is none; a missing or negative value or a duplicate, where the measure refuses it
    cost   : O(n log n) time, O(n) memory
    """
    for name in (*(dimension.name for dimension in dimensions), *measure.columns):
        if name not in frame.columns:
            raise DataError(f"the records have no column '{name}'.{did_you_mean(name, map(str, frame.columns))}")
    counted = np.ones(len(frame), dtype=bool)
    if measure.value is not None:
        counted = ~_missing(frame[measure.value])
        if measure.missing == "refuse" and not counted.all():
            raise DataError(missing_value(measure.value, int((~counted).sum())))
    left_out = int((~counted).sum())
    frame = frame[counted]
    if not len(frame):
        raise DataError("there is no record to make a table of.")
    leaves = np.column_stack([_leaves(frame[dimension.name], dimension) for dimension in dimensions])
    value, decimals = _value(frame, measure)
    value, weighted, weight, unit, decimals = _weighted(frame, measure, value, decimals)
    contributor, names = _contributors(frame, measure)
    added_up = 0
    if measure.contributor is not None:
        own = contributor if measure.holding is None else _numbered(_text(frame[measure.contributor]))[0]
        added_up = int(pd.DataFrame({"cell": keys_of(dimensions, leaves), "own": own}).duplicated().sum())
        if added_up and measure.duplicates == "refuse":
            raise DataError(duplicates(measure.contributor, added_up))
    return Records(leaves, contributor, names, value, weighted, weight, unit, decimals, left_out, added_up)


def missing_value(column: str, count: int) -> str:
    return f"'{column}' is missing in {count} records. Complete them, or let missing values be left out."


def negative_value(column: str, count: int) -> str:
    return (
        f"'{column}' is negative in {count} records. If that is right, let the rules compare absolute values "
        "(negative: absolute)."
    )


def duplicates(column: str, count: int) -> str:
    return (
        f"{count} records are of a '{column}' that has another record in the same cell. If that is right, let them be "
        "added up (duplicates: add)."
    )


def light_weight(column: str, count: int) -> str:
    return f"'{column}', a weight, must be 1 or more, for a record stands for itself; it is less in {count} records."


def no_leaf(dimension: Dimension, counts: Mapping[str, int]) -> str:
    """What to say of records whose codes are no leaves; counts: code -> records, '' for a missing code.

    A text that is near no code is not repeated: it may be what another column holds.
    """
    reasons, leaves = [], [dimension.codes[leaf] for leaf in dimension.leaves]
    strange = sorted(code for code in counts if code)
    for code in strange:
        hint = did_you_mean(code, leaves).strip()
        if code in dimension.position:
            reasons.append(f"'{code}' is a group, which others add up to")
        elif hint:
            reasons.append(f"'{code}' ({hint})")
        if len(reasons) == 3:
            break
    more = len(strange) - len(reasons)
    if counts.get("", 0):
        reasons.append(f"no code at all in {counts['']}")
    return (
        f"'{dimension.name}' must be a leaf of its hierarchy; it is not in {sum(counts.values())} records: "
        f"{'; '.join([*reasons, *([f'{more} other texts, not repeated here'] if more else [])])}"
    )


def _leaves(column: "pd.Series[Any]", dimension: Dimension) -> Codes:
    places, codes = pd.factorize(_text(column))
    leaves = {dimension.codes[leaf]: int(leaf) for leaf in dimension.leaves}
    position = np.array([leaves.get(code, -1) for code in codes], dtype=np.int32)
    strange = position[places] < 0
    if strange.any():
        found = np.bincount(places[strange], minlength=len(codes))
        raise DataError(no_leaf(dimension, {str(codes[at]): int(found[at]) for at in np.flatnonzero(found)}))
    return position[places]


def _contributors(frame: pd.DataFrame, measure: Measure) -> tuple[Integers, NDArray[np.object_] | None]:
    if measure.contributor is None and measure.holding is None:
        return np.arange(len(frame), dtype=np.int64), None
    if measure.contributor is not None and (missing := int(_missing(frame[measure.contributor]).sum())):
        raise DataError(f"'{measure.contributor}', the contributor, is missing in {missing} records.")
    if measure.holding is None:
        column = frame[str(measure.contributor)]
        if _is_whole(column) and (column >= 0).all():
            return column.to_numpy(dtype=np.int64), None
        return _numbered(_text(column))
    holding = frame[measure.holding]
    without = _missing(holding)
    if not without.any() and _is_whole(holding) and (holding >= 0).all():
        return holding.to_numpy(dtype=np.int64), None
    if without.any() and measure.contributor is None:
        raise DataError(
            f"'{measure.holding}', the holding, is missing in {int(without.sum())} records; name a contributor."
        )
    held = _text(holding)
    if without.any():  # who belongs to nobody is a contributor of its own, whatever holding has the same name
        own = _text(frame[str(measure.contributor)])
        return _numbered(np.where(without, "contributor " + own, "holding " + held))
    return _numbered(held)


def _numbered(text: NDArray[np.object_]) -> tuple[Integers, NDArray[np.object_]]:
    places, names = pd.factorize(text, sort=True)
    return places.astype(np.int64), names


def _value(frame: pd.DataFrame, measure: Measure) -> tuple[Integers, int]:
    if measure.value is None:
        return np.ones(len(frame), dtype=np.int64), 0
    stated = None if measure.weight else measure.decimals  # a weighted value is rounded once, when it is weighted
    value, decimals = whole_units(numbers(frame[measure.value]), measure.value, stated)
    negative = int((value < 0).sum())
    if negative and measure.negative == "refuse":
        raise DataError(negative_value(measure.value, negative))
    return value, decimals


def _weighted(
    frame: pd.DataFrame, measure: Measure, value: Integers, decimals: int
) -> tuple[Integers, Integers | None, Integers | None, int, int]:
    """Values and weighted values in units of the table, weights and their unit, and the table's decimals."""
    if measure.weight is None:
        return value, None, None, 1, decimals
    if _missing(frame[measure.weight]).any():
        raise DataError(
            f"'{measure.weight}', the weight, is missing in {int(_missing(frame[measure.weight]).sum())} records."
        )
    weight, places = whole_units(numbers(frame[measure.weight]), measure.weight, None)
    return weigh(value, decimals, weight, places, measure)


def weigh(
    value: Integers, decimals: int, weight: Integers, places: int, measure: Measure
) -> tuple[Integers, Integers | None, Integers | None, int, int]:
    """Values and weighted values in units of the table, weights and their unit, and the table's decimals.

    value  : in units of 10 ** -decimals, weight in units of 10 ** -places
    """
    unit = 10**places
    if light := int((weight < unit).sum()):
        raise DataError(light_weight(str(measure.weight), light))
    fine = decimals + places
    wanted = weighted_decimals(measure, fine, float(np.abs(value).max(initial=0)) * float(weight.max(initial=1)))
    weighted = _to_decimals(value * weight, fine, wanted)
    if measure.weight_rule == "gconfid_exact":
        return weighted, None, None, 1, wanted
    return _to_decimals(value, decimals, wanted), weighted, weight, unit, wanted


def weighted_decimals(measure: Measure, fine: int, largest: float) -> int:
    """The decimals of a weighted table, whose records have `fine` of them and are at most so large, in these units."""
    wanted = fine if measure.decimals is None else measure.decimals
    if wanted > MOST_DECIMALS:
        raise DataError(
            f"weighted, '{measure.value or 'the count'}' has {fine} decimals; say how many the table shall have "
            f"(decimals, at most {MOST_DECIMALS})."
        )
    if largest * 10.0 ** max(wanted - fine, 0) >= LARGEST_UNITS:
        raise DataError(f"weighted, '{measure.value}' is too large for so many decimals; give fewer.")
    return wanted


def _to_decimals(units: Integers, given: int, wanted: int) -> Integers:
    return units * 10 ** (wanted - given) if wanted >= given else halves_to_even(units, 10 ** (given - wanted))


def numbers(column: "pd.Series[Any]") -> NDArray[Any]:
    """A column without missing values as numbers. Raises DataError where text is no number."""
    if _is_whole(column):
        return column.to_numpy(dtype=np.int64)
    if pd.api.types.is_float_dtype(column.dtype):
        return column.to_numpy(dtype=np.float64)
    text = pd.Series(_text(column), dtype="str")
    strange = ~text.str.fullmatch(NUMBER)
    if strange.any():
        first = int(np.flatnonzero(strange)[0])
        raise DataError(
            f"'{column.name}' must be a number; it is not in {int(strange.sum())} records, first in record {first + 1}."
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
        raise DataError(f"'{column}' must be finite; it is not in {int((~np.isfinite(values)).sum())} records.")
    if np.abs(values).max(initial=0) >= 2**53:
        raise DataError(too_large(column))
    for places in range(MOST_DECIMALS + 4):
        units = np.rint(values * 10.0**places)
        if np.array_equal(units / 10.0**places, values) and np.abs(units).max(initial=0) < 2**53:
            return halves_and_bounds(units.astype(np.int64), places, column, decimals)
    if decimals is None:
        raise DataError(too_fine(column))
    units = np.rint(values * 10.0**decimals)
    return halves_and_bounds(units.astype(np.int64), decimals, column, decimals)


def halves_and_bounds(units: Integers, places: int, column: str, decimals: int | None) -> tuple[Integers, int]:
    """Whole units of 10 ** -places at the decimals that are asked for."""
    if decimals is None and places > MOST_DECIMALS:
        raise DataError(too_fine(column))
    wanted = places if decimals is None else decimals
    if np.abs(units).max(initial=0) * 10.0 ** max(wanted - places, 0) >= 2**53:
        raise DataError(too_large(column))
    return _to_decimals(units, places, wanted), wanted


def too_large(column: str) -> str:
    return f"'{column}' is too large: it must stay below 2 ** 53 units of its last decimal."


def too_fine(column: str) -> str:
    return f"'{column}' has more than {MOST_DECIMALS} decimals; say how many the table shall have (decimals)."


def _is_whole(column: "pd.Series[Any]") -> bool:
    return bool(pd.api.types.is_integer_dtype(column.dtype))


def _text(column: "pd.Series[Any]") -> NDArray[np.object_]:
    """Text without missing values: '' in their place."""
    if pd.api.types.is_float_dtype(column.dtype):
        raise DataError(f"'{column.name}' must be text or whole numbers; got numbers with decimals.")
    made = column.astype("object").where(column.notna(), "").to_numpy(dtype=object)
    return made if _is_text(column) else np.array([str(each) for each in made], dtype=object)


def _is_text(column: "pd.Series[Any]") -> bool:
    return bool(pd.api.types.is_string_dtype(column.dtype)) and column.dtype != object


def _missing(column: "pd.Series[Any]") -> Booleans:
    missing = column.isna().to_numpy(dtype=bool)
    if _is_text(column) or column.dtype == object:
        missing = missing | (column.fillna("") == "").to_numpy(dtype=bool)
    return np.asarray(missing)
