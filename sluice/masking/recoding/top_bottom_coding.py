"""Top and bottom coding: values beyond a threshold are lumped together.

Source: Torra (2013), slide "Top and bottom coding" (a special case of global recoding for variables that can be ranked:
values above, or below, a certain threshold form a new category).
"""

from typing import Any, ClassVar, Literal, Self

import numpy as np
import pandas as pd
from pydantic import Field, model_validator

from sluice.ground.arrays import FloatArray
from sluice.ground.comparable_values import codes_of
from sluice.ground.errors import PlanError
from sluice.ground.variables import Kind, Variable, Variables, as_label
from sluice.masking.column_numbers import dates, days, iso_day
from sluice.masking.masking_step import NONE_OF_A_RECODING, MaskingStep
from sluice.masking.recoding.coded_tail import CodedTail, Threshold, code_tails, found_tail, ranked
from sluice.risk.transparency.attack import NoAttack

_RANKED = (Kind.CONTINUOUS, Kind.INTEGER, Kind.ORDINAL, Kind.DATE)


class TopBottomCoding(MaskingStep):
    """Lump the values above `top` and those below `bottom`."""

    method: Literal["top_bottom_coding"] = "top_bottom_coding"
    top: Threshold | None = Field(default=None, description="values above it are coded")
    bottom: Threshold | None = Field(default=None, description="values below it are coded")
    replacement: Literal["threshold", "mean"] = Field(
        default="threshold",
        description="what the coded values become: the threshold, or the mean of the coded values of that tail. "
        "Ordinal: always the threshold's category",
    )
    minimum_tail: int = Field(
        default=3,
        ge=1,
        description="least records of a tail that a quantile or a mean may represent",
    )

    is_recoding: ClassVar[bool] = True

    example: ClassVar[str] = "{method: top_bottom_coding, columns: [income], top: {quantile: 0.95}, replacement: mean}"
    treatment: ClassVar[str] = "capped"
    use_when: ClassVar[str] = "A few values are so large or small that they identify: incomes, ages, sizes of firms."
    preserves: ClassVar[str] = (
        "Every value between the thresholds, and the order of the records; with replacement 'mean' the "
        "mean. The variance shrinks and extremes are lost."
    )
    known_attack: ClassVar[str] = (
        "Coded people are known to be in the tail; other values are original and link as before. A mean of "
        "few records, one of them known, gives the others away."
    )
    missing_values: ClassVar[str] = "A missing value stays missing and counts in no quantile, mean or tail."
    in_an_analysis: ClassVar[str] = (
        "Medians and other quantiles within the limits need no correction. Variances do, and so do means, unless the "
        "lumped values bear their mean: treat these as censored at the limit, as in a Tobit model, or fit a tail "
        "(Pareto)."
    )
    attack_measured: ClassVar[str] = NONE_OF_A_RECODING

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        if self.top is None and self.bottom is None:
            raise ValueError("give top, bottom or both")
        for end, sign in (("top", 1), ("bottom", -1)):
            threshold: Threshold | None = getattr(self, end)
            if threshold is None:
                continue
            value, becomes = ranked(threshold.value), ranked(threshold.becomes)
            if value is not None and becomes is not None and sign * becomes < sign * value:
                raise ValueError(f"becomes of {end} must not lie on the inner side of its value")
        if self.top and self.bottom:
            for field in ("value", "quantile"):
                low, high = ranked(getattr(self.bottom, field)), ranked(getattr(self.top, field))
                if low is not None and high is not None and low >= high:
                    raise ValueError(f"{field} of bottom must be below that of top")
        return self

    def released(self, variables: Variables) -> dict[str, Variable]:
        """Bounds shrink to the thresholds where these are known; ordinal categories beyond them are gone.

        Raises PlanError: wrong kind, a threshold that is no value of the variable, quantile or mean of an ordinal.
        """
        unranked = [name for name in self.columns if name in variables and variables[name].kind not in _RANKED]
        if unranked:
            raise PlanError(
                f"{self.method} on '{unranked[0]}' takes {', '.join(_RANKED)}; it is "
                f"{variables[unranked[0]].kind}, whose values are not ranked. Use global_recoding."
            )
        self.refuse_unless(variables, *_RANKED)
        return {
            name: self._released(variable) if name in self.columns else variable for name, variable in variables.items()
        }

    def mask(self, frame: pd.DataFrame, variables: Variables, rng: np.random.Generator) -> pd.DataFrame:
        """See MaskingStep. Raises PlanError when a quantile or mean would stand for fewer than `minimum_tail` records.

        A quantile or a mean is computed from `frame`; `fit` gives the same step for use on other files.
        """
        released = self.released(variables)
        masked = frame.copy(deep=False)
        for name in self.columns:
            if variables[name].kind is Kind.ORDINAL:
                masked[name] = self._lumped(frame[name], variables[name], released[name])
                continue
            values = _numbers(frame[name], variables[name])
            coded = code_tails(values, *self._tails(values, variables[name]))
            changed = ~np.isnan(values) & (coded != values)
            put = np.where(changed, coded, 0.0)
            given = pd.Series(dates(put) if variables[name].kind is Kind.DATE else put).astype(frame[name].dtype)
            # The others are left alone: not every whole number or microsecond has a float of its own.
            masked[name] = frame[name].where(~changed, given.array)
        return masked

    def fit(self, frame: pd.DataFrame, variables: Variables) -> tuple["TopBottomCoding", ...]:
        """The step as it acts on `frame`, one step a column, with each quantile and mean given as a number.

        A file of other records, or a later state of these, is then coded at the thresholds of `frame`.
        """
        self.released(variables)
        steps = []
        for name in self.columns:
            update: dict[str, Any] = {"columns": (name,)}
            if variables[name].kind is not Kind.ORDINAL:
                values = _numbers(frame[name], variables[name])
                for end, tail in zip(("top", "bottom"), self._tails(values, variables[name]), strict=True):
                    update[end] = tail and _as_threshold(tail, variables[name])
                update["replacement"] = "threshold"
            steps.append(self.model_copy(update=update))
        return tuple(steps)

    def attacks(self) -> tuple[NoAttack, ...]:
        return (NoAttack("every attack repeats the rule, and compares original and release after it"),)

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
            elif variable.kind is Kind.DATE:
                for field in ("value", "becomes"):
                    day = getattr(threshold, field)
                    if day is not None and (not isinstance(day, str) or len(day) != 10 or ranked(day) is None):
                        raise PlanError(f"{field} of {end} {where} must be a date such as 2024-05-31; got '{day}'.")
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
            elif threshold.value is not None and self.replacement == "threshold":
                bounds[field] = threshold.value if known is None else inner(known, threshold.value, key=_place)
            # A quantile, or a mean, lies inside the old bounds, which stay true.
        low, high = ranked(bounds["minimum"]), ranked(bounds["maximum"])
        if low is not None and high is not None and low > high:
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
        codes = codes_of(column)
        clipped = np.where(codes < 0, -1, np.clip(codes, low, high) - low)
        lumped = pd.Categorical.from_codes(
            clipped, categories=pd.Index(after.categories or ()), ordered=column.cat.ordered
        )
        return pd.Series(lumped, index=column.index)

    def _tails(self, values: FloatArray, variable: Variable) -> tuple[CodedTail | None, CodedTail | None]:
        """Top and bottom, as they are in these values."""
        found: dict[str, CodedTail] = {}
        for end, threshold in self._ends():
            try:
                found[end] = found_tail(
                    values,
                    threshold,
                    upper=end == "top",
                    whole=variable.kind is not Kind.CONTINUOUS,
                    mean=self.replacement == "mean",
                    fewest=self.minimum_tail,
                )
            except PlanError as error:
                raise PlanError(f"{end} of {self.method} on '{variable.name}' {error}") from None
        top, bottom = found.get("top"), found.get("bottom")
        if top and bottom and bottom.threshold >= top.threshold:
            raise PlanError(f"{self.method} on '{variable.name}': the threshold of bottom is not below that of top.")
        return top, bottom


def _numbers(column: pd.Series, variable: Variable) -> FloatArray:
    """The values as numbers, dates as days; NaN where missing."""
    if variable.kind is Kind.DATE:
        return days(column)
    return column.to_numpy(dtype="float64", na_value=np.nan)


def _place(bound: float | str) -> float:
    place = ranked(bound)
    assert place is not None  # a date of the contract, or one that was checked
    return place


def _as_threshold(tail: CodedTail, variable: Variable) -> Threshold:
    if variable.kind is Kind.DATE:
        return Threshold(value=iso_day(tail.threshold), becomes=iso_day(tail.becomes))
    return Threshold(value=tail.threshold, becomes=tail.becomes)


def _position(variable: Variable, threshold: Threshold, end: str) -> int:
    label = as_label(threshold.value)
    categories = variable.categories or ()
    if label not in categories:
        raise PlanError(
            f"{end} of top_bottom_coding: '{variable.name}' has no category '{label}'.", came=label, allowed=categories
        )
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
