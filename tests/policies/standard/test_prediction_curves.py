"""Prediction distance, ambiguity and uncertainty as findings.

A file that is safe on average and not for a minority.
"""

import numpy as np
import pandas as pd
import pytest

from policies.standard.prediction_curves import judge_measure
from policies.standard.reference_standard import ReferenceStandard
from sluice.ground.errors import DocumentError
from sluice.ground.variables import Variable
from sluice.ground.verdict import Verdict, decide
from sluice.risk.reference.prediction import Prediction
from sluice.risk.reference.reference_attack import ReferenceAttack
from tests.golden import golden
from tests.policies.standard.population_sample import NUMBERS, ORIGINAL, SAFE, VARIABLES, judge, people, verdicts


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


def near_and_far(near: int, of: int = 1000) -> Prediction:
    """So many people whose figure is 0.1, all others 0.9."""
    figure = np.where(np.arange(of) < near, 0.1, 0.9)
    return Prediction(figure, figure, figure)


def sentence(released: int, reference: int, measure="distance", of: int = 1000) -> str:
    there, elsewhere = near_and_far(released, of), near_and_far(reference, of)
    found = ReferenceAttack(there, there.distance, elsewhere, np.arange(of), of, 1.0, 1.0, np.arange(of))
    return judge_measure(ReferenceStandard(), measure, found, Verdict.PASS, 10)[0].says


def test_the_sentence_counts_the_people_who_were_counted():
    golden(sentence(497, 210))
    golden(sentence(497, 210, "ambiguity"))
    golden(sentence(497, 210, "uncertainty"))


def test_what_is_tolerated_is_said_to_be_and_of_few_people_only_a_bound():
    golden(sentence(240, 210))
    golden.words(sentence(270, 210))
    golden.words(sentence(100, 100))
    assert sentence(213, 210) == sentence(217, 210)
    golden(sentence(213, 210))
    golden(sentence(497, 3))


def with_region(frame, minority=0.04):
    """The same people with the region they live in: a small share of them in the north."""
    north = np.arange(len(frame)) < minority * len(frame)
    return frame.assign(region=pd.Categorical(np.where(north, "north", "south"), categories=["north", "south"]))


REGION = VARIABLES | {"region": Variable(name="region", kind="binary", categories=("north", "south"))}
MANY = with_region(people(5000, 21))
NORTH = {"subgroups": ("region",), "subgroup_records": 150}


def perturbed_minority():
    """Other people in the south; in the north the same ones, with noise that leaves them nearer than strangers."""
    masked, north = with_region(people(5000, 22)), MANY["region"] == "north"
    noise = np.random.default_rng(23).normal(size=(5000, 8)) * 0.28
    for j, name in enumerate(NUMBERS):
        masked.loc[north, name] = MANY.loc[north, name] + noise[north, j]
    masked.loc[north, "age"] = MANY.loc[north, "age"]
    return masked


@pytest.mark.chain
def test_a_file_that_is_safe_on_average_and_not_for_a_minority_fails():
    masked = perturbed_minority()
    assert verdicts(judge(MANY, masked, variables=REGION)[0]) == {}
    findings, _ = judge(MANY, masked, variables=REGION, **NORTH)
    assert verdicts(findings) == {"worst_subgroup": Verdict.FAIL}
    worst = findings["worst_subgroup"]
    assert (worst.binding, worst.scope, worst.attempted, worst.completed) == (True, "region", 2, 2)
    golden.words(worst.says)
    findings, _ = judge(MANY, masked, variables=REGION, subgroups_bind=False, **NORTH)
    assert decide(findings.values()) is Verdict.PASS
    assert findings["worst_subgroup"].verdict is Verdict.FAIL


def test_other_people_pass_in_every_subgroup():
    findings, _ = judge(
        MANY, people(5000, 24).assign(region=MANY["region"]), variables=REGION, subgroups=("sex", "age")
    )
    assert decide(findings.values()) is Verdict.PASS
    assert findings["worst_subgroup"].completed == findings["worst_subgroup"].attempted == 4  # quarters by age
    golden.words(findings["worst_subgroup"].says)


@pytest.mark.chain
def test_a_category_that_only_the_data_tell_is_not_named():
    variables = REGION | {"region": Variable(name="region", kind="nominal")}
    findings, _ = judge(MANY, perturbed_minority(), variables=variables, **NORTH)
    golden.words(findings["worst_subgroup"].says)
    findings, _ = judge(MANY, perturbed_minority(), variables=REGION, cell=300, **NORTH)
    assert "north" not in findings["worst_subgroup"].says


@pytest.mark.chain
def test_subgroups_that_cannot_be_judged_are_unknown():
    findings, _ = judge(
        MANY, SAFE.assign(region="south"), variables=REGION, subgroups=("region",), subgroup_records=4900
    )
    assert findings["worst_subgroup"].verdict is Verdict.UNKNOWN
    golden(findings["worst_subgroup"].says)
    findings, _ = judge(MANY, with_region(people(5000, 25)), variables=REGION, records=2000, **NORTH)
    assert findings["worst_subgroup"].verdict is Verdict.UNKNOWN  # 200 live in the north, 80 of them were attacked


@pytest.mark.chain
def test_people_without_a_value_are_a_subgroup():
    north = MANY["region"] == "north"
    original = MANY.assign(region=MANY["region"].mask(north))
    findings, _ = judge(original, perturbed_minority().assign(region=original["region"]), variables=REGION, **NORTH)
    assert findings["worst_subgroup"].verdict is Verdict.FAIL
    golden.words(findings["worst_subgroup"].says)


@pytest.mark.parametrize("name", ["regon", "remark"])
def test_subgroups_by_what_makes_no_groups(name):
    variables = REGION | {"remark": Variable(name="remark", kind="text")}
    original = MANY.assign(remark="x")
    golden.refused(DocumentError, judge, original, original, variables=variables, subgroups=(name,))
