"""Who may accept a finding that needs a decision, of what, for how long; and what somebody tries who may not.

Of the house amara and mina are methodologists, who decide; jonas is a data steward, who does not; emil is a
methodologist, and submitted the release.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

import tasks.release.decisions.under_review as under_review
from policies.acceptances import NOTHING_DECIDED, FindingDecisions, finding_sha256
from sluice.custody.states import State
from sluice.ground.errors import SluiceError
from sluice.ground.verdict import Acceptance, Finding, Verdict, decide, keeping_back
from tasks.release.decisions.board import board
from tasks.release.decisions.open_findings import decide_finding, decided, left_open, open_findings, settle_findings
from tasks.release.decisions.signing_in import Credentials
from tasks.release.decisions.under_review import UnderReview
from tasks.release.stored_dossier import kept_dossier
from tests.flows.clocks import in_days
from tests.golden import golden
from tests.report.pages import FAIL, PASS, REVIEW, UNKNOWN, Page, finding
from tests.tasks.release.ledger_house import RELEASE, LedgerHouse

WHY = "The interval is wide as the region is small; the figure itself lies well below."
NEAR = finding(REVIEW, rule="participant_inference", code="participants.near", observed=0.046, limit=0.05)
OTHER = finding(REVIEW, rule="overlooked_keys", code="overlooked_keys.overlooked", scope="town")


class Desk:
    """One release that needs a decision, and what people do with it."""

    def __init__(self, house: LedgerHouse) -> None:
        self.house = house
        self.workspace: Any = house.workspace()

    def accept(self, who: str, which: str = "participants.near", reason: str = WHY, **given: Any) -> str:
        return self._decide("accept_finding", who, which, reason, **given)

    def refuse(self, who: str, which: str = "participants.near", reason: str = WHY, **given: Any) -> str:
        return self._decide("refuse_finding", who, which, reason, **given)

    def _decide(self, what: Any, who: str, which: str, reason: str, **given: Any) -> str:
        told = decide_finding(self.workspace, RELEASE, what, which, Credentials(declared=who), reason, **given)
        assert isinstance(told, str)
        return told

    @property
    def state(self) -> State:
        state: State = self.workspace.ledger.state(RELEASE)
        return state

    @property
    def case(self) -> UnderReview:
        return UnderReview.of(self.workspace, RELEASE)

    @property
    def rows(self) -> list[Any]:
        return [each for each in self.workspace.ledger.entries(RELEASE) if each.event == "finding_decided"]

    def forge(self, actor: str = "amara", **changed: Any) -> None:
        """A row of somebody who has the ledger's key, like the one that `accept` wrote last, with other content."""
        last = self.rows[-1] if self.rows else None
        assert last is not None
        self.workspace.ledger.append(RELEASE, "finding_decided", actor, {**last.body, **changed})


@pytest.fixture
def opened(tmp_path: Path) -> Callable[..., Desk]:
    def open_with(*findings: Finding, **approvals: Any) -> Desk:
        house = LedgerHouse(tmp_path / "house")
        house.policy["approvals"].update(approvals)
        house.needs_decision(*(findings or (NEAR, finding(PASS))))
        return Desk(house)

    return open_with


def test_an_accepted_finding_leads_to_review_and_stands_in_dossier_and_report(opened: Callable[..., Desk]) -> None:
    desk = opened()
    before = desk.case.subject
    desk.accept("amara")
    assert desk.state is State.PENDING_REVIEW
    now = desk.case.subject
    assert (now.data, now.policy) == (before.data, before.policy)
    assert now.digest() != before.digest()  # approvals are given to what was accepted, too
    dossier = kept_dossier(desk.workspace, desk.workspace.ledger.entries(RELEASE))
    assert dossier is not None
    assert dossier.verdict is Verdict.PASS
    said = dossier.findings[0].accepted
    assert said is not None
    assert (said.by, said.reason) == ("amara", WHY)
    page = (desk.workspace.reports / f"{RELEASE}.html").read_text(encoding="utf-8")
    assert WHY in Page(page).section("reasons")
    assert [each.finding.accepted for each in open_findings(desk.case)] == [said]
    assert left_open(desk.case) == {}


def test_each_open_finding_needs_its_own_acceptance(opened: Callable[..., Desk]) -> None:
    desk = opened(NEAR, OTHER)
    desk.accept("amara")
    assert desk.state is State.NEEDS_DECISION
    assert [*left_open(desk.case).values()] == ["overlooked_keys.overlooked"]
    desk.accept("mina", which=finding_sha256(OTHER)[:8])
    assert desk.state is State.PENDING_REVIEW


def test_approvals_are_asked_for_afterwards_and_not_before(opened: Callable[..., Desk]) -> None:
    desk = opened()
    with golden.raises(SluiceError):
        desk.house.decide("mina")
    desk.accept("amara")
    assert not desk.case.standing().complete
    desk.house.decide("mina")
    desk.house.decide("jonas")
    assert desk.case.standing().complete


@pytest.mark.parametrize("who", ["emil", "jonas"])
def test_neither_the_submitter_nor_who_is_in_no_such_role_decides(opened: Callable[..., Desk], who: str) -> None:
    desk = opened()
    for act in (desk.accept, desk.refuse):
        with golden.raises(SluiceError):
            act(who)
    assert desk.rows == []
    assert desk.state is State.NEEDS_DECISION


def test_the_policy_names_the_roles(opened: Callable[..., Desk]) -> None:
    desk = opened(decides=["data_steward"])
    with golden.raises(SluiceError):
        desk.accept("amara")
    desk.accept("jonas")
    assert desk.state is State.PENDING_REVIEW


@pytest.mark.parametrize("verdict", [FAIL, UNKNOWN])
def test_what_fails_or_was_not_measured_is_not_open(opened: Callable[..., Desk], verdict: Verdict) -> None:
    closed = finding(verdict, rule="k_anonymity", code="k_anonymity.alone", binding=False)
    desk = opened(NEAR, closed)
    with golden.raises(SluiceError):
        desk.accept("amara", which="k_anonymity.alone")
    with golden.raises(SluiceError):
        desk.accept("amara", which=finding_sha256(closed)[:12])
    # Written into a dossier by hand, it still excuses nothing.
    until = datetime.now(UTC).date() + timedelta(days=9)
    forged = finding(verdict, accepted=Acceptance(by="amara", at="now", until=until, reason=WHY))
    assert decide([forged]) is verdict
    assert keeping_back([forged]) == [forged]
    assert FindingDecisions({finding_sha256(forged): forged.accepted}, {}, {}).apply([forged])[0].accepted is None  # type: ignore[dict-item]


def test_a_blocked_release_has_nothing_to_accept(opened: Callable[..., Desk]) -> None:
    desk = opened()
    desk.workspace.ledger.append(RELEASE, State.CHANGES_REQUESTED, "amara", {})
    with golden.raises(SluiceError):
        desk.accept("amara")


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"subject": "b" * 64}, "another file"),
        ({"until": "2199-01-01"}, "longer than"),
        ({"until": "2000-01-01"}, "expired"),
        ({"until": "never"}, "Invalid isoformat"),
        ({"comment": "fine"}, "at least 20"),
        ({"decision": "approve"}, "not a known decision"),
        ({"identity": "key", "envelope": {}}, ""),
        ({"said_at": "2199-01-01T00:00:00+00:00"}, "future"),
    ],
)
def test_a_row_that_was_written_by_hand_counts_for_nothing(
    opened: Callable[..., Desk], changed: dict[str, Any], why: str
) -> None:
    desk = opened(NEAR, OTHER)
    desk.accept("amara")
    good = finding_sha256(OTHER)
    desk.forge(finding=good, **changed)
    found = decided(desk.case)
    assert good not in found.accepted
    assert why in found.void[desk.rows[-1].seq]
    assert list(left_open(desk.case)) == [good]


@pytest.mark.parametrize(
    ("actor", "why"), [("emil", "submitter"), ("jonas", "no role"), ("nobody", "not on the roster")]
)
def test_nor_does_one_of_somebody_who_may_not(opened: Callable[..., Desk], actor: str, why: str) -> None:
    desk = opened(NEAR, OTHER)
    desk.accept("amara")
    desk.forge(actor, finding=finding_sha256(OTHER), account=actor)
    assert why in decided(desk.case).void[desk.rows[-1].seq]


def test_an_acceptance_is_of_one_finding(opened: Callable[..., Desk]) -> None:
    """Another figure, another limit or another column is another finding."""
    held = FindingDecisions(
        {finding_sha256(NEAR): Acceptance(by="amara", at="now", until=datetime.now(UTC).date(), reason=WHY)}, {}, {}
    )
    assert held.apply([NEAR])[0].accepted is not None
    for changed in ({"observed": 0.047}, {"limit": 0.04}, {"scope": "town"}, {"verdict": FAIL}, {"binding": False}):
        assert held.apply([NEAR.model_copy(update=changed)])[0].accepted is None
    advised = NEAR.model_copy(update={"advice": "More people."})  # words on what helps are none of it
    assert held.apply([advised])[0].accepted is not None


def test_an_acceptance_of_an_earlier_run_is_not_one_of_the_next(opened: Callable[..., Desk]) -> None:
    desk = opened(NEAR, OTHER)
    desk.accept("amara")
    row = desk.rows[-1]
    desk.workspace.ledger.append(RELEASE, State.OVERTAKEN, "amara", {})
    desk.house.needs_decision(NEAR)
    again = Desk(desk.house)
    assert decided(again.case) == NOTHING_DECIDED
    again.workspace.ledger.append(RELEASE, "finding_decided", "amara", row.body)  # put in again
    found = decided(again.case)
    assert found.accepted == {}
    assert [*found.void.values()] == ["it was given to another file, document or report"]


def test_an_acceptance_ends(opened: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch) -> None:
    """Then the release needs a decision again, although people approved it."""
    desk = opened()
    today = datetime.now(UTC).date()
    desk.accept("amara", until=today + timedelta(days=3))
    desk.house.decide("mina")
    desk.house.decide("jonas")
    assert left_open(desk.case) == {}
    monkeypatch.setattr(under_review, "datetime", in_days(4))
    assert [*left_open(desk.case).values()] == ["participants.near"]
    assert "expired" in " ".join(decided(desk.case).void.values())


@pytest.mark.parametrize("days", [-1, 31])
def test_it_ends_within_the_days_of_an_approval(opened: Callable[..., Desk], days: int) -> None:
    desk = opened()
    with golden.raises(SluiceError):
        desk.accept("amara", until=datetime.now(UTC).date() + timedelta(days=days))
    assert desk.rows == []


def test_it_ends_where_its_giver_leaves_the_roster_or_the_role(opened: Callable[..., Desk]) -> None:
    desk = opened(NEAR, OTHER)
    desk.accept("mina")
    assert len(left_open(desk.case)) == 1
    desk.house.people["people"]["mina"]["roles"] = ["librarian"]
    desk.house.write()
    desk.house.adopt()
    assert len(left_open(desk.case)) == 2


@pytest.mark.parametrize("reason", ["", "fine by me", "x" * 19, " " * 40])
def test_a_reason_is_needed(opened: Callable[..., Desk], reason: str) -> None:
    desk = opened()
    for act in (desk.accept, desk.refuse):
        with golden.raises(SluiceError):
            act("amara", reason=reason)


def test_a_reason_cannot_carry_markup_or_hide_what_it_says(opened: Callable[..., Desk]) -> None:
    desk = opened()
    with golden.raises(SluiceError):
        desk.accept("amara", reason=f"{WHY}\u202e")
    crafted = '</li></ul><script>alert(1)</script><img src=x onerror="alert(2)">\nand a second line'
    desk.accept("amara", reason=crafted)
    page = (desk.workspace.reports / f"{RELEASE}.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "<img" not in page
    assert "alert(1)" in Page(page).section("reasons")  # as text


def test_a_refusal_sends_the_release_back(opened: Callable[..., Desk]) -> None:
    desk = opened(NEAR, OTHER)
    desk.accept("mina", which="overlooked_keys")
    desk.refuse("amara")
    assert desk.state is State.CHANGES_REQUESTED
    with golden.raises(SluiceError):
        desk.accept("mina")


def test_what_was_not_finished_is_taken_up(opened: Callable[..., Desk]) -> None:
    """The process of who decided ended after its row was written."""
    desk = opened(NEAR, OTHER)
    desk.accept("amara")
    desk.forge("mina", finding=finding_sha256(OTHER), account="mina", identity="declared")
    assert desk.state is State.NEEDS_DECISION
    assert settle_findings(desk.workspace, RELEASE) is State.PENDING_REVIEW
    rows = len(desk.workspace.ledger.entries(RELEASE))
    assert settle_findings(desk.workspace, RELEASE) is State.PENDING_REVIEW
    assert len(desk.workspace.ledger.entries(RELEASE)) == rows


def test_two_at_once_are_one_after_the_other(opened: Callable[..., Desk]) -> None:
    """One accepts and one refuses: who is first decides, and the other is told."""
    desk = opened()
    told: list[str] = []

    def run(act: Callable[..., str], who: str) -> None:
        try:
            act(who)
        except SluiceError as error:
            told.append(str(error))

    both = [Thread(target=run, args=(desk.accept, "amara")), Thread(target=run, args=(Desk(desk.house).refuse, "mina"))]
    for each in both:
        each.start()
    for each in both:
        each.join()
    assert len(desk.rows) == 1
    assert len(told) == 1
    assert f"{RELEASE} is {desk.state.replace('_', ' ')};" in told[0]
    assert desk.state in (State.PENDING_REVIEW, State.CHANGES_REQUESTED)


def test_the_same_is_not_recorded_twice(opened: Callable[..., Desk]) -> None:
    desk = opened(NEAR, OTHER)
    desk.accept("amara")
    golden(desk.accept("mina"))
    assert len(desk.rows) == 1


def test_who_read_another_judgement_must_look_again(opened: Callable[..., Desk]) -> None:
    desk = opened()
    with golden.raises(SluiceError):
        desk.accept("amara", seen="b" * 64)
    desk.accept("amara", seen=desk.case.subject.digest())


def test_several_of_one_code_are_told_apart_by_their_id(opened: Callable[..., Desk]) -> None:
    twin = NEAR.model_copy(update={"scope": "town"})
    desk = opened(NEAR, twin)
    with golden.raises(SluiceError):
        desk.accept("amara")
    desk.accept("amara", which=finding_sha256(twin)[:8])
    assert [*left_open(desk.case)] == [finding_sha256(NEAR)]


def test_the_board_shows_it_to_those_who_may_decide_without_a_figure(opened: Callable[..., Desk]) -> None:
    desk = opened()
    waits = next(each for each in board(desk.workspace).waiting if each.about == RELEASE)
    assert waits.people == ("amara", "mina")
    assert waits.needs == "a decision on participants.near"
    assert waits.on_findings
    desk.accept("amara")
    again = next(each for each in board(desk.workspace).waiting if each.about == RELEASE)
    assert not again.on_findings


def test_a_signed_word_counts_by_its_signature_alone(opened: Callable[..., Desk]) -> None:
    """Of an office whose people are known by their key: a row without one counts for nothing."""
    desk = opened(NEAR, OTHER)
    desk.accept("amara")
    case = replace(desk.case, policy=desk.case.policy.model_copy(update={"approvals": _by_key(desk.case)}))
    assert decided(case).accepted == {}
    assert "signature" in " ".join(decided(case).void.values())


def _by_key(case: UnderReview) -> Any:
    return case.policy.approvals.model_copy(update={"identity": "key"})


def test_a_later_approval_of_other_bytes_accepts_nothing(opened: Callable[..., Desk]) -> None:
    """Another evaluation row in between, of other data, as somebody with the ledger's key could write."""
    desk = opened(NEAR, OTHER)
    desk.accept("amara")
    case = desk.case
    evaluated = next(each for each in case.entries if each.event == State.EVALUATED)
    swapped = {**evaluated.body, "subject": evaluated.body["subject"] | {"data": "f" * 64}}
    swapped.pop("open")
    forged = replace(case, entries=[*case.entries, replace(evaluated, seq=case.entries[-1].seq + 1, body=swapped)])
    assert decided(forged) == NOTHING_DECIDED
