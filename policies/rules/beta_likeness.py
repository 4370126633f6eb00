"""Beta-likeness: how much more likely a sensitive value is within a group than in the file.

Source: Cao and Karras (2012), Definitions 2 (basic) and 3 (enhanced).
"""

from typing import Any, ClassVar, Literal

import pandas as pd
from pydantic import Field

from policies.rules.sensitive_rule import ROUNDING, SensitiveRule, distinguishable, groups
from policies.rules.words import word
from sluice.risk.classes import beta_likeness
from sluice.risk.classes.equivalence_classes import EquivalenceClasses, category_codes
from sluice.variables import Variable
from sluice.verdict import Finding


class BetaLikeness(SensitiveRule):
    """No sensitive value is much more likely within a group than in the file."""

    rule: Literal["beta_likeness"] = "beta_likeness"
    example: ClassVar[str] = "{rule: beta_likeness, beta: 2}"
    advice: ClassVar[str] = (
        "A sensitive value is concentrated in some groups: merge these groups by coarser quasi-identifiers, or merge "
        "the rare sensitive values, whose likelihood rises most."
    )
    beta: float = Field(
        gt=0, allow_inf_nan=False, description="largest allowed (p - q) / q, p in a group, q in the file"
    )
    variant: Literal["basic", "enhanced"] = Field(
        default="enhanced", description="enhanced: at most -ln q as well, which protects frequent values"
    )

    def judge_one(
        self, classes: EquivalenceClasses, column: "pd.Series[Any]", variable: Variable, unit: str
    ) -> Finding:
        codes = category_codes(distinguishable(column))
        gains = beta_likeness.largest_gain(classes, codes)
        failing = gains > self.beta + ROUNDING
        if self.variant == "enhanced":
            failing |= beta_likeness.largest_bounded_gain(classes, codes) > 1 + ROUNDING
        count = int(failing.sum())
        says = (
            f"In {groups(count, len(gains), unit)}, a value of {word(variable.name)} is more likely than in the whole "
            f"file by more than the policy allows, {100 * self.beta:.4g} %"
            + (" and less for frequent values" if self.variant == "enhanced" else "")
            + f" (most in any group: {100 * gains.max():.4g} %)."
        )
        return self.finding(not count, float(gains.max()), self.beta, len(column), says)

    def describe(self) -> str:
        return (
            f"Within {self.who_share}, no value of {self.of_what} is more than {100 * self.beta:.4g} % likelier "
            f"than in the whole file ({self.variant} beta-likeness)."
        )
