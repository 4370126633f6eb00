"""People who stand twice in the original, or on both sides of a holdout."""

import pandas as pd

from sluice.ground.verdict import Verdict, decide
from tests.policies.standard.population_sample import ORIGINAL, judge


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
