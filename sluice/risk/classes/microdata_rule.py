"""Rules on the combinations of key columns of a file of records, and on how many records share each."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

import numpy as np
import pandas as pd
from pydantic import Field

from sluice.ground.arrays import BoolArray, IntArray
from sluice.ground.document_parts import Share
from sluice.ground.errors import DataError
from sluice.ground.rule import NO_BACKGROUND, NO_RECORDS, AnyOf, Background, Need, Rule
from sluice.ground.sentence import Saying, Sentence, as_fields, listed
from sluice.ground.variables import Role, Variables, with_role
from sluice.ground.verdict import Finding, Verdict
from sluice.risk.classes.classes_with_missing_keys import frequencies_with_missing_keys
from sluice.risk.classes.equivalence_classes import classes_of
from sluice.risk.classes.privacy_model import PrivacyModel
from sluice.risk.people import people_of

MissingMatches = Literal["category", "any"]
MISSING_MATCHES = (
    "category: a missing key is a category of its own; any: it may stand for any value, which widens the crowd of its "
    "own record but hides no other"
)


ALONE = Sentence("alone", "{alone:,} of {n:,} {unit} {alone:is} alone with {alone:its} combination of {keys:listed}")
_MISSING = Sentence("missing_matches_any", " (a missing value may stand for any, but hides its own record only)")
_PEOPLE = Sentence("people_count_once", " Several records of one person count as one.")

_AT_MOST = Sentence("at_most", "; the policy allows at most {limit:percent}.")

PositiveShare = Annotated[Share, Field(gt=0)]

_NO_KEYS = Sentence("no_quasi_identifiers", "No variable of the file is declared a quasi-identifier.")

Columns = Annotated[tuple[str, ...], Field(min_length=1)]


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
        if not keys:
            return [self.unknown(stage, _NO_KEYS(), len(frame))]
        refuse_missing_columns(self.rule, keys, frame, variables)
        if not len(frame):
            return [self.unknown(stage, NO_RECORDS(unit=unit), 0)]
        return self.judge(frame, variables, keys, stage, unit, background)

    def keys(self, variables: Variables) -> list[str]:
        """The columns whose combinations are looked at: the quasi-identifiers, unless the rule names others."""
        return with_role(variables, Role.QUASI_IDENTIFIER)

    @abstractmethod
    def judge(
        self, frame: pd.DataFrame, variables: Variables, keys: list[str], stage: str, unit: str, background: Background
    ) -> list[Finding]:
        """The findings on a file with at least one record and at least one key column."""

    def failing(
        self, frame: pd.DataFrame, variables: Variables, keys: list[str], background: Background
    ) -> BoolArray | None:
        """Which records break the rule, shape (n,), by these keys; None where it is not about single records."""
        return None

    def models(self, variables: Variables) -> list[tuple[str, PrivacyModel | None]]:
        """What a search of generalisations must satisfy so that the file keeps the rule, by what the rule asks; None
        where no model makes sure of it, and the file alone shows."""
        return [(self.rule, None)]

    def finding(
        self,
        passes: bool,
        observed: float | None,
        limit: float,
        records: int,
        says: Saying,
        stage: str = "",
        scope: str = "",
    ) -> Finding:
        """A finding for which all records were looked at."""
        return Finding(
            rule=self.rule,
            verdict=Verdict.PASS if passes else Verdict.FAIL,
            stage=stage,
            scope=scope,
            observed=observed,
            limit=limit,
            attempted=records,
            completed=records,
            **as_fields(says),
        )


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

    columns: Columns | None = Field(default=None, description="all quasi-identifiers, when not given")

    def keys(self, variables: Variables) -> list[str]:
        return super().keys(variables) if self.columns is None else list(self.columns)

    def limited(
        self, observed: float, limit: float, frame: pd.DataFrame, says: Saying, stage: str, scope: str
    ) -> Finding:
        """A finding on a share or chance that may be `limit` at most; which the finding states."""
        said = says + _AT_MOST(limit=limit)
        return self.finding(observed <= limit, observed, limit, len(frame), said, stage, scope)


def refuse_no_limit(rule: str, *limits: object) -> None:
    if all(limit is None for limit in limits):
        raise ValueError(f"{rule} needs at least one limit; without any nothing could fail")


class FrequencyRule(MicrodataRule):
    """A rule on how many records share each record's combination."""

    missing_matches: MissingMatches = Field(default="category", description=MISSING_MATCHES)
    columns: Columns | None = Field(default=None, description="all quasi-identifiers, when not given")

    def keys(self, variables: Variables) -> list[str]:
        return super().keys(variables) if self.columns is None else list(self.columns)

    def frequencies(
        self, frame: pd.DataFrame, variables: Variables, keys: list[str], background: Background
    ) -> IntArray:
        """How many records, or people where they are known, share each record's combination; shape (n,)."""
        return key_frequencies(frame, variables, keys, self.missing_matches, background)

    @property
    def of_what(self) -> str:
        named = "the quasi-identifiers" if self.columns is None else listed(self.columns)
        return named + (", a missing value matching any" if self.missing_matches == "any" else "")


def key_frequencies(
    frame: pd.DataFrame, variables: Variables, keys: list[str], missing_matches: MissingMatches, background: Background
) -> IntArray:
    """How many records, or people where they are known, share each record's combination; shape (n,)."""
    people = people_of(frame, variables)
    if missing_matches == "any":
        known = background.original is not None and set(keys) <= set(background.original)
        return frequencies_with_missing_keys(
            frame, keys, background.original if known else None, people, background.times
        )
    classes = classes_of(frame, keys, people)
    if background.times is None:
        return classes.frequencies
    return np.bincount(classes.labels, weights=background.times).astype(np.int64)[classes.labels]


def people_note(frame: pd.DataFrame, variables: Variables) -> Saying:
    return () if people_of(frame, variables) is None else _PEOPLE()


def missing_note(missing_matches: str) -> Saying:
    return _MISSING() if missing_matches == "any" else ()
