"""The contributions to a cell of a magnitude table, and comparisons that a rounding error cannot tip.

Percentages are the decimals that they are written as: 0.1 is one tenth. Contributions are whole numbers of the last
decimal, so that "exactly on the boundary" means what it says. Negative contributions are refused when the cells are
made, or count by their size; a total that keeps the signs is smaller, so the rules err on the safe side.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sluice.ground.errors import DataError
from sluice.tabular.model.cells import Contributions, Integers

Values = Sequence[float] | NDArray[np.integer[Any] | np.floating[Any]]  # of one cell, in any order

_WIDEST = 2**62  # products up to here fit in 64 bits


def percentage(value: float, name: str, rule: str) -> Fraction:
    """A percentage as an exact fraction of 1. Raises DataError unless it is from 1 to 100."""
    if not 1 <= value <= 100:
        hint = f" Is it a share? Use {100 * value:g}." if 0 < value < 1 else ""
        raise DataError(f"{name} of {rule} must be from 1 to 100, in percent; got {value}.{hint}")
    return Fraction(str(value)) / 100


def whole(value: int, name: str, rule: str) -> int:
    """A whole number of 1 or more. Raises DataError."""
    if value < 1:
        raise DataError(f"{name} of {rule} must be 1 or more; got {value}.")
    return value


def shortfall(share: Fraction, part: Integers, rest: Integers) -> Integers:
    """How much `rest` lacks of `share * part`, rounded up to whole numbers; 0 where it lacks nothing.

    part, rest : shape (c,), below 2 ** 53 in size; whole numbers of any size as an array of Python's integers
    share      : 0 to 100
    cost       : O(c), in 64 bits, exact: `part` is divided before it is multiplied. Only a share of more than nine
                 digits is left to Python's integers
    """
    above, below = share.numerator, share.denominator
    if part.dtype != object and above * below >= _WIDEST:
        return shortfall(share, part.astype(object), rest.astype(object)).astype(np.int64)
    times, left = part // below, part % below
    lacking: Integers = np.maximum(above * times - (-above * left) // below - rest, 0)
    return lacking


def sum_of_largest(contributions: Contributions, count: int) -> Integers:
    """The sum of the largest `count` contributions of each cell, shape (c,).

    raises : DataError when fewer are known of a cell that has more
    """
    known = contributions.largest.shape[1]
    if count > known and (contributions.contributors > known).any():
        raise DataError(f"the rule looks at the {count} largest contributions of a cell; the cells hold only {known}.")
    total: Integers = contributions.largest[:, :count].sum(axis=1)
    return total


def one_cell(values: Values, rule: str) -> Contributions:
    """The contributions of one cell, one entry each, as exact whole numbers: floats in units of their last decimal.

    raises : DataError, by the rule's name, unless all are finite and 0 or more
    cost   : O(n log n) for n contributors, in Python
    """
    given: NDArray[Any] = np.asarray(values)
    if given.ndim != 1:
        raise DataError(f"{rule} takes the contributions of one cell; got an array of {given.ndim} dimensions.")
    if len(given) and given.dtype.kind not in "iuf":
        raise DataError(f"{rule} takes numbers as contributions; got {given.dtype}.")
    if not np.isfinite(given).all():
        raise DataError(f"{rule} takes finite contributions; got a missing or infinite one. Leave missing ones out.")
    if len(given) and given.min() < 0:
        raise DataError(f"{rule} takes contributions of 0 or more; got a negative one. Use their absolute values.")
    exact = [Fraction(str(value)) for value in given.tolist()]
    unit = lcm(*(value.denominator for value in exact))
    units = sorted((int(value * unit) for value in exact), reverse=True)
    return Contributions(
        total=np.array([sum(units)], dtype=object),
        contributors=np.array([len(units)], dtype=np.int64),
        largest=np.array([[*units, 0]], dtype=object),  # never without a column
    )
