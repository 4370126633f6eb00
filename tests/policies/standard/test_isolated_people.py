"""People far from all others."""

import numpy as np
import pandas as pd
import pytest

from sluice.ground.variables import Variable
from sluice.ground.verdict import Verdict
from tests.golden import golden
from tests.policies.standard.population_sample import HOLDOUT, SAFE, judge, verdicts

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


def test_nobody_stands_apart_where_all_have_twins():
    twins = pd.concat([SAFE.iloc[:20]] * 100, ignore_index=True)
    findings, _ = judge(twins, twins)
    golden(findings["isolated_records"].says)
