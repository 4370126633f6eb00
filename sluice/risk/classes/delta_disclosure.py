"""Delta-disclosure privacy: how much more or less likely a sensitive value is within a group.

Source: Brickell and Shmatikov (2008), Definition 5.

|ln(p / q)| < delta for every value, with p its share in the class and q its share in the file. By the definition a
value that a class lacks breaks every delta, since its logarithm is infinite: each class must then show every value of
the file. ARX and pycanon leave absent values out; `absent` chooses. A blank is no value: who asks leaves such records
out. Higher is worse.

Where the contract calls values harmless, the others count as far as they rise: what they lose goes to each other, which
is seen there, or to the harmless ones.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from sluice.ground.arrays import BoolArray, FloatArray
from sluice.ground.errors import DataError
from sluice.ground.sentence import Saying, Sentence
from sluice.ground.variables import Variable
from sluice.risk.classes.class_values import ClassValues, SensitiveValues
from sluice.risk.classes.privacy_model import SensitiveModel
from sluice.risk.classes.sensitive_rule import GROUPS, NearValuesRule

_LIKELIER = Sentence(
    "delta_disclosure.likelier",
    f"In {GROUPS}, a value of {{name:word}} is {{times:.4g}} times or more as likely, or as unlikely, as in the whole "
    "file; the policy allows it in none.",
)


def log_ratios(found: ClassValues, absent: bool = True) -> FloatArray:
    """For each class the largest |ln(p / q)|.

    absent  : whether a value that the class lacks counts; it is then infinite
    returns : shape (c,), 0 (the class is a picture of the file) or more; the file has delta-disclosure privacy for
              every delta above the largest
    cost    : O(pairs)
    """
    q = found.overall[found.value]
    shown = (q > 0) & found.harmful  # a value that suppressed records alone have is nowhere in the file
    ratios = np.log(found.share / np.where(shown, q, 1.0))
    largest = found.largest(np.where(shown, ratios if found.harmless is not None else np.abs(ratios), 0.0))
    if absent and found.harmless is None:
        largest[found.different < np.count_nonzero(found.overall)] = np.inf
    return largest


@dataclass(frozen=True)
class DeltaDisclosureModel(SensitiveModel):
    """delta is more than 0.

    absent : whether a value of the file that a class lacks breaks the model, as the definition has it. ARX and pycanon
             leave it out
    """

    delta: float
    absent: bool = True

    def __post_init__(self) -> None:
        if not self.delta > 0:
            raise DataError(f"delta of delta-disclosure privacy must be more than 0; got {self.delta:g}.")

    @property
    def monotone(self) -> bool:
        return self.absent  # else a class that lacks a value may make it rare in one that has it

    compares = True
    monotone_with_suppression = False

    @property
    def crowding(self) -> tuple[float, float]:
        return float(np.exp(self.delta)), 1.0  # no value exceeds so many times its share

    def figures(self, found: ClassValues) -> FloatArray:
        return log_ratios(found, self.absent)

    def broken(self, found: ClassValues) -> BoolArray:
        return self.figures(found) >= self.delta

    def describe(self) -> str:
        return f"delta-disclosure privacy of '{self.sensitive}' with delta = {self.delta:g}"


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
        default="violate", description="a value that a group lacks: by the definition it violates every delta"
    )

    def threshold(self, variable: Variable) -> float:
        return self.delta

    def model(self, variable: Variable, categories: Sequence[str]) -> SensitiveModel:
        return DeltaDisclosureModel(variable.name, self.delta, absent=self.absent_values == "violate")

    def measure(self, values: SensitiveValues) -> tuple[SensitiveModel, ClassValues]:
        return super().measure(values.on_grid)

    def say(self, groups: Mapping[str, Any], worst: float, limit: float) -> Saying:
        return _LIKELIER(**groups, times=np.exp(self.delta))

    def describe(self) -> str:
        return (
            f"Within {self.who_share}, every value of {self.of_what} is less than {np.exp(self.delta):.4g} times as "
            "likely or unlikely as in the whole file (delta-disclosure privacy)."
        )
