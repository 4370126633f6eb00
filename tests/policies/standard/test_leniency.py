"""A policy that undoes the standard does not do so silently."""

from typing import Any

import pytest

from policies.standard.checks import judge_reference_standard
from policies.standard.reference_standard import ReferenceStandard
from sluice.ground.verdict import Verdict
from tests.policies.standard.wealth_sample import paired, wealthy


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
