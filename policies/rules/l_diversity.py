"""l-diversity: how many sensitive values remain for a person whose quasi-identifiers are known.

Source: Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam (2007), sections 4 (distinct) and 4.3 (several sensitive
variables), Definitions 4.1 (entropy) and 4.2 (recursive).
"""

from typing import Any, ClassVar, Literal, Self

import numpy as np
import pandas as pd
from pydantic import Field, model_validator

from policies.rules.sensitive_rule import ROUNDING, SensitiveRule, distinguishable, groups
from policies.rules.words import word
from sluice.arrays import FloatArray
from sluice.risk.classes import equivalence_classes, l_diversity
from sluice.risk.classes.equivalence_classes import EquivalenceClasses
from sluice.variables import Variable
from sluice.verdict import Finding


class LDiversity(SensitiveRule):
    """Whoever knows a person's quasi-identifiers still has at least l sensitive values to choose from."""

    rule: Literal["l_diversity"] = "l_diversity"
    example: ClassVar[str] = "{rule: l_diversity, variant: distinct, l: 2}"
    advice: ClassVar[str] = (
        "Groups of look-alikes share one sensitive value: recode the quasi-identifiers further so that groups grow and "
        "mix, or anatomize the sensitive variable. A suppressed cell counts as a value of its own."
    )
    variant: Literal["distinct", "entropy", "recursive"] = Field(
        default="distinct",
        description="different values; exp(entropy): equally frequent values would count as many; or the most frequent "
        "value occurs less than c times as often as the l-th and all rarer ones together",
    )
    l: float = Field(gt=1)  # noqa: E741  the name that everybody knows
    c: float | None = Field(default=None, gt=0, description="of recursive (c,l)-diversity; for no other variant")

    @model_validator(mode="after")
    def _c_for_recursive(self) -> Self:
        if (self.variant == "recursive") != (self.c is not None):
            raise ValueError("c is needed for variant 'recursive' and for no other")
        if self.variant == "recursive" and not float(self.l).is_integer():
            raise ValueError(f"l of variant 'recursive' must be a whole number; got {self.l:g}")
        return self

    def judge_one(
        self, classes: EquivalenceClasses, column: "pd.Series[Any]", variable: Variable, unit: str
    ) -> Finding:
        codes = equivalence_classes.category_codes(distinguishable(column))
        if self.c is not None:
            ratios = l_diversity.recursive_ratio(classes, codes, int(self.l))
            return self._judge_recursive(ratios, self.c, variable, len(column), unit)
        measure = l_diversity.distinct_values if self.variant == "distinct" else l_diversity.effective_values
        values = measure(classes, codes)
        failing = int((values < self.l - ROUNDING).sum())
        said = (
            "different values" if self.variant == "distinct" else "different values, weighed by how often they occur,"
        )
        says = (
            f"In {groups(failing, len(values), unit)}, there are fewer than {self.l:g} {said} of "
            f"{word(variable.name)} (fewest in any group: {values.min():.4g}); the policy asks for at least "
            f"{self.l:g} in each."
        )
        return self.finding(not failing, float(values.min()), self.l, len(column), says)

    def _judge_recursive(self, ratios: FloatArray, c: float, variable: Variable, records: int, unit: str) -> Finding:
        failing = int((ratios >= c).sum())
        says = (
            f"In {groups(failing, len(ratios), unit)}, one value of {word(variable.name)} occurs at least {c:g} times "
            f"as often as the {self.l:g}th most frequent and all rarer ones together; the policy allows it in none."
        )
        # A ratio without an end, where fewer than l values occur, has no number that a report could hold.
        worst = float(ratios.max()) if np.isfinite(ratios).all() else None
        return self.finding(not failing, worst, c, records, says)

    def describe(self) -> str:
        if self.c is not None:
            return (
                f"Within {self.who_share}, the most frequent value of {self.of_what} occurs less than {self.c:g} times "
                f"as often as the {self.l:g}th and all rarer ones together (recursive l-diversity)."
            )
        kind = "different" if self.variant == "distinct" else "effectively different (by entropy)"
        return (
            f"{self.who_share[0].upper()}{self.who_share[1:]} show at least {self.l:g} {kind} values of {self.of_what} "
            "(l-diversity)."
        )
