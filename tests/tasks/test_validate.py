"""Only data that keep their contract go on; a check that crashes is UNKNOWN, and does not."""

from collections.abc import Callable

import pytest

from sluice.custody.states import State
from sluice.ground.verdict import Finding, Verdict
from tasks import ingest as validate_module
from tasks.ingest import is_sound, validate
from tasks.release.product import AnyRelease
from tests.flows.house import House

Bring = Callable[[House], AnyRelease]


def test_data_that_keep_their_contract_are_sound(house: House, received: Bring) -> None:
    release = received(house)
    assert is_sound(validate(release))
    assert release.state is State.VALIDATED


def test_data_that_break_it_are_not_and_no_value_is_named(house: House, received: Bring) -> None:
    house.data.loc[7, "age"] = 117
    release = received(house)
    findings = validate(release)
    assert not is_sound(findings)
    broken = [finding for finding in findings if finding.verdict is Verdict.FAIL]
    assert any("age" in f"{finding.scope} {finding.says}" for finding in broken)
    assert not any("117" in finding.says for finding in findings)
    assert release.state is State.RECEIVED


def test_a_value_that_stands_for_something_else_asks_for_a_decision(house: House, received: Bring) -> None:
    house.data.loc[7, "income"] = 999_999_999
    release = received(house)
    findings = validate(release)
    (asked,) = (finding for finding in findings if finding.rule == "sentinels")
    assert (asked.verdict, asked.scope) == (Verdict.REVIEW, "income")
    assert not is_sound(findings)
    assert release.state is State.RECEIVED


def test_a_check_that_crashes_is_unknown(house: House, received: Bring, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_: object) -> list[Finding]:
        raise MemoryError("canary4711")

    monkeypatch.setattr(validate_module, "check_frame", crash)
    release = received(house)
    findings = validate(release)
    (unknown,) = (finding for finding in findings if finding.rule == "contract")
    assert unknown.verdict is Verdict.UNKNOWN
    assert "canary4711" not in unknown.says
    assert not is_sound(findings)
    assert not is_sound([])
