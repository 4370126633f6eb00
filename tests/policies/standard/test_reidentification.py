"""How many people are nearest to their own record."""

import numpy as np

from policies.standard.nearest_records import judge_reidentification
from policies.standard.reference_standard import ReferenceStandard
from sluice.ground.errors import DataError
from sluice.ground.variables import Variable
from sluice.ground.verdict import Verdict
from sluice.utility.comparison import Comparison
from tests.golden import golden
from tests.policies.standard.population_sample import NUMBERS, ORIGINAL, SAFE, VARIABLES, people


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
