"""Top and bottom coding: values beyond a threshold are lumped together.

Source: 004, slide "Top and bottom coding" (a special case of global recoding for variables that can be ranked: values
above, or below, a certain threshold form a new category).
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, model_validator

from sluice.errors import PlanError, did_you_mean
from sluice.masking.step import MaskingStep
from sluice.variables import Kind, Variable, Variables, as_label

FloatArray = NDArray[np.float64]


class Threshold(BaseModel):
    """Where the coded tail begins; the threshold itself is not coded."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    value: FiniteFloat | str | None = Field(
        default=None, description="a number in the variable's unit, or a category of an ordinal variable"
    )
    quantile: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="share of the records, not percent, that lie at or below the threshold; numbers only. For an "
        "integer variable the threshold is rounded inward",
    )
    becomes: FiniteFloat | None = Field(
        default=None,
        description="number at or beyond 'value' that stands for the coded values, in place of 'replacement'",
    )

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        if (self.value is None) == (self.quantile is None):
            raise ValueError("give exactly one of value, quantile")
        if self.becomes is not None and not isinstance(self.value, float):
            raise ValueError("becomes goes with a value that is a number")
        return self


@dataclass(frozen=True)
class CodedTail:
    """One tail of one column, as found in a file: its threshold and what the values beyond it become."""

    threshold: float
    becomes: float


class TopBottomCoding(MaskingStep):
    """Lump the values above `top` and those below `bottom`."""

    method: Literal["top_bottom_coding"] = "top_bottom_coding"
    top: Threshold | None = Field(default=None, description="values above it are coded")
    bottom: Threshold | None = Field(default=None, description="values below it are coded")
    replacement: Literal["threshold", "mean"] = Field(
        default="threshold",
        description="what the coded values become: the threshold, or the mean of the coded values of that tail "
        "(rounded for integers). Ordinal: always the threshold's category",
    )
    minimum_tail: int = Field(
        default=3,
        ge=1,
        description="records that a tail must hold before a figure computed from the data, a quantile or a mean, may "
        "stand for them",
    )

    is_recoding: ClassVar[bool] = True

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        if self.top is None and self.bottom is None:
            raise ValueError("give top, bottom or both")
        for end, sign in (("top", 1), ("bottom", -1)):
            given: Threshold | None = getattr(self, end)
            if given is None or given.becomes is None or not isinstance(given.value, float):
                continue
            if sign * given.becomes < sign * given.value:
                raise ValueError(f"becomes of {end} must not lie on the inner side of its value")
        if self.top and self.bottom:
            for field in ("value", "quantile"):
                low, high = getattr(self.bottom, field), getattr(self.top, field)
                if isinstance(low, float) and isinstance(high, float) and low >= high:
                    raise ValueError(f"{field} of bottom must be below that of top")
        return self

    def released(self, variables: Variables) -> dict[str, Variable]:
        """Bounds shrink to the thresholds where these are known; ordinal categories beyond them are gone.

        Raises PlanError: wrong kind, a threshold that is no value of the variable, quantile or mean of an ordinal.
        """
        self.refuse_unless(variables, Kind.CONTINUOUS, Kind.INTEGER, Kind.ORDINAL)
        return {
            name: self._released(variable) if name in self.columns else variable for name, variable in variables.items()
        }

    def mask(self, frame: pd.DataFrame, variables: Variables, rng: np.random.Generator) -> pd.DataFrame:
        """See MaskingStep. Raises PlanError when a quantile or mean would stand for fewer than `minimum_tail` records.

        A quantile or a mean is computed from `frame`; `settled` gives the same step for use on other files.
        """
        released = self.released(variables)
        masked = frame.copy()
        for name in self.columns:
            if variables[name].kind is Kind.ORDINAL:
                masked[name] = self._lumped(frame[name], variables[name], released[name])
                continue
            values = frame[name].to_numpy(dtype="float64", na_value=np.nan)
            top, bottom = self._tails(values, variables[name])
            coded = code_tails(values, top, bottom)
            masked[name] = pd.Series(coded, index=frame.index).astype(frame[name].dtype)
        return masked

    def settled(self, frame: pd.DataFrame, variables: Variables) -> tuple["TopBottomCoding", ...]:
        """The step as it acts on `frame`, one step a column, with each quantile and mean given as a number.

        A file of other records, or a later state of these, is then coded at the thresholds of `frame`.
        """
        self.released(variables)
        steps = []
        for name in self.columns:
            update: dict[str, Any] = {"columns": (name,)}
            if variables[name].kind.is_numeric:
                values = frame[name].to_numpy(dtype="float64", na_value=np.nan)
                for end, tail in zip(("top", "bottom"), self._tails(values, variables[name]), strict=True):
                    update[end] = tail and Threshold(value=tail.threshold, becomes=tail.becomes)
                update["replacement"] = "threshold"
            steps.append(self.model_copy(update=update))
        return tuple(steps)

    def describe(self) -> str:
        names = ", ".join(self.columns)
        parts = [
            _describe_tail(threshold, side, quantile_side, self.replacement)
            for threshold, side, quantile_side in ((self.top, "above", "top"), (self.bottom, "below", "bottom"))
            if threshold is not None
        ]
        return f"Of {names}, {' and '.join(parts)}."

    def _ends(self) -> list[tuple[str, Threshold]]:
        return [(end, threshold) for end in ("top", "bottom") if (threshold := getattr(self, end)) is not None]

    def _released(self, variable: Variable) -> Variable:
        where = f"of {self.method} on '{variable.name}'"
        for end, threshold in self._ends():
            if variable.kind is Kind.ORDINAL:
                if threshold.value is None or threshold.becomes is not None or self.replacement == "mean":
                    raise PlanError(f"{end} {where} must be a category, without mean or 'becomes': it is ordinal.")
                _position(variable, threshold, end)
            elif isinstance(threshold.value, str):
                raise PlanError(f"value of {end} {where} must be a number; got '{threshold.value}'.")
            elif variable.kind is Kind.INTEGER:
                for field in ("value", "becomes"):
                    number = getattr(threshold, field)
                    if number is not None and not number.is_integer():
                        raise PlanError(f"{field} of {end} {where} must be a whole number; got {number}.")
        return self._lumped_variable(variable) if variable.kind is Kind.ORDINAL else self._bounded_variable(variable)

    def _bounded_variable(self, variable: Variable) -> Variable:
        bounds: dict[str, float | str | None] = {"minimum": variable.minimum, "maximum": variable.maximum}
        for end, threshold in self._ends():
            field, inner = ("maximum", min) if end == "top" else ("minimum", max)
            known = bounds[field]
            if threshold.becomes is not None:
                bounds[field] = threshold.becomes
            elif isinstance(threshold.value, float) and self.replacement == "threshold":
                bounds[field] = threshold.value if known is None else inner(float(known), threshold.value)
            # A quantile, or a mean, lies inside the old bounds, which stay true.
        low, high = bounds["minimum"], bounds["maximum"]
        if low is not None and high is not None and float(low) > float(high):
            raise PlanError(f"{self.method} on '{variable.name}': a threshold lies beyond the variable's other bound.")
        return variable.model_copy(update=bounds | {"hierarchy": None})  # its leaves may lie in other groups

    def _lumped_variable(self, variable: Variable) -> Variable:
        assert variable.categories is not None
        low, high = self._positions(variable)
        kept = variable.categories[low : high + 1]
        labels = {label: text for label, text in variable.labels.items() if label in kept}
        for position, words in ((high, "or above"), (low, "or below")):
            if (position == high < len(variable.categories) - 1) or (position == low > 0):
                label = variable.categories[position]
                labels[label] = f"{variable.labels.get(label, label)} {words}"
        return variable.model_copy(update={"categories": kept, "labels": labels, "hierarchy": None})

    def _positions(self, variable: Variable) -> tuple[int, int]:
        assert variable.categories is not None
        low = 0 if self.bottom is None else _position(variable, self.bottom, "bottom")
        high = len(variable.categories) - 1 if self.top is None else _position(variable, self.top, "top")
        if low >= high:
            raise PlanError(f"{self.method} on '{variable.name}': bottom must be a category below top.")
        return low, high

    def _lumped(self, column: pd.Series, before: Variable, after: Variable) -> pd.Series:
        low, high = self._positions(before)
        codes = column.cat.codes.to_numpy()
        clipped = np.where(codes < 0, -1, np.clip(codes, low, high) - low)
        lumped = pd.Categorical.from_codes(
            clipped, categories=pd.Index(after.categories or ()), ordered=column.cat.ordered
        )
        return pd.Series(lumped, index=column.index)

    def _tails(self, values: FloatArray, variable: Variable) -> tuple[CodedTail | None, CodedTail | None]:
        top = None if self.top is None else self._tail(values, self.top, variable, upper=True)
        bottom = None if self.bottom is None else self._tail(values, self.bottom, variable, upper=False)
        if top and bottom and bottom.threshold >= top.threshold:
            raise PlanError(f"{self.method} on '{variable.name}': the threshold of bottom is not below that of top.")
        return top, bottom

    def _tail(self, values: FloatArray, given: Threshold, variable: Variable, upper: bool) -> CodedTail:
        present = values[~np.isnan(values)]
        whole = variable.kind is Kind.INTEGER
        end = "top" if upper else "bottom"
        if given.quantile is None:
            threshold = float(given.value or 0)
        elif len(present):
            threshold = float(np.quantile(present, given.quantile))
            if whole:
                threshold = float(np.floor(threshold) if upper else np.ceil(threshold))
        else:
            raise PlanError(f"quantile of {end} of {self.method} on '{variable.name}': all values are missing.")
        tail = present[present > threshold] if upper else present[present < threshold]
        from_mean = self.replacement == "mean" and given.becomes is None
        # With a quantile an empty tail is refused too: the threshold is then the largest or smallest value itself.
        if (given.quantile is not None or (from_mean and len(tail))) and len(tail) < self.minimum_tail:
            raise PlanError(
                f"{end} of {self.method} on '{variable.name}' must code at least {self.minimum_tail} records "
                f"(minimum_tail); got {len(tail)}. Move the threshold inward."
            )
        becomes = threshold if given.becomes is None else given.becomes
        if from_mean and len(tail):
            becomes = float(np.rint(tail.mean())) if whole else float(tail.mean())
        return CodedTail(threshold, becomes)


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


def _position(variable: Variable, threshold: Threshold, end: str) -> int:
    label = as_label(threshold.value)
    categories = variable.categories or ()
    if label not in categories:
        hint = did_you_mean(label, categories)
        raise PlanError(f"{end} of top_bottom_coding: '{variable.name}' has no category '{label}'.{hint}")
    return categories.index(label)


def _describe_tail(threshold: Threshold, side: str, end: str, replacement: str) -> str:
    if threshold.value is not None:
        limit = as_label(threshold.value)
        what = f"values {side} {limit}"
    else:
        share = threshold.quantile or 0.0
        limit = "the threshold"
        what = f"the {end} {as_label(round(100 * (1 - share if end == 'top' else share), 6))} % of the values"
    if threshold.becomes is not None:
        return f"{what} are given as {as_label(threshold.becomes)}"
    return f"{what} are given as {'their mean' if replacement == 'mean' else limit}"
