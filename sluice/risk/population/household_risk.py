"""Household risk: the chance that at least one member of a household is named; with one, all of them are.

Source: Franconi and Polettini (2004), section 5: members are found independently of each other, so the risk is 1 -
prod(1 - r) over the members' individual risks. Higher is worse.
"""

import numpy as np
import pandas as pd

from sluice.ground.arrays import FloatArray
from sluice.ground.errors import DataError


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
