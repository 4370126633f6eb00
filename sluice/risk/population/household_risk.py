"""Household risk: the chance that any member of a record's household is named rightly; with one, all of them are.

Source: Franconi and Polettini (2004), section 5.

Members are found independently of each other, so the risk is 1 - prod(1 - r) over the members' individual risks. Higher
is worse.
"""

from typing import ClassVar, Literal

import numpy as np
import pandas as pd

from sluice.ground.arrays import FloatArray
from sluice.ground.errors import DataError
from sluice.ground.rule import AnyOf, Need
from sluice.ground.variables import Role, with_role
from sluice.risk.classes.microdata_rule import KeyedRecords
from sluice.risk.population.individual_risk import RecordRiskRule


def household_risk(risks: FloatArray, households: "pd.Series") -> FloatArray:
    """The risk of each record's household.

    risks      : shape (n,), individual risks from 0 to 1
    households : shape (n,), the number or name of each record's household, any index
    returns    : shape (n,), the same for all members, at least the individual risk; its sum over the records is the
                 expected number of people in households that are found
    raises     : DataError if a household is missing, a risk is outside 0 to 1, or the lengths differ
    cost       : O(n)
    """
    if len(risks) != len(households):
        raise DataError(f"risks and households must have one length; got {len(risks)} and {len(households)}.")
    if not ((risks >= 0) & (risks <= 1)).all():
        raise DataError("individual risks must be from 0 to 1. Is one of them missing?")
    of, names = pd.factorize(households)
    without = int((of < 0).sum())
    if without:
        raise DataError(f"every record needs its household; {without:,} of {len(of):,} have none.")
    with np.errstate(divide="ignore"):  # a risk of 1 makes the household's risk 1: exp(-inf) is 0
        unfound = np.bincount(of, weights=np.log1p(-risks), minlength=len(names))
    return np.asarray(-np.expm1(unfound))[of]


class HouseholdRisk(RecordRiskRule):
    """The chance that any member of a record's household is identified, which reveals the others."""

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

    def risks(self, file: KeyedRecords) -> FloatArray:
        names = with_role(file.variables, Role.HOUSEHOLD)
        if len(names) != 1 or names[0] not in file.frame:
            raise DataError("The file needs one variable with the role household.")
        return household_risk(super().risks(file), file.frame[names[0]])
