"""Attribute inference as a rule."""

import pandas as pd
import pytest

from policies.rules.attribute_rules import AttributeInference
from tests.golden import golden
from tests.policies.rules.attacked_people import (
    FAIL,
    ILLNESSES,
    ORIGINAL,
    PASS,
    REVIEW,
    UNKNOWN,
    VARIABLES,
    attacked,
    people,
    scrambled,
)


@pytest.mark.chain
def test_attribute_inference():
    rule = AttributeInference(excess=0.1, trees=10, columns=("illness",))
    found = rule.find(attacked(ORIGINAL))[0]
    assert found.verdict is FAIL
    golden.words(found.says)
    # The scrambled file teaches nothing, and less than the others would: no price of taking part, and no bad attack.
    assert rule.find(attacked(scrambled(ORIGINAL)))[0].verdict is PASS
    strangers = people(600, 2)
    assert rule.find(attacked(strangers, paired=False))[0].verdict in (PASS, REVIEW)
    held = attacked(ORIGINAL, holdout=strangers, recoded_holdout=strangers)
    assert rule.find(held)[0].verdict is FAIL
    constant = ORIGINAL.assign(illness=pd.Categorical(["flu"] * 600, ILLNESSES))
    blind = rule.find(attacked(constant, original=constant, recoded=constant))[0]
    assert blind.verdict is UNKNOWN
    golden.words(blind.says)
    nothing_known = attacked(ORIGINAL[["illness"]], released={"illness": VARIABLES["illness"]})
    assert rule.find(nothing_known)[0].verdict is UNKNOWN
    salary = AttributeInference(limit=0.05, trees=10, columns=("salary",), known=("age",)).find(attacked(ORIGINAL))[0]
    assert salary.verdict is FAIL
