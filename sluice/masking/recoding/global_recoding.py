"""Global recoding: every value of a variable is replaced by the wider category that contains it.

Source: Torra (2013), slides "Global recoding" (several categories are combined, a continuous variable is discretised);
Desfontaines (2020), section 2.1.1, Tables 2.4 and 2.5 (generalisation to ranges, or along a hierarchy).

Differs from them: codes such as postcodes may be cut to their first characters, and numbers may be grouped by their
quantiles. A variable with an order keeps it: numbers become ordinal, and ordinal categories stay ordinal
while each group is an unbroken run of them; else the groups have no order and the variable becomes nominal.
"""

from itertools import pairwise
from typing import Any, ClassVar, Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import Field, FiniteFloat, model_validator

from sluice.generalization.builders.number_groups import labels as interval_labels
from sluice.ground.errors import PlanError
from sluice.ground.variables import Kind, Label, Variable, Variables, as_label
from sluice.masking.column_numbers import Period, period_label, period_of, periods
from sluice.masking.masking_step import NONE_OF_A_RECODING, MaskingStep
from sluice.masking.recoding.value_groups import (
    OUTSIDE,
    group_codes,
    groups_at_level,
    groups_by_map,
    interval_codes,
    kind_of_groups,
    labels_of_groups,
    limits,
    prefixes,
    quantile_bins,
)
from sluice.risk.transparency.attack import NoAttack

# One of these says how, and which kinds it treats.
_WAYS: dict[str, tuple[Kind, ...]] = {
    "bins": (Kind.CONTINUOUS, Kind.INTEGER),
    "quantiles": (Kind.CONTINUOUS, Kind.INTEGER),
    "categories": (Kind.ORDINAL, Kind.NOMINAL, Kind.BINARY),
    "level": (Kind.ORDINAL, Kind.NOMINAL, Kind.BINARY, Kind.INTEGER, Kind.DATE),
    "characters": (Kind.ORDINAL, Kind.NOMINAL, Kind.BINARY, Kind.TEXT),
    "to": (Kind.DATE,),
}


class GlobalRecoding(MaskingStep):
    """Group the values of variables: by cut points, quantiles, a map or hierarchy of categories, prefix, or period."""

    method: Literal["global_recoding"] = "global_recoding"
    bins: tuple[FiniteFloat, ...] | None = Field(
        default=None,
        min_length=1,
        description="cut points of continuous and integer variables in rising order: [20, 30] makes 'under 20', '20 to "
        "29' (continuous: '20 to under 30') and '30 and over'. An end that the variable's minimum or "
        "maximum excludes is left out",
    )
    quantiles: int | None = Field(
        default=None,
        ge=2,
        description=(
            "number of groups of about equal size: 5 makes '1 of 5' (lowest) to '5 of 5'; equal values stay together"
        ),
    )
    minimum_group: int = Field(default=3, ge=1, description="least records of each group of 'quantiles'")
    labels: tuple[Label, ...] | None = Field(
        default=None,
        description="names for the intervals of 'bins' or 'quantiles', from the lowest",
    )
    categories: dict[Label, tuple[Label, ...]] | None = Field(
        default=None,
        min_length=1,
        description="new category: [old categories], each old one once; for ordinal, nominal and binary variables",
    )
    others: Label | None = Field(default=None, description="new category of all that 'categories' does not name")
    level: int | None = Field(
        default=None,
        ge=1,
        description="level of the variable's hierarchy, 1 is the first above the leaves",
    )
    characters: int | None = Field(
        default=None,
        ge=1,
        description=(
            "number of leading characters that are kept, for codes whose beginning is the wider class (NACE, "
            "ICD); a shorter code stays whole"
        ),
    )
    to: Period | None = Field(
        default=None,
        description="period of a date: the year as a number, '2024-Q2' or '2024-05'; quarter and month need the "
        "variable's minimum and maximum",
    )

    is_recoding: ClassVar[bool] = True
    takes_households: ClassVar[bool] = False

    example: ClassVar[str] = "{method: global_recoding, columns: [age], bins: [30, 45, 60]}"
    use_when: ClassVar[str] = (
        "A quasi-identifier has more detail than users need. The first step of most plans, best for "
        "categories; numbers lose much."
    )
    preserves: ClassVar[str] = (
        "The truth of every record, coarser; counts of the new categories. Means and variances of numbers are lost."
    )
    known_attack: ClassVar[str] = (
        "Linkage: people who are alone in a combination of the wider categories are found as before "
        "(Desfontaines 2020, section 2.1.1)."
    )
    missing_values: ClassVar[str] = "A missing value stays missing."
    in_an_analysis: ClassVar[str] = (
        "Counts of the new categories need no correction. Of numbers in intervals, estimate means by interval-censored "
        "methods; the middle of an open interval means nothing."
    )
    attack_measured: ClassVar[str] = NONE_OF_A_RECODING

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        ways = [way for way in _WAYS if getattr(self, way) is not None]
        if len(ways) != 1:
            raise ValueError(f"give exactly one of {', '.join(_WAYS)}; got {', '.join(ways) or 'none'}")
        if self.labels is not None and self.bins is None and self.quantiles is None:
            raise ValueError("labels goes with bins or quantiles only")
        if self.labels is not None and self.quantiles not in (None, len(self.labels)):
            raise ValueError(f"labels must name {self.quantiles} intervals; got {len(self.labels)}")
        if self.strata and self.quantiles is None:
            raise ValueError("strata goes with quantiles only; any other recoding is the same in each stratum")
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
        self.refuse_unless(variables, *_WAYS[self._way])
        return {
            name: self._released(variable) if name in self.columns else variable for name, variable in variables.items()
        }

    def mask(self, frame: pd.DataFrame, variables: Variables, rng: np.random.Generator) -> pd.DataFrame:
        """See MaskingStep. Raises PlanError, with a count, when a value lies in none of the new categories."""
        released = self.released(variables)
        masked = frame.copy(deep=False)
        for name in self.columns:
            masked[name] = self._recoded(frame[name], variables[name], released[name])
        return masked

    def fit(self, frame: pd.DataFrame, variables: Variables) -> tuple["GlobalRecoding", ...]:
        """Quantiles as the cut points that they are in `frame`, one step a column; any other recoding as it is."""
        if self.quantiles is None:
            return (self,)
        self.released(variables)
        named = self.labels or self._ranks()
        steps = []
        for name in self.columns:
            bins = self._quantile_bins(frame[name], variables[name])
            update = {"columns": (name,), "quantiles": None, "bins": bins, "labels": named}
            steps.append(self.model_copy(update=update))
        return tuple(steps)

    def attacks(self) -> tuple[NoAttack, ...]:
        return (NoAttack("every attack repeats the rule, and compares original and release after it"),)

    def describe(self) -> str:
        names = ", ".join(self.columns)
        were = "were each" if len(self.columns) > 1 else "was"
        if self.bins is not None:
            starts = ", ".join(map(as_label, self.bins))
            return f"{names} {were} grouped into intervals; a new interval begins at {starts}."
        if self.quantiles is not None:
            return f"{names} {were} grouped into {self.quantiles} intervals of about equally many records."
        if self.characters is not None:
            kept = "character is" if self.characters == 1 else f"{self.characters} characters are"
            return f"Of the codes of {names} only the first {kept} given."
        if self.categories is not None:
            wider = {new: old for new, old in self.categories.items() if list(old) != [new]}
            says = [f"'{new}' holds {', '.join(old)}" for new, old in wider.items()]
            if same := len(self.categories) - len(wider):
                says.append("1 category stays as it is" if same == 1 else f"{same} categories stay as they are")
            if self.others is not None:
                says.append(f"'{self.others}' holds all others")
            return f"{names} {were} grouped into wider categories: {'; '.join(says)}."
        if self.level is not None:
            return f"{names} {were} replaced by the groups of level {self.level} of the variable's hierarchy."
        return f"Of the dates of {names} only the {self.to} is given."

    @property
    def _way(self) -> str:
        return next(way for way in _WAYS if getattr(self, way) is not None)

    def _ranks(self) -> tuple[str, ...]:
        return tuple(f"{rank} of {self.quantiles}" for rank in range(1, (self.quantiles or 0) + 1))

    def _released(self, variable: Variable) -> Variable:
        changes: dict[str, Any] = dict.fromkeys(("minimum", "maximum", "hierarchy"), None)
        changes |= {"labels": {}, "missing_codes": ()}
        if self.to == "year":
            years = {end: _year(getattr(variable, end)) for end in ("minimum", "maximum")}
            return variable.model_copy(update=changes | {"kind": Kind.INTEGER} | years)
        if self.to is not None:
            changes |= {"kind": Kind.ORDINAL, "categories": self._periods(variable)}
        elif self.quantiles is not None:
            changes |= {"kind": Kind.ORDINAL, "categories": self.labels or self._ranks()}
        elif self.bins is not None:
            changes |= {"kind": Kind.ORDINAL, "categories": self._intervals(variable)[1]}
        elif self.characters is not None and variable.categories is None:
            changes |= {"kind": Kind.NOMINAL}  # the prefixes are those that are found
        else:
            groups = self._groups(variable)
            categories = tuple(dict.fromkeys(groups.values()))
            changes |= {"kind": kind_of_groups(variable, list(groups.values())), "categories": categories}
            changes["labels"] = labels_of_groups(variable, groups)
            if self.others is not None and variable.categories is None:
                changes["categories"] = (*categories, self.others)
            if self.level is not None and variable.hierarchy is not None:
                changes["hierarchy"] = variable.hierarchy.above(self.level)
        return variable.model_copy(update=changes)

    def _recoded(self, column: pd.Series, before: Variable, after: Variable) -> pd.Series:
        if self.to == "year":
            years: pd.Series = column.dt.year.astype("Int64")
            return years
        if self.characters is not None and after.categories is None:
            return prefixes(column, self.characters)
        assert after.categories is not None
        if self.bins is not None or self.quantiles is not None:
            if self.bins is not None:
                cuts, _ = self._intervals(before)
            else:
                cuts = np.array([-np.inf, *self._quantile_bins(column, before), np.inf])
            codes = interval_codes(_floats(column), cuts, len(after.categories))
        elif self.to is not None:
            assert before.minimum is not None
            number = periods(column, self.to) - period_of(str(before.minimum), self.to)
            inside = (number >= 0) & (number < len(after.categories))
            codes = np.where(np.isnan(number), -1, np.where(inside, np.nan_to_num(number), OUTSIDE)).astype("int64")
        else:
            codes = group_codes(column, self._groups(before), self.others, after.categories)
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
        try:
            cuts = limits(self.bins, variable)
        except PlanError as error:
            raise PlanError(f"{self.method} on '{variable.name}': {error}") from None
        labels = self.labels or interval_labels(cuts, variable.kind is Kind.INTEGER)
        if len(labels) != len(cuts) - 1:
            raise PlanError(
                f"labels of {self.method} on '{variable.name}' must name {len(cuts) - 1} intervals; got {len(labels)}."
            )
        return cuts, labels

    def _quantile_bins(self, column: pd.Series, variable: Variable) -> tuple[float, ...]:
        assert self.quantiles is not None
        try:
            return quantile_bins(_floats(column), self.quantiles, self.minimum_group, variable.kind is Kind.INTEGER)
        except PlanError as error:
            raise PlanError(f"quantiles of {self.method} on '{variable.name}' {error}") from None

    def _periods(self, variable: Variable) -> tuple[str, ...]:
        assert self.to is not None
        if variable.minimum is None or variable.maximum is None:
            raise PlanError(
                f"{self.method} of '{variable.name}' to {self.to} needs the variable's minimum and maximum, "
                f"to list the periods. Or recode to year."
            )
        first, last = (period_of(str(end), self.to) for end in (variable.minimum, variable.maximum))
        return tuple(period_label(number, self.to) for number in range(first, last + 1))

    def _groups(self, variable: Variable) -> dict[str, str]:
        """Old category (or leaf): new category, in the order of the old ones; complete where those are declared."""
        if self.characters is not None:
            return {label: label[: self.characters] for label in variable.categories or ()}
        try:
            if self.categories is not None:
                return groups_by_map(variable, self.categories, self.others)
            assert self.level is not None
            return groups_at_level(variable, self.level)
        except PlanError as error:
            raise PlanError(f"{self.method}: {error}") from None


def _year(day: float | str | None) -> float | None:
    return None if day is None else float(period_of(str(day), "year"))


def _floats(column: pd.Series) -> NDArray[np.float64]:
    return column.to_numpy(dtype="float64", na_value=np.nan)
