"""The maximum-knowledge attack as a rule."""

import numpy as np
import pandas as pd

from policies.rules.value_matching import MaximumKnowledge
from sluice.ground.variables import Kind, Variable
from tests.golden import golden
from tests.policies.rules.attacked_people import FAIL, ORIGINAL, UNKNOWN, VARIABLES, attacked


def test_maximum_knowledge_of_records():
    rule = MaximumKnowledge(limit=0.2)
    assert rule.find(attacked(ORIGINAL))[0].observed > 0.9
    assert rule.find(attacked(ORIGINAL.sample(frac=1, random_state=1), paired=False))[0].verdict is FAIL
    other = {"height": Variable(name="height", kind=Kind.CONTINUOUS)}
    nothing = rule.find(attacked(pd.DataFrame({"height": np.zeros(600)}), released=other))[0]
    assert (nothing.verdict, nothing.completed) == (UNKNOWN, 0)
    divergence = MaximumKnowledge(limit=0.2, comparison="kullback_leibler").find(attacked(ORIGINAL))[0]
    assert divergence.verdict is FAIL
    golden.words(divergence.says)


def test_maximum_knowledge_of_attributes():
    rule = MaximumKnowledge(limit=0.25, of="attributes")
    alone = attacked(ORIGINAL[["salary"]], released={"salary": VARIABLES["salary"]})
    assert rule.find(alone)[0].verdict is UNKNOWN  # no other variable to link by
