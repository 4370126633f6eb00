"""Rank swapping: exchange values between records of nearby rank.

Source: 004_1eece6b9d3791e64.txt, "Rank swapping" (the plain variant, each variable by itself). Differs from it: a tie
is broken at random, and the window is a share of the records.
"""

from typing import Literal, Self

import numba
import numpy as np
import numpy.typing as npt
import pandas as pd
from numpy.random import Generator
from pydantic import Field, model_validator

from sluice.errors import PlanError
from sluice.masking.perturbed_number import FloatArray, numbers
from sluice.masking.step import MaskingStep
from sluice.variables import Kind, Variable, Variables

IntArray = npt.NDArray[np.int64]

_TRIES = 64  # random draws for a free partner before all free ones are counted


class RankSwapping(MaskingStep):
    """Swap the values of continuous, integer and ordinal variables; missing values stay where they are."""

    method: Literal["rank_swapping"] = "rank_swapping"
    window: float = Field(description="how far a value may move in rank: share of the records in (0, 1], not percent")

    @model_validator(mode="after")
    def _window_is_a_share(self) -> Self:
        if not 0 < self.window <= 1:
            hint = (
                f"Is it a percentage? Use {self.window / 100:g}."
                if 1 < self.window <= 100
                else "It is the share of the records over which a value may move."
            )
            raise ValueError(
                f"window of rank_swapping on {', '.join(map(repr, self.columns))} must be in (0, 1]; "
                f"got {self.window:g}. {hint}"
            )
        return self

    def released(self, variables: Variables) -> dict[str, Variable]:
        """The same variables: every released value is a value of the original column."""
        self.refuse_unless(variables, Kind.CONTINUOUS, Kind.INTEGER, Kind.ORDINAL)
        return dict(variables)

    def mask(self, frame: pd.DataFrame, variables: Variables, rng: Generator) -> pd.DataFrame:
        """Raises PlanError when a column has one value only, or the window does not reach the next one."""
        self.released(variables)
        swapped = {}
        for name in self.columns:
            values = numbers(frame, [name])[:, 0]
            try:
                sources = swap_sources(values, self.window, rng)
            except PlanError as error:
                raise PlanError(f"rank_swapping on '{name}' {error}") from None
            swapped[name] = frame[name].take(sources).set_axis(frame.index)
        return frame.assign(**swapped)

    def describe(self) -> str:
        return (
            f"The values of {', '.join(self.columns)} were exchanged, each variable by itself, between records with "
            "similar values; the distribution of each variable is unchanged."
        )


def rank_swap(values: FloatArray, window: float, rng: Generator) -> FloatArray:
    """Swap each value with a free one at most ``window * n`` ranks above it.

    values  : shape (n,), NaN where missing; n counts the others
    window  : share of the n values, in (0, 1]
    returns : shape (n,), the same multiset of values, NaN at the same places
    raises  : PlanError if there is one value only, or ``window * n`` is less than 1
    cost    : O(n log n) time, O(n) memory
    """
    return values[swap_sources(values, window, rng)]


def swap_sources(values: FloatArray, window: float, rng: Generator) -> IntArray:
    """For each record, the record whose value it takes; itself where the value is missing. As `rank_swap`.

    The partner is uniform among the free ranks within reach, and a value is swapped once. As the rank at the end of the
    reach is always free, every value is swapped; of an odd number, one near the top is left over and stays.
    """
    present = np.flatnonzero(np.isfinite(values))
    sources = np.arange(len(values))
    if len(present) == 0:
        return sources
    if len(present) == 1:
        raise PlanError("needs at least 2 values to exchange; it has 1.")
    reach = int(np.floor(window * len(present) * (1 + 1e-12)))  # 0.29 * 100 is 28.999...
    if reach < 1:
        raise PlanError(
            f"reaches no other value: a window of {window:g} of {len(present)} values is less than one rank. "
            f"Use at least {1 / len(present):.2g}."
        )
    order = np.argsort(values[present])
    _shuffle_ties(order, values[present], rng)
    ranked = present[order]
    sources[ranked] = ranked[_partners(len(ranked), reach, rng)]
    return sources


@numba.njit(cache=True)
def _shuffle_ties(order: IntArray, values: FloatArray, rng: Generator) -> None:
    """Bring each run of equal values in `order` into random order (Fisher-Yates)."""
    start = 0
    for end in range(1, len(order) + 1):
        if end < len(order) and values[order[end]] == values[order[start]]:
            continue
        for last in range(end - 1, start, -1):
            other = start + int(rng.random() * (last - start + 1))
            order[last], order[other] = order[other], order[last]
        start = end


@numba.njit(cache=True)
def _partners(n: int, reach: int, rng: Generator) -> IntArray:
    """For each of n ranks the rank that it swaps with."""
    partners = np.arange(n)
    free = np.ones(n, dtype=np.bool_)
    for rank in range(n):
        if not free[rank]:
            continue
        free[rank] = False
        within = min(reach, n - 1 - rank)
        chosen = -1
        # Rejection draws uniformly among the free ones; where few are left (near the top), count them and pick one.
        for _ in range(min(_TRIES, within)):
            candidate = rank + 1 + int(rng.random() * within)
            if free[candidate]:
                chosen = candidate
                break
        if chosen < 0:
            remaining = 0
            for candidate in range(rank + 1, rank + 1 + within):
                remaining += free[candidate]
            skip = int(rng.random() * remaining)
            for candidate in range(rank + 1, rank + 1 + within):
                if free[candidate]:
                    if skip == 0:
                        chosen = candidate
                        break
                    skip -= 1
        if chosen >= 0:
            partners[rank], partners[chosen] = chosen, rank
            free[chosen] = False
    return partners
