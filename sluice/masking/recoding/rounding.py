"""Rounding: replace each value by the nearest of a set of rounding points.

Source: Torra (2013), "Rounding": rounding points p_i = b i with the sets of attraction
[p_i - b/2, p_i + b/2), [0, p_1 + b/2) for the first and [p_r - b/2, V_max] for the last, which is `multiples: positive`
with `last`; univariate and multivariate rounding. Differs from it: by default 0 and the negative multiples are rounding
points too, as people expect of rounding, and without `last` there is no last point. Torra (2013) names multivariate
rounding without defining it: here a record goes to the nearest point in standardised Euclidean distance.

Multiples of a decimal base are shared with random rounding. Numbers are compared as the decimals that they are written
as: 0.15 lies in the middle of 0.1 and 0.2 and goes up, and three times 0.1 is released as 0.3.
"""

from decimal import Decimal
from itertools import pairwise
from typing import ClassVar, Literal, Self

import numpy as np
import pandas as pd
from numpy.random import Generator
from pydantic import Field, FiniteFloat, model_validator

from sluice.ground.arrays import FloatArray
from sluice.ground.errors import PlanError
from sluice.ground.variables import Kind, Variable, Variables
from sluice.masking.column_numbers import numbers, perturbed, stored
from sluice.masking.masking_step import NONE_OF_A_RECODING, MaskingStep
from sluice.risk.transparency.attack import NoAttack

_CHUNK = 8192  # records whose distances are held in the processor's cache


class Rounding(MaskingStep):
    """Round continuous and integer variables to multiples of a base or to points of your own."""

    method: Literal["rounding"] = "rounding"
    base: FiniteFloat | None = Field(
        default=None, description="distance between the rounding points, in the variable's unit, greater than 0"
    )
    multiples: Literal["all", "positive"] = Field(
        default="all",
        description="all: ..., -base, 0, base, ...; positive: base, 2 base, ...; values from 0 to under 1.5 base "
        "become base",
    )
    last: FiniteFloat | None = Field(default=None, description="largest rounding point, a multiple of base")
    points: tuple[FiniteFloat, ...] | tuple[tuple[FiniteFloat, ...], ...] | None = Field(
        default=None,
        min_length=2,
        description="rounding points in rising order, in place of base. Or rows with one value for each of columns: a "
        "record then goes to the nearest row, the first of equally near ones",
    )
    scales: tuple[FiniteFloat, ...] | None = Field(
        default=None,
        description="with rows of points: divisor of each column in the distance, greater than 0; by default its "
        "standard deviation to two digits",
    )

    is_recoding: ClassVar[bool] = True
    takes_strata: ClassVar[bool] = False
    takes_households: ClassVar[bool] = False

    example: ClassVar[str] = "{method: rounding, columns: [income], base: 1000}"
    treatment: ClassVar[str] = "rounded"
    use_when: ClassVar[str] = (
        "A value to the nearest 10 or 1,000 serves the users; for continuous data, or whole numbers with many values."
    )
    preserves: ClassVar[str] = (
        "The order, up to ties; means and totals nearly, if the base is small against the standard deviation."
    )
    known_attack: ClassVar[str] = (
        "An intruder rounds what he knows in the same way, and finds records whose rounded values are "
        "unique. Totals that are published exactly narrow single values."
    )
    missing_values: ClassVar[str] = (
        "A missing value stays missing. With rows of points the distance is over the values that the record has."
    )
    in_an_analysis: ClassVar[str] = (
        "Rounding to multiples of b adds about b^2/12 to the variance where b is small against the spread (Sheppard): "
        "take that off. Means are right but for chance. Points that are not evenly spaced have no such factor."
    )
    attack_measured: ClassVar[str] = NONE_OF_A_RECODING

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        on = f"of rounding on {', '.join(map(repr, self.columns))}"
        if (self.base is None) == (self.points is None):
            raise ValueError(f"give exactly one of base, points {on}")
        if self.base is not None:
            refuse_base(self.base, on)
        elif self.multiples != "all" or self.last is not None:
            raise ValueError(f"multiples and last {on} go with base; leave them out with points")
        if self.base is not None and self.last is not None and not is_multiple(self.last, self.base):
            raise ValueError(f"last {on} must be a multiple of base = {self.base:g}; got {self.last:g}")
        if self.multiples == "positive" and self.last is not None and self.last <= 0:
            raise ValueError(f"last {on} must be greater than 0 with multiples: positive; got {self.last:g}")
        rows = self._rows()
        if rows is None:
            if any(low >= high for low, high in pairwise(self._points())):
                raise ValueError(f"points {on} must rise strictly. Are they in order?")
            if self.scales is not None:
                raise ValueError(f"scales {on} goes with rows of points")
            return self
        if any(len(row) != len(self.columns) for row in rows):
            raise ValueError(f"points {on} must have {len(self.columns)} values in each row, one for each column")
        if len(set(rows)) != len(rows):
            raise ValueError(f"points {on} names a row twice")
        if self.scales is not None and (len(self.scales) != len(self.columns) or min(self.scales) <= 0):
            raise ValueError(f"scales {on} must be {len(self.columns)} numbers greater than 0, one for each column")
        return self

    def released(self, variables: Variables) -> dict[str, Variable]:
        """Integer variables stay so where all rounding points are whole; bounds become rounding points."""
        self.refuse_unless(variables, Kind.CONTINUOUS, Kind.INTEGER)
        return {
            **variables,
            **{name: self._released(variables[name], place) for place, name in enumerate(self.columns)},
        }

    def mask(self, frame: pd.DataFrame, variables: Variables, rng: Generator) -> pd.DataFrame:
        """Draws nothing. Raises PlanError: negative values with `multiples: positive`; whole numbers beyond 2^53."""
        released = self.released(variables)
        original = numbers(frame, self.columns)
        for name, values in zip(self.columns, original.T, strict=True):
            if self.multiples == "positive" and (values < 0).any():
                raise PlanError(
                    f"rounding on '{name}' with multiples: positive takes values from 0; {(values < 0).sum()} are "
                    "negative. Use multiples: all."
                )
        rows = self._rows()
        if rows is None:
            rounded = np.column_stack([self._rounded(values) for values in original.T])
        else:
            rounded = round_to_rows(original, np.array(rows), np.array(self.scales or _scales(original)))
        return frame.assign(
            **{
                name: stored(values, released[name]).set_axis(frame.index)
                for name, values in zip(self.columns, rounded.T, strict=True)
            }
        )

    def fit(self, frame: pd.DataFrame, variables: Variables) -> tuple["Rounding", ...]:
        """With rows of points: the same step with the scales of `frame`, so that another file is rounded alike."""
        self.released(variables)
        if self._rows() is None or self.scales is not None:
            return (self,)
        return (self.model_copy(update={"scales": _scales(numbers(frame, self.columns))}),)

    def attacks(self) -> tuple[NoAttack, ...]:
        return (NoAttack("every attack repeats the rule, and compares original and release after it"),)

    def describe(self) -> str:
        names = ", ".join(self.columns)
        if self.base is not None:
            return f"{names}: values were rounded to {_in_words(self.base, self.multiples, self.last)}."
        if self._rows() is not None:
            return f"{names} were rounded together, each record to the nearest of {len(self.points or ())} points."
        return f"{names}: values were rounded to the nearest of {', '.join(f'{point:g}' for point in self._points())}."

    def _rows(self) -> tuple[tuple[float, ...], ...] | None:
        """The points of multivariate rounding."""
        rows = tuple(row for row in self.points or () if isinstance(row, tuple))
        return rows or None

    def _points(self) -> tuple[float, ...]:
        return tuple(point for point in self.points or () if isinstance(point, float))

    def _rounded(self, values: FloatArray) -> FloatArray:
        """One column, rounded by itself."""
        if self.base is None:
            return round_to_points(values, self._points())
        first = 1.0 if self.multiples == "positive" else -np.inf
        last = np.inf if self.last is None else np.rint(self.last / self.base)
        return round_to_multiples(values, self.base, first, last)

    def _released(self, variable: Variable, place: int) -> Variable:
        rows = self._rows()
        points = self._points() if rows is None else tuple(row[place] for row in rows)
        whole = all(point.is_integer() for point in points or (self.base or 0.0,))
        if rows is None:
            low, high = self._rounded(ends(variable))
        else:
            low, high = min(points), max(points)
        return bounded(perturbed(variable, whole=whole, bounded=False), low, high)


def round_to_points(values: FloatArray, points: tuple[float, ...]) -> FloatArray:
    """The nearest of some points, the upper one where two are equally near.

    values : shape (n,), NaN where missing
    points : rising
    cost   : O(n log r) for r points
    """
    middles = [float((Decimal(repr(low)) + Decimal(repr(high))) / 2) for low, high in pairwise(points)]
    nearest = np.array(points)[np.searchsorted(middles, values, side="right")]
    return np.where(np.isnan(values), np.nan, nearest)


def round_to_rows(values: FloatArray, points: FloatArray, scales: FloatArray) -> FloatArray:
    """Each record's nearest point in Euclidean distance, columns divided by `scales`; the first of equally near ones.

    values  : shape (n, d), NaN where missing: the distance is over the others, and what is missing stays so
    points  : shape (r, d)
    scales  : shape (d,), greater than 0
    returns : shape (n, d)
    cost    : O(n r d) time
    """
    rounded = np.empty_like(values)
    for start in range(0, len(values), _CHUNK):
        part = values[start : start + _CHUNK]
        nearest, least = np.zeros(len(part), dtype=np.int64), np.full(len(part), np.inf)
        for number, point in enumerate(points):
            with np.errstate(over="ignore"):
                apart = np.nan_to_num((part - point) / scales, nan=0.0)
                distance = np.einsum("ij,ij->i", apart, apart)
            nearer = distance < least
            nearest[nearer], least[nearer] = number, distance[nearer]
        rounded[start : start + _CHUNK] = np.where(np.isnan(part), np.nan, points[nearest])
    return rounded


def _scales(values: FloatArray) -> tuple[float, ...]:
    """Standard deviations to two digits, so that they tell nothing of single records; 1 for a constant column."""
    found = [column[np.isfinite(column)] for column in values.T]
    with np.errstate(over="ignore"):
        deviations = [column.std() if len(column) and column.min() < column.max() else 1.0 for column in found]
    return tuple(float(f"{deviation:.2g}") if 0 < deviation < np.inf else 1.0 for deviation in deviations)


def _in_words(base: float, multiples: str, last: float | None) -> str:
    said = f"multiples of {base:g}" if multiples == "all" else f"multiples of {base:g} from {base:g} up"
    return said if last is None else f"{said}, at most {last:g}"


def round_to_multiples(values: FloatArray, base: float, first: float = -np.inf, last: float = np.inf) -> FloatArray:
    """The multiple of `base` whose set of attraction [p - base/2, p + base/2) holds the value.

    values      : shape (n,), NaN where missing
    first, last : numbers of the first and last multiple, which attract all below and above them
    returns     : shape (n,), the float64 nearest to each decimal multiple; a value of 2^52 bases or more as it is
    cost        : O(n)
    source      : Torra (2013), "Rounding"
    """
    numerator, denominator = _ratio(base)
    with np.errstate(over="ignore"):
        number = np.floor(values / base)
        # The quotient is rounded, so the decision is made on the middle between two multiples.
        number += values >= (2.0 * number + 1.0) * numerator / (2.0 * denominator)
        number = np.clip(number, first, last)
        return np.where(np.abs(number) < 2.0**52, number * numerator / denominator, values)


def multiples_around(values: FloatArray, base: float) -> tuple[FloatArray, FloatArray]:
    """The largest multiple of `base` at or below each value, and the smallest at or above it. Shape (n,) each."""
    numerator, denominator = _ratio(base)
    with np.errstate(over="ignore", invalid="ignore"):
        number = np.floor(values / base)
        number += values >= (number + 1.0) * numerator / denominator
        number -= values < number * numerator / denominator
        below, above = (each * numerator / denominator for each in (number, number + 1.0))
        small = np.abs(number) < 2.0**52
        below = np.where(small, below, values)
        return below, np.where(small & (below != values), above, below)


def is_multiple(number: float, base: float) -> bool:
    return Decimal(repr(number)) % Decimal(repr(base)) == 0


def ends(variable: Variable) -> FloatArray:
    """Minimum and maximum, infinite where the contract has none."""
    low, high = variable.minimum, variable.maximum
    return np.array([-np.inf if low is None else float(low), np.inf if high is None else float(high)])


def bounded(variable: Variable, low: float, high: float) -> Variable:
    ends = {"minimum": float(low), "maximum": float(high)}
    return variable.model_copy(update={end: value if np.isfinite(value) else None for end, value in ends.items()})


def refuse_base(base: float, on: str) -> None:
    if base <= 0:
        raise ValueError(f"base {on} must be greater than 0; got {base:g}. It is the distance between rounding points.")


def _ratio(base: float) -> tuple[float, float]:
    """The decimal that is written for `base`, as a fraction: multiples of it are then rounded once only."""
    numerator, denominator = Decimal(repr(base)).as_integer_ratio()
    return float(numerator), float(denominator)
