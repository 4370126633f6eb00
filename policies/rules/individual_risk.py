"""Individual risk: the chance that a record is named rightly, by its sampling weight."""

from typing import Literal

from policies.rules.record_risk_rule import RecordRiskRule


class IndividualRisk(RecordRiskRule):
    """The chance that a record is named rightly by who looks it up in the population, by its sampling weight.

    It tells too little where most records are alone with their keys; set `loglinear_risk` beside it.
    """

    rule: Literal["individual_risk"] = "individual_risk"

    @property
    def found(self) -> str:
        return "named rightly by who looks it up in the population"
