"""Notices: whom the table of states names is told, by mail and webhook; people who are waited for are reminded.

What is told is read off the ledger, so that no step of a release depends on it: a notice that cannot be sent stays in
the outbox and never fails a release. Where people are reached, the roster says that two people adopted; no document of
a release can send notices elsewhere. A notice holds a release's id, its state and what to do, and nothing of the data:
not even the title, which the submitter chooses.
"""

import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from pathlib import Path
from time import monotonic

from policies.adoption import Office
from policies.people import HEAD, Person
from sluice.custody.ledger_entry import Entry
from sluice.custody.states import (
    FINDING_DECIDED,
    IN_DOUBT,
    OFFICE,
    REINSTATED,
    WITHOUT_STATES,
    State,
    Who,
    state_of,
    tells,
)
from sluice.custody.workspace import Workspace, open_workspace
from sluice.ground.durable import locked
from sluice.ground.errors import DataError, SluiceError, TransportError
from sluice.ground.log import log
from sluice.notices.notice import Notice, NoticeDelayedError, NoticeRefusedError, RecipientDelayedError
from sluice.notices.outbox import Due, Outbox
from sluice.report.asked import approvals_asked, findings_asked
from sluice.settings import Settings, settings
from tasks.release.decisions.board import board
from tasks.release.decisions.office import open_office
from tasks.release.decisions.series_approval import standing_in_series
from tasks.release.decisions.under_review import UnderReview, report_place
from tasks.release.editions.current_edition import doubt_of

WEBHOOK, MAIL, LINEAGE = "webhook", "mail:", "lineage"
_NEW = timedelta(days=1)  # an outbox that is new tells of no older events: the history of years would go out
_STALE = timedelta(days=30)  # what could not be delivered for so long is given up
_PASS = 60.0  # seconds that a channel has in one delivery: steps of other runs wait for its end
_SOON = timedelta(days=7)  # before something ends, the head is told

_WORDS = {
    State.PENDING_REVIEW: ("waits for people to decide", "Look at it: sluice review {0}. Then: sluice approve {0}, or "
                           "reject, request-changes or conflicted."),
    State.NEEDS_DECISION: ("needs a decision on what was found", "Look at it: sluice review {0}. Then: sluice "
                           "accept-finding {0} CODE --reason WHY, or refuse-finding."),
    FINDING_DECIDED: ("has a decision on what was found", "Nothing is to be done now. What was decided: sluice review "
                      "{0}."),
    State.BLOCKED: ("does not meet its policy", "What was found, and what may help: sluice review {0}."),
    State.REJECTED: ("was rejected", "Why: sluice ledger show {0}. Other documents or data make another release."),
    State.CHANGES_REQUESTED: ("comes back", "What has to change: sluice ledger show {0}. Then release again."),
    State.APPROVED: ("is approved", "Nothing is to be done; its publication follows."),
    State.PUBLISHED: ("is published", "Nothing is to be done."),
    State.OVERTAKEN: ("closes, as newer data of its period are published",
                      "Nothing is to be done. Why: sluice ledger show {0}."),
    REINSTATED: ("is the current edition again", "Nothing is to be done. What is current: sluice board."),
    IN_DOUBT: ("is public, and would not pass any more, or nobody can tell",
               "Decide if it stays. Why: sluice ledger show {0}. To withdraw it: sluice withdraw {0} --reason WHY."),
    State.WITHDRAWN: ("is withdrawn", "Tell those who use it. Why: sluice ledger show {0}."),
    "failed": ("stopped", "The output of its run says what to mend; then release again."),
    "withdrawal": ("is to be withdrawn, one person asks", "A second must ask, too: sluice withdraw {0} --reason WHY."),
    "series_ended": ("ended its series", "Every edition after it needs decisions of its own."),
    "founded": ("was founded", "Look at who and what counts: sluice people."),
    "adopted": ("has an act of adoption", "Look at who and what counts, and what waits: sluice people, sluice board."),
}  # fmt: skip


_ASKED = (State.NEEDS_DECISION, State.PENDING_REVIEW)  # of these people are asked for something


@dataclass(frozen=True)
class Delivery:
    """What came of an attempt."""

    sent: int = 0
    waiting: int = 0  # to be tried again
    refused: int = 0
    fault: str = ""  # of the last that did not work


def tell(workspace: Workspace) -> None:
    """Tell whom the table of states names of what happened lately. Whatever goes wrong is logged, and never raised."""
    try:
        deliver(workspace)
    except Exception as error:
        kind = str(error) if isinstance(error, SluiceError) else type(error).__name__
        log("notices not sent", logging.WARNING, detail=kind)


def tell_quietly() -> None:
    """The same for the workspace of this process, where it can be opened and notices are sent at all."""
    with suppress(Exception):
        chosen = settings()
        if _tells_anybody(chosen):
            tell(open_workspace())


def deliver(workspace: Workspace, further: Iterable[Notice] = (), reminding: bool = False) -> Delivery:
    """Note what is to be told, and send what is still unsent.

    further   : notices to the heads of the office that are not in the ledger, such as of runs that are stuck
    reminding : whether people who are waited for are reminded, and heads told of what ends soon
    raises    : SluiceError where the ledger or the outbox cannot be read
    cost      : a reading of the ledger; for each channel up to 90 s, however slowly it answers
    """
    chosen = settings()
    if not _tells_anybody(chosen):
        return Delivery()
    with locked(workspace.home / "notices.lock"):  # two senders would send twice
        outbox, office = Outbox(_outbox(workspace)), open_office(workspace)
        now, entries = datetime.now(UTC), workspace.ledger.entries()
        seen = outbox.seen
        if seen is None:
            seen = max((entry.seq for entry in entries if now - datetime.fromisoformat(entry.at) > _NEW), default=0)
        new = [entry for entry in entries if entry.seq > seen]
        addressed = list(_of_events(workspace, office, new, now))
        if office is not None:
            heads = [who for who in office.roster.with_role(HEAD) if office.roster.people[who].counts(now)]
            addressed += [(notice, heads) for notice in further]
            addressed += _reminders(workspace, chosen, heads, now) if reminding else []
        put = [each for notice, people in addressed for each in _channels(chosen, office, notice, people)]
        put += [(notice, LINEAGE) for notice in _of_lineage(new)] if chosen.openlineage_url else []
        outbox.put(put, max((entry.seq for entry in entries), default=seen))
        return _send(workspace, outbox, office, chosen, now)


def undelivered(workspace: Workspace) -> Delivery:
    """How many notices wait to be delivered, or were refused, and what was wrong last."""
    file = _outbox(workspace)
    if not file.exists():
        return Delivery()
    outbox = Outbox(file)
    due = outbox.due()
    faults = [each.fault for each in due if each.fault]
    return Delivery(waiting=len(due), refused=len(outbox.refused()), fault=faults[-1] if faults else "")


def _outbox(workspace: Workspace) -> Path:
    return workspace.home / "notices" / "outbox.db"


def _tells_anybody(chosen: Settings) -> bool:
    return bool(chosen.smtp_url or chosen.webhook_url or chosen.openlineage_url)


def _of_lineage(entries: Sequence[Entry]) -> Iterator[Notice]:
    """Each stands for an event of OpenLineage, which is made of the ledger and the vault when it is sent."""
    from tasks.release.lineage_events import KINDS  # and what else it needs, which few do

    for each in entries:
        if each.event in KINDS:
            says = f"{each.release}: {each.event}"
            name = f"{each.seq}-{each.event}"
            yield Notice(id=name, at=each.at, about=each.release, event=each.event, says=says, do="")


def _channels(
    chosen: Settings, office: Office | None, notice: Notice, people: Collection[str]
) -> Iterator[tuple[Notice, str]]:
    if chosen.webhook_url:
        yield notice, WEBHOOK
    if chosen.smtp_url and office is not None:
        reached = [who for who in people if office.roster.people[who].email]
        yield from ((notice, f"{MAIL}{who}") for who in reached)
        if people and not reached:
            log("nobody to mail to", logging.WARNING, release=notice.about, detail="the roster has no email of theirs")


def _of_events(
    workspace: Workspace, office: Office | None, entries: Sequence[Entry], now: datetime
) -> Iterator[tuple[Notice, list[str]]]:
    """The notices of what happened, each with the people who are to be told."""
    case_of = cache(lambda release: _case(workspace, release))
    for entry in entries:
        if entry.release in WITHOUT_STATES and entry.release != OFFICE:
            continue
        if entry.event == "withdrawal" and workspace.ledger.state(entry.release) is State.WITHDRAWN:
            continue  # nobody has to ask any more, and that it is withdrawn is told
        if entry.release == OFFICE:  # every change of who or what counts, to all: also one that nobody should have made
            who = frozenset(Who) - {Who.RUN}
        elif not (who := tells(entry.event)):
            continue
        people = [] if office is None else _people(office, case_of(entry.release), who, now)
        yield _notice(workspace, entry, case_of(entry.release)), people


def _case(workspace: Workspace, release: str) -> UnderReview | None:
    try:
        return UnderReview.of(workspace, release)
    except SluiceError:  # of the office, or a failure before there was a release
        return None


def _people(office: Office, case: UnderReview | None, who: Collection[Who], now: datetime) -> list[str]:
    def is_meant(name: str, person: Person) -> bool:
        if case is not None:
            return case.relation(name) in who or (Who.DECIDES in who and case.decides(name))
        return Who.ON_ROSTER in who or (Who.HEAD in who and HEAD in person.roles)

    return [name for name, person in office.roster.people.items() if person.counts(now) and is_meant(name, person)]


def _notice(workspace: Workspace, entry: Entry, case: UnderReview | None) -> Notice:
    says, do = _WORDS[entry.event]
    about = "the office" if entry.release == OFFICE else entry.release
    if entry.event == State.PENDING_REVIEW and case is not None:
        says += f": {waits_for}" if (waits_for := _waits_for(case)) else ""
    if entry.event == "failed":
        says += f": {entry.body.get('step', 'a step')} failed with {entry.body.get('error', 'an error')}"
    if entry.event == REINSTATED and case is not None and (doubt := doubt_of(case.entries)):
        says += f", {doubt}"
    judged = case is not None and entry.event in (*_ASKED, State.BLOCKED)
    return Notice(
        id=f"{entry.seq}-{entry.event}",
        at=entry.at,
        about=about,
        event=entry.event,
        says=f"{about} {says}.",
        do=_ask(case, entry.event, entry.release) if case is not None else do.format(entry.release),
        link=_report_link(workspace, entry.release) if judged else "",
        while_state=entry.event if entry.event in _ASKED else "",
    )


def _ask(case: UnderReview | None, event: str, release: str) -> str:
    """What to do: where people are asked, the ask of the release's first screen; of the data it holds nothing."""
    do = _WORDS[event][1].format(release)
    if case is None or event not in _ASKED:
        return do
    approvals, submitter = case.policy.approvals, next(iter(case.submitters), "the submitter")
    asked = (
        findings_asked(release, None, approvals.decides, submitter)
        if event == State.NEEDS_DECISION
        else approvals_asked(release, approvals.count, approvals.roles, approvals.valid_days, submitter)
    )
    return f"{asked.says} {asked.until} {do}"


def _reminders(
    workspace: Workspace, chosen: Settings, heads: list[str], now: datetime
) -> Iterator[tuple[Notice, list[str]]]:
    """People whose decision is missing, every so many days; heads, once, when that takes too long or something ends."""
    found, made = board(workspace, now), now.isoformat(timespec="seconds")
    for each in (each for each in found.waiting if each.row is not None):
        days, link = (now - datetime.fromisoformat(each.since)).days, _report_link(workspace, each.about)
        says = f"{each.about} has waited for {days} days: {each.needs}."
        state = State.NEEDS_DECISION if each.on_findings else State.PENDING_REVIEW
        remind = partial(Notice, at=made, about=each.about, says=says, link=link, while_state=state)
        if times := days // chosen.remind_days:
            do = _ask(_case(workspace, each.about), state, each.about)
            yield remind(id=f"reminder-{each.row}-{times}", event="reminder", do=do), list(each.people)
        if days >= chosen.escalate_days:
            missing = ", ".join(each.people) or "nobody on the roster"
            do = f"Who can decide, and has not: {missing}. What it is about: sluice review {each.about}."
            yield remind(id=f"escalation-{each.row}-1", event="escalation", do=do), heads
    for ending in found.ending:
        if now <= (until := datetime.fromisoformat(ending.until)) <= now + _SOON:
            says = f"{ending.what} ends on {until:%Y-%m-%d}: {ending.about}."
            name = f"ends-{ending.about}-{ending.what}-{ending.until}"
            do = "Renew it, or let it end. What else ends: sluice board."
            yield Notice(id=name, at=made, about=ending.about, event="ends", says=says, do=do), heads


def _report_link(workspace: Workspace, release: str) -> str:
    """The report's address; empty where none is served: what to do names the command then, and no path goes out."""
    return report_place(workspace, release) if settings().reports_url else ""


def _waits_for(case: UnderReview) -> str:
    try:
        return standing_in_series(case).waits_for
    except SluiceError:  # of one release, as the board says; the others are reminded of all the same
        return ""


def _send(workspace: Workspace, outbox: Outbox, office: Office | None, chosen: Settings, now: datetime) -> Delivery:
    """Send what is due. A channel that does not answer is asked once, and left alone until the next time, as is
    one that took its time; that one person cannot be reached now stops nothing for the others."""
    sent = waiting = refused = 0
    fault, silent = "", set()
    spent: defaultdict[str, float] = defaultdict(float)  # seconds
    for due in outbox.due():
        channel = due.channel.partition(":")[0]
        if _is_stale(workspace, office, due, now):
            outbox.settle(due, "stale")
            continue
        send = _sender(workspace, chosen, office, due)
        if channel in silent or spent[channel] >= _PASS or send is None:
            waiting += 1
            continue
        begun = monotonic()
        try:
            _try(send)
            outbox.settle(due, "sent")
            sent += 1
        except NoticeRefusedError as error:
            outbox.settle(due, "refused")
            refused, fault = refused + 1, str(error)
            log("notice refused", logging.WARNING, release=due.notice.about, detail=str(error))
        except TransportError as error:
            outbox.failed(due, str(error))
            waiting, fault = waiting + 1, str(error)
            if not isinstance(error, RecipientDelayedError):
                silent.add(channel)
            log("notice delayed", logging.WARNING, release=due.notice.about, detail=str(error))
        finally:
            spent[channel] += monotonic() - begun
    return Delivery(sent, waiting, refused, fault)


def _try(send: Callable[[], None]) -> None:
    """Whatever one notice meets stops no other: an error that nobody foresaw is a delay of its channel."""
    try:
        send()
    except (NoticeRefusedError, TransportError):
        raise
    except Exception as error:
        raise NoticeDelayedError(f"it cannot be sent ({type(error).__name__})") from None


def _is_stale(workspace: Workspace, office: Office | None, due: Due, now: datetime) -> bool:
    """Whether what is asked for has been done meanwhile, it is too old, or its recipient is on the roster no more."""
    if now - datetime.fromisoformat(due.noted) > _STALE:
        return True
    if office is not None and due.channel.startswith(MAIL):
        person = office.roster.people.get(due.channel.removeprefix(MAIL))
        if person is None or not person.counts(now):
            return True
    wanted = due.notice.while_state
    return bool(wanted) and state_of(e.event for e in workspace.ledger.entries(due.notice.about)) != wanted


def _sender(workspace: Workspace, chosen: Settings, office: Office | None, due: Due) -> Callable[[], None] | None:
    """What sends it; None where there is no such way now: the channel was unset, or the person has no address."""
    if due.channel == LINEAGE:
        return partial(_send_lineage, workspace, chosen, due.notice) if chosen.openlineage_url else None
    if due.channel == WEBHOOK:
        if not (chosen.webhook_url and chosen.webhook_secret):
            return None
        from sluice.notices.webhook import Webhook

        hook = Webhook(chosen.webhook_url, chosen.webhook_secret.get_secret_value())
        return lambda: hook.send(due.notice)
    person = office.roster.people.get(due.channel.removeprefix(MAIL)) if office else None
    server, sender = chosen.mail_server, chosen.mail_from
    if server is None or sender is None or person is None or person.email is None:
        return None
    address = person.email
    return lambda: server.send(due.notice, sender, address)


def _send_lineage(workspace: Workspace, chosen: Settings, notice: Notice) -> None:
    from sluice.notices.webhook import LineageBackend
    from tasks.release.lineage_events import lineage_event

    entries = workspace.ledger.entries(notice.about)
    entry = next((each for each in entries if f"{each.seq}-{each.event}" == notice.id), None)
    try:
        if entry is None:
            raise DataError(f"the ledger has no row of {notice.about} any more")
        event = lineage_event(workspace, entries, entry, chosen.openlineage_namespace)
    except TransportError:
        raise
    except Exception as error:  # whatever became of old documents stops no other notice
        why = error if isinstance(error, SluiceError) else type(error).__name__
        raise NoticeRefusedError(f"its event of OpenLineage cannot be made: {why}") from None
    key = chosen.openlineage_key.get_secret_value() if chosen.openlineage_key else ""
    LineageBackend(str(chosen.openlineage_url), key).send(event)
