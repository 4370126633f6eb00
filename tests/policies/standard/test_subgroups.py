"""A file that is safe on average and not for a minority."""

import numpy as np
import pandas as pd
import pytest

from sluice.ground.errors import DocumentError
from sluice.ground.variables import Variable
from sluice.ground.verdict import Verdict, decide
from tests.golden import golden
from tests.policies.standard.population_sample import NUMBERS, SAFE, VARIABLES, judge, people, verdicts


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
