"""Multiples of a decimal base, and what the methods that round to them share.

Numbers are compared as the decimals that they are written as: 0.15 lies in the middle of 0.1 and 0.2 and goes up, and
three times 0.1 is released as 0.3.
"""

from decimal import Decimal

import numpy as np

from sluice.ground.arrays import FloatArray
from sluice.ground.errors import PlanError
from sluice.ground.variables import Kind, Variable

_EXACT = 2.0**53  # whole numbers beyond it have no exact float64


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


def refuse_inexact(method: str, variable: Variable, values: FloatArray) -> None:
    beyond = int((np.abs(values) > _EXACT).sum())
    if variable.kind is Kind.INTEGER and beyond:
        raise PlanError(f"{method} on '{variable.name}' takes whole numbers up to 2^53; {beyond} values are beyond.")


def _ratio(base: float) -> tuple[float, float]:
    """The decimal that is written for `base`, as a fraction: multiples of it are then rounded once only."""
    numerator, denominator = Decimal(repr(base)).as_integer_ratio()
    return float(numerator), float(denominator)
