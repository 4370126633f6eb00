"""Anatomization: groups of records with different sensitive values, within which nobody knows whose is which.

Sources: Xiong (CS573 slides), "Anonymization methods" (anatomization: de-associate the relationship between
quasi-identifiers and sensitive attribute); Xiao and Tao (2006), algorithm Anatomize: while l values are left, a group
takes a random record of each of the l most frequent ones; each record that is then left goes to a random group without
its value. Differs from it: equally frequent values are taken in random order, and one file is released instead of two
tables, with the sensitive values permuted within each group. The file joined to itself by group carries exactly what
the two tables tell; in a notebook the result of `sluice.mask` gives them, too.
"""

from collections.abc import Sequence
from typing import ClassVar, Literal, Self

import numpy as np
import pandas as pd
from numpy.random import Generator
from pydantic import Field, PrivateAttr, model_validator

from sluice.ground.arrays import IntArray
from sluice.ground.errors import PlanError
from sluice.ground.frame_columns import with_columns
from sluice.ground.variables import Kind, Variable, Variables
from sluice.ground.visible_text import Name
from sluice.masking.masking_step import MaskingStep
from sluice.masking.swapping.permutation import permuted_within
from sluice.risk.transparency.attack import Attack
from sluice.risk.transparency.permuted_values import GroupValues


class Anatomization(MaskingStep):
    """Form l-diverse groups, number them in a new column, and permute the sensitive values within each."""

    method: Literal["anatomization"] = "anatomization"
    columns: tuple[str, ...] = Field(
        min_length=1,
        description="the sensitive variables, of any kind; several move together",
    )
    l: int = Field(description="different sensitive values in each group, at least 2")  # noqa: E741, the source's name
    group_column: Name = Field(default="group", min_length=1, description="name of the new column with the group")

    _along: tuple[str, ...] = PrivateAttr(default=())  # columns that move with the values and are no part of them

    takes_strata: ClassVar[bool] = False
    takes_households: ClassVar[bool] = False

    example: ClassVar[str] = "{method: anatomization, columns: [illness], l: 3}"
    use_when: ClassVar[str] = (
        "Quasi-identifiers must stay, and no sensitive value may be more certain than 1 / l; l from 3 to 10."
    )
    preserves: ClassVar[str] = (
        "All other columns exactly, and the distribution of the sensitive ones in the file and in each "
        "group. The association between them is kept as far as a group of about l records tells it."
    )
    known_attack: ClassVar[str] = (
        "People are found by their quasi-identifiers, each with l candidate values. Knowing some members' "
        "values, or that some values cannot be, narrows them; different values may be similar in meaning."
    )
    missing_values: ClassVar[str] = "A missing sensitive value is a value of its own, and moves like any other."
    in_an_analysis: ClassVar[str] = (
        "Shares of the sensitive values in the file and in each numbered group are exact. A person's own value is not "
        "told: join by the group's number, and give each value in the group the same probability. Associations with the"
        " other variables come out too weak."
    )
    attack_measured: ClassVar[str] = (
        "Find a person's group and guess the value most frequent in it. On 1 variable of Adult (l: 3): 33 % of the "
        "values computed, 13 % without."
    )

    @model_validator(mode="after")
    def _l_tells_values_apart(self) -> Self:
        if self.l < 2:
            raise ValueError(
                f"l of anatomization on {', '.join(map(repr, self.columns))} must be at least 2; got {self.l}. "
                "It is the number of different sensitive values in a group."
            )
        return self

    def released(self, variables: Variables) -> dict[str, Variable]:
        """The same variables and one more, an integer: the group."""
        self.refuse_unless(variables, *Kind)
        if self.group_column in variables:
            raise PlanError(
                f"group_column of anatomization: there is a variable '{self.group_column}' already. Name another."
            )
        group = Variable(
            name=self.group_column,
            kind=Kind.INTEGER,
            minimum=1,
            description=f"group of records that share their values of {', '.join(self.columns)}",
        )
        return {**variables, group.name: group}

    def mask(self, frame: pd.DataFrame, variables: Variables, rng: Generator) -> pd.DataFrame:
        """Raises PlanError when more than 1 / l of the records share a sensitive value."""
        from sluice.risk.classes.equivalence_classes import classes_of

        self.released(variables)
        values = classes_of(frame, self.columns)
        try:
            groups = l_diverse_groups(values.labels, self.l, rng)
        except PlanError as error:
            raise PlanError(f"anatomization of {', '.join(map(repr, self.columns))} {error}") from None
        sources = permuted_within(groups, rng)
        moved = (*self.columns, *self._along)
        permuted = {name: frame[name].take(sources).set_axis(frame.index) for name in moved}
        numbered = pd.Series(groups + 1, index=frame.index, dtype="Int64")
        return with_columns(frame, {**permuted, self.group_column: numbered})

    @property
    def moves_jointly(self) -> bool:
        return len(self.columns) > 1

    def moving(self, name: str) -> "Anatomization":
        step = self.model_copy()
        step._along = (*self._along, name)
        return step

    def attacks(self) -> tuple[Attack, ...]:
        return (GroupValues(self.columns, (self.group_column,)),)

    def describe(self) -> str:
        return (
            f"The values of {', '.join(self.columns)} were permuted within groups of records, given in "
            f"{self.group_column}, that have at least {self.l} different ones each; which record of a group a value "
            "belongs to is unknown, everything else is as it was."
        )


def l_diverse_groups(values: IntArray, l: int, rng: Generator) -> IntArray:  # noqa: E741, the source's name
    """Groups of at least l records, all with different values, by the algorithm Anatomize.

    values  : shape (n,), codes of the sensitive values, all from 0 on
    returns : shape (n,), groups 0..g-1 with g = n // l, numbered in random order
    raises  : PlanError if a value is that of more than n / l records: no l-diverse groups exist
    cost    : O(n log v) for v values
    source  : Xiao and Tao 2006, section 4. While l values are left, the most frequent ones are; so at the end at most
              l - 1 values have a record left, and each only one
    """
    from sluice.masking.swapping.anatomization_kernel import most_frequent_first

    n = len(values)
    count = n // l
    groups = np.full(n, -1, dtype=np.int64)
    if n == 0:
        return groups
    sizes = np.bincount(values)
    most = int(sizes.max())
    if most * l > n:
        hint = f"Use l of at most {n // most}." if n // most > 1 else "That is more than half: no l serves."
        raise PlanError(
            f"with l = {l} needs every value to be that of at most 1 / l of the {n} records, {count}; "
            f"one is that of {most}. {hint}"
        )
    shuffled = rng.permutation(n)
    by_value = shuffled[np.argsort(values[shuffled], kind="stable")]  # the records of each value, in random order
    taken = most_frequent_first(sizes, l, rng)
    # The i-th time that a value is taken, it is the i-th of its records that goes.
    turn = np.argsort(taken, kind="stable")
    left = sizes - np.bincount(taken, minlength=len(sizes))
    starts = np.cumsum(sizes) - sizes
    numbers = rng.permutation(count)
    first_turn = np.cumsum(sizes - left) - (sizes - left)
    ordered = taken[turn]
    members = by_value[starts[ordered] + np.arange(len(turn)) - first_turn[ordered]]
    groups[members] = numbers[turn // l]
    for value in np.flatnonzero(left):
        own = by_value[starts[value] : starts[value] + sizes[value]]
        without = np.setdiff1d(np.arange(count), groups[own[:-1]])
        groups[own[-1]] = rng.choice(without)
    return groups


def anatomized_tables(
    frame: pd.DataFrame, columns: Sequence[str], group_column: str
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The two tables of Anatomy from an anatomized file: who is in which group, and which values a group has.

    frame   : an anatomized file, any index
    columns : its sensitive variables
    returns : the quasi-identifier table, all other columns with the group, rows as in `frame`; and the sensitive table
              (group, sensitive variables, 'count'), a row for each value of a group, sorted. Joined by group, the
              tables give each record every value of its group, with its share: all that `frame` tells, whose order of
              the values within a group is random
    raises  : PlanError when a sensitive variable is named 'count'
    cost    : O(n log n)
    """
    from sluice.risk.classes.equivalence_classes import classes_of

    if "count" in columns:
        raise PlanError("the sensitive table has a column 'count' of its own; rename the variable 'count'.")
    keys = [group_column, *columns]
    cells = classes_of(frame, keys)
    first = np.empty(len(cells.sizes), dtype=np.int64)
    first[cells.labels] = np.arange(len(frame))
    sensitive = frame.iloc[first][keys].assign(count=cells.sizes)
    return frame.drop(columns=list(columns)), sensitive.sort_values(keys, ignore_index=True)
