"""Prediction distance, ambiguity and uncertainty as findings."""

import numpy as np

from sluice.verdict import Verdict
from tests.policies.standard.population_sample import (
    NUMBERS,
    ORIGINAL,
    judge,
)


def test_copies_within_groups_are_no_pass_for_uncertainty():
    order = ORIGINAL.sort_values(NUMBERS[0]).index.to_numpy()
    group = np.empty(2000, int)
    group[order] = np.arange(2000) // 10
    means = ORIGINAL.groupby(group)[NUMBERS].transform("mean")
    masked = ORIGINAL.assign(**{name: means[name] for name in NUMBERS}, sex="f", area="a", age=40)
    masked = masked.astype({"sex": ORIGINAL["sex"].dtype, "area": ORIGINAL["area"].dtype, "age": "Int64"})
    findings, curves = judge(ORIGINAL, masked)
    assert findings["prediction_uncertainty"].verdict is Verdict.REVIEW
    assert not findings["prediction_uncertainty"].binding
    assert "by construction" in findings["prediction_uncertainty"].says
    assert findings["prediction_ambiguity"].verdict is Verdict.PASS  # identically 1: stronger than the reference
    assert curves["ambiguity"].masked[0] == 0
    findings, _ = judge(ORIGINAL, masked, binding=("uncertainty",))
    assert findings["prediction_uncertainty"].verdict is Verdict.UNKNOWN
    assert findings["prediction_distance"].binding is False
