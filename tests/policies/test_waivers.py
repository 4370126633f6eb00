"""Waivers: which findings they excuse, for how long, and that they are never silent.

Sensitive cells that a waiver allows to be published.
"""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from policies.waivers import Waiver, apply_waivers, waived_cells
from sluice.ground.verdict import Finding, Verdict, decide
from tests.golden import golden

TODAY = date(2026, 11, 21)
WAIVER = Waiver(
    rule="k_anonymity",
    scope="age, sex",
    reason="the two people agreed in writing, file 7/26",
    owner="Amara",
    granted=date(2026, 11, 1),
    expires=date(2026, 12, 31),
)
SHOWN = "Amara until 2026-12-31: the two people agreed in writing, file 7/26"


def finding(verdict: Verdict, rule: str = "k_anonymity", scope: str = "age, sex", binding: bool = True) -> Finding:
    return Finding(rule=rule, verdict=verdict, scope=scope, says="x", binding=binding)


@pytest.mark.parametrize("verdict", [Verdict.REVIEW, Verdict.FAIL])
@pytest.mark.parametrize("today", [WAIVER.granted, TODAY, WAIVER.expires])
def test_a_live_waiver_excuses_and_stays_visible(verdict: Verdict, today: date) -> None:
    waived = apply_waivers([finding(verdict)], [WAIVER], "fair", today)
    assert [f.waiver for f in waived] == [SHOWN]
    assert waived[0].verdict is verdict
    assert decide(waived) is Verdict.PASS


def test_the_name_of_the_release_covers_every_scope_of_the_rule() -> None:
    waiver = WAIVER.model_copy(update={"scope": "fair"})
    findings = [finding(Verdict.FAIL), finding(Verdict.FAIL, scope="region"), finding(Verdict.FAIL, rule="other")]
    assert [f.waiver is not None for f in apply_waivers(findings, [waiver], "fair", TODAY)] == [True, True, False]
    assert decide(apply_waivers(findings[:2], [waiver], "another", TODAY)) is Verdict.FAIL


def test_what_could_not_be_measured_is_never_excused() -> None:
    waived = apply_waivers([finding(Verdict.UNKNOWN)], [WAIVER], "fair", TODAY)
    assert waived[0].waiver is None
    assert decide(waived) is Verdict.UNKNOWN
    golden.words(waived[1].says)


@pytest.mark.parametrize(
    "other", [{"rule": "K_anonymity"}, {"rule": "l_diversity"}, {"scope": "age"}, {"scope": "sex"}]
)
def test_another_rule_or_scope_is_not_excused(other: dict[str, str]) -> None:
    waived = apply_waivers([finding(Verdict.FAIL, **other)], [WAIVER], "fair", TODAY)
    assert waived[0].waiver is None
    assert decide(waived) is Verdict.FAIL
    golden.words(waived[1].says)


def test_a_waiver_that_expired_does_nothing_and_says_so() -> None:
    waived = apply_waivers([finding(Verdict.FAIL)], [WAIVER], "fair", WAIVER.expires + timedelta(days=1))
    assert waived[0].waiver is None
    assert decide(waived) is Verdict.FAIL
    remark = waived[1]
    assert (remark.rule, remark.verdict, remark.binding) == ("waiver", Verdict.REVIEW, False)
    golden(remark.says)
    assert "2026-12-31" in remark.says


def test_a_waiver_does_not_hold_before_it_was_granted() -> None:
    waived = apply_waivers([finding(Verdict.FAIL)], [WAIVER], "fair", WAIVER.granted - timedelta(days=1))
    assert decide(waived) is Verdict.FAIL
    golden(waived[1].says)
    assert "2026-11-01" in waived[1].says


@pytest.mark.parametrize("findings", [[], [finding(Verdict.PASS)]])
def test_a_waiver_that_nothing_needs_is_reported_and_decides_nothing(findings: list[Finding]) -> None:
    waived = apply_waivers(findings, [WAIVER], "fair", TODAY)
    assert waived[:-1] == findings
    golden.words(waived[-1].says)
    assert decide(waived) is decide(findings)


def test_of_two_waivers_the_first_is_shown_and_neither_is_called_unused() -> None:
    second = WAIVER.model_copy(update={"owner": "Jonas"})
    waived = apply_waivers([finding(Verdict.FAIL)], [WAIVER, second], "fair", TODAY)
    assert [f.waiver for f in waived] == [SHOWN]


def test_without_waivers_the_findings_are_as_they_were() -> None:
    findings = [finding(Verdict.FAIL), finding(Verdict.PASS)]
    assert apply_waivers(findings, [], "fair", TODAY) == findings


@given(
    st.lists(st.builds(finding, st.sampled_from(Verdict), st.sampled_from(["k_anonymity", "other"])), max_size=8),
    st.dates(date(2026, 10, 1), date(2027, 1, 31)),
)
def test_a_waiver_only_ever_excuses_what_it_names(findings: list[Finding], today: date) -> None:
    waived = apply_waivers(findings, [WAIVER], "fair", today)
    live = WAIVER.granted <= today <= WAIVER.expires
    for before, after in zip(findings, waived, strict=False):
        may = live and before.rule == "k_anonymity" and before.verdict in (Verdict.REVIEW, Verdict.FAIL)
        assert after == (before.model_copy(update={"waiver": SHOWN}) if may else before)
    assert all(not remark.binding for remark in waived[len(findings) :])
    assert len(waived) - len(findings) == (not any(f.waiver for f in waived))


@pytest.mark.parametrize(
    "wrong",
    [
        {"reason": "because"},
        {"reason": "because" + " " * 30},
        {"scope": " "},
        {"rule": ""},
        {"owner": ""},
        {"expires": date(2026, 10, 31)},
        {"expires": WAIVER.granted + timedelta(days=367)},
        {"expires": None},
        {"granted": None},
        {"forever": True},
    ],
)
def test_a_waiver_without_reason_owner_scope_or_end_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Waiver.model_validate({**WAIVER.model_dump(), **wrong})


def test_the_longest_waiver_holds_a_year() -> None:
    longest = {**WAIVER.model_dump(), "expires": WAIVER.granted + timedelta(days=366)}
    assert Waiver.model_validate(longest).expires == date(2027, 11, 2)


@pytest.mark.parametrize("submitter", ["Amara", "amara", " AMARA ", "Ama ra"])
def test_who_submits_a_release_cannot_excuse_it(submitter: str) -> None:
    """In no spelling of their name; who is called otherwise can."""
    *waived, remark = apply_waivers([finding(Verdict.FAIL)], [WAIVER], "fair", TODAY, submitter)
    assert [f.waiver for f in waived] == [None]
    assert decide([*waived, remark]) is Verdict.FAIL
    assert (remark.verdict, remark.binding) == (Verdict.REVIEW, False)
    assert decide(apply_waivers([finding(Verdict.FAIL)], [WAIVER], "fair", TODAY, "Amarantha")) is Verdict.PASS


def test_a_cell_is_waived_by_rule_and_by_its_codes() -> None:
    granted = {
        "reason": "the firm agreed in writing",
        "owner": "mina",
        "granted": "2026-01-01",
        "expires": "2026-12-31",
    }
    waiver = Waiver.model_validate({"rule": "p_percent", "scope": "nace KA1, region Total", **granted})
    needed = [("p_percent", "nace KA1, region Total"), ("p_percent", "nace KA2, region Total")]
    findings, waived = waived_cells(needed, [waiver], "turnover", date(2026, 5, 6))
    assert waived == {needed[0]}
    assert [(finding.verdict, finding.waiver is None) for finding in findings] == [
        (Verdict.FAIL, False),
        (Verdict.FAIL, True),
    ]
    ended, none = waived_cells(needed, [waiver], "turnover", date(2027, 5, 6))
    assert none == set()
    assert any("expired" in finding.says for finding in ended)
    turned = waiver.model_copy(update={"scope": "region Total,nace KA1"})
    assert waived_cells(needed, [turned], "turnover", date(2026, 5, 6)) == (findings, waived)
    near = waiver.model_copy(update={"scope": "nace KA11, region Total"})
    remarks, none = waived_cells(needed[:1], [near], "turnover", date(2026, 5, 6))
    assert none == set()
    golden(remarks[-1].says)
    assert waived_cells([], [waiver], "turnover", date(2026, 5, 6)) == ([], set())
