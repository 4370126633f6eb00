"""Attacks on single variables: what cannot be read, is of few people, or is released as probabilities.

Attribute inference as a rule.
"""

import numpy as np
import pandas as pd
import pytest

from policies.rules.attribute_rules import AttributeInference
from policies.rules.value_matching import AttributeDivergence, DataInvasion, MaximumKnowledge
from sluice.ground.errors import DataError
from sluice.ground.variables import Harmless, Kind, Variable
from sluice.utility.comparison import Comparison
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
    by_scope,
    people,
    scrambled,
)

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
        golden.words(found.says)


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


@pytest.mark.chain
def test_who_guesses_harmless_values_alone_is_asked_about_the_others():
    """A cold may be known. A file that shows who has one, and of the others anything, teaches no more than it may."""
    rule = AttributeInference(excess=0.1, trees=10, columns=("illness",))
    harmless = Harmless(values=("cold",), why="everybody has had one")
    variables = VARIABLES | {"illness": VARIABLES["illness"].model_copy(update={"harmless": harmless})}
    has_cold = (ORIGINAL["illness"] == "cold").to_numpy()
    others, mixed = np.flatnonzero(~has_cold), ORIGINAL.copy()
    mixed.loc[others, "illness"] = np.random.default_rng(1).choice(ORIGINAL["illness"], len(others))
    plain, told = (rule.find(attacked(mixed, variables=each))[0] for each in (VARIABLES, variables))
    assert (plain.completed, told.completed) == (600, len(others))
    assert plain.observed is not None
    assert told.observed is not None
    assert plain.observed > told.observed  # those with a cold are not asked about
    assert told.verdict is PASS
    golden.words(told.says)
    assert rule.find(attacked(ORIGINAL, variables=variables))[0].verdict is FAIL
