"""t-closeness: how far the sensitive values of a group are from those of the whole file.

Source: Li, Li and Venkatasubramanian (2007), section 4.
"""

from typing import ClassVar, Literal

from pydantic import Field

from policies.rules.rule import Share
from policies.rules.sensitive_rule import ROUNDING, SensitiveRule
from policies.rules.sensitive_values import ClassFigures, SensitiveValues
from sluice.errors import DataError
from sluice.risk.classes import t_closeness
from sluice.risk.classes.equivalence_classes import category_codes
from sluice.variables import Kind


class TCloseness(SensitiveRule):
    """Whoever knows a person's quasi-identifiers learns little that the whole file does not tell of everybody."""

    rule: Literal["t_closeness"] = "t_closeness"
    example: ClassVar[str] = "{rule: t_closeness, t: 0.5}"
    advice: ClassVar[str] = (
        "The sensitive values of some groups differ too much from those of the whole file: merge such groups by "
        "coarser quasi-identifiers, or give the sensitive variable fewer categories."
    )
    t: Share = Field(gt=0, lt=1, description="largest allowed earth mover's distance, more than 0 and less than 1")
    ground_distance: Literal["equal", "ordered", "hierarchical"] | None = Field(
        default=None,
        description="by kind when not given: ordered for numbers, dates and ordinal categories, else equal; "
        "hierarchical takes the variable's hierarchy in the contract",
    )

    @property
    def threshold(self) -> float:
        return self.t

    def measure(self, values: SensitiveValues) -> ClassFigures:
        name, kind = values.variable.name, values.variable.kind
        has_order = kind.is_numeric or kind in (Kind.ORDINAL, Kind.DATE)
        if self.ground_distance == "ordered" and not has_order:
            raise DataError(f"t_closeness: 'ordered' needs values with an order; '{name}' is {kind}. Use 'equal'.")
        classes, column = values.once_a_person
        if self.ground_distance == "hierarchical":
            if values.variable.hierarchy is None:
                raise DataError(f"t_closeness: 'hierarchical' needs a hierarchy; '{name}' has none in the contract.")
            levels = t_closeness.hierarchy_levels(column, values.variable.hierarchy)
            distances = t_closeness.hierarchical_distance(classes, levels)
        else:
            ordered = has_order and self.ground_distance != "equal"
            measure = t_closeness.ordered_distance if ordered else t_closeness.equal_distance
            distances = measure(classes, category_codes(column))
        return ClassFigures(distances, distances > self.t + ROUNDING)

    def say(self, which: str, name: str, worst: float) -> str:
        return (
            f"In {which}, the values of {name} differ from those of the whole file by more than {self.t:g} on a scale "
            f"from 0 to 1 (most in any group: {worst:.4g}); the policy allows {self.t:g}."
        )

    def describe(self) -> str:
        return (
            f"Within {self.who_share}, the values of {self.of_what} differ from those of the whole file by at most "
            f"{self.t:g} on a scale from 0 to 1 (t-closeness)."
        )
