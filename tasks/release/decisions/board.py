"""The board: what waits for whom, since when and until when, what is current, what stopped, and what ends soon.

All of it comes from the ledger, and from the documents that the vault keeps. No figure of the data is on it, so that it
may hang on a wall.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from policies.adoption import Office
from policies.decision_table import LAPSES_AFTER, WITHDRAWAL
from policies.kept_policy import KeptPolicy
from policies.standing import Standing
from policies.waivers import Waiver
from sluice.custody.edition_order import definition_in
from sluice.custody.ledger_entry import Entry, last, last_judgement
from sluice.custody.states import NOT_THE_SUBMITTER, State, state_of
from sluice.custody.workspace import Workspace
from sluice.ground.errors import SluiceError
from tasks.release.decisions.decisions_of_people import Withdrawable, requests
from tasks.release.decisions.office import open_office
from tasks.release.decisions.open_findings import left_open
from tasks.release.decisions.series_approval import standing_in_series
from tasks.release.decisions.under_review import UnderReview
from tasks.release.editions.current_edition import doubt_of

_SOON = timedelta(days=14)
_UNDER_WAY = (State.RECEIVED, State.VALIDATED, State.MASKED, State.PUBLISHING)  # a check ends `evaluated`
_STOPPED = (State.BLOCKED, State.REJECTED, State.CHANGES_REQUESTED)
_DO = {
    State.BLOCKED: "what was found, and what may help: sluice review {}",
    State.REJECTED: "it is never published; other documents or data make another release: sluice ledger show {}",
    State.CHANGES_REQUESTED: "what has to change: sluice ledger show {}; then release again",
}


@dataclass(frozen=True)
class Waiting:
    """Something that goes on only when people act."""

    about: str  # a release, or a document of the office
    since: str
    needs: str
    people: tuple[str, ...]  # who can; of the roster, and they have not yet
    until: str | None  # when what was given so far begins to lapse
    do: str
    row: int | None = None  # of the ledger, by which a release began to wait for decisions that are missing
    on_findings: bool = False  # whether they are on what was found, and not approvals


@dataclass(frozen=True)
class Current:
    """An edition that is the one to use."""

    release: str
    definition: str
    since: str
    folder: str
    doubt: str  # of the last reassessment, if it would not pass today; else empty


@dataclass(frozen=True)
class Stopped:
    """A release that does not go on by itself; the last of its definition."""

    release: str
    definition: str
    what: str
    since: str
    do: str
    codes: tuple[str, ...] = ()  # of the findings that block, where it was judged


@dataclass(frozen=True)
class UnderWay:
    release: str
    state: str
    since: str


@dataclass(frozen=True)
class Ending:
    """What ends soon, or has ended while it is still relied on."""

    about: str
    what: str
    until: str


@dataclass(frozen=True)
class Board:
    at: str
    waiting: tuple[Waiting, ...]
    current: tuple[Current, ...]
    stopped: tuple[Stopped, ...]
    under_way: tuple[UnderWay, ...]
    ending: tuple[Ending, ...]


def board(workspace: Workspace, now: datetime | None = None) -> Board:
    """Everything that an operator must know, as the ledger has it now.

    Raises as `Ledger.histories` and `read_office` do. Cost: one reading of the ledger, and for each release that waits
    another, with a verification of a signature, some 0.2 ms, for each decision.
    """
    now = now or datetime.now(UTC)
    histories, office = workspace.ledger.histories(), open_office(workspace)
    waiting, ending = [], []
    if office is not None:
        for release, entries in histories.items():
            try:
                waits, ends = _waits(workspace, release, entries, now)
            except SluiceError as error:  # of one release; the others wait all the same
                waits, ends = [_unreadable(release, entries, str(error))], []
            waiting += waits
            ending += ends
        waiting += _proposed(office, now)
        ending += _ends(workspace, office, now)
    return Board(
        at=now.isoformat(timespec="seconds"),
        waiting=tuple(sorted(waiting, key=lambda each: each.since)),
        current=tuple(_current(histories)),
        stopped=tuple(_stopped(histories)),
        under_way=tuple(
            UnderWay(release, state.replace("_", " "), entries[-1].at)
            for release, entries in histories.items()
            if (state := _state(entries)) in _UNDER_WAY and state and entries[-1].event not in ("failed", "note")
        ),
        ending=tuple(sorted(ending, key=lambda each: each.until)),
    )


def _waits_since(entries: Sequence[Entry]) -> Entry | None:
    """The entry by which a release began to wait for people; None where it does not wait."""
    state = _state(entries)
    if state is State.NEEDS_DECISION:
        return last(entries, State.NEEDS_DECISION)
    return last(entries, State.PENDING_REVIEW) if state in (State.PENDING_REVIEW, State.APPROVED) else None


def _waits(
    workspace: Workspace, release: str, entries: Sequence[Entry], now: datetime
) -> tuple[list[Waiting], list[Ending]]:
    """Whom a release waits for, and which of the approvals that it has end soon."""
    begun, state = _waits_since(entries), _state(entries)
    asked = [entry for entry in entries if entry.event == WITHDRAWAL and now - _when(entry.at) < LAPSES_AFTER]
    if state in (State.PUBLISHED, State.SUPERSEDED) and asked:
        public = Withdrawable.of(workspace, release)
        if requests(public).suffice:
            do = "its withdrawal was not finished: sluice doctor --repair"
            return [Waiting(release, asked[-1].at, "nobody more; it is to be withdrawn", (), None, do)], []
        acted = {entry.actor for entry in asked}
        people = tuple(
            who for who, each in public.office.roster.people.items() if who not in acted and each.counts(now)
        )
        until = (_when(asked[0].at) + LAPSES_AFTER).isoformat(timespec="seconds")
        do = f"sluice withdraw {release} --reason WHY"
        return [Waiting(release, asked[0].at, "another who asks that it be withdrawn", people, until, do)], []
    if begun is None:
        return [], []
    case = UnderReview.of(workspace, release)
    if state is State.NEEDS_DECISION:
        return [_needs_decision(case, begun, now)], []
    standing = standing_in_series(case)
    if standing.complete:
        do = f"a run is about to publish it; if none does within minutes: sluice approve {release}"
        return [Waiting(release, begun.at, "nobody more; it is approved", (), None, do)], []
    days = timedelta(days=case.policy.approvals.valid_days)
    ends = [
        Ending(release, "a decision", (_when(given.at) + days).isoformat(timespec="seconds"))
        for given in standing.decided
        if given.decision != "conflicted"
    ]
    soon = [each for each in ends if _when(each.until) - now <= _SOON]
    first = min((each.until for each in ends), default=None)
    do = f"sluice review {release}"
    people = _able(case, standing, now)
    return [Waiting(release, begun.at, standing.waits_for, people, first, do, begun.seq)], soon


def _needs_decision(case: UnderReview, begun: Entry, now: datetime) -> Waiting:
    """Whom a release waits for of which findings need a decision, by the codes of these: no figure of the data."""
    codes = ", ".join(dict.fromkeys(left_open(case).values()))
    people = tuple(who for who, each in case.office.roster.people.items() if each.counts(now) and case.decides(who))
    roles = " or ".join(case.policy.approvals.decides)
    needs = f"a decision on {codes}" + ("" if people else f", and nobody on the roster who may decide is {roles}")
    return Waiting(case.id, begun.at, needs, people, None, f"sluice review {case.id}", begun.seq, on_findings=True)


def _unreadable(release: str, entries: Sequence[Entry], why: str) -> Waiting:
    """A release that waits, of which the board cannot say for whom."""
    return Waiting(
        release, entries[-1].at, f"somebody who looks at it: {why}", (), None, f"sluice ledger show {release}"
    )


def may_decide(case: UnderReview, now: datetime) -> tuple[str, ...]:
    """Who on the roster could now decide what a release waits for, and has not: in the roles that are missing, if any.

    That somebody is named tells no more than that they have not decided.
    """
    return _able(case, standing_in_series(case), now)


def _able(case: UnderReview, standing: Standing, now: datetime) -> tuple[str, ...]:
    decided, asked = {given.who for given in standing.decided}, {*standing.asked_roles}
    return tuple(
        who
        for who, person in case.office.roster.people.items()
        if who not in decided and person.counts(now) and case.relation(who) in NOT_THE_SUBMITTER
        if not asked or asked & {*person.roles}
    )


def _proposed(office: Office, now: datetime) -> Iterator[Waiting]:
    """Documents of the office that one person adopted, and another must."""
    for adoption, acts in office.proposed.items():
        until = min(_when(act.at) for act in acts) + LAPSES_AFTER
        if until > now and (needs := office.missing(adoption, acts)):
            able = office.may_complete(adoption, acts)
            people = tuple(who for who in able if office.roster.people[who].counts(now))
            ends = until.isoformat(timespec="seconds")
            yield Waiting(adoption.called, acts[0].at, needs, people, ends, "sluice adopt FILE")


def _ends(workspace: Workspace, office: Office, now: datetime) -> Iterator[Ending]:
    """What of the office ends soon: adoptions, waivers in the policies that count, people of the roster."""

    def soon(day: date | None) -> str:
        """The end of that day, where it comes within two weeks, or came within the last two."""
        end = datetime.combine(day, time.max, UTC) if day else None
        return end.isoformat(timespec="seconds") if end and abs(end - now) <= _SOON else ""

    for (kind, _), held in office.in_force.items():
        if until := soon(held.adoption.valid_until):
            yield Ending(held.adoption.called, "its adoption", until)
        if kind == "policy":
            for waiver in _waivers(workspace, held.adoption.sha256):
                if until := soon(waiver.expires):
                    yield Ending(held.adoption.called, f"the waiver of {waiver.rule}", until)
    for who, person in office.roster.people.items():
        if until := soon(person.valid_until):
            yield Ending("the roster", f"{who}'s place in it", until)


def _waivers(workspace: Workspace, policy: str) -> Sequence[Waiver]:
    """Those of a policy that counts; none where the vault does not hold it, or as an earlier Sluice wrote it."""
    try:
        return KeptPolicy.model_validate_json(workspace.vault.verify(policy, ".json").read_bytes()).waivers
    except (SluiceError, ValueError):
        return ()


def _current(histories: Mapping[str, Sequence[Entry]]) -> Iterator[Current]:
    for release, entries in histories.items():
        published = last(entries, State.PUBLISHED)
        if published and _state(entries) is State.PUBLISHED:
            doubt = doubt_of(entries)
            yield Current(release, published.body["definition"], published.at, published.body["folder"], doubt)


def _stopped(histories: Mapping[str, Sequence[Entry]]) -> list[Stopped]:
    """Of each definition the last release, where it was blocked, refused or broke: what went well since is no news."""
    latest: dict[str, tuple[str, Sequence[Entry]]] = {}
    for release, entries in sorted(histories.items(), key=lambda each: each[1][-1].seq):
        # Before a release has an id, a failure stands under the definition's.
        latest[definition_in(release) if last(entries, State.RECEIVED) else release] = (release, entries)
    return [
        Stopped(release, definition, what, entries[-1].at, do, codes)
        for definition, (release, entries) in latest.items()
        for what, do, codes in _why(release, entries)
    ]


def _why(release: str, entries: Sequence[Entry]) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    state, end = _state(entries), entries[-1]
    if end.event == "failed":
        what = f"{end.body.get('step', 'a step')} failed with {end.body.get('error', 'an error')}"
        yield what, "the output of the run says what to mend; then release again", ()
    elif state in _STOPPED:
        judged = last_judgement(entries)
        blocked = state is State.BLOCKED and bool(judged)
        says = f", verdict {judged['verdict']}" if blocked else ""
        codes = tuple(judged.get("codes", ())) if blocked else ()  # rows of before they were recorded have none
        yield f"{state.replace('_', ' ')}{says}", _DO[state].format(release), codes


def _state(entries: Sequence[Entry]) -> State | None:
    try:
        return state_of(entry.event for entry in entries)
    except SluiceError:  # of a later version's events
        return None


def _when(at: str) -> datetime:
    return datetime.fromisoformat(at)
