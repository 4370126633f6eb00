"""A sample of one population, and the judgement of a file of it."""

import numpy as np
import pandas as pd

from policies.standard.reference_standard import ReferenceStandard
from policies.standard.standard_checks import PARTS, judge_reference_standard
from sluice.ground.variables import Variable
from sluice.ground.verdict import Verdict
from sluice.risk.reference.prediction import Prediction
from sluice.risk.reference.reference_attack import ReferenceAttack
from sluice.utility.comparison import Comparison

NUMBERS = [f"x{j}" for j in range(8)]
AREAS = list("abcd")
VARIABLES = {name: Variable(name=name, kind="continuous") for name in NUMBERS} | {
    "sex": Variable(name="sex", kind="binary", categories=("f", "m")),
    "area": Variable(name="area", kind="nominal", categories=tuple(AREAS)),
    "age": Variable(name="age", kind="integer"),
}
LOADINGS = np.random.default_rng(3).normal(size=(3, 8))
HOLDOUT = {"reference": "holdout", "holdout_share": 0.3}


def people(n, seed):
    """A sample of one population: eight correlated measurements, sex, area and age."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3)) @ LOADINGS + rng.normal(size=(n, 8)) * 0.5
    frame = pd.DataFrame(x, columns=NUMBERS)
    frame["sex"] = pd.Categorical(np.where(x[:, 0] + rng.normal(size=n) > 0, "f", "m"), categories=["f", "m"])
    frame["area"] = pd.Categorical.from_codes(np.clip((x[:, 1] + 2).astype(int), 0, 3), categories=AREAS)
    frame["age"] = pd.array(np.clip(40 + 10 * x[:, 2], 0, 99).astype(int), dtype="Int64")
    return frame


def judge(original, masked, *, recoded=None, holdout=None, variables=VARIABLES, released=None, cell=10, **setting):
    standard = ReferenceStandard(**setting)
    findings, curves = judge_reference_standard(
        standard,
        Comparison(
            original,
            original if recoded is None else recoded,
            masked,
            holdout,
            variables,
            released or variables,
            np.random.default_rng(0),
            minimum_cell=cell,
        ),
    )
    assert {finding.rule for finding in findings} <= {part.rule for part in PARTS}
    assert {finding.stage for finding in findings} == {"reference"}
    return {finding.rule: finding for finding in findings}, {curve.measure: curve for curve in curves}


def attacked(n, close):
    """What n people find in a file of so many records: some find one at no distance, all others as in the reference."""
    same, rows = Prediction(*[np.ones(n)] * 3), np.arange(n)
    found = ReferenceAttack(same, np.where(rows < close, 0.0, 1.0), same, rows, n, 1.0, 1.0, rows)
    rng = np.random.default_rng(0)
    files = Comparison(ORIGINAL, ORIGINAL, SAFE, None, VARIABLES, VARIABLES, rng, minimum_cell=1)
    return found, files, np.zeros((n, 1))


def verdicts(findings):
    return {rule: finding.verdict for rule, finding in findings.items() if finding.verdict is not Verdict.PASS}


ORIGINAL = people(2000, 1)
SAFE = people(2000, 2)


def planted(share, noise=0.0):
    """A safe file in which some records are those of original people, nearly."""
    count = int(share * 2000)
    copies = ORIGINAL.iloc[:count].copy()
    for name in NUMBERS:
        copies[name] += np.random.default_rng(5).normal(size=count) * noise
    return pd.concat([SAFE.iloc[count:], copies], ignore_index=True)


def recode(frame):
    """Age in bands of 10 years, areas in two halves: a published, deterministic recoding."""
    bands = [f"{10 * band}s" for band in range(10)]
    return frame.assign(
        age=pd.Categorical.from_codes((frame["age"] // 10).astype(int), categories=bands),
        area=pd.Categorical(np.where(frame["area"].isin(["a", "b"]), "ab", "cd"), categories=["ab", "cd"]),
    )


RECODED = VARIABLES | {
    "age": Variable(name="age", kind="ordinal", categories=tuple(f"{10 * band}s" for band in range(10))),
    "area": Variable(name="area", kind="nominal", categories=("ab", "cd")),
}
