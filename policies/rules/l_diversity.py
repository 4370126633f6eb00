"""l-diversity: how many sensitive values remain for a person whose quasi-identifiers are known.

Source: Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam (2007), sections 4 (distinct) and 4.3 (several sensitive
variables), Definitions 4.1 (entropy) and 4.2 (recursive).
"""

from collections.abc import Sequence
from math import ceil
from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from policies.rules.sensitive_rule import GROUPS, NearValuesRule
from sluice.generalization.models.sensitive_model import (
    DistinctLDiversity,
    EntropyLDiversity,
    RecursiveLDiversity,
    SensitiveModel,
)
from sluice.ground.sentence import Saying, Sentences
from sluice.ground.variables import Variable

_FEWEST = "of {name:word} (fewest in any group: {fewest:.4g}); the policy asks for at least {l:g} in each."
_SAYS = Sentences(
    "l_diversity",
    frequent=f"In {GROUPS}, one value of {{name:word}} occurs at least {{c:g}} times as often as the {{l:g}}th most "
    "frequent and all rarer ones together; the policy allows it in none.",
    few=f"In {GROUPS}, there are fewer than {{l:g}} different values {_FEWEST}",
    few_effective=f"In {GROUPS}, there are fewer than {{l:g}} different values, weighed by how often they occur, "
    f"{_FEWEST}",
)


class LDiversity(NearValuesRule):
    """Whoever knows a person's quasi-identifiers still has at least l sensitive values to choose from."""

    rule: Literal["l_diversity"] = "l_diversity"
    example: ClassVar[str] = "{rule: l_diversity, variant: distinct, l: 2}"
    advice: ClassVar[str] = (
        "Groups of look-alikes share one sensitive value: recode the quasi-identifiers further so that groups grow and "
        "mix, or anatomize the sensitive variable. A suppressed cell is no value."
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

    def threshold(self, variable: Variable) -> float:
        return self.l if self.c is None else self.c

    def model(self, variable: Variable, categories: Sequence[str]) -> SensitiveModel:
        if self.c is not None:
            return RecursiveLDiversity(variable.name, self.c, int(self.l))
        if self.variant == "entropy":
            return EntropyLDiversity(variable.name, self.l)
        return DistinctLDiversity(variable.name, ceil(self.l))

    def say(self, count: int, total: int, unit: str, name: str, worst: float, limit: float) -> Saying:
        which = {"count": count, "total": total, "unit": unit, "name": name}
        if self.c is not None:
            return _SAYS.frequent(**which, c=self.c, l=self.l)
        return (_SAYS.few if self.variant == "distinct" else _SAYS.few_effective)(**which, l=self.l, fewest=worst)

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
