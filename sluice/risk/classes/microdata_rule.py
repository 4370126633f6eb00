"""Rules on the combinations of key columns of a file of records, and on how many records share each."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
import pandas as pd
from pydantic import Field

from sluice.ground.arrays import BoolArray, IntArray
from sluice.ground.document_parts import Share
from sluice.ground.errors import DataError
from sluice.ground.frame_columns import with_columns
from sluice.ground.rule import NO_BACKGROUND, NO_RECORDS, AnyOf, Background, Need, Rule
from sluice.ground.sentence import Saying, Sentence, as_fields, listed
from sluice.ground.variables import Kind, Role, Variable, Variables, with_role
from sluice.ground.verdict import Finding, Verdict
from sluice.risk.classes.classes_with_missing_keys import frequencies_with_missing_keys
from sluice.risk.classes.equivalence_classes import Codes, EquivalenceClasses, category_codes, classes_of
from sluice.risk.classes.privacy_model import PrivacyModel
from sluice.risk.people_of_records import once_a_person, people_of

MissingMatches = Literal["category", "any"]
MISSING_MATCHES = (
    "category: a missing key is a category of its own; any: it may be any value, which hides its own record alone"
)

ALONE = Sentence("alone", "{alone:,} of {n:,} {unit} {alone:is} alone with {alone:its} combination of {keys:listed}")
_MISSING = Sentence("missing_matches_any", " (a missing value may stand for any, but hides its own record only)")
_PEOPLE = Sentence("people_count_once", " Several records of one person count as one.")

_AT_MOST = Sentence("at_most", "; the policy allows at most {limit:percent}.")

PositiveShare = Annotated[Share, Field(gt=0)]

_NO_GROUPS = Sentence(
    "no_groups",
    "The contract says that every variable is a measured number and none a quasi-identifier: no groups of look-alikes "
    "are formed, and intruders who know the numbers decide.",
)
_NO_KEYS = Sentence("no_quasi_identifiers", "No variable of the file is declared a quasi-identifier.")

Columns = Annotated[tuple[str, ...], Field(min_length=1)]


@dataclass(frozen=True)
class KeyedRecords:
    """A file of records, and the columns by whose combinations a rule judges it.

    frame                   : typed by `variables`, any order of rows, any index
    stage, unit, background : as given to `Rule.find`
    """

    frame: pd.DataFrame
    variables: Variables
    keys: list[str]
    stage: str = "masked"
    unit: str = "records"
    background: Background = NO_BACKGROUND

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def scope(self) -> str:
        return ", ".join(self.keys)

    @property
    def codes(self) -> list[Codes]:
        """Of each key; a missing one is a category of its own."""
        return [category_codes(self.frame[name]) for name in self.keys]

    @cached_property
    def people(self) -> IntArray | None:
        """The person of each record, shape (n,), from 0; None where no column names people."""
        return people_of(self.frame, self.variables)

    @cached_property
    def classes(self) -> EquivalenceClasses:
        """By all keys, a missing one being a category of its own; of people, where these are known."""
        return classes_of(self.frame, self.keys, self.people)

    @property
    def once_a_person(self) -> Self:
        """With each person's first record of every combination of keys."""
        return replace(self, frame=once_a_person(self.frame, self.variables, self.keys))

    def frequencies(self, missing_matches: MissingMatches) -> IntArray:
        """How many records, or people where they are known, share each record's combination; shape (n,)."""
        original, times = self.background.original, self.background.times
        if missing_matches == "any":
            known = original if original is not None and set(self.keys) <= set(original) else None
            return frequencies_with_missing_keys(self.frame, self.keys, known, self.people, times)
        if times is None:
            return self.classes.frequencies
        return np.bincount(self.classes.labels, weights=times).astype(np.int64)[self.classes.labels]

    @property
    def people_note(self) -> Saying:
        return () if self.people is None else _PEOPLE()


class MicrodataRule(Rule):
    """A rule on the combinations of key columns of a file of records."""

    needs: ClassVar[str] = (
        "Declare in the contract which variables are quasi-identifiers, and see that the released file holds them and "
        "any record at all."
    )

    @property
    def requires(self) -> tuple[AnyOf, ...]:
        return () if self.keys({}) else ((Need.QUASI_IDENTIFIERS,),)

    def find(
        self,
        frame: pd.DataFrame,
        variables: Variables,
        stage: str,
        unit: str = "records",
        background: Background = NO_BACKGROUND,
    ) -> list[Finding]:
        keys = self.keys(variables)
        if background.numbers_alone and not keys:
            return [self._no_groups(frame, stage)]
        if background.withheld_keys and not keys:
            frame, variables = _without_values(background.withheld_keys, frame, variables)
            keys = self.keys(variables)
        if lacking := self.lacking(variables):
            return [self.unknown(stage, lacking, len(frame))]
        refuse_missing_columns(self.rule, keys, frame, variables)
        if not len(frame):
            return [self.unknown(stage, NO_RECORDS(unit=unit), 0)]
        return self.judge(KeyedRecords(frame, variables, keys, stage, unit, background))

    def _no_groups(self, frame: pd.DataFrame, stage: str) -> Finding:
        says, n = _NO_GROUPS(), len(frame)
        return Finding(
            rule=self.rule, verdict=Verdict.PASS, stage=stage, attempted=n, completed=n, **as_fields(says)
        )  # fmt: skip

    def lacking(self, variables: Variables) -> Saying:
        """Why nothing can be judged of a file of these variables, if so."""
        return () if self.keys(variables) else _NO_KEYS()

    def keys(self, variables: Variables) -> list[str]:
        """The columns whose combinations are looked at: the quasi-identifiers, unless the rule names others."""
        return with_role(variables, Role.QUASI_IDENTIFIER)

    @abstractmethod
    def judge(self, file: KeyedRecords) -> list[Finding]:
        """The findings on a file with at least one record and at least one key column."""

    def failing(self, file: KeyedRecords) -> BoolArray | None:
        """Which records break the rule, shape (n,), by the file's keys; None where it is not about single records."""
        return None

    def models(self, variables: Variables) -> list[tuple[str, PrivacyModel | None]]:
        """What a search of generalisations must satisfy so that the file keeps the rule, by what the rule asks; None
        where no model makes sure of it, and the file alone shows.

        A search takes a missing key for a category of its own. Where a rule lets it stand for any value, a record is
        like no fewer others than the search counts: it asks for the same or more."""
        return [(self.rule, None)]

    def finding(
        self,
        file: KeyedRecords,
        passes: bool,
        observed: float | None,
        limit: float,
        says: Saying,
        scope: str | None = None,
    ) -> Finding:
        """A finding for which all records were looked at. scope : the keys by default"""
        return Finding(
            rule=self.rule,
            verdict=Verdict.PASS if passes else Verdict.FAIL,
            stage=file.stage,
            scope=file.scope if scope is None else scope,
            observed=observed,
            limit=limit,
            attempted=len(file),
            completed=len(file),
            **as_fields(says),
        )


def _without_values(
    keys: Sequence[str], frame: pd.DataFrame, variables: Variables
) -> tuple[pd.DataFrame, dict[str, Variable]]:
    """A file that lacks its keys, as if each were there without any value: both tell the same, one group of all."""
    nothing = pd.Series(pd.Categorical([None] * len(frame)), index=frame.index)
    kept = {name: Variable(name=name, kind=Kind.NOMINAL, role=Role.QUASI_IDENTIFIER, nullable=True) for name in keys}
    return with_columns(frame, dict.fromkeys(keys, nothing)), {**variables, **kept}


def models_of(rule: Rule, variables: Variables) -> list[tuple[str, PrivacyModel | None]]:
    """The models of a rule on records; of any other rule None, by its name."""
    return rule.models(variables) if isinstance(rule, MicrodataRule) else [(rule.rule, None)]


def refuse_missing_columns(rule: str, names: Sequence[str], frame: pd.DataFrame, variables: Variables) -> None:
    for name in names:
        if name not in variables or name not in frame.columns:
            there = [each for each in variables if each in frame.columns]
            raise DataError(f"{rule}: the file has no column '{name}'.", came=name, allowed=there)


class KeyedRule(MicrodataRule):
    """A rule on the quasi-identifiers, or on the columns that it names."""

    columns: Columns | None = Field(default=None, description="all quasi-identifiers by default")

    def keys(self, variables: Variables) -> list[str]:
        return super().keys(variables) if self.columns is None else list(self.columns)

    def limited(
        self, file: KeyedRecords, scope: str, observed: float, limit: float | None, says: Saying
    ) -> list[Finding]:
        """The finding on a share or chance that may be `limit` at most, which it states; none without a limit."""
        if limit is None:
            return []
        return [self.finding(file, observed <= limit, observed, limit, says + _AT_MOST(limit=limit), scope)]


def refuse_no_limit(rule: str, *limits: object) -> None:
    if all(limit is None for limit in limits):
        raise ValueError(f"{rule} needs at least one limit; without any nothing could fail")


class FrequencyRule(MicrodataRule):
    """A rule on how many records share each record's combination."""

    missing_matches: MissingMatches = Field(default="category", description=MISSING_MATCHES)
    columns: Columns | None = Field(default=None, description="all quasi-identifiers by default")

    def keys(self, variables: Variables) -> list[str]:
        return super().keys(variables) if self.columns is None else list(self.columns)

    @property
    def missing_note(self) -> Saying:
        return _MISSING() if self.missing_matches == "any" else ()

    @property
    def of_what(self) -> str:
        named = "the quasi-identifiers" if self.columns is None else listed(self.columns)
        return named + (", a missing value matching any" if self.missing_matches == "any" else "")
