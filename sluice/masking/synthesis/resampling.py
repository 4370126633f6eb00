"""Resampling: replace each value by the average of the values of its rank in bootstrap samples.

Source: Torra (2013), "Resampling". Differs from it: the slides give the masked variable in rank order and leaves
open which record gets which value; here the j-th value goes to the record of rank j, ties at random, so that it can be
released with other variables.
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
from sluice.masking.column_numbers import Round, numbers, perturbed, stored
from sluice.masking.masking_step import MaskingStep
from sluice.risk.transparency.attack import Attack
from sluice.risk.transparency.bounds import SameRank


class Resampling(MaskingStep):
    """Replace the values of continuous and integer variables by averages over bootstrap samples, rank by rank."""

    method: Literal["resampling"] = "resampling"
    samples: int = Field(
        description="number of bootstrap samples that are averaged, at least 1; with more the changes are smaller"
    )
    round: Round = False

    example: ClassVar[str] = "{method: resampling, columns: [income], samples: 3}"
    use_when: ClassVar[str] = "The distribution and order of a number must stay, and a little uncertainty is enough."
    preserves: ClassVar[str] = "The order of the records and the range; nearly the distribution and rank correlations."
    known_attack: ClassVar[str] = (
        "Linkage by rank, because the order of the records is unchanged. Extremes hardly move: with one "
        "sample the largest value is released as it is in 63 % of the cases."
    )
    missing_values: ClassVar[str] = "A missing value stays missing; the samples are of the others."
    in_an_analysis: ClassVar[str] = (
        "Quantiles and rank correlations are nearly right. Variances come out a little too small, as each value is an "
        "average over samples at its rank."
    )
    attack_measured: ClassVar[str] = (
        "Take the records that can have the person's rank in every variable; equal values share their ranks. On 12 "
        "variables of Census (samples: 5): 100 % found; 100 % surely found."
    )

    @model_validator(mode="after")
    def _samples_are_some(self) -> Self:
        if self.samples < 1:
            raise ValueError(
                f"samples of resampling on {', '.join(map(repr, self.columns))} must be at least 1; "
                f"got {self.samples}. It counts the bootstrap samples that are averaged."
            )
        return self

    def released(self, variables: Variables) -> dict[str, Variable]:
        """Integer variables become continuous unless `round`; bounds stay, because no average leaves the range."""
        self.refuse_unless(variables, Kind.CONTINUOUS, Kind.INTEGER)
        changed = {name: perturbed(variables[name], whole=self.round, bounded=True) for name in self.columns}
        return {**variables, **changed}

    def mask(self, frame: pd.DataFrame, variables: Variables, rng: Generator) -> pd.DataFrame:
        """Raises PlanError when a column has one value only: every sample would repeat it."""
        released = self.released(variables)
        masked = {}
        for name in self.columns:
            values = numbers(frame, [name])[:, 0]
            if np.isfinite(values).sum() == 1:
                raise PlanError(f"resampling on '{name}' needs at least 2 values to draw from; it has 1.")
            masked[name] = stored(resample(values, self.samples, rng), released[name]).set_axis(frame.index)
        return with_columns(frame, masked)

    def attacks(self) -> tuple[Attack, ...]:
        return (SameRank(self.columns),)

    def describe(self) -> str:
        return (
            f"Each value of {', '.join(self.columns)} was replaced by the value of its rank in random samples from the "
            "variable; the order of the records is unchanged, the distribution nearly so."
        )


def resample(values: FloatArray, samples: int, rng: Generator) -> FloatArray:
    """The average, over bootstrap samples of the values, of the value at each record's rank.

    values  : shape (n,), NaN where missing; the samples have the size of the others
    samples : number of samples, at least 1
    returns : shape (n,), NaN where missing, within the range of the values and in their order
    cost    : O(n log n + n samples) time, O(n) memory
    """
    present = np.flatnonzero(np.isfinite(values))
    resampled = values.copy()
    if len(present) == 0:
        return resampled
    order = present[ranking(values[present], rng)]
    ranked = values[order]
    count = len(ranked)
    total = np.zeros(count)
    for _ in range(samples):
        # How often each value is drawn gives the sample in order, without sorting it.
        total += np.repeat(ranked, np.bincount(rng.integers(0, count, count), minlength=count)) / samples
    resampled[order] = np.clip(total, ranked[0], ranked[-1])  # rounding may leave the range
    return resampled


def ranking(values: FloatArray, rng: Generator) -> IntArray:
    """Positions of the values from the smallest to the largest, equal values in random order.

    values : shape (n,), finite
    cost   : O(n log n)
    """
    from sluice.masking.swapping.rank_swapping_kernel import shuffle_ties

    order = np.argsort(values)
    shuffle_ties(order, values, rng)
    return order
