"""Delta-disclosure privacy: how much more or less likely a sensitive value is within a group.

Source: Brickell and Shmatikov (2008), Definition 5.
"""

from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
from pydantic import Field

from policies.rules.sensitive_rule import SensitiveRule, distinguishable, groups
from policies.rules.words import word
from sluice.risk.classes import delta_disclosure
from sluice.risk.classes.equivalence_classes import EquivalenceClasses, category_codes
from sluice.variables import Variable
from sluice.verdict import Finding


class DeltaDisclosure(SensitiveRule):
    """No sensitive value is much more or much less likely within a group than in the file."""

    rule: Literal["delta_disclosure"] = "delta_disclosure"
    example: ClassVar[str] = "{rule: delta_disclosure, delta: 2}"
    advice: ClassVar[str] = (
        "Some groups hold a sensitive value far too often, too seldom or not at all: with absent_values: violate every "
        "group needs every value, so give the sensitive variable fewer categories or the file fewer groups."
    )
    delta: float = Field(gt=0, allow_inf_nan=False, description="bound of |ln(p / q)|, p in a group, q in the file")
    absent_values: Literal["violate", "ignore"] = Field(
        default="violate", description="by the definition a value that a group lacks violates every delta"
    )

    def judge_one(
        self, classes: EquivalenceClasses, column: "pd.Series[Any]", variable: Variable, unit: str
    ) -> Finding:
        codes = category_codes(distinguishable(column))
        ratios = delta_disclosure.log_ratios(classes, codes, self.absent_values == "violate")
        count, worst = int((ratios >= self.delta).sum()), float(ratios.max())
        says = (
            f"In {groups(count, len(ratios), unit)}, a value of {word(variable.name)} is {np.exp(self.delta):.4g} "
            "times or more as likely, or as unlikely, as in the whole file; the policy allows it in none."
        )
        # A group that lacks a value has no number that a report could hold.
        return self.finding(not count, worst if np.isfinite(worst) else None, self.delta, len(column), says)

    def describe(self) -> str:
        return (
            f"Within {self.who_share}, every value of {self.of_what} is less than {np.exp(self.delta):.4g} times as "
            "likely or unlikely as in the whole file (delta-disclosure privacy)."
        )
