"""Household risk: the chance that any member of a record's household is named rightly.

Source: Franconi and Polettini (2004), section 5.
"""

from typing import ClassVar, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from policies.rules.record_risk_rule import RecordRiskRule
from sluice.ground.errors import DataError
from sluice.ground.rule import AnyOf, Need
from sluice.ground.variables import Role, Variables, with_role
from sluice.risk.population.household_risk import household_risk

FloatArray = NDArray[np.float64]


class HouseholdRisk(RecordRiskRule):
    """The chance that any member of a record's household is named rightly, which gives the others away."""

    rule: Literal["household_risk"] = "household_risk"
    example: ClassVar[str] = "{rule: household_risk, highest_at_most: 0.9}"
    advice: ClassVar[str] = (
        "A household is found by any of its members: recode what describes them together, such as household size and "
        "the ages of children, or leave large households out by top-coding the size."
    )
    needs: ClassVar[str] = (
        "Keep one variable with the role household and one with the role weight in the file, or take the rule out of "
        "the policy."
    )

    @property
    def requires(self) -> tuple[AnyOf, ...]:
        return (*super().requires, (Need.HOUSEHOLD,))

    @property
    def found(self) -> str:
        return "given away by a member of the household whom somebody looks up in the population"

    def risks(self, frame: pd.DataFrame, variables: Variables, keys: list[str]) -> FloatArray:
        names = with_role(variables, Role.HOUSEHOLD)
        if len(names) != 1 or names[0] not in frame:
            raise DataError("The file needs one variable with the role household.")
        return household_risk(super().risks(frame, variables, keys), frame[names[0]])
