"""Attacks on single variables: what cannot be read, is of few people, or is released as probabilities."""

import numpy as np
import pandas as pd
import pytest

from policies.rules.attribute_rules import AttributeInference
from policies.rules.value_matching import AttributeDivergence, DataInvasion, MaximumKnowledge
from sluice.ground.errors import DataError
from sluice.ground.variables import Kind, Variable
from sluice.utility.comparison import Comparison
from tests.golden import golden
from tests.policies.rules.attacked_people import FAIL, ILLNESSES, ORIGINAL, PASS, UNKNOWN, VARIABLES, attacked, by_scope

RULES = (
    DataInvasion(excess=0.1),
    MaximumKnowledge(limit=0.2),
    MaximumKnowledge(limit=0.2, of="attributes"),
    AttributeDivergence(limit=0.05),
    AttributeInference(excess=0.1, trees=10),
)


def test_values_that_cannot_be_read_make_no_file_look_safe():
    other = ORIGINAL["illness"].cat.add_categories("else").where(ORIGINAL.index % 2 == 0, "else")
    unread = attacked(ORIGINAL.assign(illness=other))
    for rule in (MaximumKnowledge(limit=0.2), MaximumKnowledge(limit=0.2, of="attributes"), DataInvasion(excess=0.1)):
        found = rule.find(unread)[0]
        assert found.verdict is UNKNOWN
        assert "neither original values nor explained" in found.says


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.rule)
def test_a_few_people_never_make_a_file_look_safe(rule):
    few = ORIGINAL.iloc[:6]
    assert {f.verdict for f in rule.find(attacked(few, original=few, recoded=few))} <= {UNKNOWN, FAIL}


def test_a_variable_that_is_released_as_a_distribution_over_its_labels():
    columns = [f"illness={label}" for label in ILLNESSES]
    released = {name: VARIABLES[name] for name in ("age", "area")}
    released |= {column: Variable(name=column, kind=Kind.CONTINUOUS) for column in columns}

    def published(certainty: float) -> Comparison:
        shares = np.full((600, 3), (1 - certainty) / 3)
        shares[np.arange(600), ORIGINAL["illness"].cat.codes] += certainty
        masked = ORIGINAL[["age", "area"]].assign(**dict(zip(columns, shares.T, strict=True)))
        return attacked(masked, released=released)

    for rule in (
        DataInvasion(excess=0.1),
        MaximumKnowledge(limit=0.25, of="attributes"),
        AttributeDivergence(limit=0.01),
    ):
        assert by_scope(rule, published(1.0))["illness"].verdict is FAIL, rule.rule
    assert AttributeInference(excess=0.1, trees=10).find(published(1.0))[0].verdict is FAIL
    # Says nothing of anybody: any of three, or the most frequent.
    assert by_scope(DataInvasion(excess=0.1), published(0.0))["illness"].verdict is PASS
    assert by_scope(AttributeDivergence(limit=0.01), published(0.0))["illness"].verdict is PASS


def test_a_column_that_cannot_be_attacked_is_refused():
    remark = VARIABLES | {"remark": Variable(name="remark", kind=Kind.TEXT)}
    texts = attacked(ORIGINAL.assign(remark=pd.array(["x"] * 600, dtype="str")), variables=remark, released=remark)
    golden.refused(DataError, AttributeDivergence(limit=0.1, columns=("remark",)).find, texts)
    for rule in (
        DataInvasion(limit=0.5, columns=("ilness",)),
        AttributeInference(limit=0.5, known=("ilness",)),
        MaximumKnowledge(limit=0.5, of="attributes", columns=("ilness",)),
    ):
        golden.refused(DataError, rule.find, attacked(ORIGINAL))
