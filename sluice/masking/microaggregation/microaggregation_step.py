"""What all methods of microaggregation share: records in groups of at least k take their group's representative.

Source: Torra (2013), "Microaggregation", the operational definition: partition, aggregation, replacement, and the
choice between all variables at once, sets of variables, and one at a time. The partition is the method's own.
"""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import ClassVar, Literal, Self

import numpy as np
import pandas as pd
from numpy.random import Generator
from pydantic import Field, model_validator

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.ground.errors import PlanError, did_you_mean
from sluice.ground.frame_columns import with_columns
from sluice.ground.variables import Kind, Variable, Variables
from sluice.masking.column_numbers import Round, numbers, perturbed, stored
from sluice.masking.masking_step import MaskingStep
from sluice.masking.microaggregation.representatives import Scale, Statistic, representatives, scale_of, standardised
from sluice.risk.transparency.attack import Attack
from sluice.risk.transparency.bounds import NearestCentre, NearestGroups
from sluice.risk.transparency.linear_change import LinearChange
from sluice.risk.transparency.linkage import LearnedCloseness, Strongest

VariableGroups = Literal["together", "one_at_a_time"] | tuple[tuple[str, ...], ...]

GROUP_MEANS = (
    "Means of the whole file are right; means of small subgroups are drawn towards those of their neighbours. "
    "Variances and standard errors come out too small, and nothing in the file tells by how much: do not test "
    "hypotheses on a variance or a tail."
)

_LARGEST = 1e150  # larger numbers have no squares or ranges that can be summed


class MicroaggregationStep(MaskingStep):
    """What every method of microaggregation has in common; a method is its `partition`."""

    k: int = Field(description="smallest number of records in a group, at least 2")
    variable_groups: VariableGroups = Field(
        default="together",
        description="one partition for all columns (together), for each (one_at_a_time), or for each of several lists",
    )
    standardise: bool = Field(default=True, description="give each column of numbers variance 1 in the distance")
    representative: Statistic = Field(
        default="mean",
        description="the released value of a group: mean, median, mode, or random (the values of one of its records). "
        "For mean and median an ordinal column takes the (lower) median, a nominal one the mode",
    )
    restore_variance: bool = Field(default=False, description="rescale numbers to the original means and variances")
    missing: Literal["refuse", "by_pattern"] = Field(
        default="refuse", description="by_pattern: group records that miss the same columns"
    )
    round: Round = False

    # those that the method's distance is defined for
    kinds: ClassVar[tuple[Kind, ...]] = (Kind.CONTINUOUS, Kind.INTEGER, Kind.ORDINAL, Kind.NOMINAL, Kind.BINARY)
    missing_values: ClassVar[str] = (
        "Refused, or with `missing: by_pattern` grouped with records that miss the same columns; a missing value stays "
        "missing."
    )
    in_an_analysis: ClassVar[str] = GROUP_MEANS

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        named = ", ".join(map(repr, self.columns))
        if self.k < 2:
            raise ValueError(
                f"k of {self.method} on {named} must be at least 2; got {self.k}. A group of one record is the record."
            )
        if not isinstance(self.variable_groups, str):
            grouped = [name for group in self.variable_groups for name in group]
            for name in grouped:
                if name not in self.columns:
                    hint = did_you_mean(name, self.columns)
                    raise ValueError(f"variable_groups of {self.method}: '{name}' is not among columns.{hint}")
            if sorted(grouped) != sorted(self.columns) or not all(self.variable_groups):
                raise ValueError(f"variable_groups of {self.method} must hold each of {named} exactly once")
        return self

    @abstractmethod
    def partition(self, records: FloatArray, scales: Sequence[Scale], rng: Generator) -> IntArray:
        """The group of each record, numbered from 0 without a gap; each group has at least k records.

        records : shape (n, d), finite, n >= k, d >= 1; columns of numbers standardised if `standardise`, those of
                  categories as positions 0, 1, ...
        scales  : one for each column
        """

    def released(self, variables: Variables) -> dict[str, Variable]:
        """Integer variables become continuous unless `round`; bounds hold, but for `restore_variance`."""
        self.refuse_unless(variables, *self.kinds)
        whole = self.round or (self.representative in ("mode", "random") and not self.restore_variance)
        changed = {
            name: perturbed(variables[name], whole=whole, bounded=not self.restore_variance)
            for name in self.columns
            if variables[name].kind.is_numeric
        }
        return {**variables, **changed}

    def mask(self, frame: pd.DataFrame, variables: Variables, rng: Generator) -> pd.DataFrame:
        """Raises PlanError on fewer than k records, on missing values as `missing` says, on numbers beyond 1e150."""
        released = self.released(variables)
        masked: dict[str, pd.Series] = {}
        for names in self._variable_groups():
            original = numbers(frame, names)
            scales = [scale_of(frame[name], variables[name]) for name in names]
            aggregated = self._aggregated(names, original, scales, rng)
            for name, before, after in zip(names, original.T, aggregated.T, strict=True):
                if variables[name].kind.is_categorical:
                    column = categorical(after, frame[name])
                elif self.restore_variance:
                    column = stored(self._restored(name, before, after), released[name])
                else:
                    column = stored(after, released[name])
                masked[name] = column.set_axis(frame.index)
        return with_columns(frame, masked)

    def attacks(self) -> tuple[Attack, ...]:
        """Groups of one variable follow each other; those of several lie around what stands for them."""
        far = f"how far values lie from what stands for their group of {self.k} and more"
        attacks: list[Attack] = []
        for names in self._variable_groups():
            if len(names) > 1:
                attacks.append(Strongest(names, (NearestCentre(names, self.k), LinearChange(names, far))))
            elif self.restore_variance:  # which takes a group's value out of its group's range
                attacks.append(LearnedCloseness(names))
            else:
                attacks.append(NearestGroups(names))
        return tuple(attacks)

    def correction(self) -> str:
        if not self.restore_variance:
            return super().correction()
        return (
            "Means and variances of the whole file need no correction. Small subgroups are drawn towards their "
            "neighbours, values may leave the allowed range, and correlations are right only nearly."
        )

    def describe(self) -> str:
        together = {"together": "", "one_at_a_time": ", for each variable by itself"}
        how = together[self.variable_groups] if isinstance(self.variable_groups, str) else ", in sets of variables"
        value = "the values of a random member" if self.representative == "random" else f"the {self.representative}"
        said = (
            f"In {', '.join(self.columns)}, similar records were put into groups of at least {self.k}{how}, and each "
            f"value was replaced by {value} of its group"
        )
        if self.representative in ("mean", "median") and Kind.NOMINAL in self.kinds:
            said += " (of ordered categories the median, of others the most frequent)"
        elif self.representative == "mean" and Kind.ORDINAL in self.kinds:
            said += " (of ordered categories the median)"
        return said + ("; means and variances are those of the original." if self.restore_variance else ".")

    def _variable_groups(self) -> tuple[tuple[str, ...], ...]:
        if self.variable_groups == "together":
            return (self.columns,)
        if self.variable_groups == "one_at_a_time":
            return tuple((name,) for name in self.columns)
        return self.variable_groups

    def _aggregated(
        self, names: Sequence[str], original: FloatArray, scales: Sequence[Scale], rng: Generator
    ) -> FloatArray:
        """Each record's representative, NaN where missing. Raises PlanError as `mask` says."""
        if len(original) < self.k:
            raise PlanError(
                f"{self.method} on {', '.join(map(repr, names))} needs at least k = {self.k} records; there are "
                f"{len(original)}."
            )
        absent = np.isnan(original)
        refuse_ungroupable(self.method, names, original, absent, self.missing)
        scaled = standardised(original, scales) if self.standardise else original
        aggregated = np.full(original.shape, np.nan)
        for rows, columns in complete_parts(absent):
            if len(columns) == 0:
                continue
            if len(rows) < self.k:
                raise few_alike(self.method, names, self.k)
            cells, of_columns = np.ix_(rows, columns), [scales[column] for column in columns.tolist()]
            groups = self.partition(scaled[cells], of_columns, rng)
            aggregated[cells] = representatives(original[cells], groups, self.representative, of_columns, rng)
        return aggregated

    def _restored(self, name: str, before: FloatArray, after: FloatArray) -> FloatArray:
        if np.isnan(before).all() or np.nanmin(before) == np.nanmax(before):
            return after
        wanted, left = np.nanstd(before), np.nanstd(after)
        if left <= 1e-9 * wanted:  # nothing but rounding is left to be stretched
            raise PlanError(
                f"restore_variance of {self.method} on '{name}' needs groups that differ; with k = {self.k} they "
                "are alike. Use a smaller k."
            )
        restored: FloatArray = (after - np.nanmean(after)) * (wanted / left) + np.nanmean(before)
        return restored


def complete_parts(absent: BoolArray) -> Iterator[tuple[IntArray, IntArray]]:
    """The rows that miss the same columns, and the columns that they have; those that miss none first.

    absent : shape (n, d), where a value is missing
    """
    some = absent.any(axis=1)  # nearly all records are complete, and need not be compared
    if not some.all():
        yield np.flatnonzero(~some), np.arange(absent.shape[1])
    patterns, pattern = np.unique(absent[some], axis=0, return_inverse=True)
    for number, each in enumerate(patterns):
        yield np.flatnonzero(some)[pattern.ravel() == number], np.flatnonzero(~each)


def few_alike(method: str, names: Sequence[str], k: int) -> PlanError:
    return PlanError(
        f"{method} on {', '.join(map(repr, names))}: fewer than k = {k} records miss the same columns. Impute them "
        "first (multiple_imputation, what: missing), or name fewer columns."
    )


def refuse_ungroupable(
    method: str, names: Sequence[str], values: FloatArray, absent: BoolArray, missing: Literal["refuse", "by_pattern"]
) -> None:
    """Raise PlanError for missing values unless they may be, and for numbers whose squares or range would be none.

    values, absent : shape (n, names)
    """
    for name, column, count in zip(names, values.T, absent.sum(axis=0), strict=True):
        if count and missing == "refuse":
            raise PlanError(
                f"{method} on '{name}' takes no missing values; there are {count}. Use missing: by_pattern, or impute "
                "them first (multiple_imputation, what: missing)."
            )
        if (np.abs(column) > _LARGEST).any():
            raise PlanError(
                f"{method} on '{name}' takes numbers up to {_LARGEST:g}; some are larger. Use a larger unit."
            )


def refuse_small_blocks(method: str, names: Sequence[str], k: int, block_size: int | None) -> None:
    """Raise ValueError for blocks that may hold fewer than k records."""
    if block_size is not None and block_size < k:
        raise ValueError(
            f"block_size of {method} on {', '.join(map(repr, names))} must be at least k = {k}; got {block_size}. "
            "Some thousands keep most of the information."
        )


def categorical(positions: FloatArray, like: pd.Series) -> pd.Series:
    """Positions, NaN where missing, as the categories of a column that is like this one."""
    codes = np.where(np.isnan(positions), -1.0, positions).astype(np.int64)
    found = pd.Categorical.from_codes(codes, categories=like.cat.categories, ordered=like.cat.ordered)
    return pd.Series(found, index=like.index)
