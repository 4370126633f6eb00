"""People far from all others.

How many people are nearest to their own record.
"""

import numpy as np
import pandas as pd
import pytest

from policies.standard.nearest_records import judge_isolated, judge_reidentification
from policies.standard.reference_standard import ReferenceStandard
from sluice.ground.errors import DataError
from sluice.ground.variables import Variable
from sluice.ground.verdict import Verdict
from sluice.utility.comparison import Comparison
from tests.golden import golden
from tests.policies.standard.population_sample import (
    HOLDOUT,
    NUMBERS,
    ORIGINAL,
    SAFE,
    VARIABLES,
    attacked,
    judge,
    people,
    verdicts,
)

AMOUNTS = {f"amount{j}": Variable(name=f"amount{j}", kind="continuous") for j in range(8)}


def amounts(n, seed):
    """Eight amounts that rise together, with a few very large ones."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(n, 2)) @ np.random.default_rng(1).normal(size=(2, 8))
    return pd.DataFrame(np.exp(1.4 * common + 0.8 * rng.normal(size=(n, 8))), columns=list(AMOUNTS))


@pytest.mark.parametrize("reference", [{}, HOLDOUT], ids=["leave one out", "holdout"])
def test_noise_that_hides_the_many_and_not_the_isolated_fails(reference):
    original, held = amounts(4000, 1), amounts(4000, 2)
    noise = np.random.default_rng(3).normal(size=original.shape) * original.std().to_numpy() * 0.3
    findings, _ = judge(original, original + noise, holdout=held, variables=AMOUNTS, **reference)
    assert verdicts(findings) == {"isolated_records": Verdict.FAIL}  # all else lets the file through
    assert findings["isolated_records"].completed == 100
    assert findings["isolated_records"].observed > 0.3
    findings, _ = judge(original, amounts(4000, 4), holdout=held, variables=AMOUNTS, **reference)
    assert findings["isolated_records"].verdict is Verdict.PASS


def test_few_isolated_people_are_not_counted_aloud():
    original = amounts(4000, 1)
    noise = np.random.default_rng(3).normal(size=original.shape) * original.std().to_numpy() * 0.3
    findings, _ = judge(original, original + noise, variables=AMOUNTS, cell=90)
    assert findings["isolated_records"].observed is None
    golden(findings["isolated_records"].says)


def test_the_isolated_are_held_to_the_limit_that_is_told():
    """Expectation, chance and the policy's tolerance, each once."""
    people = np.random.default_rng(1).normal(size=(200, 2))
    found, _, _ = attacked(200, 0)

    def verbatim(excess):
        standard, rng = ReferenceStandard(isolated_excess=excess), np.random.default_rng(3)
        return judge_isolated(standard, people, people, None, found, rng, minimum_cell=1)

    strict = verbatim(0.0)
    assert (strict.observed, strict.verdict) == (1.0, Verdict.FAIL)
    beyond = strict.observed - strict.limit
    assert verbatim(beyond - 0.01).verdict is Verdict.FAIL
    assert verbatim(beyond + 0.01).verdict is Verdict.PASS


def test_nobody_stands_apart_where_all_have_twins():
    twins = pd.concat([SAFE.iloc[:20]] * 100, ignore_index=True)
    findings, _ = judge(twins, twins)
    golden(findings["isolated_records"].says)


def reidentified(masked, seed=0, variables=VARIABLES, cell=10, **setting):
    rng = np.random.default_rng(seed)
    standard = ReferenceStandard(**setting)
    files = Comparison(ORIGINAL, ORIGINAL, masked, None, variables, variables, rng, minimum_cell=cell)
    return judge_reidentification(standard, files)


def test_reidentification_is_reported_and_binds_where_the_policy_says_so():
    rng = np.random.default_rng(4)
    noisy = ORIGINAL.assign(**{name: ORIGINAL[name] + rng.normal(size=2000) * 0.5 for name in NUMBERS})
    finding = reidentified(noisy)
    assert (finding.verdict, finding.binding, finding.completed) == (Verdict.PASS, False, 2000)
    assert finding.observed > 0.3
    golden.words(finding.says)
    assert reidentified(noisy, reidentified_share=0.1).verdict is Verdict.FAIL
    near = reidentified(noisy, reidentified_share=round(finding.observed, 2), records=500)
    assert (near.verdict, near.binding, near.completed) == (Verdict.REVIEW, True, 500)
    other = reidentified(people(2000, 30), reidentified_share=0.1)
    assert (other.verdict, other.observed) == (Verdict.PASS, None)
    golden(other.says)


def test_reidentification_of_what_cannot_be_matched():
    text = {"remark": Variable(name="remark", kind="text")}
    frame = ORIGINAL.assign(remark="x")[["remark"]]
    rng = np.random.default_rng(0)
    finding = judge_reidentification(ReferenceStandard(), Comparison(frame, frame, frame, None, text, text, rng))
    assert (finding.verdict, finding.completed) == (Verdict.UNKNOWN, 0)
    golden.refused(DataError, reidentified, SAFE.iloc[:1999])
