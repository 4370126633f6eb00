"""Only the approvals in the ledger count, for exactly these bytes, and only as long as they hold."""

from collections.abc import Callable

import pytest

from sluice.custody.states import State
from sluice.ground.verdict import Finding, Verdict
from tasks.decide import approve, awaits_people, decide
from tasks.record_steps import mask
from tasks.release.decisions import under_review
from tasks.release.decisions.decisions_of_people import approve as approve_as
from tasks.release.decisions.signing_in import Credentials
from tasks.release.decisions.under_review import subject
from tasks.release.product import AnyRelease
from tasks.report import report
from tests.flows.clocks import in_days
from tests.flows.house import House

Bring = Callable[[House], AnyRelease]


@pytest.fixture
def pending(house: House, validated: Bring) -> AnyRelease:
    release = validated(house)
    decide(release, report(release, [Finding(rule="k", verdict=Verdict.PASS, says="Fine.")], mask(release)))
    return release


def test_it_waits_until_everybody_has_approved(pending: AnyRelease) -> None:
    assert awaits_people(pending)
    assert not approve(pending)
    approve_as(pending, Credentials(declared="amara"), "")
    assert not approve(pending)
    approve_as(pending, Credentials(declared="jonas"), "")
    assert approve(pending)
    assert not awaits_people(pending)
    assert pending.entries()[-1].event == State.APPROVED
    assert pending.entries()[-1].body["subject"] == subject(pending).digest()


def test_approvals_that_expired_send_it_back(pending: AnyRelease, monkeypatch: pytest.MonkeyPatch) -> None:
    for who in ("amara", "jonas"):
        approve_as(pending, Credentials(declared=who), "")
    assert approve(pending)

    monkeypatch.setattr(under_review, "datetime", in_days(31))
    assert not approve(pending)
    assert pending.state is State.PENDING_REVIEW


def test_what_is_blocked_or_rejected_is_never_approved(pending: AnyRelease) -> None:
    pending.record(State.REJECTED)
    assert not approve(pending)
    assert pending.state is State.REJECTED


def test_a_publication_that_was_begun_goes_on_and_one_that_ended_does_not(pending: AnyRelease) -> None:
    for who in ("amara", "jonas"):
        approve_as(pending, Credentials(declared=who), "")
    approve(pending)
    pending.record(State.PUBLISHING)
    assert approve(pending)
    pending.record(State.PUBLISHED)
    assert not approve(pending)
