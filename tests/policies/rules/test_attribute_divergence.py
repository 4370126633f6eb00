"""The divergence of distributions as a rule."""

import numpy as np
import pandas as pd

from policies.rules.value_matching import AttributeDivergence
from tests.policies.rules.attacked_people import FAIL, ILLNESSES, ORIGINAL, UNKNOWN, VARIABLES, attacked, scrambled


def test_attribute_divergence():
    rule = AttributeDivergence(limit=0.05)
    # A distribution that is as it was is a risk even if no record is anybody's.
    assert {f.verdict for f in rule.find(attacked(scrambled(ORIGINAL), paired=False))} == {FAIL}
    moved = ORIGINAL.assign(salary=ORIGINAL["salary"] + 5000, illness=pd.Categorical(["gout"] * 600, ILLNESSES))
    assert {f.verdict for f in rule.find(attacked(ORIGINAL[["age"]], released={"age": VARIABLES["age"]}))} == {UNKNOWN}
    smoothed = AttributeDivergence(limit=0.05, divergence="kullback_leibler").find(attacked(moved))
    assert all(np.isfinite(f.observed) for f in smoothed)
