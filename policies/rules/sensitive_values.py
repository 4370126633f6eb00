"""SensitiveValues: the values of one sensitive variable in classes of look-alikes, as a rule counts them."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
import pandas as pd

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.ground.comparable_values import plain_values
from sluice.ground.variables import Variable, as_label
from sluice.risk.classes.class_values import ClassValues, Near, Sensitive, class_values
from sluice.risk.classes.equivalence_classes import EquivalenceClasses, category_codes
from sluice.risk.spread import on_grid, resolution


@dataclass(frozen=True)
class ClassFigures:
    """One figure for each class, and what a finding needs to know of them."""

    figures: FloatArray
    failing: BoolArray
    worse: Literal["higher", "lower"] = "higher"

    def worst(self, among: BoolArray) -> float:
        """The worst figure of some of the classes; of all, where these are none."""
        figures = self.figures[among] if among.any() else self.figures
        return float(figures.max() if self.worse == "higher" else figures.min())


@dataclass(frozen=True)
class SensitiveValues:
    """The records that have a value.

    rows     : shape (m,), their positions
    classes  : of these records
    column   : shape (m,), their values
    values   : the same as codes, or as near numbers
    harmless : shape (m,), whether the contract calls the value harmless
    """

    rows: IntArray
    classes: EquivalenceClasses
    column: "pd.Series[Any]"
    values: Sensitive
    harmless: BoolArray
    variable: Variable

    @classmethod
    def of(
        cls, classes: EquivalenceClasses, column: "pd.Series[Any]", variable: Variable, near: float | None
    ) -> "SensitiveValues":
        """near : numbers and dates within this share of their spread are one value; None: as they are."""
        rows = np.flatnonzero(column.notna().to_numpy())
        present = column.iloc[rows]
        numbers = plain_values(present)
        if near is None or numbers.dtype.kind != "f":
            values: Sensitive = category_codes(present)
        else:
            values = Near(numbers, resolution(numbers, near))
        named = () if variable.harmless is None else variable.harmless.values
        harmless = present.map(as_label).isin(named).to_numpy(np.bool_) if named else np.zeros(len(rows), np.bool_)
        return cls(rows, classes.of_records(rows), present, values, harmless, variable)

    @property
    def categories(self) -> tuple[str, ...]:
        """By code, where the column has categories."""
        of_column = self.column.dtype.categories if isinstance(self.column.dtype, pd.CategoricalDtype) else ()
        return tuple(map(str, of_column))

    @cached_property
    def in_classes(self) -> ClassValues:
        """How often each value occurs in each class."""
        return class_values(self.classes, self.values)

    @property
    def on_grid(self) -> Self:
        """With codes that are one in all classes for one value: of near numbers, the place on a grid of their width."""
        if not isinstance(self.values, Near):
            return self
        return replace(self, values=category_codes(pd.Series(on_grid(self.values.numbers, self.values.width))))

    @property
    def as_they_occur(self) -> tuple[Self, tuple[str, ...]]:
        """With codes of the values that occur, in their order, and these values; numbers as they are."""
        codes, values = pd.factorize(self.column, sort=True)
        return replace(self, values=codes), tuple(str(as_label(value)) for value in values)

    @property
    def all_harmless(self) -> BoolArray:
        """For each class, whether all its values are harmless."""
        harmful = np.bincount(self.classes.labels, ~self.harmless, len(self.classes.sizes))
        return np.asarray(harmful == 0, dtype=np.bool_)

    def records_of(self, chosen: BoolArray) -> IntArray:
        """The position of one record of each of the chosen classes."""
        first = np.empty(len(chosen), dtype=np.int64)
        first[self.classes.labels] = self.rows
        return first[chosen]

    def sizes(self, chosen: BoolArray) -> list[int]:
        return [int(size) for size in self.classes.sizes[chosen]]
