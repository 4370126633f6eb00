"""Individual risk: the chance that a record is named rightly, by its sampling weight.

Source: Benedetti and Franconi (1998); Franconi and Polettini (2004), section 3.
"""

from typing import ClassVar, Literal

from policies.rules.record_risk_rule import RecordRiskRule


class IndividualRisk(RecordRiskRule):
    """The chance that a record is named rightly by who looks it up in the population, by its sampling weight.

    It says too little where most records are alone with their keys; use `loglinear_risk` as well.
    """

    rule: Literal["individual_risk"] = "individual_risk"
    example: ClassVar[str] = "{rule: individual_risk, highest_at_most: 0.5}"
    advice: ClassVar[str] = (
        "Suppress a key locally for the records most at risk; where the mean is too high, recode the keys. A record "
        "with a sampling weight near 1 stands for nobody else and needs it most."
    )

    @property
    def found(self) -> str:
        return "named rightly by who looks it up in the population"
