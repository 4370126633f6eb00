"""Judgement of a masked file: what a file must face when nobody says whose rows are whose."""

import numpy as np
import pandas as pd

from policies.standard.reference_standard import ReferenceStandard
from sluice.variables import Kind, Role, Variable
from sluice.verdict import Verdict
from tasks.release.records.judgement import against_reference
from tests.red_team.files import files_of


def test_without_pairs_intruders_who_learn_are_missed_and_a_person_decides() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({name: rng.normal(size=1200) for name in "abc"})
    variables = {name: Variable(name=name, kind=Kind.CONTINUOUS, role=Role.QUASI_IDENTIFIER) for name in "abc"}
    others = pd.DataFrame({name: rng.normal(size=1200) for name in "abc"})
    findings, _ = against_reference(ReferenceStandard(), files_of(frame, others, variables, paired=False))
    (missed,) = [finding for finding in findings if finding.rule == "learned_linkage"]
    assert (missed.verdict, missed.binding, missed.completed) == (Verdict.REVIEW, True, 0)
    paired, _ = against_reference(ReferenceStandard(), files_of(frame, others, variables))
    assert {finding.verdict for finding in paired if finding.rule == "learned_linkage"} == {Verdict.PASS}
