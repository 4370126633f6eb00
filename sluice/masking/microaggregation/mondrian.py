"""Mondrian: the file is cut into regions, each time in the column in which the region is widest, while k records stay.

Source: LeFevre, DeWitt and Ramakrishnan (2006), the greedy partitioning algorithm with strict and with relaxed cuts.
Differs from it: of the two cuts next to the median that one is taken which parts more evenly, so that a region that can
be cut at all is cut; categories whose children are not all large enough are cut between the children, in their order;
and each part can be held to l-diversity (Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam 2007, distinct and
entropy) and t-closeness (Li, Li and Venkatasubramanian 2007, the equal distance, of numbers and ordered categories the
ordered one).
"""

from typing import TYPE_CHECKING, ClassVar, Literal, Self

import numpy as np
import pandas as pd
from numpy.random import Generator
from pydantic import Field, model_validator

from sluice.ground.arrays import IntArray
from sluice.ground.errors import PlanError
from sluice.ground.variables import Variable, Variables
from sluice.masking.microaggregation.clustering_step import ClusteringStep
from sluice.masking.microaggregation.clusters import Domain, Regions

if TYPE_CHECKING:
    from sluice.masking.microaggregation.mondrian_kernel import Needs

_UNFIT = "{} do not have the l or t asked for. Ask for less, or name no sensitive."


class Mondrian(ClusteringStep):
    """Cut the file into regions of at least k records, at the median of the widest column; one value for each."""

    method: Literal["mondrian"] = "mondrian"
    formed: ClassVar[str] = "records were put into regions"
    cluster: ClassVar[str] = "region"
    cuts: Literal["strict", "relaxed"] = Field(
        default="strict",
        description=(
            "strict: equal numbers stay together; relaxed: those equal to the median go to either side, so that"
            " regions have fewer than 2k records"
        ),
    )
    bounds: Literal["members", "region"] = Field(
        default="members",
        description=(
            "a generalised number is: members: the range of its cluster; region: the rounded cuts around it "
            "('20 to 34'), which reveal no member's value"
        ),
    )
    sensitive: str | None = Field(default=None, description="the variable of `l` and `t`; not masked here")
    l: float | None = Field(  # noqa: E741, the source's name
        default=None, gt=1, description="fewest sensitive values in a region; missing ones do not count"
    )
    diversity: Literal["distinct", "entropy"] = Field(
        default="distinct", description="what `l` counts. distinct: different values; entropy: exp of their entropy"
    )
    t: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="largest earth mover's distance between the sensitive values of a region and of the file",
    )

    example: ClassVar[str] = (
        "{method: mondrian, columns: [age, sex, region], k: 5, representative: generalised, bounds: region}"
    )
    use_when: ClassVar[str] = (
        "A large file must be k-anonymous, or every group l-diverse or t-close. The clusterings are slower "
        "and lose a quarter less."
    )
    preserves: ClassVar[str] = (
        "Means of numbers exactly, variances shrink; generalised values are true. Strict regions do not "
        "overlap, so that counts by their bounds are exact."
    )
    known_attack: ClassVar[str] = (
        "Equal sensitive values within a region are disclosed unless `l` or `t` forbid it. The ends of a generalised "
        "range are values of some of its members, the largest number of all included, unless `bounds: region`. Who "
        "knows the method sees that a wide region was not cut, and infers that a cut would have broken `l` or `t` "
        "(Wong, Fu, Wang and Pei 2007, minimality)."
    )
    attack_measured: ClassVar[str] = (
        "Take the nearest centre by the distance that formed the groups, numbers by their standard deviations. On 12 "
        "variables of Census (k: 5): 6 % found; 0 % surely found."
    )

    @model_validator(mode="after")
    def _sensitive_and_bounds_apply(self) -> Self:
        named = f"{self.method} on {self._named()}"
        if self.bounds == "region" and (self.representative != "generalised" or self.cuts == "relaxed"):
            raise ValueError(f"bounds: region of {named} takes representative: generalised and cuts: strict")
        if (self.sensitive is None) != (self.l is None and self.t is None):
            raise ValueError(f"sensitive of {named} needs l or t, and these need it")
        if self.sensitive in self.columns:
            raise ValueError(f"'{self.sensitive}' is among columns and sensitive of {self.method}; leave it out of one")
        return self

    def released(self, variables: Variables) -> dict[str, Variable]:
        """As every clustering; refuses a sensitive variable that is not there, or numbers for `l`."""
        if self.sensitive is not None:
            if self.sensitive not in variables:
                raise PlanError(
                    f"sensitive of {self.method}: no variable '{self.sensitive}' at this point.",
                    came=self.sensitive,
                    allowed=variables,
                )
            if self.l is not None and not variables[self.sensitive].kind.is_categorical:
                raise PlanError(
                    f"l of {self.method} counts categories; '{self.sensitive}' is {variables[self.sensitive].kind}. "
                    "Neighbouring numbers do not count as different values: use t."
                )
        return super().released(variables)

    def clusters(self, records: Domain, frame: pd.DataFrame, rows: IntArray, rng: Generator) -> IntArray | Regions:
        needs = None if self.sensitive is None else self._needs(frame[self.sensitive], rows)
        try:
            regions = mondrian_regions(records, self.k, self.cuts == "relaxed", rng, needs)
        except PlanError as error:
            raise PlanError(f"{self.method} on {self._named()}: {error}") from None
        return regions if self.bounds == "region" else regions.groups

    def refuse_together(self, frame: pd.DataFrame, rows: IntArray) -> None:
        from sluice.masking.microaggregation.mondrian_kernel import fits

        if self.sensitive is not None and not fits(self._needs(frame[self.sensitive], rows)):
            raise PlanError(f"{self.method} on {self._named()}: {_UNFIT.format('records that miss all of these')}")

    def describe(self) -> str:
        said = super().describe()
        if self.sensitive is None:
            return said
        counted = {"distinct": "different values", "entropy": "values (by their entropy)"}[self.diversity]
        kept = [f"at least {self.l:g} {counted}"] if self.l is not None else []
        kept += [f"a distribution within {self.t:g} of that of all records"] if self.t is not None else []
        return f"{said} In each region {self.sensitive} has {' and '.join(kept)}."

    def _replacement(self) -> str:
        if self.bounds == "region":
            return "the cuts around its region, or the narrowest group that holds all of it"
        return super()._replacement()

    def _needs(self, column: pd.Series, rows: IntArray) -> "Needs":
        from sluice.masking.microaggregation.mondrian_kernel import Needs
        from sluice.risk.classes.equivalence_classes import category_codes

        occurring, codes = np.unique(category_codes(column), return_inverse=True)
        ordered = not isinstance(column.dtype, pd.CategoricalDtype) or bool(column.cat.ordered)
        return Needs(
            values=codes[rows],
            missing=len(occurring) - 1 if column.isna().any() else -1,
            shares=np.bincount(codes) / len(codes),
            l=self.l or 0.0,
            entropy=self.diversity == "entropy",
            t=self.t or 1.0,
            ordered=ordered,
        )


def mondrian_regions(records: Domain, k: int, relaxed: bool, rng: Generator, needs: "Needs | None" = None) -> Regions:
    """The regions of the records, each of at least k; one that can be cut next to the median of a column is cut.

    The columns are tried from the widest on: numbers by their range, categories by the height of the node that holds
    them all, both as a share of the file's. Numbers are cut at the median: strictly below or above all that equal it,
    whichever parts more evenly; relaxed into halves, with those that equal it in random order. Categories are parted
    into the children of their node, or, where one is too small, between the children.

    records : n records
    needs   : what each part must keep, too
    returns : of p numbers a strict region has at most 2 p (k - 1) + m records, where m is the largest number of equal
              ones, a relaxed one at most 2k - 1 (LeFevre, DeWitt and Ramakrishnan 2006, bounds on partition size)
    raises  : PlanError if n < k, or if all records together do not keep what they must
    cost    : O(n (p + q) log(n / k)) time, O(n) memory beside the records: 2 seconds for 1,000,000 x 10 numbers
    """
    from sluice.masking.microaggregation.mondrian_kernel import NOTHING, cut_up, fits

    count = len(records.numbers)
    if count < k:
        raise PlanError(f"there are {count} records, fewer than k = {k}.")
    if needs is not None and not fits(needs):
        raise PlanError(_UNFIT.format("all records together"))
    order = rng.permutation(count) if relaxed else np.arange(count)
    return Regions(
        *cut_up(
            np.ascontiguousarray(records.numbers),
            np.ascontiguousarray(records.nodes),
            records.heights,
            k,
            relaxed,
            order,
            NOTHING if needs is None else needs,
        )
    )
