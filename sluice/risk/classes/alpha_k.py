"""(alpha,k)-anonymity: groups of k records, in none of which a sensitive value is near certain.

Source: Wong, Li, Fu and Wang (2006), Definitions 2 and 3.

In every class the share of a sensitive value is at most alpha. The simple model names the values that are sensitive,
the general one protects all. A blank is no value: who asks leaves such records out. Higher is worse. For k see
`k_anonymity`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.ground.document_parts import Share
from sluice.ground.errors import DataError
from sluice.ground.sentence import Saying, Sentences, percent
from sluice.ground.variables import Label, Variable
from sluice.ground.verdict import Finding
from sluice.risk.classes.class_values import ClassValues
from sluice.risk.classes.k_anonymity import KAnonymityModel
from sluice.risk.classes.microdata_rule import KeyedRecords
from sluice.risk.classes.privacy_model import ROUNDING, ReleasedFile, SensitiveModel
from sluice.risk.classes.sensitive_rule import GROUPS, NearValuesRule

_SAME_VALUE = f"In {GROUPS}, more than {{alpha:percent}} have the same value of {{name:word}}, a"
_MOST = "value that others could then infer (most in any group: {most:.4g} %); the policy allows it in none."
_SAYS = Sentences(
    "alpha_k",
    small_groups="{count:,} of {total:,} groups of {unit} that share {keys:listed} are smaller than the policy asks, "
    "{k:,}.",
    same_value=f"{_SAME_VALUE} {_MOST}",
    same_sensitive_value=f"{_SAME_VALUE} sensitive {_MOST}",
)


def largest_share(found: ClassValues, values: IntArray | Sequence[int] | None = None) -> FloatArray:
    """For each class, the share of its records that have its most frequent sensitive value.

    values  : codes of the values that are sensitive; all when None. Harmless ones never are
    returns : shape (c,), 0 (none of the values occurs) to 1
    cost    : O(pairs)
    """
    counts = found.harmful if values is None else found.harmful & np.isin(found.value, values)
    return found.largest(np.where(counts, found.share, 0.0))


@dataclass(frozen=True)
class AlphaKAnonymity(SensitiveModel):
    """A class has at least k records, or people, and at most the share alpha of them has any one sensitive value.

    alpha  : more than 0, at most 1; of the records with a value
    values : codes of the values that are sensitive; all when None
    """

    alpha: float
    k: int
    values: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if not 0 < self.alpha <= 1:
            raise DataError(f"alpha of (alpha,k)-anonymity must be more than 0 and at most 1; got {self.alpha:g}.")
        if self.k < 1:
            raise DataError(f"k of (alpha,k)-anonymity must be 1 or more; got {self.k}.")

    monotone = True
    monotone_with_suppression = False  # a class of one value may outweigh one of many

    def failing(self, file: ReleasedFile) -> BoolArray:
        return super().failing(file) | KAnonymityModel(self.k).failing(file)

    def figures(self, found: ClassValues) -> FloatArray:
        return largest_share(found, self.values)

    def broken(self, found: ClassValues) -> BoolArray:
        return self.figures(found) > self.alpha + ROUNDING

    def hidden_class_fails(self, file: ReleasedFile) -> bool:
        return file.hidden_class < self.k

    def describe(self) -> str:
        return f"(alpha,k)-anonymity of '{self.sensitive}' with alpha = {self.alpha:g} and k = {self.k}"


class AlphaK(NearValuesRule):
    """Every group has at least k records, and none has a nearly certain sensitive value."""

    rule: Literal["alpha_k"] = "alpha_k"
    example: ClassVar[str] = "{rule: alpha_k, alpha: 0.8, k: 2}"
    advice: ClassVar[str] = (
        "Where groups are too small, recode the quasi-identifiers; where one sensitive value fills a group, merge the "
        "group with others or coarsen that value, and only then ask for a larger k."
    )
    alpha: Share = Field(gt=0, lt=1, description="largest allowed share of a sensitive value in a group")
    k: int = Field(ge=2, description="fewest records in a group")
    values: tuple[Label, ...] | None = Field(
        default=None, min_length=1, description="categories that are sensitive; every value by default"
    )

    def judge(self, file: KeyedRecords) -> list[Finding]:
        sizes = file.classes.sizes
        count, smallest = int((sizes < self.k).sum()), int(sizes.min())
        says = _SAYS.small_groups(count=count, total=len(sizes), unit=file.unit, keys=file.keys, k=self.k)
        return [self.finding(file, not count, smallest, self.k, says), *super().judge(file)]

    def threshold(self, variable: Variable) -> float:
        return self.alpha

    def misfit(self, variable: Variable) -> str:
        told = variable.categories is not None or not variable.kind.is_categorical  # others the data tell
        return self._misfit(variable.name, variable.categories or ()) if told else ""

    def _misfit(self, name: str, categories: Sequence[str]) -> str:
        unknown = sum(value not in categories for value in self.values or ())
        if unknown and not categories:
            return f"names categories in 'values', and '{name}' has none. Leave out values, or name columns."
        return f"names {unknown} 'values' that are not categories of '{name}'." if unknown else ""

    def model(self, variable: Variable, categories: Sequence[str]) -> SensitiveModel:
        if self.values is None:
            return AlphaKAnonymity(variable.name, self.alpha, self.k)
        if misfit := self._misfit(variable.name, categories):
            raise DataError(f"alpha_k {misfit}")
        return AlphaKAnonymity(variable.name, self.alpha, self.k, tuple(map(categories.index, self.values)))

    def say(self, groups: Mapping[str, Any], worst: float, limit: float) -> Saying:
        return (_SAYS.same_value if self.values is None else _SAYS.same_sensitive_value)(
            **groups, alpha=self.alpha, most=100 * worst
        )

    def describe(self) -> str:
        return (
            f"At least {self.k:,} records share their quasi-identifiers, and within {self.who_share} at most "
            f"{percent(self.alpha)} have the same value of {self.of_what} ((alpha,k)-anonymity)."
        )
