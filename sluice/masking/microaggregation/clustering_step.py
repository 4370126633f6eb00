"""What all methods of clustering share: records of any kinds of columns in clusters of at least k, one value for each.

Source: Xiong (CS573 slides), "Anonymization using Microaggregation or Clustering". Differs from it: a cluster may also
be released as a mean, median, mode or random member instead of the generalised values. How the clusters are formed is
the method's own.
"""

from abc import abstractmethod
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
from numpy.random import Generator
from pydantic import Field, model_validator

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.errors import PlanError
from sluice.ground.frame_columns import with_columns
from sluice.ground.hierarchy import Taxonomy, taxonomy_of
from sluice.ground.variables import Kind, Variable, Variables
from sluice.masking.column_numbers import numbers, perturbed, stored
from sluice.masking.masking_step import MaskingStep
from sluice.masking.microaggregation.clusters import Domain, Regions, domain_of, generalised_values, region_names
from sluice.masking.microaggregation.microaggregation_step import (
    GROUP_MEANS,
    categorical,
    complete_parts,
    few_alike,
    refuse_ungroupable,
)
from sluice.masking.microaggregation.representatives import representatives, scale_of
from sluice.risk.transparency.attack import Attack
from sluice.risk.transparency.bounds import NearestCentre, PublishedRanges
from sluice.risk.transparency.linear_change import LinearChange
from sluice.risk.transparency.linkage import Strongest


class ClusteringStep(MaskingStep):
    """What every method of clustering has in common; a method is its `clusters`."""

    k: int = Field(description="smallest number of records in a cluster, at least 2")
    representative: Literal["generalised", "mean", "median", "mode", "random"] = Field(
        default="mean",
        description=(
            "the released value of a cluster: mean, median, mode, random (of one of its records), or "
            "generalised: its range ('20 to 29') or narrowest group in the hierarchy, perhaps '*'"
        ),
    )
    missing: Literal["refuse", "by_pattern"] = Field(
        default="refuse", description="by_pattern: cluster records that miss the same columns"
    )
    round: bool = Field(
        default=False, description="round integer variables to whole numbers; else means and medians may be fractions"
    )

    # how its clusters are called
    formed: ClassVar[str] = "similar records were put into clusters"
    cluster: ClassVar[str] = "cluster"

    preserves: ClassVar[str] = (
        "Means of numbers exactly, variances shrink; generalised values are true, but coarse and overlapping."
    )
    known_attack: ClassVar[str] = (
        "Equal sensitive values within a cluster are disclosed. The ends of a generalised range are values of some of "
        "its members, so that the largest number of all stays in the file."
    )
    missing_values: ClassVar[str] = (
        "Refused, or with `missing: by_pattern` clustered with records that miss the same columns; a missing value "
        "stays missing."
    )
    in_an_analysis: ClassVar[str] = (
        f"{GROUP_MEANS} Where a value is a range or a wider group instead, it is true: analyse it as "
        "interval-censored, or by its group; the middle of a range stands for it only roughly."
    )

    @model_validator(mode="after")
    def _k_hides_a_record(self) -> Self:
        if self.k < 2:
            raise ValueError(
                f"k of {self.method} on {self._named()} must be at least 2; got {self.k}. "
                "A cluster of one record is the record."
            )
        return self

    @abstractmethod
    def clusters(self, records: Domain, frame: pd.DataFrame, rows: IntArray, rng: Generator) -> IntArray | Regions:
        """The cluster of each record, numbered from 0 without a gap, or the regions whose bounds are to be released.

        records : n >= k records without missing values; each cluster has at least k of them
        frame   : all records, with all their variables
        rows    : shape (n,), where in the frame these records are
        """

    def refuse_together(self, frame: pd.DataFrame, rows: IntArray) -> None:
        """Raise PlanError where the records without any value, k or more, may not look alike."""

    def released(self, variables: Variables) -> dict[str, Variable]:
        """Generalised variables become nominal; else categories stay and integers become continuous unless `round`."""
        self.refuse_unless(variables, Kind.CONTINUOUS, Kind.INTEGER, Kind.ORDINAL, Kind.NOMINAL, Kind.BINARY)
        return {
            name: self._released(variable) if name in self.columns else variable for name, variable in variables.items()
        }

    def mask(self, frame: pd.DataFrame, variables: Variables, rng: Generator) -> pd.DataFrame:
        """Raises PlanError on fewer than k records, missing values as `missing` says, and incomplete hierarchies."""
        released = self.released(variables)
        if len(frame) < self.k:
            raise PlanError(f"{self.method} needs at least k = {self.k} records; there are {len(frame)}.")
        values = numbers(frame, self.columns)
        absent = np.isnan(values)
        refuse_ungroupable(self.method, self.columns, values, absent, self.missing)
        trees = [self._taxonomy(frame[name], variables[name]) for name in self.columns]
        scales = [scale_of(frame[name], variables[name]) for name in self.columns]
        ranges = [_range(column) for column in values.T]
        results = np.full(values.shape, np.nan, dtype=object if self.representative == "generalised" else np.float64)
        for rows, columns in complete_parts(absent):
            if len(rows) < self.k:
                raise few_alike(self.method, self.columns, self.k)
            if len(columns) == 0:
                self.refuse_together(frame, rows)
                continue
            cells = np.ix_(rows, columns)
            records = domain_of(values[cells], [trees[at] for at in columns], [ranges[at] for at in columns])
            formed = self.clusters(records, frame, rows, rng)
            groups = formed.groups if isinstance(formed, Regions) else formed
            if self.representative == "generalised":
                measured = [at for at in columns if trees[at] is None]  # like numbers
                for at in columns:
                    own, like = values[rows, at], frame[self.columns[at]]
                    if isinstance(formed, Regions) and at in measured:
                        results[rows, at] = region_names(formed, measured.index(at), own, like)
                    else:
                        results[rows, at] = generalised_values(own, groups, like, trees[at])
            else:
                of_columns = [scales[at] for at in columns]
                results[cells] = representatives(values[cells], groups, self.representative, of_columns, rng)
        masked = {
            name: _column(result, frame[name], released[name])
            for name, result in zip(self.columns, results.T, strict=True)
        }
        return with_columns(frame, masked)

    def attacks(self) -> tuple[Attack, ...]:
        if self.representative == "generalised":
            return (PublishedRanges(self.columns),)
        linear = LinearChange(self.columns, f"how far values lie from what stands for their cluster of {self.k}")
        return (Strongest(self.columns, (NearestCentre(self.columns, self.k), linear)),)

    def describe(self) -> str:
        return (
            f"In {', '.join(self.columns)}, {self.formed} of at least {self.k}, and each value was replaced by "
            f"{self._replacement()}."
        )

    def _replacement(self) -> str:
        if self.representative == "generalised":
            return f"the range, or the narrowest group, that holds all of its {self.cluster}"
        value = "the values of a random member" if self.representative == "random" else f"the {self.representative}"
        return f"{value} of its {self.cluster}"

    def _named(self) -> str:
        return ", ".join(map(repr, self.columns))

    def _released(self, variable: Variable) -> Variable:
        if self.representative == "generalised":
            changes: dict[str, Any] = dict.fromkeys(("minimum", "maximum", "categories", "hierarchy", "unit"), None)
            return variable.model_copy(update=changes | {"kind": Kind.NOMINAL, "labels": {}, "missing_codes": ()})
        if variable.kind.is_categorical:
            return variable
        return perturbed(variable, whole=self.round or self.representative in ("mode", "random"), bounded=True)

    def _taxonomy(self, column: pd.Series, variable: Variable) -> Taxonomy | None:
        """None for what is measured like a number."""
        if variable.kind.is_numeric or (variable.kind is Kind.ORDINAL and variable.hierarchy is None):
            return None
        try:
            return taxonomy_of(list(column.cat.categories), variable.hierarchy)
        except ValueError as error:
            raise PlanError(f"{self.method} on '{variable.name}': {error}. Complete it.") from None


def _column(result: npt.NDArray[Any], like: pd.Series, released: Variable) -> pd.Series:
    if released.kind.is_numeric:
        return stored(result, released).set_axis(like.index)
    if result.dtype == object:
        return pd.Series(pd.Categorical(result), index=like.index)
    return categorical(result, like)


def _range(values: FloatArray) -> float:
    """Of the values present; 1 where they are all alike, so that nothing is divided by 0."""
    present = values[~np.isnan(values)]
    return float(np.ptp(present)) if len(present) and present.min() < present.max() else 1.0
