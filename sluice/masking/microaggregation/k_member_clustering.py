"""k-member clustering: clusters of at least k records, grown one record at a time so that each loses least information.

Source: Xiong (CS573 slides), "k-Member Clustering Problem": the greedy algorithm, the distance of two categories in
a taxonomy tree, and the information loss IL(e) = |e| D(e). Differs from it: ordinal variables without a hierarchy are
measured by position, like numbers; a cluster may also be released as a mean, median, mode or random member instead of
the generalised values; a large file can be cut into blocks. Equal costs are decided by a random order of the records.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
from numpy.random import Generator
from pydantic import Field, model_validator

from sluice.arrays import BoolArray, FloatArray, IntArray
from sluice.errors import PlanError
from sluice.generalization.taxonomy import Taxonomy, taxonomy_of
from sluice.masking.microaggregation.blocks import blocks_of, first_principal_component, partition_by_blocks
from sluice.masking.microaggregation.representatives import representatives
from sluice.masking.microaggregation.scale import scale_of
from sluice.masking.perturbed_number import numbers, perturbed, stored
from sluice.masking.step import MaskingStep
from sluice.risk.transparency.attack import Attack
from sluice.risk.transparency.linear_change import LinearChange
from sluice.risk.transparency.nearest_centre import NearestCentre
from sluice.risk.transparency.published_ranges import PublishedRanges
from sluice.risk.transparency.strongest import Strongest
from sluice.variables import Kind, Variable, Variables, as_label

_LARGEST = 1e150  # the sum of larger numbers over a file may not be a number


class Domain(NamedTuple):
    """Records as their information loss sees them."""

    numbers: FloatArray  # shape (n, p), each column divided by the size of its domain
    nodes: IntArray  # shape (n, q), for each level of each taxonomy tree the node that holds the record
    weights: FloatArray  # shape (q,), one part in the height of the tree

    def of(self, rows: IntArray) -> "Domain":
        return self._replace(numbers=self.numbers[rows], nodes=self.nodes[rows])


class KMemberClustering(MaskingStep):
    """Put similar records of any kinds of columns into clusters of at least k, and release one record for each."""

    method: Literal["k_member_clustering"] = "k_member_clustering"
    k: int = Field(description="smallest number of records in a cluster, at least 2")
    representative: Literal["generalised", "mean", "median", "mode", "random"] = Field(
        default="mean",
        description="what stands for a cluster. mean, median, mode or random (the values of one of its records): as in "
        "microaggregation. generalised: text, the range of its numbers or ordinal categories ('20 to 29'), or the "
        "narrowest group of the variable's hierarchy that holds all of it ('*' where only everything does)",
    )
    missing: Literal["refuse", "by_pattern"] = Field(
        default="refuse", description="by_pattern: cluster records with others that miss the same columns"
    )
    round: bool = Field(
        default=False, description="round integer variables to whole numbers; else a mean or median makes fractions"
    )
    block_size: int | None = Field(
        default=None,
        description="at least k: cut the file into blocks of similar records, at least this many, and treat each by "
        "itself. Time grows with the records times the block size; absent: with the square of the records",
    )

    example: ClassVar[str] = (
        "{method: k_member_clustering, columns: [age, sex, region], k: 5, representative: generalised}"
    )
    use_when: ClassVar[str] = (
        "Quasi-identifiers of mixed kinds must be k-anonymous together, and hierarchies say which categories are near "
        "each other. For numbers alone microaggregation by MDAV is faster and loses no more."
    )
    preserves: ClassVar[str] = (
        "As microaggregation does: means of numbers exactly, with too small variances; generalised values are true, "
        "but coarse, and overlap between clusters."
    )
    known_attack: ClassVar[str] = (
        "Equal sensitive values within a cluster are disclosed. The ends of a generalised range are values of some of "
        "its members, so that the largest number of all stays in the file."
    )
    missing_values: ClassVar[str] = (
        "Refused, or with `missing: by_pattern` clustered with records that miss the same columns; a missing value "
        "stays missing."
    )

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        named = ", ".join(map(repr, self.columns))
        if self.k < 2:
            raise ValueError(
                f"k of {self.method} on {named} must be at least 2; got {self.k}. "
                "A cluster of one record is the record."
            )
        if self.block_size is not None and self.block_size < self.k:
            raise ValueError(
                f"block_size of {self.method} on {named} must be at least k = {self.k}; got {self.block_size}. "
                "Some thousands keep most of the information."
            )
        return self

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
        self._refuse(values, absent)
        trees = [self._taxonomy(frame[name], variables[name]) for name in self.columns]
        scales = [scale_of(frame[name], variables[name]) for name in self.columns]
        ranges = [_range(column) for column in values.T]
        results = np.full(values.shape, np.nan, dtype=object if self.representative == "generalised" else np.float64)
        patterns, pattern = np.unique(absent, axis=0, return_inverse=True)
        for number, of_pattern in enumerate(patterns):
            rows, columns = np.flatnonzero(pattern.ravel() == number), np.flatnonzero(~of_pattern)
            if len(columns) == 0:
                continue
            cells = np.ix_(rows, columns)
            groups = self._groups(
                domain(values[cells], [trees[at] for at in columns], [ranges[at] for at in columns]), rng
            )
            if self.representative == "generalised":
                for at in columns:
                    results[rows, at] = _generalised(values[rows, at], groups, frame[self.columns[at]], trees[at])
            else:
                of_columns = [scales[at] for at in columns]
                results[cells] = representatives(values[cells], groups, self.representative, of_columns, rng)
        masked = {
            name: _column(result, frame[name], released[name])
            for name, result in zip(self.columns, results.T, strict=True)
        }
        return frame.assign(**masked)

    def attacks(self) -> tuple[Attack, ...]:
        if self.representative == "generalised":
            return (PublishedRanges(self.columns),)
        linear = LinearChange(self.columns, f"how far values lie from what stands for their cluster of {self.k}")
        return (Strongest(self.columns, (NearestCentre(self.columns, self.k), linear)),)

    def describe(self) -> str:
        said = f"In {', '.join(self.columns)}, similar records were put into clusters of at least {self.k}, and "
        if self.representative == "generalised":
            return said + "each value was replaced by the range, or the narrowest group, that holds all of its cluster."
        value = "the values of a random member" if self.representative == "random" else f"the {self.representative}"
        return said + f"each value was replaced by {value} of its cluster."

    def _released(self, variable: Variable) -> Variable:
        if self.representative == "generalised":
            changes: dict[str, Any] = dict.fromkeys(("minimum", "maximum", "categories", "hierarchy", "unit"), None)
            return variable.model_copy(update=changes | {"kind": Kind.NOMINAL, "labels": {}, "missing_codes": ()})
        if variable.kind.is_categorical:
            return variable
        return perturbed(variable, whole=self.round or self.representative in ("mode", "random"), bounded=True)

    def _refuse(self, values: FloatArray, absent: BoolArray) -> None:
        """Missing values unless they may be, and numbers whose range would not be a number."""
        for name, column, count in zip(self.columns, values.T, absent.sum(axis=0), strict=True):
            if count and self.missing == "refuse":
                raise PlanError(
                    f"{self.method} on '{name}' takes no missing values; there are {count}. Use missing: by_pattern, "
                    "or impute them first (multiple_imputation)."
                )
            if (np.abs(column) > _LARGEST).any():
                raise PlanError(
                    f"{self.method} on '{name}' takes numbers up to {_LARGEST:g}; some are larger. Use a larger unit."
                )

    def _taxonomy(self, column: pd.Series, variable: Variable) -> Taxonomy | None:
        """None for what is measured like a number."""
        if variable.kind.is_numeric or (variable.kind is Kind.ORDINAL and variable.hierarchy is None):
            return None
        try:
            return taxonomy_of(list(column.cat.categories), variable.hierarchy)
        except ValueError as error:
            raise PlanError(f"{self.method} on '{variable.name}': {error}. Complete it.") from None

    def _groups(self, records: Domain, rng: Generator) -> IntArray:
        count = len(records.numbers)
        if count < self.k:
            raise PlanError(
                f"{self.method} on {', '.join(map(repr, self.columns))}: fewer than k = {self.k} records miss the same "
                "columns. Impute them first (multiple_imputation), or name fewer columns."
            )
        blocks = [np.arange(count)]
        if self.block_size is not None:
            levels = records.nodes / np.maximum(records.nodes.max(axis=0, initial=0), 1) * records.weights
            blocks = blocks_of(first_principal_component(np.hstack([records.numbers, levels])), self.block_size)
        return partition_by_blocks(count, blocks, lambda rows: k_member_groups(records.of(rows), self.k, rng))


def domain(records: FloatArray, trees: Sequence[Taxonomy | None], ranges: Sequence[float]) -> Domain:
    """Numbers divided by the size of their domain, and the nodes of the taxonomy trees.

    records : shape (n, d), finite; a category by its position
    trees   : d trees, None for a number
    ranges  : d sizes of domains, more than 0; that of a tree is not used
    """
    columns = list(zip(records.T, trees, ranges, strict=True))
    empty = np.empty((len(records), 0))
    held = [tree.nodes[values.astype(np.int64)] for values, tree, _ in columns if tree is not None]
    heights = [tree.height for tree in trees if tree is not None]
    return Domain(
        numbers=np.column_stack([empty, *(values / size for values, tree, size in columns if tree is None)]),
        nodes=np.hstack([empty.astype(np.int64), *held]),
        weights=np.repeat(1 / np.array(heights, dtype=np.float64), heights),
    )


def k_member_groups(records: Domain, k: int, rng: Generator) -> IntArray:
    """The cluster of each record, numbered from 0; k to 2k - 1 records each.

    While k records are left, the one farthest from the first of the last cluster (at first: from one at random) begins
    a cluster, and k - 1 times the record joins that adds least to its loss. Each record then left, in random order,
    joins the cluster to whose loss it adds least.

    records : n records
    returns : shape (n,)
    raises  : PlanError if n < k
    cost    : O(n^2 d) time, O(n d) memory: half a second for 10,000 x 10 numbers, a minute for 100,000 x 10, or two
              seconds in blocks of 5,000
    """
    from sluice.masking.microaggregation.k_member_kernel import cluster

    count = len(records.numbers)
    if count < k:
        raise PlanError(f"k_member_clustering needs at least k = {k} records; there are {count}.")
    order = rng.permutation(count)
    shuffled = records.of(order)
    groups = np.empty(count, dtype=np.int64)
    groups[order] = cluster(
        np.ascontiguousarray(shuffled.numbers.T), np.ascontiguousarray(shuffled.nodes.T), records.weights, k
    )
    return groups


def _ends(values: npt.NDArray[Any], groups: IntArray) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Smallest and largest value of each group, by column."""
    order = np.argsort(groups, kind="stable")
    counts = np.bincount(groups)
    starts = np.cumsum(counts) - counts
    return np.minimum.reduceat(values[order], starts), np.maximum.reduceat(values[order], starts)


def _generalised(
    values: FloatArray, groups: IntArray, column: pd.Series, tree: Taxonomy | None
) -> npt.NDArray[np.object_]:
    """One text for each record: what all of its cluster have in common in one column."""
    lows, highs = _ends(values, groups)
    if tree is not None:
        leaves = lows.astype(np.int64)
        first, last = _ends(tree.nodes[values.astype(np.int64)], groups)
        levels = (first != last).sum(axis=1)
        texts = [tree.names[level][leaf] for level, leaf in zip(levels, leaves, strict=True)]
    else:
        names = column.cat.categories if isinstance(column.dtype, pd.CategoricalDtype) else None
        low, high = ([as_label(end) if names is None else names[int(end)] for end in ends] for ends in (lows, highs))
        texts = [one if one == other else f"{one} to {other}" for one, other in zip(low, high, strict=True)]
    return np.array(texts, dtype=object)[groups]


def _column(result: npt.NDArray[Any], like: pd.Series, released: Variable) -> pd.Series:
    if released.kind.is_numeric:
        return stored(result, released).set_axis(like.index)
    if result.dtype == object:
        return pd.Series(pd.Categorical(result), index=like.index)
    codes = np.where(np.isnan(result), -1.0, result).astype(np.int64)
    return pd.Series(pd.Categorical.from_codes(codes, like.cat.categories, like.cat.ordered), index=like.index)


def _range(values: FloatArray) -> float:
    """Of the values present; 1 where they are all alike, so that nothing is divided by 0."""
    present = values[~np.isnan(values)]
    return float(np.ptp(present)) if len(np.unique(present)) > 1 else 1.0
