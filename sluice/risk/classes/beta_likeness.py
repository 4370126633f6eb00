"""Beta-likeness: how much more likely a sensitive value is within a group than in the file.

Source: Cao and Karras (2012), Definitions 2 (basic) and 3 (enhanced).

A value with share q in the file and p in a class gains (p - q) / q where p exceeds q. Basic beta-likeness bounds every
gain by beta; enhanced beta-likeness by the smaller of beta and -ln q, so that a value which is frequent anyway may not
become almost certain. Losses are not looked at: to learn that somebody does not have a value is no harm in this model.
Harmless values may gain. A blank is no value: who asks leaves such records out. Higher is worse.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from sluice.ground.arrays import BoolArray, FloatArray
from sluice.ground.errors import DataError
from sluice.ground.sentence import Saying, Sentences, percent
from sluice.ground.variables import Variable
from sluice.risk.classes.class_values import ClassValues
from sluice.risk.classes.privacy_model import ROUNDING, SensitiveModel
from sluice.risk.classes.sensitive_rule import GROUPS, NearValuesRule

_ALLOWED = (
    f"In {GROUPS}, a value of {{name:word}} is more likely than in the whole file by more than the policy allows, "
    "{limit:.4g} %"
)
_SAYS = Sentences(
    "beta_likeness",
    likelier=f"{_ALLOWED} (most in any group: {{most:.4g}} %).",
    likelier_enhanced=f"{_ALLOWED} and less for frequent values (most in any group: {{most:.4g}} %).",
)


def largest_gain(found: ClassValues) -> FloatArray:
    """For each class the largest (p - q) / q over its values, 0 where no value is more frequent than in the file.

    returns : shape (c,); the file has basic beta-likeness for every beta from the largest on
    cost    : O(pairs)
    """
    return found.largest(_gains(found)[0])


def largest_bounded_gain(found: ClassValues) -> FloatArray:
    """For each class the largest (p - q) / q relative to its bound -ln q.

    returns : shape (c,); enhanced beta-likeness asks for at most 1, and for a largest gain of at most beta
    cost    : O(pairs)
    """
    gain, q = _gains(found)
    bound = np.where(q < 1, -np.log(q), 1.0)  # the only value of a file gains nothing
    return found.largest(gain / bound)


def _gains(found: ClassValues) -> tuple[FloatArray, FloatArray]:
    """Shape (pairs,) each: (p - q) / q, and q; of a value that suppressed records alone have, and of a harmless one, 0
    and 1."""
    q = found.overall[found.value]
    shown = (q > 0) & found.harmful
    q = np.where(shown, q, 1.0)
    return np.where(shown, found.share / q - 1, 0.0), q


@dataclass(frozen=True)
class BetaLikenessModel(SensitiveModel):
    """The gain of each value is at most beta, which is more than 0.

    enhanced : and at most -ln q, so that a frequent value may not become almost certain
    """

    beta: float
    enhanced: bool = False

    def __post_init__(self) -> None:
        if not self.beta > 0:
            raise DataError(f"beta of beta-likeness must be more than 0; got {self.beta:g}.")

    compares = True
    monotone = True  # the largest gain of a mixture lies between those of its parts
    monotone_with_suppression = False

    @property
    def crowding(self) -> tuple[float, float]:
        return 1 + self.beta, 1.0  # no value exceeds so many times its share

    def figures(self, found: ClassValues) -> FloatArray:
        return largest_gain(found)

    def broken(self, found: ClassValues) -> BoolArray:
        broken = self.figures(found) > self.beta + ROUNDING
        return broken | (largest_bounded_gain(found) > 1 + ROUNDING) if self.enhanced else broken

    def describe(self) -> str:
        return (
            f"{'enhanced' if self.enhanced else 'basic'} beta-likeness of '{self.sensitive}' with beta = {self.beta:g}"
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

    def say(self, groups: Mapping[str, Any], worst: float, limit: float) -> Saying:
        return (_SAYS.likelier_enhanced if self.variant == "enhanced" else _SAYS.likelier)(
            **groups, limit=100 * self.beta, most=100 * worst
        )

    def describe(self) -> str:
        return (
            f"Within {self.who_share}, no value of {self.of_what} is more than {percent(self.beta)} likelier "
            f"than in the whole file ({self.variant} beta-likeness)."
        )
