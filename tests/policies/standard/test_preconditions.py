"""Few records prove nothing.

People who stand twice in the original, or on both sides of a holdout.

What cannot be compared with the original is not measured.

A policy that undoes the standard does not do so silently.
"""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from policies.standard.reference_standard import ReferenceStandard
from policies.standard.standard_checks import judge_reference_standard
from sluice.ground.variables import Variable
from sluice.ground.verdict import Verdict, decide
from tests.golden import golden
from tests.policies.standard.population_sample import (
    HOLDOUT,
    ORIGINAL,
    RECODED,
    SAFE,
    VARIABLES,
    judge,
    people,
    planted,
    recode,
)
from tests.policies.standard.wealth_sample import paired, wealthy


@pytest.mark.parametrize(
    ("when_fewer", "verdict"), [("unknown", Verdict.UNKNOWN), ("review", Verdict.REVIEW), ("judge", Verdict.PASS)]
)
def test_few_records_prove_nothing(when_fewer, verdict):
    findings, curves = judge(people(200, 6), people(200, 7), when_fewer=when_fewer)
    assert findings["reference_size"].verdict is verdict
    assert findings["prediction_distance"].verdict is verdict
    assert curves["distance"].verdict is verdict
    assert findings["prediction_distance"].says.endswith("proves nothing.") == (verdict is not Verdict.PASS)


@pytest.mark.chain
def test_several_records_of_few_people_prove_nothing():
    """Seven of each of 300: intervals are of people."""
    years = people(2100, 6).assign(who=pd.Series(np.arange(2100) // 7).astype(str))
    variables = VARIABLES | {"who": Variable(name="who", kind="text", role="person")}
    found, _ = judge(years, people(2100, 7), variables=variables, released=VARIABLES)
    assert (found["reference_size"].verdict, found["reference_size"].observed) == (Verdict.UNKNOWN, 300)
    golden(found["reference_size"])
    alone = years.assign(who=pd.Series(np.arange(2100)).astype(str))
    found, _ = judge(alone, people(2100, 7), variables=variables, released=VARIABLES)
    assert found["reference_size"].verdict is Verdict.PASS


def test_few_records_can_still_fail():
    few = people(200, 6)
    assert judge(few, few)[0]["prediction_distance"].verdict is Verdict.FAIL


def test_a_small_holdout_is_unknown():
    findings, _ = judge(ORIGINAL, SAFE, holdout=people(99, 12), **HOLDOUT)
    assert findings["reference_size"].verdict is Verdict.UNKNOWN
    assert findings["reference_size"].observed == 99


def test_who_was_set_aside_may_be_few_beside_the_original_without_each_person():
    findings, _ = judge(ORIGINAL, SAFE, holdout=people(500, 12), **HOLDOUT)
    assert decide(findings.values()) is Verdict.PASS
    few = judge(ORIGINAL.iloc[:800], SAFE.iloc[:800], holdout=people(200, 12), **HOLDOUT)[0]
    assert few["reference_size"].verdict is Verdict.UNKNOWN


@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_a_tenth_learned_by_heart_is_found_where_few_were_set_aside(noise):
    learned, _ = judge(ORIGINAL, planted(0.1, noise), holdout=people(500, 12), **HOLDOUT)
    assert learned["near_copies"].verdict is learned["closest_records"].verdict is Verdict.FAIL


def test_a_doubled_file_blinds_leave_one_out_and_is_found_out():
    doubled = pd.concat([ORIGINAL, ORIGINAL], ignore_index=True)
    findings, _ = judge(doubled, doubled.sample(frac=1, random_state=1))
    assert findings["prediction_distance"].observed == 0
    assert findings["exact_copies"].verdict is Verdict.PASS  # everybody has a twin in the reference, too
    assert findings["duplicate_records"].verdict is Verdict.UNKNOWN
    assert decide(findings.values()) is Verdict.UNKNOWN


def test_persons_on_both_sides_of_a_holdout_are_found_out():
    both = pd.concat([ORIGINAL, ORIGINAL.iloc[:1500]], ignore_index=True)
    findings, _ = judge(
        both.iloc[:2000], both.iloc[:2000], holdout=both.iloc[2000:], reference="holdout", holdout_share=0.4
    )
    assert findings["duplicate_records"].verdict is Verdict.UNKNOWN


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


@pytest.mark.parametrize(
    "setting",
    [
        {"margin": 0.9},
        {"copies_excess": 0.9},
        {"tail_share": 0.9},
        {"tail_quantile": 1e-9},
        {"minimum_records": 1},
        {"records": 1},
        {"when_fewer": "judge"},
        {"binding": ["uncertainty"]},
        {"learned": {"found": 0.5}},
        {"learned": {"claims": 0.2}},
        {"transparency": {"identified": 0.5}},
        {"transparency": {"confident": 0.2}},
        {"transparency": {"reconstructed": 0.9}},
        {"transparency": {"participation": 0.9}},
        {"transparency": {"binding": False}},
        {"transparency": {"people": 100}},
        {"learned": {"binding": False}},
        {"learned": {"people": 100}},
        {"intruders": [{"knows": {"any": 2}, "gain": 0.5}]},
        {"isolated_excess": 0.9},
        {"unique_values_excess": 0.5},
    ],
    ids=str,
)
def test_a_policy_that_undoes_the_standard_does_not_do_so_silently(setting: dict[str, Any]) -> None:
    frame, variables = wealthy(1200)
    others = frame.sample(frac=1, random_state=3).reset_index(drop=True)
    findings, _ = judge_reference_standard(ReferenceStandard(**setting), paired(frame, others, variables))
    (lenient,) = (finding for finding in findings if finding.rule == "lenient_standard")
    assert (lenient.verdict, lenient.binding) == (Verdict.REVIEW, True)
    findings, _ = judge_reference_standard(ReferenceStandard(), paired(frame, others, variables))
    assert next(finding for finding in findings if finding.rule == "lenient_standard").verdict is Verdict.PASS
