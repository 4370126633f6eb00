"""Rank swapping: exchange values between records of nearby rank.

Source: Torra (2013), "Rank swapping" (the plain variant, each variable by itself) and "Rank swapping record
linkage (RS-RL)", which names the variants p-distribution and p-buckets of Nin, Herranz and Torra (2008). Differs from
it: a tie is broken at random, and the window is a share of the records. Torra (2013) does not define the two variants;
they are implemented so. p-distribution: the ranks are gone through from the lowest, and rank i swaps with rank i + r, r
from N(p/2, p/2) in whole ranks, drawn again until that rank is there and free. p-buckets: the ranks are cut into
buckets of equal size (to within one), and a value of bucket r swaps with a uniform free value of bucket s >= r, drawn
with weight 2^-(s - r + 1), so about half of them within their own bucket. What the paper does where a draw meets no
free value may differ.
"""

from typing import ClassVar, Literal, Self

import numpy as np
import pandas as pd
from numpy.random import Generator
from pydantic import Field, model_validator

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.errors import PlanError
from sluice.ground.frame_columns import with_columns
from sluice.ground.variables import Kind, Variable, Variables
from sluice.masking.column_numbers import numbers
from sluice.masking.masking_step import MaskingStep
from sluice.risk.transparency.attack import Attack
from sluice.risk.transparency.bounds import RankWindow
from sluice.risk.transparency.linkage import LearnedCloseness

Variant = Literal["plain", "p_distribution", "p_buckets"]


class RankSwapping(MaskingStep):
    """Swap the values of continuous, integer and ordinal variables, each by itself, between records of nearby rank."""

    method: Literal["rank_swapping"] = "rank_swapping"
    variant: Variant = Field(
        default="plain",
        description=(
            "plain: no value moves farther than the window; p_distribution: the distance is normal around half "
            "the window; p_buckets: nearer buckets of ranks are likelier. Only plain has a bound, which an "
            "intruder can use"
        ),
    )
    window: float | None = Field(
        default=None,
        description="plain, p_distribution: how far a value may move in rank (p_distribution: two standard "
        "deviations), a share of the records in (0, 1]",
    )
    buckets: int | None = Field(
        default=None, description="p_buckets: number of buckets, at least 2 and at most the number of values"
    )

    example: ClassVar[str] = "{method: rank_swapping, columns: [income, rent], window: 0.1}"
    use_when: ClassVar[str] = (
        "One or two numbers or ordered categories must keep their exact distribution. Over a dozen "
        "correlated numbers, windows from 0.05 to 0.15 identify nearly everybody: use spectral_swapping, "
        "microaggregation together, or a synthesis."
    )
    preserves: ClassVar[str] = (
        "Every variable's own distribution exactly. Correlations between variables shrink, the more the wider the "
        "window; totals of subgroups change."
    )
    known_attack: ClassVar[str] = (
        "An intruder who knows the window intersects the few masked records that can come from a known one "
        "(Torra 2013, RS-RL). The other variants leave no certain candidates, but most values still lie "
        "near their place, and a dozen such places find the record."
    )
    missing_values: ClassVar[str] = "A missing value stays where it is; ranks and window count the others."
    in_an_analysis: ClassVar[str] = (
        "Each variable by itself needs no correction: its values are those that were collected. Correlations with other"
        " variables and differences between subgroups come out too small, the more the wider the window; no factor is "
        "known."
    )
    attack_measured: ClassVar[str] = (
        "Intersect the windows of all swapped variables. On 12 variables of Census (window: 0.1): 95 % found; 95 % "
        "surely found."
    )

    @model_validator(mode="after")
    def _variant_has_its_parameter(self) -> Self:
        on = f"rank_swapping on {', '.join(map(repr, self.columns))}"
        needed, other = ("buckets", "window") if self.variant == "p_buckets" else ("window", "buckets")
        if getattr(self, needed) is None:
            raise ValueError(f"{on}: variant {self.variant} needs '{needed}'")
        if getattr(self, other) is not None:
            raise ValueError(f"{on}: variant {self.variant} takes '{needed}', not '{other}'; leave it out")
        if self.window is not None and not 0 < self.window <= 1:
            hint = (
                f"Is it a percentage? Use {self.window / 100:g}."
                if 1 < self.window <= 100
                else "It is the share of the records over which a value may move."
            )
            raise ValueError(f"window of {on} must be in (0, 1]; got {self.window:g}. {hint}")
        if self.buckets is not None and self.buckets < 2:
            raise ValueError(f"buckets of {on} must be at least 2; got {self.buckets}. Ten hold a tenth each.")
        return self

    def released(self, variables: Variables) -> dict[str, Variable]:
        """The same variables: every released value is a value of the original column."""
        self.refuse_unless(variables, Kind.CONTINUOUS, Kind.INTEGER, Kind.ORDINAL)
        return dict(variables)

    def mask(self, frame: pd.DataFrame, variables: Variables, rng: Generator) -> pd.DataFrame:
        """Raises PlanError when a column has one value only, the window reaches no other, or buckets stay empty."""
        self.released(variables)
        swapped = {}
        for name in self.columns:
            values = numbers(frame, [name])[:, 0]
            try:
                sources = swap_sources(values, rng, self.variant, window=self.window, buckets=self.buckets)
            except PlanError as error:
                raise PlanError(f"rank_swapping on '{name}' {error}") from None
            swapped[name] = frame[name].take(sources).set_axis(frame.index)
        return with_columns(frame, swapped)

    def attacks(self) -> tuple[Attack, ...]:
        within = LearnedCloseness(self.columns)  # near places are likelier than far ones, in each variant
        if self.variant == "plain" and self.window is not None:
            return (RankWindow(self.columns, self.window), within)
        return (within,)

    def describe(self) -> str:
        return (
            f"The values of {', '.join(self.columns)} were exchanged, each variable by itself, between records with "
            "similar values; the distribution of each variable is unchanged."
        )


def swap_sources(
    values: FloatArray,
    rng: Generator,
    variant: Variant = "plain",
    *,
    window: float | None = None,
    buckets: int | None = None,
) -> IntArray:
    """For each record, the record at a near rank whose value it takes; itself where the value is missing.

    A value is swapped once. In the plain variant the partner is uniform among the free ranks within the window; as the
    rank at its end is always free, every value is swapped; of an odd number, one near the top is left over and stays,
    in every variant.

    values  : shape (n,), NaN where missing; n counts the others
    window  : share of the n values, in (0, 1]. plain: the most that a value moves; p_distribution: p, so that the
              distance is N(p/2, p/2)
    buckets : for p_buckets in place of the window, 2 to n
    returns : shape (n,), a permutation
    raises  : PlanError if there is one value only, the window is less than one rank, or there are more buckets than
              values
    cost    : O(n log n) time, O(n) memory
    """
    from sluice.masking.swapping.rank_swapping_kernel import (
        partners_at_normal_distance,
        partners_in_buckets,
        partners_within,
        shuffle_ties,
    )

    present = np.flatnonzero(np.isfinite(values))
    sources = np.arange(len(values))
    count = len(present)
    if count == 0:
        return sources
    if count == 1:
        raise PlanError("needs at least 2 values to exchange; it has 1.")
    if buckets is not None and buckets > count:
        raise PlanError(f"has {count} values for {buckets} buckets. Use at most as many buckets as values.")
    ranks = 0 if window is None else int(window * count * (1 + 1e-12))  # 0.29 * 100 is 28.999...
    if window is not None and ranks < 1:
        raise PlanError(
            f"reaches no other value: a window of {window:g} of {count} values is less than one rank. "
            f"Use at least {1 / count:.2g}."
        )
    order = np.argsort(values[present])
    shuffle_ties(order, values[present], rng)
    ranked = present[order]
    if buckets is not None:
        partners = partners_in_buckets(count, buckets, rng)
    elif variant == "p_distribution" and window is not None:
        partners = partners_at_normal_distance(count, window * count, rng)
    else:
        partners = partners_within(count, ranks, rng)
    sources[ranked] = ranked[partners]
    return sources
