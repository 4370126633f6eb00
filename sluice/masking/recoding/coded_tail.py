"""A coded tail: the values of a column beyond a threshold, and the one value that stands for them.

Values are numbers here; a date is its day (see sluice.masking.column_numbers).
"""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, FiniteFloat, model_validator

from sluice.ground.arrays import FloatArray
from sluice.ground.errors import PlanError
from sluice.masking.column_numbers import day_number


def _iso(value: Any) -> Any:
    return value.isoformat() if hasattr(value, "isoformat") else value  # YAML reads 2024-05-31 as a date


class Threshold(BaseModel):
    """Where the coded tail begins; the threshold itself is not coded."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    value: Annotated[FiniteFloat | str | None, BeforeValidator(_iso)] = Field(
        default=None,
        description="a number in the variable's unit, a date such as 2024-05-31, or a category of an ordinal variable",
    )
    quantile: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="share of the records, not percent, that lie at or below the threshold; numbers and dates only. "
        "For an integer variable, or a date, the threshold is rounded inward, to a whole number or day",
    )
    becomes: Annotated[FiniteFloat | str | None, BeforeValidator(_iso)] = Field(
        default=None,
        description="number or date at or beyond 'value' that stands for the coded values, in place of 'replacement'",
    )

    @model_validator(mode="after")
    def _coherent(self) -> "Threshold":
        if (self.value is None) == (self.quantile is None):
            raise ValueError("give exactly one of value, quantile")
        if self.becomes is not None and type(self.becomes) is not type(self.value):
            raise ValueError("becomes goes with a value that is a number, or a date, as it is itself")
        return self


@dataclass(frozen=True)
class CodedTail:
    """One tail of one column, as found in a file: its threshold and what the values beyond it become."""

    threshold: float
    becomes: float


def ranked(threshold: float | str | None) -> float | None:
    """A threshold as a number: a date by its day; None for a category, or none."""
    return day_number(threshold) if isinstance(threshold, str) else threshold


def found_tail(values: FloatArray, given: Threshold, *, upper: bool, whole: bool, mean: bool, fewest: int) -> CodedTail:
    """The tail as it is in a file.

    values : shape (n,), NaN where missing
    upper  : the tail lies above the threshold, else below
    whole  : a quantile is rounded inward and a mean to the nearest whole number
    mean   : the tail becomes its mean, unless `given` names what it becomes
    fewest : records that a tail must hold before a figure computed from the data may stand for them
    raises : PlanError if a quantile or a mean would be that of fewer records, or of none
    cost   : O(n)
    """
    present = values[~np.isnan(values)]
    if given.quantile is None:
        threshold = ranked(given.value)
        assert threshold is not None
    elif len(present):
        threshold = float(np.quantile(present, given.quantile))
        if whole:
            threshold = float(np.floor(threshold) if upper else np.ceil(threshold))
    else:
        raise PlanError("has no quantile: all values are missing.")
    if mean and np.abs(present).max(initial=0.0) > 1e300:
        raise PlanError("has values that are too large for a mean.")
    tail = present[present > threshold] if upper else present[present < threshold]
    from_mean = mean and given.becomes is None
    # With a quantile an empty tail is refused too: the threshold is then the largest or smallest value itself.
    if (given.quantile is not None or (from_mean and len(tail))) and len(tail) < fewest:
        raise PlanError(
            f"must code at least {fewest} records (minimum_tail); got {len(tail)}. Move the threshold inward."
        )
    becomes = ranked(given.becomes)
    if from_mean and len(tail):
        becomes = float(np.rint(tail.mean())) if whole else float(tail.mean())
    return CodedTail(threshold, threshold if becomes is None else becomes)


def code_tails(values: FloatArray, top: CodedTail | None, bottom: CodedTail | None) -> FloatArray:
    """The values with those above the top threshold and those below the bottom threshold replaced.

    values  : shape (n,), NaN where missing
    returns : shape (n,), NaN where missing
    cost    : O(n)
    """
    coded = values.copy()
    if top is not None:
        coded[values > top.threshold] = top.becomes
    if bottom is not None:
        coded[values < bottom.threshold] = bottom.becomes
    return coded
