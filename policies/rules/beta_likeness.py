"""Beta-likeness: how much more likely a sensitive value is within a group than in the file.

Source: Cao and Karras (2012), Definitions 2 (basic) and 3 (enhanced).
"""

from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import Field

from policies.rules.sensitive_rule import GROUPS, NearValuesRule
from sluice.generalization.models.sensitive_model import BetaLikeness as BetaLikenessModel
from sluice.generalization.models.sensitive_model import SensitiveModel
from sluice.ground.sentence import Saying, Sentences
from sluice.ground.variables import Variable

_ALLOWED = (
    f"In {GROUPS}, a value of {{name:word}} is more likely than in the whole file by more than the policy allows, "
    "{limit:.4g} %"
)
_SAYS = Sentences(
    "beta_likeness",
    likelier=f"{_ALLOWED} (most in any group: {{most:.4g}} %).",
    likelier_enhanced=f"{_ALLOWED} and less for frequent values (most in any group: {{most:.4g}} %).",
)


class BetaLikeness(NearValuesRule):
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

    def threshold(self, variable: Variable) -> float:
        return self.beta

    def model(self, variable: Variable, categories: Sequence[str]) -> SensitiveModel:
        return BetaLikenessModel(variable.name, self.beta, enhanced=self.variant == "enhanced")

    def say(self, count: int, total: int, unit: str, name: str, worst: float, limit: float) -> Saying:
        which = {"count": count, "total": total, "unit": unit, "name": name}
        return (_SAYS.likelier_enhanced if self.variant == "enhanced" else _SAYS.likelier)(
            **which, limit=100 * self.beta, most=100 * worst
        )

    def describe(self) -> str:
        return (
            f"Within {self.who_share}, no value of {self.of_what} is more than {100 * self.beta:.4g} % likelier "
            f"than in the whole file ({self.variant} beta-likeness)."
        )
