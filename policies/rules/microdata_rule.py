"""A rule on the combinations of key columns of a file of records."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Annotated, ClassVar

import pandas as pd
from pydantic import Field

from sluice.generalization.models.privacy_model import PrivacyModel
from sluice.ground.arrays import BoolArray
from sluice.ground.errors import DataError
from sluice.ground.rule import NO_BACKGROUND, NO_RECORDS, AnyOf, Background, Need, Rule
from sluice.ground.sentence import Saying, Sentence, as_fields
from sluice.ground.variables import Role, Variables, with_role
from sluice.ground.verdict import Finding, Verdict

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
