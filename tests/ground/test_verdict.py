"""Findings add up to a verdict: the worst decides, nothing is UNKNOWN, only what decides counts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.verdict import Finding, Verdict, decide


def finding(verdict: Verdict, **more: object) -> Finding:
    return Finding(rule="rule", verdict=verdict, says="says", **more)  # type: ignore[arg-type]


def test_no_finding_is_unknown() -> None:
    assert decide([]) is Verdict.UNKNOWN


def test_reported_findings_alone_are_unknown() -> None:
    assert decide([finding(Verdict.PASS, binding=False)]) is Verdict.UNKNOWN


@pytest.mark.parametrize("verdict", Verdict)
def test_one_finding_decides_alone(verdict: Verdict) -> None:
    assert decide([finding(verdict)]) is verdict


def test_a_waiver_excuses_review_and_fail_but_never_unknown() -> None:
    assert decide([finding(Verdict.FAIL, waiver="amara until 2026-12-01")]) is Verdict.PASS
    assert decide([finding(Verdict.REVIEW, waiver="amara until 2026-12-01")]) is Verdict.PASS
    assert decide([finding(Verdict.UNKNOWN, waiver="amara until 2026-12-01")]) is Verdict.UNKNOWN


@given(st.lists(st.sampled_from(Verdict), min_size=1))
def test_the_worst_decides_in_any_order(verdicts: list[Verdict]) -> None:
    assert decide(map(finding, verdicts)) is max(verdicts)
    assert decide(map(finding, reversed(verdicts))) is max(verdicts)


def test_an_unexpected_spelling_is_no_verdict() -> None:
    with pytest.raises(ValueError):
        finding("passed")  # type: ignore[arg-type]
