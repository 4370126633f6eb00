"""Local suppression: single key values are set missing until no combination of keys is rare.

Source: Torra (2013), "Local suppression" (certain values of individual variables are suppressed to increase
the set of records agreeing on a combination of values); k-anonymity: Desfontaines (2020), Definition 1. Differs
from it: importances and `all_m` as in sdcMicro's `localSuppression`; which values go is decided as
sluice/masking/recoding/unsafe_combinations.py says.
"""

from collections.abc import Sequence
from itertools import combinations
from math import comb
from typing import ClassVar, Literal, Self

import numpy as np
import pandas as pd
from pydantic import Field, PositiveInt, model_validator

from sluice.arrays import IntArray
from sluice.errors import PlanError, did_you_mean
from sluice.masking.recoding.unsafe_combinations import MissingMatches, hide_unsafe
from sluice.masking.step import MaskingStep
from sluice.risk.transparency.attack import Attack
from sluice.risk.transparency.why_suppressed import WhySuppressed
from sluice.variables import Kind, Variable, Variables

_MOST_SUBSETS = 2000  # of the keys, each made k-anonymous by itself


class LocalSuppression(MaskingStep):
    """Set key values missing until every record shares its combination of keys with at least k - 1 others."""

    method: Literal["local_suppression"] = "local_suppression"
    k: int = Field(ge=1, description="smallest number of records that may share a combination of keys")
    importance: dict[str, PositiveInt] = Field(
        default_factory=dict,
        description="key variable: rank. A key of rank 1 is kept longest: it loses a value only where no choice among "
        "keys of rank 2, 3, ... will do, however many. Keys without a rank are suppressed first. With no rank at all "
        "as few cells as possible are suppressed, among equals those of the variable with the most categories",
    )
    missing_matches: MissingMatches = Field(
        default="category",
        description="category: a missing value is a category of its own, the strict reading; any: it matches every "
        "value, as in sdcMicro, which asks for fewer suppressions and protects less",
    )
    all_m: int | None = Field(
        default=None,
        ge=1,
        description="number of keys, at most that of the columns: every combination of so many of them (and so of "
        "fewer) is shared by k records, but not that of all keys; against intruders who know so many. Absent: all keys",
    )

    example: ClassVar[str] = "{method: local_suppression, columns: [age, sex, region], k: 3, importance: {sex: 1}}"
    use_when: ClassVar[str] = (
        "A few records have rare combinations of categorical keys, after global recoding has dealt with most; k from "
        "3. Use `all_m` where there are too many keys for all of them together."
    )
    preserves: ClassVar[str] = (
        "Every value that is left is true. What is lost are the values of rare people, so that analyses of the "
        "complete records only are biased."
    )
    known_attack: ClassVar[str] = (
        "Equal sensitive values within a combination are disclosed (Desfontaines 2020, section 2.1.1). With "
        "`missing_matches: any` a rare combination may stay, covered only by records with missing values; where "
        "another variable determines the suppressed one, it can be filled in again."
    )
    missing_values: ClassVar[str] = (
        "A value missing before counts as `missing_matches` says: a category of its own, or equal to any. It stays "
        "missing, and cannot be told from a suppressed one."
    )

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        for name in self.importance:
            if name not in self.columns:
                raise ValueError(f"importance: '{name}' is not among columns.{did_you_mean(name, self.columns)}")
        if self.all_m is None:
            return self
        if self.all_m > len(self.columns):
            raise ValueError(f"all_m must be at most the number of columns, {len(self.columns)}; got {self.all_m}")
        if comb(len(self.columns), self.all_m) > _MOST_SUBSETS:
            raise ValueError(
                f"all_m of {self.all_m} makes {comb(len(self.columns), self.all_m):,} sets of {len(self.columns)} "
                f"columns; at most {_MOST_SUBSETS:,} are treated. Use a smaller all_m (2 to 4), or fewer columns."
            )
        return self

    def released(self, variables: Variables) -> dict[str, Variable]:
        """The keys become nullable, with no bound on the share of missing values. Text is refused."""
        self.refuse_unless(variables, *(kind for kind in Kind if kind is not Kind.TEXT))
        nullable = {"nullable": True, "max_missing_share": None}
        return {
            name: variable.model_copy(update=nullable) if name in self.columns else variable
            for name, variable in variables.items()
        }

    def mask(self, frame: pd.DataFrame, variables: Variables, rng: np.random.Generator) -> pd.DataFrame:
        """See MaskingStep. Raises PlanError if there are fewer than k records; draws nothing.

        cost : O(n p) and O(c 2^p) for c combinations of p keys. A million records with 7 keys take 7 to 9 times as
               long as counting their combinations; with `all_m` that for each set of so many keys, several times over
        """
        self.released(variables)
        if len(frame) < self.k:
            raise PlanError(f"k of {self.method} must be at most the number of records, {len(frame)}; got {self.k}.")
        keys, sizes, combination = distinct_combinations(frame, self.columns)
        last = max(self.importance.values(), default=0) + 1
        ranks = [self.importance.get(name, last) for name in self.columns]
        m = self.all_m or len(self.columns)
        pieces = hide_unsafe(keys, sizes, self.k, self.missing_matches, ranks, m)
        lost = pieces.keys != keys[pieces.origin]
        piece = pieces.of_records(combination)
        losers = np.flatnonzero(lost.any(axis=1)[piece])
        masked = frame.copy()
        for position, name in enumerate(self.columns):
            if lost[:, position].any():
                column = frame[name].copy()
                column.iloc[losers[lost[piece[losers], position]]] = None
                masked[name] = column
        for subset in combinations(self.columns, m):
            refuse_rare(masked, subset, self.k, self.missing_matches)
        return masked

    def attacks(self) -> tuple[Attack, ...]:
        m = (self.all_m or len(self.columns)) + len(self.strata)
        return (WhySuppressed((*self.columns, *self.strata), self.k, m),)

    def describe(self) -> str:
        counts = "matches any value" if self.missing_matches == "any" else "counts as a value of its own"
        these = "all of these variables" if self.all_m is None else f"any {self.all_m} of these variables"
        return (
            f"Single values of {', '.join(self.columns)} were removed, so that at least {self.k} records agree on "
            f"{these}; a missing value {counts}."
        )


def distinct_combinations(frame: pd.DataFrame, columns: Sequence[str]) -> tuple[IntArray, IntArray, IntArray]:
    """The combinations of `columns` that occur, in the order of their values; their records; that of each record.

    returns : shape (c, p), codes from 1 in the order of the values, 0 where missing; shape (c,); shape (n,)
    """
    from sluice.risk.classes.equivalence_classes import category_codes, equivalence_classes

    codes = [category_codes(frame[name]) for name in columns]
    classes = equivalence_classes(codes)
    record = np.empty(len(classes.sizes), dtype=np.int64)
    record[classes.labels] = np.arange(len(frame))  # one that has the combination
    keys = np.column_stack([code[record].astype(np.int64) + 1 for code in codes])
    keys[frame[list(columns)].iloc[record].isna().to_numpy()] = 0
    order = np.lexsort(keys.T[::-1])  # so that no choice depends on the order of the records
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return keys[order], classes.sizes[order], place[classes.labels]


def refuse_rare(frame: pd.DataFrame, columns: Sequence[str], k: int, missing_matches: MissingMatches) -> None:
    """Raise PlanError unless every record shares its combination of `columns` with at least k - 1 others."""
    from sluice.risk.classes.equivalence_classes import classes_of, matching_frequencies

    names = list(columns)
    if missing_matches == "any":
        rare = int((matching_frequencies(frame, names) < k).sum())
    else:
        sizes = classes_of(frame, names).sizes
        rare = int(sizes[sizes < k].sum())
    if rare:
        raise PlanError(
            f"local_suppression: {rare} of {len(frame)} records share their combination of {', '.join(names)} with "
            f"fewer than {k - 1} others; nothing is released."
        )
