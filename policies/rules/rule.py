"""Rule: what every disclosure rule of a policy is, and the numbers it is written with."""

from abc import ABC, abstractmethod
from typing import ClassVar

import pandas as pd
from pydantic import BaseModel, ConfigDict

from policies.check import AnyOf, Requirement
from policies.rules.behind import NOTHING, Behind
from sluice.generalization.models.privacy_model import PrivacyModel
from sluice.ground.sentence import Saying, Sentence, as_fields
from sluice.ground.variables import Variables
from sluice.ground.verdict import Finding, Verdict

NO_RECORDS = Sentence("no_records", "The file holds no {unit}.")
NOT_JUDGED = Sentence("not_judged", " Nothing was judged by this rule.")
NO_ESTIMATE = Sentence("no_estimate", "{why}")


class DisclosureRule(BaseModel, ABC):
    """A frozen rule with its thresholds; `rule` is its name in the policy, in findings and in waivers."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    example: ClassVar[str]  # a line of a policy, in YAML
    advice: ClassVar[str]  # what to do when the rule is broken
    needs: ClassVar[str]  # what to do when it could not be measured
    about: ClassVar[str] = ""  # what is measured; empty: the first paragraph of the module's docstring
    source: ClassVar[str] = ""  # "Source: ..."; empty: that paragraph of the module's docstring

    rule: str

    @property
    def requires(self) -> tuple[AnyOf, ...]:
        """What the rule cannot judge without: of each entry, one is enough."""
        return ()

    @property
    def requirements(self) -> list[Requirement]:
        """The same by the rule's name; none of a rule that does not decide."""
        return [Requirement(self.rule, any_of) for any_of in self.requires] if self.decides else []

    @property
    def decides(self) -> bool:
        return True

    @abstractmethod
    def describe(self) -> str:
        """The rule in one plain sentence."""


class Rule(DisclosureRule):
    """A rule on one file of records, by itself."""

    @abstractmethod
    def find(
        self,
        frame: pd.DataFrame,
        variables: Variables,
        stage: str,
        unit: str = "records",
        behind: Behind = NOTHING,
    ) -> list[Finding]:
        """What the rule says of a file of records: at least one finding.

        frame  : typed by `variables`, any order of rows, any index; with whose record each is (role person), where that
                 is known, also where it is not released
        stage  : copied to the findings: original, masked or reference
        unit   : what a record is, in the plural and in the reader's words
        behind : what the agency knows of the records beside the file
        raises : DataError if a column that the rule looks at is not in the file
        """

    def models(self, variables: Variables) -> list[tuple[str, PrivacyModel | None]]:
        """What a search of generalisations must satisfy so that the file keeps the rule, by what the rule asks; None
        where no model makes sure of it, and the file alone shows."""
        return [(self.rule, None)]

    def unknown(self, stage: str, why: Saying, records: int) -> Finding:
        return Finding(
            rule=self.rule,
            verdict=Verdict.UNKNOWN,
            stage=stage,
            attempted=records,
            completed=0,
            **as_fields(why + NOT_JUDGED()),
        )
