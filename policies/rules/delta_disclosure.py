"""Delta-disclosure privacy: how much more or less likely a sensitive value is within a group.

Source: Brickell and Shmatikov (2008), Definition 5.
"""

from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from policies.rules.sensitive_rule import GROUPS, NearValuesRule
from policies.rules.sensitive_values import ClassFigures, SensitiveValues
from sluice.generalization.models.sensitive_model import DeltaDisclosure as DeltaDisclosureModel
from sluice.generalization.models.sensitive_model import SensitiveModel
from sluice.ground.sentence import Saying, Sentence
from sluice.ground.variables import Variable

_LIKELIER = Sentence(
    "delta_disclosure.likelier",
    f"In {GROUPS}, a value of {{name:word}} is {{times:.4g}} times or more as likely, or as unlikely, as in the whole "
    "file; the policy allows it in none.",
)


class DeltaDisclosure(NearValuesRule):
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

    def threshold(self, variable: Variable) -> float:
        return self.delta

    def model(self, variable: Variable, categories: Sequence[str]) -> SensitiveModel:
        return DeltaDisclosureModel(variable.name, self.delta, absent=self.absent_values == "violate")

    def measure(self, values: SensitiveValues) -> ClassFigures:
        return super().measure(values.on_grid)

    def say(self, count: int, total: int, unit: str, name: str, worst: float, limit: float) -> Saying:
        which = {"count": count, "total": total, "unit": unit, "name": name}
        return _LIKELIER(**which, times=np.exp(self.delta))

    def describe(self) -> str:
        return (
            f"Within {self.who_share}, every value of {self.of_what} is less than {np.exp(self.delta):.4g} times as "
            "likely or unlikely as in the whole file (delta-disclosure privacy)."
        )
