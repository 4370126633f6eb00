"""What cannot be compared with the original is not measured."""

import pandas as pd

from sluice.variables import Variable
from sluice.verdict import Verdict
from tests.policies.standard.population_sample import ORIGINAL, RECODED, SAFE, VARIABLES, judge, recode


def test_labels_that_nobody_carries_cannot_be_measured():
    recoded = recode(ORIGINAL)
    strange = recode(SAFE)
    strange["area"] = pd.Categorical(["ef"] * 2000, categories=["ab", "cd", "ef"])
    findings, _ = judge(ORIGINAL, strange, recoded=recoded, released=RECODED)
    assert findings["comparable_values"].verdict is Verdict.UNKNOWN
    assert findings["comparable_values"].attempted - findings["comparable_values"].completed == 2000


def test_variables_that_nobody_can_compare():
    released = VARIABLES | {"remark": Variable(name="remark", kind="text")}
    findings, _ = judge(ORIGINAL, SAFE.assign(remark="x"), released=released)
    assert findings["comparable_values"].verdict is Verdict.REVIEW
    assert "remark" in findings["comparable_values"].says
    only = {"remark": Variable(name="remark", kind="text")}
    findings, _ = judge(ORIGINAL, SAFE.assign(remark="x"), released=only)
    assert findings["comparable_values"].verdict is Verdict.UNKNOWN
