"""Household risk: the chance that any member of a record's household is named rightly."""

from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from policies.rules.record_risk_rule import RecordRiskRule
from sluice.errors import DataError
from sluice.risk.population.household_risk import household_risk
from sluice.variables import Role, Variables, with_role

FloatArray = NDArray[np.float64]


class HouseholdRisk(RecordRiskRule):
    """The chance that any member of a record's household is named rightly, which gives the others away."""

    rule: Literal["household_risk"] = "household_risk"

    @property
    def found(self) -> str:
        return "given away by a member of the household whom somebody looks up in the population"

    def risks(self, frame: pd.DataFrame, variables: Variables, keys: list[str]) -> FloatArray:
        names = with_role(variables, Role.HOUSEHOLD)
        if len(names) != 1 or names[0] not in frame:
            raise DataError("The file needs one variable with the role household.")
        return household_risk(super().risks(frame, variables, keys), frame[names[0]])
