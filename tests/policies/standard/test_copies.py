"""Copies and near copies of single records, in a file that is safe on average."""

import numpy as np
import pandas as pd
import pytest

from policies.standard.checks import judge_reference_standard
from policies.standard.reference_standard import ReferenceStandard
from sluice.ground.variables import Variable
from sluice.ground.verdict import Verdict, decide
from tests.golden import golden
from tests.policies.standard.population_sample import ORIGINAL, RECODED, SAFE, judge, planted, recode
from tests.policies.standard.wealth_sample import paired, wealthy


def test_four_per_cent_verbatim_records_pass_the_margin_and_not_the_gate():
    findings, _ = judge(ORIGINAL, planted(0.04))
    assert findings["prediction_distance"].verdict is Verdict.PASS  # the plain margin does not see them
    assert findings["prediction_ambiguity"].verdict is Verdict.PASS
    assert findings["closest_records"].verdict is Verdict.FAIL
    assert findings["exact_copies"].verdict is Verdict.FAIL
    assert findings["exact_copies"].observed == pytest.approx(0.04)


def test_one_per_cent_near_copies_are_seen_by_the_count_alone():
    findings, _ = judge(ORIGINAL, planted(0.01, noise=0.02))
    assert findings["prediction_distance"].verdict is Verdict.PASS
    assert findings["exact_copies"].verdict is Verdict.PASS
    assert findings["closest_records"].verdict is not Verdict.FAIL
    assert findings["near_copies"].verdict is Verdict.FAIL


def test_a_moved_verbatim_tail_is_seen():
    findings, _ = judge(ORIGINAL, planted(0.04, noise=0.15), copies_excess=0.5)  # the tail alone decides
    assert findings["closest_records"].verdict is Verdict.FAIL


@pytest.mark.chain
def test_files_with_many_natural_twins(reference_data):
    frame = pd.read_csv(reference_data / "adult" / "adult.data.gz", header=None, skipinitialspace=True)
    frame = frame[[1, 3, 5, 8, 9, 14]].astype(str).astype("category")
    frame.columns = list("abcdef")
    variables = {name: Variable(name=name, kind="nominal") for name in frame}
    drawn = np.random.default_rng(1).permutation(len(frame))
    one, other = (frame.iloc[drawn[i : i + 3000]].reset_index(drop=True) for i in (0, 3000))
    findings, _ = judge(one, other, variables=variables)
    assert decide(findings.values()) is Verdict.PASS
    assert findings["exact_copies"].observed > 0.5  # natural: the reference finds as many
    # The people themselves are in the file: those without a twin are found out.
    assert judge(one, one, variables=variables)[0]["exact_copies"].verdict is Verdict.FAIL
    doubled = pd.concat([one, one], ignore_index=True)
    assert judge(doubled, doubled, variables=variables)[0]["duplicate_records"].verdict is Verdict.UNKNOWN


def test_few_recoded_copies_are_counted_on_the_recoded_values():
    recoded = recode(ORIGINAL)
    masked = pd.concat([recoded.iloc[:20], recode(SAFE).iloc[20:]])
    findings, _ = judge(ORIGINAL, masked, recoded=recoded, released=RECODED)
    assert findings["prediction_distance"].verdict is Verdict.PASS
    assert findings["exact_copies"].verdict is Verdict.FAIL


def test_only_some_records_are_attacked_and_copies_are_counted_over_all():
    findings, _ = judge(ORIGINAL, planted(0.04), records=500)
    assert (findings["prediction_distance"].attempted, findings["prediction_distance"].completed) == (2000, 500)
    assert (findings["exact_copies"].attempted, findings["exact_copies"].completed) == (2000, 2000)
    assert findings["exact_copies"].observed == pytest.approx(0.04)


def test_a_count_of_few_people_is_not_given():
    findings, curves = judge(ORIGINAL, planted(0.002), cell=10)  # 4 people
    assert findings["exact_copies"].observed is None
    assert findings["exact_copies"].says.startswith("Fewer than ")
    golden(findings["exact_copies"].says)
    for curve in curves.values():
        counts = np.diff(np.round(np.array([0, *curve.masked, 1]) * 2000))
        assert ((counts == 0) | (counts >= 10)).all()


def test_a_hair_of_noise_makes_no_copy_another_record() -> None:
    frame, variables = wealthy()
    hair = frame.assign(**{name: frame[name] + 1e-6 for name in frame if name != "age"})
    findings, _ = judge_reference_standard(ReferenceStandard(), paired(frame, hair, variables))
    assert next(finding for finding in findings if finding.rule == "exact_copies").verdict is Verdict.FAIL
