"""Whom the table of states names is told, once; nothing is lost while a server is down, and nothing stops a release."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import tasks.release.decisions.notices as notices
from sluice.custody.states import EVENTS, IN_DOUBT, OFFICE_EVENTS, REINSTATED, State, tells
from sluice.notices.outbox import Outbox
from sluice.report.asked import approvals_asked
from tasks.release.decisions.notices import Delivery, deliver, tell, undelivered
from tasks.release.decisions.under_review import UnderReview
from tests.flows.clocks import in_days
from tests.flows.house import BLOCKED, DONE, WAITING
from tests.golden import golden
from tests.notices.servers import Hook, Mailbox, mail_server, web_server
from tests.tasks.release.ledger_house import RELEASE, LedgerHouse

DOMAIN = "agency.example"


def configure(monkeypatch: pytest.MonkeyPatch, mail: Mailbox | None, hook: Hook | None = None) -> None:
    if mail:
        monkeypatch.setenv("SLUICE_SMTP_URL", f"smtp://127.0.0.1:{mail.port}")
        monkeypatch.setenv("SLUICE_MAIL_FROM", f"sluice@{DOMAIN}")
    if hook:
        monkeypatch.setenv("SLUICE_WEBHOOK_URL", hook.url)
        monkeypatch.setenv("SLUICE_WEBHOOK_SECRET", "a secret of two machines")


@pytest.fixture
def mail(monkeypatch: pytest.MonkeyPatch) -> Iterator[Mailbox]:
    with mail_server() as box:
        configure(monkeypatch, box)
        yield box


@pytest.fixture
def waiting(tmp_path: Path) -> LedgerHouse:
    """A release that waits for two people, in an office that knows where they are reached; nobody was told yet."""
    house = LedgerHouse(tmp_path / "house")
    house.people = house.people | {
        "people": {who: each | {"email": f"{who}@{DOMAIN}"} for who, each in house.people["people"].items()}
    }
    house.pending()
    return house


def reached(box: Mailbox, about: str) -> list[str]:
    """Who got a mail with this subject."""
    return sorted(recipient.partition("@")[0] for recipient, each in box.taken if about in str(each["Subject"]))


def later(monkeypatch: pytest.MonkeyPatch, days: float) -> None:
    monkeypatch.setattr(notices, "datetime", in_days(days))


def test_all_but_the_submitter_are_told_that_a_release_waits(waiting: LedgerHouse, mail: Mailbox) -> None:
    tell(waiting.workspace())
    assert reached(mail, "pending review") == ["amara", "jonas", "mina"]
    [message] = [each for each in mail.to(f"amara@{DOMAIN}") if "pending review" in str(each["Subject"])]
    text = message.get_content()  # type: ignore[attr-defined]
    golden([line for line in text.splitlines() if "0 of 2" in line])
    assert f"sluice approve {RELEASE}" in text
    case = UnderReview.of(waiting.workspace(), RELEASE)
    approvals, (submitter, *_) = case.policy.approvals, case.submitters
    asked = approvals_asked(RELEASE, approvals.count, approvals.roles, approvals.valid_days, submitter)
    assert f"{asked.says} {asked.until}" in " ".join(text.split())  # what the first screen asks
    assert waiting.definition["title"] not in text, "the submitter chooses it"


@pytest.mark.parametrize("served", ["", "https://reports.agency.example/"])
def test_a_notice_links_the_report_where_it_is_served_and_else_names_the_command(
    waiting: LedgerHouse, mail: Mailbox, monkeypatch: pytest.MonkeyPatch, served: str
) -> None:
    """A path of the workspace could be opened by nobody who reads it, and is nobody's business."""
    if served:
        monkeypatch.setenv("SLUICE_REPORTS_URL", served)
    later(monkeypatch, 8)
    deliver(waiting.workspace(), reminding=True)
    texts = [
        message.get_content()  # type: ignore[attr-defined]
        for _, message in mail.taken
        if any(kind in str(message["Subject"]) for kind in ("pending review", "reminder", "escalation"))
    ]
    assert len(texts) > 3
    assert all(f"sluice review {RELEASE}" in text for text in texts)
    assert {f"https://reports.agency.example/{RELEASE}.html" in text for text in texts} == {bool(served)}
    assert not any(str(waiting.home) in text for text in texts)


def test_nothing_is_sent_twice(waiting: LedgerHouse, mail: Mailbox) -> None:
    for _ in range(2):
        deliver(waiting.workspace(), reminding=True)
    assert len(mail.taken) == len({(recipient, each["Message-ID"]) for recipient, each in mail.taken})
    before = len(mail.taken)
    assert deliver(waiting.workspace(), reminding=True) == Delivery()
    assert len(mail.taken) == before > 0


def test_the_webhook_gets_each_event_once(waiting: LedgerHouse, monkeypatch: pytest.MonkeyPatch) -> None:
    with web_server() as hook:
        configure(monkeypatch, None, hook)
        deliver(waiting.workspace())
        hook.code = 500
        assert waiting.sluice("reject", RELEASE, "--as", "amara", "--comment", "too few women").code == WAITING
        assert waiting.sluice("reject", RELEASE, "--as", "jonas", "--comment", "I agree").code == BLOCKED
        assert undelivered(waiting.workspace()).fault == "the webhook answers 500"
        hook.code = 204
        assert deliver(waiting.workspace()).sent == 1
    sent = [headers["Sluice-Notice"].partition("-")[2] for headers, _ in hook.taken]
    assert sent.count("rejected") == 2, "the first was not taken"
    assert sent.count("pending_review") == 1
    assert "too few women" not in str(hook.taken)


def test_a_server_that_is_down_stops_no_release_and_loses_nothing(
    waiting: LedgerHouse, mail: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    mail.closed = True
    tell(waiting.workspace())
    for who in ("amara", "jonas"):
        waiting.decide(who)
    waiting.publish()
    assert mail.taken == []
    golden(undelivered(waiting.workspace()).fault)
    mail.closed = False
    told = waiting.sluice("remind")
    assert told.code == DONE, told.words
    assert reached(mail, "published") == ["amara", "emil", "jonas", "mina"]
    assert reached(mail, "approved") == ["emil"]
    assert reached(mail, "pending review") == [], "what it asked for was done meanwhile"


def test_a_server_that_takes_its_time_is_left_until_the_next_delivery(
    waiting: LedgerHouse, mail: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each mail comes in time, and all of them together would keep whoever waits for the end of the delivery."""
    monkeypatch.setattr(notices, "_PASS", 1e-9)
    first, second = deliver(waiting.workspace()), deliver(waiting.workspace())
    assert (first.sent, second.sent) == (1, 1)
    assert second.waiting == first.waiting - 1 > 0


def test_one_who_cannot_be_reached_keeps_it_from_nobody_else(waiting: LedgerHouse, mail: Mailbox) -> None:
    mail.recipients[f"amara@{DOMAIN}"] = 550
    done = deliver(waiting.workspace())
    assert done.refused > 0
    assert reached(mail, "pending review") == ["jonas", "mina"]
    assert deliver(waiting.workspace()) == Delivery(), "who is refused for good is not asked again"


def test_one_whose_mailbox_is_full_keeps_it_from_nobody_else(waiting: LedgerHouse, mail: Mailbox) -> None:
    """By the order of the roster amara is first: whoever is reached after her would never be told of anything."""
    mail.recipients[f"amara@{DOMAIN}"] = 452
    assert deliver(waiting.workspace()).waiting > 0
    assert reached(mail, "pending review") == ["jonas", "mina"]
    mail.recipients.clear()
    assert deliver(waiting.workspace()).waiting == 0
    assert reached(mail, "pending review") == ["amara", "jonas", "mina"]


def test_a_notice_that_breaks_the_receiver_keeps_no_other_from_it(
    waiting: LedgerHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    with web_server() as hook:
        configure(monkeypatch, None, hook)
        waiting.workspace().ledger.append(RELEASE, "failed", "sluice", {"step": "publish", "error": "DataError"})
        hook.code = 500
        deliver(waiting.workspace())
        first = hook.taken[0][0]["Sluice-Notice"]
        hook.code = 204
        deliver(waiting.workspace())
    told = [headers["Sluice-Notice"] for headers, _ in hook.taken]
    assert told.count(first) == 2
    assert told[-1] == first, "it comes after those that were not tried yet"


def test_who_left_is_told_nothing_more(waiting: LedgerHouse, mail: Mailbox) -> None:
    mail.closed = True
    deliver(waiting.workspace())
    mail.closed = False
    waiting.people["people"]["mina"]["valid_until"] = datetime.now(UTC).date() - timedelta(days=1)
    waiting.write()
    waiting.adopt()
    assert deliver(waiting.workspace()).waiting == 0
    assert reached(mail, "pending review") == ["amara", "jonas"]


def test_a_process_that_is_killed_before_it_noted_the_delivery_sends_it_under_the_same_id(
    waiting: LedgerHouse, mail: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Outbox, "settle", killed)
        with pytest.raises(KeyboardInterrupt):
            deliver(waiting.workspace())
    [(recipient, first)] = mail.taken
    deliver(waiting.workspace())
    ids = [each["Message-ID"] for other, each in mail.taken if other == recipient]
    assert ids.count(first["Message-ID"]) == 2
    assert reached(mail, "pending review") == ["amara", "jonas", "mina"]


def test_people_are_reminded_every_three_days_and_the_head_is_told_after_seven(
    waiting: LedgerHouse, mail: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting.decide("amara")
    deliver(waiting.workspace(), reminding=True)
    assert reached(mail, "reminder") == []
    later(monkeypatch, 3.1)
    for _ in range(2):
        deliver(waiting.workspace(), reminding=True)
    assert reached(mail, "reminder") == ["jonas"], "the data steward is missing; amara has decided"
    later(monkeypatch, 7.1)
    deliver(waiting.workspace(), reminding=True)
    assert reached(mail, "reminder") == ["jonas", "jonas"]
    assert reached(mail, "escalation") == ["amara"]
    [message] = [each for each in mail.to(f"amara@{DOMAIN}") if "escalation" in str(each["Subject"])]
    text = message.get_content()  # type: ignore[attr-defined]
    golden([line for line in text.splitlines() if "1 of 2" in line])


def test_one_person_cannot_send_the_notices_elsewhere(waiting: LedgerHouse, mail: Mailbox) -> None:
    """A submitter's definition names no address; a roster counts when two people adopted it."""
    waiting.people["people"]["amara"]["email"] = "mallory@evil.example"
    waiting.write()
    assert waiting.sluice("adopt", str(waiting.documents / "people.yaml"), "--as", "jonas").code == WAITING
    tell(waiting.workspace())
    assert mail.to("mallory@evil.example") == []
    assert "amara" in reached(mail, "pending review")
    assert "amara" in reached(mail, "adopted"), "she is told that somebody wants it"


def test_an_outbox_that_is_new_tells_no_history(
    waiting: LedgerHouse, mail: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    later(monkeypatch, 2)
    assert deliver(waiting.workspace()) == Delivery()
    assert mail.taken == []


def test_a_step_that_failed_is_told_to_the_submitter_and_the_head(waiting: LedgerHouse, mail: Mailbox) -> None:
    ledger = waiting.workspace().ledger
    ledger.append(RELEASE, "failed", "sluice", {"step": "publish", "error": "DataError"})
    ledger.append("other-puf", "failed", "sluice", {"step": "ingest", "error": "DataError"})  # before it had an id
    tell(waiting.workspace())
    assert reached(mail, f"{RELEASE}: failed") == ["amara", "emil"]
    assert reached(mail, "other-puf: failed") == ["amara"]


def test_of_every_event_of_which_somebody_is_to_be_told_there_are_words() -> None:
    """One without would keep every later notice from going out, and nobody would know."""
    told = {event for event in EVENTS if tells(event)} | set(OFFICE_EVENTS)
    assert told == set(notices._WORDS)


def test_doubts_about_what_is_public_and_what_is_current_again_are_told(waiting: LedgerHouse, mail: Mailbox) -> None:
    for who in ("amara", "jonas"):
        waiting.decide(who)
    waiting.publish()
    ledger = waiting.workspace().ledger
    doubt = {"says": "7331 people can be found again.", "verdict_now": "FAIL"}
    ledger.append(RELEASE, IN_DOUBT, "sluice", doubt)
    ledger.append(RELEASE, State.SUPERSEDED, "sluice", {"by": "another"})
    ledger.append(RELEASE, REINSTATED, "sluice", {})
    tell(waiting.workspace())
    for about in ("in doubt", "reinstated"):
        assert reached(mail, about) == ["amara", "emil", "jonas", "mina"]
    sent = [each.get_content() for _, each in mail.taken]  # type: ignore[attr-defined]
    golden.words(sorted({line for text in sent for line in text.splitlines() if "edition again" in line}))
    assert "7331" not in str(sent)


def test_nobody_is_asked_for_a_second_request_that_has_come(waiting: LedgerHouse, mail: Mailbox) -> None:
    for who in ("amara", "jonas"):
        waiting.decide(who)
    waiting.publish()
    ledger = waiting.workspace().ledger
    ledger.append(RELEASE, "withdrawal", "amara", {"comment": "a mistake"})
    tell(waiting.workspace())
    sent = [each.get_content() for _, each in mail.taken]  # type: ignore[attr-defined]
    golden(sorted({line for text in sent for line in text.splitlines() if "second" in line}))
    mail.taken.clear()
    ledger.append(RELEASE, "withdrawal", "jonas", {"comment": "a mistake"})
    ledger.append(RELEASE, State.WITHDRAWN, "jonas", {"reason": "a mistake"})
    tell(waiting.workspace())
    assert {str(each["Subject"]) for _, each in mail.taken} == {f"[Sluice] {RELEASE}: withdrawn"}


def test_a_policy_of_an_earlier_version_keeps_nobody_from_being_told_of_others(
    waiting: LedgerHouse, mail: Mailbox
) -> None:
    workspace = waiting.workspace()
    [received] = [entry for entry in workspace.ledger.entries(RELEASE) if entry.event == State.RECEIVED]
    unknown = workspace.vault.keep_bytes(b'{"name": "public-use", "rule_of_old": 3}', ".json")
    for event, body in {
        State.RECEIVED: received.body | {"policy": unknown},
        State.BLOCKED: {"verdict": "FAIL"},
    }.items():
        workspace.ledger.append("old-puf-1", event, "sluice", body)
    workspace.ledger.append("old-puf-1", "failed", "sluice", {"step": "report", "error": "DataError"})
    deliver(workspace, reminding=True)
    assert reached(mail, "pending review") == ["amara", "jonas", "mina"]
    assert reached(mail, "old-puf-1: failed") == ["amara"]


def test_without_a_way_to_tell_nothing_is_kept(waiting: LedgerHouse) -> None:
    tell(waiting.workspace())
    assert not (waiting.home / "notices").exists()


def test_what_goes_wrong_is_logged_and_never_raised(
    waiting: LedgerHouse, mail: Mailbox, caplog: pytest.LogCaptureFixture
) -> None:
    (waiting.home / "notices").mkdir(mode=0o700)
    (waiting.home / "notices" / "outbox.db").write_bytes(b"no database" * 100)
    tell(waiting.workspace())
    assert mail.taken == []
    assert waiting.workspace().ledger.state(RELEASE) is State.PENDING_REVIEW
