"""What cannot be compared with the original is not measured."""

import pandas as pd
import pytest

from policies.standard.checks import judge_reference_standard
from policies.standard.reference_standard import ReferenceStandard
from sluice.ground.variables import Variable
from sluice.ground.verdict import Verdict
from tests.golden import golden
from tests.policies.standard.population_sample import ORIGINAL, RECODED, SAFE, VARIABLES, judge, recode
from tests.policies.standard.wealth_sample import paired, wealthy


def test_labels_that_nobody_carries_cannot_be_measured():
    recoded = recode(ORIGINAL)
    strange = recode(SAFE)
    strange["area"] = pd.Categorical(["ef"] * 2000, categories=["ab", "cd", "ef"])
    findings, _ = judge(ORIGINAL, strange, recoded=recoded, released=RECODED)
    assert findings["comparable_values"].verdict is Verdict.UNKNOWN
    assert findings["comparable_values"].attempted - findings["comparable_values"].completed == 2000
    golden.words(findings["comparable_values"].says)


def test_variables_that_nobody_can_compare():
    released = VARIABLES | {"remark": Variable(name="remark", kind="text")}
    findings, _ = judge(ORIGINAL, SAFE.assign(remark="x"), released=released)
    assert findings["comparable_values"].verdict is Verdict.REVIEW
    assert "remark" in findings["comparable_values"].says
    only = {"remark": Variable(name="remark", kind="text")}
    findings, _ = judge(ORIGINAL, SAFE.assign(remark="x"), released=only)
    assert findings["comparable_values"].verdict is Verdict.UNKNOWN


@pytest.mark.parametrize("weights", [{"amount0": 0}, {"amount0": 1e-9}, {"age": 1e9}], ids=str)
def test_a_variable_without_weight_in_the_comparison_is_named(weights: dict[str, float]) -> None:
    frame, variables = wealthy(1200)
    findings, _ = judge_reference_standard(ReferenceStandard(weights=weights), paired(frame, frame, variables))
    (read,) = (finding for finding in findings if finding.rule == "comparable_values")
    assert read.verdict is Verdict.REVIEW
    assert "amount0" in read.says
