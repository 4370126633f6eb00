"""Largest value: nobody's value may stand out at the top.

Source: Hundepool and others (2012), section 3.3.1 (top coding).
"""

from typing import ClassVar, Literal

from pydantic import Field

from sluice.extending import AttackRule, disclosed_share
from sluice.ground.rule import AnyOf, Need
from sluice.ground.sentence import Sentence
from sluice.ground.variables import Role, with_role
from sluice.ground.verdict import Finding
from sluice.risk.measurement import Measurement
from sluice.utility.comparison import Comparison

_ALONE = Sentence("acme_top.alone", "The largest value of {name:word} is held by {share:percent} of the {unit}.")


class AcmeTop(AttackRule):
    """The largest value of each sensitive number is held by more than a few."""

    rule: Literal["acme_top"] = "acme_top"
    example: ClassVar[str] = "{rule: acme_top, limit: 0.001}"
    advice: ClassVar[str] = "Top-code the variable further."
    needs: ClassVar[str] = "Release a sensitive number."
    limit: float = Field(ge=0, le=1, description="smallest share of the records that hold the largest value")

    @property
    def requires(self) -> tuple[AnyOf, ...]:
        return ((Need.SENSITIVE,),)

    def find(self, files: Comparison) -> list[Finding]:
        findings = []
        for name in with_role(files.released, Role.SENSITIVE):
            values = files.masked[name].dropna()
            share = float((values == values.max()).mean()) if files.released[name].kind.is_numeric else 1.0
            says = _ALONE(name=name, share=disclosed_share(share, len(values), files.minimum_cell), unit=files.unit)
            measured = Measurement(share, len(values), len(values), worse="lower")
            findings.append(self.judge(measured, says, name, files.minimum_cell))
        return findings

    def describe(self) -> str:
        return f"At least {100 * self.limit:.3g} % of the records hold the largest value of each sensitive number."
