"""Global recoding: every value of a variable is replaced by the wider category that contains it.

Source: 004, slides "Global recoding" (several categories are combined, a continuous variable is discretised); 001,
section 2.1.1, Tables 2.4 and 2.5 (generalisation to ranges, or along a hierarchy).

Missing stays missing. A variable with an order keeps it: numbers become ordinal, and ordinal categories stay ordinal
while each group is an unbroken run of them; else the groups have no order and the variable becomes nominal.
"""

from collections.abc import Mapping, Sequence
from datetime import date
from itertools import pairwise
from typing import Any, ClassVar, Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import Field, FiniteFloat, model_validator

from sluice.errors import PlanError, did_you_mean
from sluice.masking.step import MaskingStep
from sluice.variables import Kind, Label, Variable, Variables, as_label

OUTSIDE = -2  # the code of a value that no new category contains; missing is -1

_PERIODS_A_YEAR = {"year": 1, "quarter": 4, "month": 12}


class GlobalRecoding(MaskingStep):
    """Group the values of variables: by cut points, by a map of categories, by a hierarchy's level, or by period."""

    method: Literal["global_recoding"] = "global_recoding"
    bins: tuple[FiniteFloat, ...] | None = Field(
        default=None,
        min_length=1,
        description="cut points in rising order, in the variable's unit, for continuous and integer variables: "
        "[20, 30] makes 'under 20', '20 to 29' (continuous: '20 to under 30') and '30 and over'. An end that the "
        "variable's minimum or maximum excludes is left out",
    )
    labels: tuple[Label, ...] | None = Field(
        default=None, description="own names for the intervals of 'bins', from the lowest; one for each interval"
    )
    categories: dict[Label, tuple[Label, ...]] | None = Field(
        default=None,
        min_length=1,
        description="new category: [old categories], for ordinal, nominal and binary variables; each old one once",
    )
    others: Label | None = Field(default=None, description="new category of all that 'categories' does not name")
    level: int | None = Field(
        default=None,
        ge=1,
        description="level of the variable's hierarchy, 1 is the first above the leaves; for categorical variables, "
        "and for integers whose texts are the leaves",
    )
    to: Literal["year", "quarter", "month"] | None = Field(
        default=None,
        description="period for a date: the year as a number, '2024-Q2' or '2024-05'; quarter and month need the "
        "variable's minimum and maximum",
    )

    is_recoding: ClassVar[bool] = True

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        ways = [way for way in ("bins", "categories", "level", "to") if getattr(self, way) is not None]
        if len(ways) != 1:
            raise ValueError(f"give exactly one of bins, categories, level, to; got {', '.join(ways) or 'none'}")
        if self.labels is not None and self.bins is None:
            raise ValueError("labels goes with bins only")
        if self.others is not None and self.categories is None:
            raise ValueError("others goes with categories only")
        if self.bins and any(low >= high for low, high in pairwise(self.bins)):
            raise ValueError(f"bins must rise strictly; got {', '.join(map(as_label, self.bins))}")
        if self.labels and len(set(self.labels)) != len(self.labels):
            raise ValueError("labels names an interval twice")
        if self.categories:
            old = [label for group in self.categories.values() for label in group]
            if len(set(old)) != len(old):
                twice = next(label for label in old if old.count(label) > 1)
                raise ValueError(f"categories puts an old category into two new ones: '{twice}'")
            if self.others in self.categories:
                raise ValueError(f"others: '{self.others}' is named in categories already; choose another label")
        return self

    def released(self, variables: Variables) -> dict[str, Variable]:
        """The recoded variables have new kind, categories and bounds; a level keeps the hierarchy above it.

        Raises PlanError: wrong kind, no hierarchy or level, categories not covered, labels that do not fit.
        """
        if self.bins is not None:
            self.refuse_unless(variables, Kind.CONTINUOUS, Kind.INTEGER)
        elif self.categories is not None:
            self.refuse_unless(variables, Kind.ORDINAL, Kind.NOMINAL, Kind.BINARY)
        elif self.level is not None:
            self.refuse_unless(variables, Kind.ORDINAL, Kind.NOMINAL, Kind.BINARY, Kind.INTEGER)
        else:
            self.refuse_unless(variables, Kind.DATE)
        return {
            name: self._released(variable) if name in self.columns else variable for name, variable in variables.items()
        }

    def mask(self, frame: pd.DataFrame, variables: Variables, rng: np.random.Generator) -> pd.DataFrame:
        """See MaskingStep. Raises PlanError, with a count, when a value lies in none of the new categories."""
        released = self.released(variables)
        masked = frame.copy()
        for name in self.columns:
            masked[name] = self._recoded(frame[name], variables[name], released[name])
        return masked

    def describe(self) -> str:
        names = ", ".join(self.columns)
        were = "were each" if len(self.columns) > 1 else "was"
        if self.bins is not None:
            limits = ", ".join(map(as_label, self.bins))
            return f"{names} {were} grouped into intervals; a new interval begins at {limits}."
        if self.categories is not None:
            groups = "; ".join(f"'{new}' holds {', '.join(old)}" for new, old in self.categories.items())
            rest = f"; '{self.others}' holds all others" if self.others is not None else ""
            return f"{names} {were} grouped into wider categories: {groups}{rest}."
        if self.level is not None:
            return f"{names} {were} replaced by the groups of level {self.level} of the variable's hierarchy."
        return f"Of the dates of {names} only the {self.to} is given."

    def _released(self, variable: Variable) -> Variable:
        changes: dict[str, Any] = dict.fromkeys(("minimum", "maximum", "hierarchy"), None)
        changes |= {"labels": {}, "missing_codes": ()}
        if self.to == "year":
            years = {end: _year(getattr(variable, end)) for end in ("minimum", "maximum")}
            return variable.model_copy(update=changes | {"kind": Kind.INTEGER} | years)
        if self.to is not None:
            changes |= {"kind": Kind.ORDINAL, "categories": self._periods(variable)}
        elif self.bins is not None:
            changes |= {"kind": Kind.ORDINAL, "categories": self._intervals(variable)[1]}
        else:
            groups = self._groups(variable)
            categories = tuple(dict.fromkeys(groups.values()))
            changes |= {"kind": self._kind(variable, list(groups.values())), "categories": categories}
            if self.others is not None and variable.categories is None:
                changes["categories"] = (*categories, self.others)
            if self.level is not None and variable.hierarchy is not None:
                changes["hierarchy"] = variable.hierarchy.above(self.level)
        return variable.model_copy(update=changes)

    def _recoded(self, column: pd.Series, before: Variable, after: Variable) -> pd.Series:
        if self.to == "year":
            years: pd.Series = column.dt.year.astype("Int64")
            return years
        assert after.categories is not None
        if self.bins is not None:
            cuts, _ = self._intervals(before)
            codes = interval_codes(column.to_numpy(dtype="float64", na_value=np.nan), cuts, len(after.categories))
        elif self.to is not None:
            first = after.categories[0]
            number = column.dt.year * 12 + column.dt.month - 1
            months = 12 // _PERIODS_A_YEAR[self.to]
            start = _period_number(first, self.to)
            period = (number // months - start).to_numpy(dtype="float64", na_value=np.nan)
            inside = (period >= 0) & (period < len(after.categories))
            codes = np.where(np.isnan(period), -1, np.where(inside, np.nan_to_num(period), OUTSIDE)).astype("int64")
        else:
            codes = self._group_codes(column, before, after.categories)
        outside = int((codes == OUTSIDE).sum())
        if outside:
            raise PlanError(
                f"{self.method} on '{before.name}': {outside} of {len(codes)} records have a value that lies in none "
                f"of the new categories.{self._hint()}"
            )
        dtype = pd.CategoricalDtype(list(after.categories), ordered=after.kind is Kind.ORDINAL)
        recoded = pd.Categorical.from_codes(codes, dtype=dtype)
        return pd.Series(recoded, index=column.index)

    def _hint(self) -> str:
        if self.categories is not None:
            return " Name the categories, or give 'others'."
        if self.level is not None:
            return " Complete the variable's hierarchy."
        return " Widen the variable's minimum and maximum."

    def _intervals(self, variable: Variable) -> tuple[NDArray[np.float64], tuple[str, ...]]:
        """The inner cut points and outer limits (-inf or inf when open), and one label for each interval."""
        assert self.bins is not None
        whole = variable.kind is Kind.INTEGER
        if whole and any(not cut.is_integer() for cut in self.bins):
            raise PlanError(f"{self.method} on '{variable.name}': bins of an integer variable must be whole numbers.")
        below = variable.minimum is None or float(variable.minimum) < self.bins[0]
        above = variable.maximum is None or float(variable.maximum) >= self.bins[-1]
        cuts = np.array([-np.inf] * below + list(self.bins) + [np.inf] * above)
        if len(cuts) < 2:
            raise PlanError(f"{self.method} on '{variable.name}': bins leave no interval between minimum and maximum.")
        labels = self.labels or tuple(_interval_label(low, high, whole) for low, high in pairwise(cuts))
        if len(labels) != len(cuts) - 1:
            raise PlanError(
                f"labels of {self.method} on '{variable.name}' must name {len(cuts) - 1} intervals; got {len(labels)}."
            )
        return cuts, labels

    def _periods(self, variable: Variable) -> tuple[str, ...]:
        if variable.minimum is None or variable.maximum is None:
            raise PlanError(
                f"{self.method} of '{variable.name}' to {self.to} needs the variable's minimum and maximum, "
                f"to list the periods. Or recode to year."
            )
        assert self.to is not None
        first, last = (date.fromisoformat(str(end)[:10]) for end in (variable.minimum, variable.maximum))
        each = 12 // _PERIODS_A_YEAR[self.to]
        ends = [(day.year * 12 + day.month - 1) // each for day in (first, last)]
        return tuple(_period_label(number, self.to) for number in range(ends[0], ends[1] + 1))

    def _groups(self, variable: Variable) -> dict[str, str]:
        """Old category (or leaf): new category, in the order of the old ones; complete where those are declared."""
        if self.level is None:
            return self._mapped_groups(variable)
        hierarchy = variable.hierarchy
        if hierarchy is None:
            raise PlanError(f"{self.method} by level needs a hierarchy; '{variable.name}' has none.")
        if self.level > hierarchy.depth:
            raise PlanError(
                f"level of {self.method} on '{variable.name}' must be from 1 to {hierarchy.depth}; got {self.level}."
            )
        groups = hierarchy.at_level(self.level)
        if variable.kind is Kind.INTEGER:
            try:
                return {leaf: groups[leaf] for leaf in sorted(groups, key=int)}
            except ValueError:
                raise PlanError(
                    f"{self.method} on '{variable.name}': the leaves of an integer's hierarchy must be whole numbers."
                ) from None
        unknown = [label for label in variable.categories or () if label not in groups]
        if unknown:
            raise PlanError(
                f"{self.method} on '{variable.name}': the hierarchy lacks {len(unknown)} of the variable's categories, "
                f"such as '{unknown[0]}'."
            )
        return {label: groups[label] for label in variable.categories or groups}

    def _mapped_groups(self, variable: Variable) -> dict[str, str]:
        assert self.categories is not None
        new = {old: group for group, members in self.categories.items() for old in members}
        if variable.categories is None:
            return new
        for label in new:
            if label not in variable.categories:
                hint = did_you_mean(label, variable.categories)
                raise PlanError(f"{self.method}: '{variable.name}' has no category '{label}'.{hint}")
        left = [label for label in variable.categories if label not in new]
        if left and self.others is None:
            raise PlanError(
                f"{self.method} on '{variable.name}' leaves out {_counted(len(left))}, such as '{left[0]}'. Name them "
                f"in 'categories', or give 'others'."
            )
        assert not left or self.others is not None
        ordered = {label: new.get(label, self.others or "") for label in variable.categories}
        if variable.kind is Kind.ORDINAL:
            return ordered
        listed = [*new, *left]  # a nominal variable takes the order in which its new categories are written
        return {label: ordered[label] for label in listed}

    def _kind(self, variable: Variable, groups: Sequence[str]) -> Kind:
        if variable.kind is Kind.BINARY and len(set(groups)) == 2:
            return Kind.BINARY
        if variable.kind in (Kind.ORDINAL, Kind.INTEGER) and _are_runs(groups):
            return Kind.ORDINAL
        return Kind.NOMINAL

    def _group_codes(self, column: pd.Series, variable: Variable, categories: Sequence[str]) -> NDArray[np.int64]:
        groups: Mapping[str, str] = self._groups(variable)
        code = {label: position for position, label in enumerate(categories)}
        rest = OUTSIDE if self.others is None else code.get(self.others, OUTSIDE)
        if variable.kind is Kind.INTEGER:
            numbered, numbers = pd.factorize(column)
            old_codes = numbered.astype("int64")
            old = [str(number) for number in numbers]
        else:
            old_codes, old = column.cat.codes.to_numpy().astype("int64"), list(column.cat.categories)
        table: NDArray[np.int64] = np.array(
            [code[groups[label]] if label in groups else rest for label in old] + [-1], dtype="int64"
        )
        codes: NDArray[np.int64] = table[old_codes]  # -1, missing, picks the last
        return codes


def interval_codes(values: NDArray[np.float64], cuts: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    """The interval of each value: i where cuts[i] <= value < cuts[i + 1], -1 for NaN, OUTSIDE beyond the ends.

    values  : shape (n,), NaN where missing
    cuts    : shape (count + 1,), rising; -inf or inf for an open end
    cost    : O(n log count)
    """
    codes = np.searchsorted(cuts, values, side="right").astype("int64") - 1
    codes[(codes < 0) | (codes >= count)] = OUTSIDE
    codes[np.isnan(values)] = -1
    return codes


def _counted(categories: int) -> str:
    return "1 category" if categories == 1 else f"{categories} categories"


def _interval_label(low: float, high: float, whole: bool) -> str:
    if np.isneginf(low):
        return f"under {as_label(float(high))}"
    if np.isposinf(high):
        return f"{as_label(float(low))} and over"
    if not whole:
        return f"{as_label(float(low))} to under {as_label(float(high))}"
    first, last = as_label(float(low)), as_label(float(high - 1))
    return str(first) if first == last else f"{first} to {last}"


def _are_runs(groups: Sequence[str]) -> bool:
    """Whether equal groups stand side by side."""
    changes = sum(one != next_ for one, next_ in pairwise(groups))
    return changes == len(set(groups)) - 1


def _year(day: float | str | None) -> float | None:
    return None if day is None else float(date.fromisoformat(str(day)[:10]).year)


def _period_label(number: int, to: str) -> str:
    year, part = divmod(number, _PERIODS_A_YEAR[to])
    return f"{year:04d}-Q{part + 1}" if to == "quarter" else f"{year:04d}-{part + 1:02d}"


def _period_number(label: str, to: str) -> int:
    year, part = label.split("-")
    return int(year) * _PERIODS_A_YEAR[to] + int(part.lstrip("Q")) - 1
