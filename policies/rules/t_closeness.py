"""t-closeness: how far the sensitive values of a group are from those of the whole file.

Source: Li, Li and Venkatasubramanian (2007), section 4.
"""

from typing import Any, ClassVar, Literal

import pandas as pd
from pydantic import Field

from policies.rules.rule import Share
from policies.rules.sensitive_rule import ROUNDING, SensitiveRule, groups
from policies.rules.words import word
from sluice.errors import DataError
from sluice.risk.classes import equivalence_classes, t_closeness
from sluice.risk.classes.equivalence_classes import EquivalenceClasses
from sluice.variables import Kind, Variable
from sluice.verdict import Finding


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

    def judge_one(
        self, classes: EquivalenceClasses, column: "pd.Series[Any]", variable: Variable, unit: str
    ) -> Finding:
        name, kind = variable.name, variable.kind
        has_order = kind.is_numeric or kind in (Kind.ORDINAL, Kind.DATE)
        if self.ground_distance == "ordered" and not has_order:
            raise DataError(f"t_closeness: 'ordered' needs values with an order; '{name}' is {kind}. Use 'equal'.")
        if self.ground_distance == "hierarchical":
            if variable.hierarchy is None:
                raise DataError(f"t_closeness: 'hierarchical' needs a hierarchy; '{name}' has none in the contract.")
            levels = t_closeness.hierarchy_levels(column, variable.hierarchy)
            distances = t_closeness.hierarchical_distance(classes, levels)
        else:
            ordered = has_order and self.ground_distance != "equal"
            measure = t_closeness.ordered_distance if ordered else t_closeness.equal_distance
            distances = measure(classes, equivalence_classes.category_codes(column))
        failing = int((distances > self.t + ROUNDING).sum())
        says = (
            f"In {groups(failing, len(distances), unit)}, the values of {word(name)} differ from those of the whole "
            f"file by more than {self.t:g} on a scale from 0 to 1 (most in any group: {distances.max():.4g}); the "
            f"policy allows {self.t:g}."
        )
        return self.finding(not failing, float(distances.max()), self.t, len(column), says)

    def describe(self) -> str:
        return (
            f"Within {self.who_share}, the values of {self.of_what} differ from those of the whole file by at most "
            f"{self.t:g} on a scale from 0 to 1 (t-closeness)."
        )
