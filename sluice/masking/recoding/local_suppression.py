"""Local suppression: single key values are set missing until no combination of keys is rare.

Source: Torra (2013), "Local suppression" (certain values of individual variables are suppressed to increase
the set of records matching_records on a combination of values); k-anonymity: Desfontaines (2020), Definition 1. Differs
from it: importances and `all_m` as in sdcMicro's `localSuppression`; which values go is decided as
sluice/masking/recoding/unsafe_combinations.py says.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import comb
from typing import Any, ClassVar, Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import Field, PositiveInt, model_validator

from sluice.ground.arrays import BoolArray, IntArray
from sluice.ground.errors import PlanError, did_you_mean
from sluice.ground.variables import Kind, Variable, Variables
from sluice.masking.masking_step import MaskingStep
from sluice.masking.recoding.unsafe_combinations import hide_unsafe
from sluice.risk.transparency.attack import Attack
from sluice.risk.transparency.suppressed_values import WhySuppressed

_BLOCK = 2**20  # records that are gone through at a time
_MOST_SUBSETS = 2000  # of the keys, each made k-anonymous by itself


class LocalSuppression(MaskingStep):
    """Remove single values of keys until every record shares its combination of keys with at least k - 1 others."""

    method: Literal["local_suppression"] = "local_suppression"
    k: int = Field(
        ge=1,
        description="least records that share a combination of keys; people, if a variable of role person names them",
    )
    importance: dict[str, PositiveInt] = Field(
        default_factory=dict,
        description="key variable: rank. A key of rank 1 is kept longest: it loses a value only where no choice among "
        "keys of rank 2, 3, ... will do, however many. Keys without a rank are suppressed first. With no rank at all "
        "few cells are suppressed (of up to about a hundred different combinations the fewest; of more these are too "
        "hard to find), among equals those of the variable with the most categories",
    )
    missing_matches: Literal["category", "any"] = Field(
        default="category",
        description=(
            "category: a missing value is a category of its own; any: a record is left alone if k records agree"
            " with what it shows. Either way, records lose values in company"
        ),
    )
    all_m: int | None = Field(
        default=None,
        ge=1,
        description=(
            "number of keys that an intruder knows: every combination of that many is shared by k records, but "
            "not that of all keys. Absent: all keys"
        ),
    )

    example: ClassVar[str] = "{method: local_suppression, columns: [age, sex, region], k: 3, importance: {sex: 1}}"
    treatment: ClassVar[str] = "partly blanked"
    use_when: ClassVar[str] = (
        "A few records have rare combinations of keys after global recoding; k from 3, `all_m` if there are many keys."
    )
    preserves: ClassVar[str] = (
        "The truth of every value that is left. What is lost are the values of rare people, so that "
        "analyses of the complete records only are biased."
    )
    known_attack: ClassVar[str] = (
        "A suppressed value was rare, which rules out frequent ones (Wong, Fu, Wang and Pei 2007). Equal "
        "sensitive values within a combination are disclosed (Desfontaines 2020, section 2.1.1). Where "
        "another variable determines the suppressed one, it can be filled in again."
    )
    missing_values: ClassVar[str] = (
        "A value missing before counts as `missing_matches` says: a category of its own, or any value. It stays "
        "missing, and cannot be told from a suppressed one."
    )
    in_an_analysis: ClassVar[str] = (
        "Values are missing because their combination was rare, so they are not missing at random: an analysis of "
        "complete records is biased towards the common. Use all records that a question needs, impute from the others, "
        "and show how far the result moves if the missing are all of one kind."
    )
    attack_measured: ClassVar[str] = (
        "Rule out the values with which the rest of the record would have been frequent enough to stay. On 8 variables "
        "of Adult (k: 5): 3 % surely found."
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
        from sluice.risk.people_of_records import people_of

        self.released(variables)
        people = people_of(frame, variables)
        members = len(frame) if people is None else len(np.unique(people))
        if members < self.k:
            whom = "records" if people is None else "people"
            raise PlanError(f"k of {self.method} must be at most the number of {whom}, {members}; got {self.k}.")
        spared = self._spared(frame, people)
        while True:
            if 0 < members_of(~spared, people) < self.k:
                spared[:] = False  # so few find no company among themselves
            masked = self._suppressed(frame, ~spared, people)
            short = spared & ~self._spared(masked, people)
            if not short.any():
                break
            spared &= ~short
        for subset in self._subsets():
            refuse_rare(masked, subset, self.k, frame if self.missing_matches == "any" else None, people)
        return masked

    def _subsets(self) -> Iterator[tuple[str, ...]]:
        """The sets of keys that are to be safe."""
        return combinations(self.columns, self.all_m or len(self.columns))

    def _spared(self, frame: pd.DataFrame, people: IntArray | None) -> BoolArray:
        """Which records need to lose nothing, whichever of the sets of keys is looked at: those that lack a value and
        show what k records show, and those of k people each of whom may have records elsewhere, too. Only the former
        are seen otherwise: where combinations are added up, nobody may count twice."""
        from sluice.risk.classes.classes_with_missing_keys import matching_records
        from sluice.risk.classes.equivalence_classes import classes_of

        spared = np.zeros(len(frame), dtype=np.bool_)
        if self.missing_matches == "category" and people is not None:
            spared[:] = True
            for subset in self._subsets():
                spared &= classes_of(frame, list(subset), people).frequencies >= self.k
        if self.missing_matches == "any":
            spared |= frame[list(self.columns)].isna().any(axis=1).to_numpy()
            for subset in self._subsets() if spared.any() else ():
                spared &= matching_records(frame, subset, people) >= self.k
        return spared

    def _suppressed(self, frame: pd.DataFrame, chosen: BoolArray, people: IntArray | None) -> pd.DataFrame:
        """The frame with what the chosen records lose; the others are no company to them."""
        if not chosen.any():
            return frame.copy(deep=False)
        rows = None if chosen.all() else np.flatnonzero(chosen)
        some, whose = frame, people
        if rows is not None:
            some, whose = frame.iloc[rows], None if people is None else people[rows]
        keys, sizes, combination, counted = distinct_combinations(some, self.columns, whose)
        last = max(self.importance.values(), default=0) + 1
        ranks = [self.importance.get(name, last) for name in self.columns]
        m = self.all_m or len(self.columns)
        pieces = hide_unsafe(keys, sizes, self.k, ranks, m, all_counted=bool(counted.all()))
        lost = pieces.keys != keys[pieces.origin]
        piece = pieces.of_records(combination, counted)
        losers = np.flatnonzero(lost.any(axis=1)[piece])
        masked = frame.copy(deep=False)
        for position, name in enumerate(self.columns):
            if lost[:, position].any():
                column = frame[name].copy()
                these = losers[lost[piece[losers], position]]
                column.iloc[these if rows is None else rows[these]] = None
                masked[name] = column
        return masked

    def attacks(self) -> tuple[Attack, ...]:
        m = (self.all_m or len(self.columns)) + len(self.strata)
        return (WhySuppressed((*self.columns, *self.strata), self.k, m),)

    def describe(self) -> str:
        counts = "may stand for any value" if self.missing_matches == "any" else "counts as a value of its own"
        these = "all of these variables" if self.all_m is None else f"any {self.all_m} of these variables"
        return (
            f"Single values of {', '.join(self.columns)} were removed, so that at least {self.k} records agree on "
            f"{these}; a missing value {counts}."
        )


def distinct_combinations(
    frame: pd.DataFrame, columns: Sequence[str], people: IntArray | None = None
) -> tuple[IntArray, IntArray, NDArray[np.integer[Any]], BoolArray]:
    """The combinations of `columns` that occur, in the order of their values; their records; that of each record.

    people  : shape (n,), the person of each record; of each person one record is counted, the one in the largest
              combination, so that sums over combinations never count anybody twice
    returns : shape (c, p), codes from 1 in the order of the values, 0 where missing; shape (c,), the counted records;
              shape (n,); shape (n,), which records are counted
    """
    from sluice.risk.classes.equivalence_classes import category_codes, equivalence_classes

    codes = [category_codes(frame[name]) for name in columns]
    classes = equivalence_classes(codes).of_people(people)
    cell, occupied = classes.cell, np.flatnonzero(classes.records)
    of_cell = np.empty(len(classes.records), dtype=np.int64)  # one record that has the combination
    for start in range(0, len(cell), _BLOCK):
        part = cell[start : start + _BLOCK]
        of_cell[part] = np.arange(start, start + len(part))
    record = of_cell[occupied]
    keys = np.column_stack([code[record].astype(np.int64) + 1 for code in codes])
    keys[np.column_stack([frame[name].isna().to_numpy()[record] for name in columns])] = 0
    order = np.lexsort(keys.T[::-1])  # so that no choice depends on the order of the records
    small = len(frame) < 2**31  # combinations may be parted, into as many pieces as there are records at most
    place: NDArray[np.integer[Any]] = np.zeros(len(of_cell), dtype=np.int32 if small else np.int64)
    place[occupied[order]] = np.arange(len(order))
    combination = np.asarray(place[cell])
    counted = np.ones(len(frame), dtype=np.bool_)
    if people is None:
        return keys[order], classes.records[occupied[order]], combination, counted
    largest = np.lexsort((combination, -classes.frequencies, people))
    counted[largest] = np.concatenate([[True], people[largest][1:] != people[largest][:-1]])
    return keys[order], np.bincount(combination[counted], minlength=len(order)), combination, counted


def members_of(chosen: BoolArray, people: IntArray | None) -> int:
    """How many records, or people, are chosen."""
    return int(chosen.sum()) if people is None else len(np.unique(people[chosen]))


def refuse_rare(
    frame: pd.DataFrame,
    columns: Sequence[str],
    k: int,
    original: pd.DataFrame | None = None,
    people: IntArray | None = None,
) -> None:
    """Raise PlanError unless every record shares its combination of `columns` with at least k - 1 others.

    original : the records before; where given, a missing value may stand for any value
    """
    from sluice.risk.classes.classes_with_missing_keys import frequencies_with_missing_keys
    from sluice.risk.classes.equivalence_classes import classes_of

    names = list(columns)
    if original is None and people is None:
        sizes = classes_of(frame, names).sizes
        rare = int(sizes[sizes < k].sum())
    elif original is None:
        rare = int((classes_of(frame, names, people).frequencies < k).sum())
    else:
        rare = int((frequencies_with_missing_keys(frame, names, original, people) < k).sum())
    if rare:
        raise PlanError(
            f"local_suppression: {rare} of {len(frame)} records share their combination of {', '.join(names)} with "
            f"fewer than {k - 1} others; nothing is released."
        )
