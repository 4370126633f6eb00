"""Data invasion as a rule.

The maximum-knowledge attack as a rule.

The divergence of distributions as a rule.
"""

import numpy as np
import pandas as pd
import pytest

from policies.rules.value_matching import AttributeDivergence, DataInvasion, MaximumKnowledge
from sluice.ground.variables import Kind, Variable
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
    scrambled,
)


def test_data_invasion():
    rule = DataInvasion(excess=0.1)
    verbatim = by_scope(rule, attacked(ORIGINAL))
    assert {scope: finding.verdict for scope, finding in verbatim.items()} == {"illness": FAIL, "salary": FAIL}
    assert verbatim["illness"].observed == 1
    golden(verbatim["illness"].says)
    # Worse than always guessing the most frequent value: the house answers UNKNOWN, unless the policy says otherwise.
    masked = attacked(scrambled(ORIGINAL))
    guess = DataInvasion(excess=0.1, columns=("illness",), when_misled="guess").find(masked)[0]
    assert (guess.verdict, guess.observed) == (PASS, pytest.approx(ORIGINAL["illness"].value_counts().max() / 600))
    turned = (ORIGINAL["illness"].cat.codes + 1) % 3  # everybody's illness is another one
    misled = ORIGINAL.assign(illness=pd.Categorical.from_codes(turned, categories=ILLNESSES))
    assert DataInvasion(excess=0.1, columns=("illness",)).find(attacked(misled))[0].verdict is UNKNOWN
    unpaired = rule.find(attacked(ORIGINAL, paired=False))
    assert {finding.verdict for finding in unpaired} == {REVIEW}
    golden.words(unpaired[0].says)


def test_data_invasion_at_level_2_plays_level_1_too():
    # 9 of 10 people are healthy: weighed by that, a rare value is never guessed, though the file is verbatim.
    rare = pd.DataFrame({"illness": pd.Categorical(["cold"] * 540 + ["gout"] * 60, categories=ILLNESSES)})
    files = attacked(rare, original=rare, recoded=rare)
    found = DataInvasion(limit=0.95, columns=("illness",)).find(files)[0]
    assert (found.verdict, found.observed) == (FAIL, 1)


def test_a_small_count_is_told_as_a_bound():
    masked = ORIGINAL.assign(illness=pd.Categorical([None] * 600, ILLNESSES))
    rare = ORIGINAL.assign(illness=pd.Categorical(["flu"] * 5 + [None] * 595, ILLNESSES))
    found = DataInvasion(limit=0.5, columns=("illness",)).find(attacked(masked, original=rare, recoded=rare))[0]
    assert found.verdict is UNKNOWN
    golden.words(found.says)
    assert "5" not in found.says


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


def test_attribute_divergence():
    rule = AttributeDivergence(limit=0.05)
    # A distribution that is as it was is a risk even if no record is anybody's.
    assert {f.verdict for f in rule.find(attacked(scrambled(ORIGINAL), paired=False))} == {FAIL}
    moved = ORIGINAL.assign(salary=ORIGINAL["salary"] + 5000, illness=pd.Categorical(["gout"] * 600, ILLNESSES))
    assert {f.verdict for f in rule.find(attacked(ORIGINAL[["age"]], released={"age": VARIABLES["age"]}))} == {UNKNOWN}
    smoothed = AttributeDivergence(limit=0.05, divergence="kullback_leibler").find(attacked(moved))
    assert all(np.isfinite(f.observed) for f in smoothed)
