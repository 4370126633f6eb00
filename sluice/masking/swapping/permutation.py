"""Permutation: deal the values of the columns out anew among the records, within groups of equal records.

Sources: Xiong (CS573 slides), "Anonymization methods" (permutation: de-associate the relationship between
quasi-identifiers and sensitive attribute); Lasko and Vinterbo (2010), section III-B1 (cell swapping, which permutes
each column by itself). Every permutation is equally likely, the one that changes nothing too: on average one value a
group stays where it was.
"""

from collections.abc import Sequence
from typing import ClassVar, Literal, Self

import numpy as np
import pandas as pd
from numpy.random import Generator
from pydantic import Field, model_validator

from sluice.ground.arrays import IntArray
from sluice.ground.errors import PlanError
from sluice.ground.frame_columns import with_columns
from sluice.ground.sentence import count_of
from sluice.ground.variables import Kind, Variable, Variables
from sluice.masking.masking_step import MaskingStep
from sluice.risk.transparency.attack import Attack
from sluice.risk.transparency.linkage import LearnedCloseness
from sluice.risk.transparency.permuted_values import PermutedValues


class Permutation(MaskingStep):
    """Permute the values of columns of any kind at random, within groups of records or over the whole file."""

    method: Literal["permutation"] = "permutation"
    within: tuple[str, ...] = Field(
        default=(),
        description="variables; values are permuted among records that are equal in all of them. None: over the whole "
        "file",
    )
    jointly: bool = Field(
        default=True, description="move the columns of a record together; false: permute each column by itself"
    )
    small_groups: Literal["refuse", "keep"] = Field(
        default="refuse", description="a group of one record, whose values cannot move"
    )

    example: ClassVar[str] = "{method: permutation, columns: [income, rent], within: [region]}"
    use_when: ClassVar[str] = (
        "The link between sensitive columns and the record must be cut, within groups of equal quasi-identifiers."
    )
    preserves: ClassVar[str] = (
        "The distribution of each column in each group exactly; with `jointly` also that of the columns together. "
        "All association with other columns within a group is lost."
    )
    known_attack: ClassVar[str] = (
        "One of the values of a person's group is theirs: if all are (nearly) equal, nothing is hidden "
        "(homogeneity). Small groups leave few candidates."
    )
    missing_values: ClassVar[str] = "A missing value is moved like any other; a missing value in `within` is a value."
    in_an_analysis: ClassVar[str] = (
        "Each variable by itself needs no correction, in each group in which it was permuted. Its association with "
        "other variables within these groups is lost: cross it with nothing but the grouping variables."
    )
    attack_measured: ClassVar[str] = (
        "Guess the most frequent value of a person's group, or of those in it who share one known value. On 6 variables"
        " of Census: 100 % of the values computed, 6 % without."
    )

    @model_validator(mode="after")
    def _groups_stay(self) -> Self:
        for name in self.within:
            if name in self.columns:
                raise ValueError(f"within of permutation names '{name}', which is among its columns; groups must stay")
        return self

    def released(self, variables: Variables) -> dict[str, Variable]:
        """The same variables."""
        self.refuse_unless(variables, *Kind)
        for name in self.within:
            if name not in variables:
                raise PlanError(f"within of permutation: no variable '{name}'.", came=name, allowed=variables)
        return dict(variables)

    def mask(self, frame: pd.DataFrame, variables: Variables, rng: Generator) -> pd.DataFrame:
        """Raises PlanError when there are groups of one record, unless `small_groups: keep`."""
        from sluice.risk.classes.equivalence_classes import classes_of

        self.released(variables)
        groups = np.zeros(len(frame), dtype=np.int64)
        if self.within:
            groups = classes_of(frame, self.within).labels
        alone = int((np.bincount(groups) == 1).sum())
        if alone and self.small_groups == "refuse":
            raise PlanError(
                f"permutation of {', '.join(map(repr, self.columns))}: the values of {count_of(alone, 'group')} of a "
                "single record cannot move. Use fewer or wider variables in 'within', or small_groups: keep."
            )
        sets: Sequence[tuple[str, ...]] = [self.columns] if self.jointly else [(name,) for name in self.columns]
        permuted: dict[str, pd.Series] = {}
        for names in sets:
            sources = permuted_within(groups, rng)
            permuted |= {name: frame[name].take(sources).set_axis(frame.index) for name in names}
        return with_columns(frame, permuted)

    def attacks(self) -> tuple[Attack, ...]:
        guess = PermutedValues(self.columns, (*self.within, *self.strata), self.jointly)
        return (guess, LearnedCloseness(self.columns)) if guess.within else (guess,)  # groups may keep values near

    @property
    def moves_jointly(self) -> bool:
        return self.jointly and len(self.columns) > 1

    def describe(self) -> str:
        together = " together" if self.jointly and len(self.columns) > 1 else ""
        among = f" of equal {', '.join(self.within)}" if self.within else ""
        return f"The values of {', '.join(self.columns)} were permuted{together} at random among the records{among}."


def permuted_within(groups: IntArray, rng: Generator) -> IntArray:
    """For each record, the record of its group whose values it takes: a uniform permutation of each group.

    groups  : shape (n,), labels from 0
    returns : shape (n,), a permutation of 0..n-1
    cost    : O(n log n)
    """
    shuffled = rng.permutation(len(groups))
    sources = np.empty_like(shuffled)
    # The i-th of a group's records takes from the i-th of them in random order.
    sources[np.argsort(groups, kind="stable")] = shuffled[np.argsort(groups[shuffled], kind="stable")]
    return sources
