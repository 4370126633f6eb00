"""t-closeness: how far the sensitive values of a group are from those of the whole file.

Source: Li, Li and Venkatasubramanian (2007), section 4.
"""

from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import Field

from policies.rules.sensitive_rule import GROUPS, SensitiveRule
from policies.rules.sensitive_values import ClassFigures, SensitiveValues
from sluice.generalization.models.sensitive_model import (
    EqualTCloseness,
    HierarchicalTCloseness,
    OrderedTCloseness,
    SensitiveModel,
)
from sluice.ground.document_parts import Share
from sluice.ground.errors import DataError
from sluice.ground.sentence import Saying, Sentence
from sluice.ground.variables import Kind, Variable

_DIFFER = Sentence(
    "t_closeness.differ",
    f"In {GROUPS}, the values of {{name:word}} differ from those of the whole file by more than {{limit:g}} on a "
    "scale from 0 to 1 (most in any group: {most:.4g}); the policy allows {limit:g}.",
)


class TCloseness(SensitiveRule):
    """Whoever knows a person's quasi-identifiers learns little that the whole file does not tell of everybody."""

    rule: Literal["t_closeness"] = "t_closeness"
    example: ClassVar[str] = "{rule: t_closeness, t: 0.5}"
    advice: ClassVar[str] = (
        "The sensitive values of some groups differ too much from those of the whole file: merge such groups by "
        "coarser quasi-identifiers, or give the sensitive variable fewer categories."
    )
    t: Share = Field(gt=0, lt=1, description="largest allowed earth mover's distance, more than 0 and less than 1")
    t_ordered: Share | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="the same where values have an order: a group that holds the lowest alone is about 0.5 from the "
        "file, not 1; t, when not given",
    )
    ground_distance: Literal["equal", "ordered", "hierarchical"] | None = Field(
        default=None,
        description="by kind when not given: ordered for numbers, dates and ordinal categories, else equal; "
        "hierarchical takes the variable's hierarchy in the contract",
    )

    def threshold(self, variable: Variable) -> float:
        ordered = self._has_order(variable) and self.ground_distance_of(variable) == "ordered"
        return self.t_ordered if ordered and self.t_ordered is not None else self.t

    def ground_distance_of(self, variable: Variable) -> Literal["equal", "ordered", "hierarchical"]:
        """Which one is taken for a variable."""
        if self.ground_distance is not None:
            return self.ground_distance
        return "ordered" if self._has_order(variable) else "equal"

    def model(self, variable: Variable, categories: Sequence[str]) -> SensitiveModel:
        name, t, distance = variable.name, self.threshold(variable), self.ground_distance_of(variable)
        if distance == "equal":
            return EqualTCloseness(name, t)
        if distance == "ordered":
            if not self._has_order(variable):
                raise DataError(
                    f"t_closeness: 'ordered' needs values with an order; '{name}' is {variable.kind}. Use 'equal'."
                )
            return OrderedTCloseness(name, t)
        if variable.hierarchy is None:
            raise DataError(f"t_closeness: 'hierarchical' needs a hierarchy; '{name}' has none in the contract.")
        return HierarchicalTCloseness.of(name, t, categories, variable.hierarchy)

    def measure(self, values: SensitiveValues) -> ClassFigures:
        counted, categories = values.as_they_occur  # a hierarchy need not hold what nobody has
        model = self.model(values.variable, categories)
        return ClassFigures(model.figures(counted.in_classes), model.broken(counted.in_classes))

    def say(self, count: int, total: int, unit: str, name: str, worst: float, limit: float) -> Saying:
        which = {"count": count, "total": total, "unit": unit, "name": name}
        return _DIFFER(**which, limit=limit, most=worst)

    @staticmethod
    def _has_order(variable: Variable) -> bool:
        return variable.kind.is_numeric or variable.kind in (Kind.ORDINAL, Kind.DATE)

    def describe(self) -> str:
        ordered = "" if self.t_ordered is None else f", {self.t_ordered:g} where values have an order,"
        return (
            f"Within {self.who_share}, the values of {self.of_what} differ from those of the whole file by at most "
            f"{self.t:g}{ordered} on a scale from 0 to 1 (t-closeness)."
        )
