"""A desk of the simulated week: what releases one series of editions, load by load, and the people who decide on it."""

import random
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from time import monotonic

from benchmarks.week_office import REVIEWERS, WeeklyOffice
from sluice.custody.ledger_entry import Entry
from sluice.custody.states import State, state_of
from tests.flows.house import BLOCKED, DONE, WAITING

Histories = dict[str, list[Entry]]

PATIENCE = 1800.0  # seconds in which a load comes no step further until it counts as lost
_FIRST = date(2025, 11, 3)  # the first day that data are about
_DECIDED = (State.PUBLISHED, State.SUPERSEDED, State.OVERTAKEN, State.REJECTED, State.WITHDRAWN)
_ILL = ("", "broken", "negative", "revealing")
_ILL_WEIGHTS = (84, 4, 4, 8)
_REVIEWS = ("approve", "refuse", "late", "never", "withdraw")
_REVIEW_WEIGHTS = (70, 8, 14, 3, 5)
_VICTIMS = ("run", "worker", "server", "postmaster")
_VICTIM_WEIGHTS = (10, 3, 3, 2)
_MOMENTS = ("begun", "received", "validated", "masked", "evaluated", "pending_review", "decision", "approved",
            "publishing")  # fmt: skip
_ACCIDENTS = 0.3  # of the loads


@dataclass
class Load:
    """One load of a table, and what came of it."""

    number: int  # of all: whose records are in it
    period: str | None
    ill: str  # what is wrong with its records
    review: str  # what people do about it
    announcements: int
    accident: tuple[str, str] | None  # what is killed, and when
    at: datetime = datetime.min
    since: float = 0.0
    stage: str = "told"
    release: str = ""
    outcome: str = ""


@dataclass
class Desk:
    """One definition. `told` is how a run of it begins: by a schedule, a trigger or a poll."""

    name: str
    told: str
    loads: list[Load]
    office: WeeklyOffice
    done: list[Load] = field(default_factory=list)
    aside: list[Load] = field(default_factory=list)  # judged, and people come to them late
    known: set[str] = field(default_factory=set)
    now: Load | None = None
    polling: bool = False

    @property
    def idle(self) -> bool:
        return self.now is None

    def begin(self) -> None:
        """The next load comes, and whoever must know is told."""
        load = self.now = self.loads.pop(0)
        load.at, load.since = datetime.now(UTC), monotonic()
        self.office.load(self.name, load.number, load.period, load.ill)
        self.polling = self.told == "poll"
        if self.told == "trigger":
            self._announce(load.announcements)

    def _announce(self, times: int) -> None:
        for _ in range(times):
            self.office.loaded(self.name)

    def step(self, histories: Histories, busy: bool) -> None:
        """What is next for the load at hand, as the ledger is now; `busy`: a run of this desk is on its way."""
        load = self.now
        assert load is not None
        if self.polling:
            told = self.office.house.sluice("poll", str(self.office.definition(self.name)))
            self.polling = not (told.code == DONE and "was started" in told.words)
            return
        if monotonic() - load.since > PATIENCE:
            self._end("lost")
        elif not busy:
            match load.stage:
                case "told":
                    self._look_for_release(load, histories)
                case "judged":
                    self._review(load, histories)
                case "decided":
                    self._look_for_end(load, histories)

    def accident(self, histories: Histories, at_work: list[int]) -> str | None:
        """What is to be killed now: the moment of this load has come, and it comes once.

        at_work : the processes of the runs of this desk
        """
        if self.now is None or self.now.accident is None:
            return None
        victim, moment = self.now.accident
        new = [release for release in _releases_of(self.name, histories) if release not in self.known]
        release = self.now.release or next(iter(new), "")
        events = {entry.event for entry in histories.get(release, ())}
        if not (bool(at_work) if moment == "begun" else moment in events) or (victim == "run" and not at_work):
            return None
        self.now.accident = None
        return victim

    def _look_for_release(self, load: Load, histories: Histories) -> None:
        new = [release for release in _releases_of(self.name, histories) if release not in self.known]
        if new and _state(histories, new[0]) in (State.BLOCKED, State.PENDING_REVIEW, State.PUBLISHED):
            [load.release] = new
            self.known.add(load.release)
            load.stage, load.since = "judged", monotonic()
        elif load.ill in ("broken", "negative") and self._has_failed(load):
            self._end("refused")

    def _has_failed(self, load: Load) -> bool:
        """Whether a run since the load ended because the data were refused before any record moved."""
        return any(
            run["state"]["message"].endswith("DataError")
            for run in self.office.found("FAILED", deployment=self.name)
            if datetime.fromisoformat(run["expected_start_time"]) >= load.at - timedelta(seconds=2)
        )

    def _review(self, load: Load, histories: Histories) -> None:
        state = _state(histories, load.release)
        if state is State.BLOCKED:
            self._end("blocked")
        elif state in _DECIDED:  # of one put aside that newer data overtook
            load.stage = "decided"
        elif load.review == "never":
            self._end("waiting")
        elif load.review == "late" and load not in self.aside:
            self.aside.append(load)
            self.now = None
        elif self._decided(load, histories):
            load.stage, load.since = "decided", monotonic()

    def _decided(self, load: Load, histories: Histories) -> bool:
        """Both reviewers act; whose command could not reach the ledger acts again at the next step."""
        act = "reject" if load.review == "refuse" else "approve"
        there = {entry.actor for entry in histories[load.release] if entry.event == "decision"}
        for who in REVIEWERS:
            if who not in there:
                told = self.office.act(who, act, load.release, "--comment", f"{act}, as I read the report")
                kept = told.code in (DONE, WAITING, BLOCKED) or "is in the ledger" in told.words
                if not kept:
                    return False
        return True

    def _look_for_end(self, load: Load, histories: Histories) -> None:
        state = _state(histories, load.release)
        if state not in _DECIDED:
            return
        if load.review == "withdraw" and state in (State.PUBLISHED, State.SUPERSEDED):
            there = {entry.actor for entry in histories[load.release] if entry.event == "withdrawal"}
            for who in REVIEWERS:
                if who not in there:
                    self.office.act(who, "withdraw", load.release, "--reason", "wrong codes were loaded")
            return
        self._end(str(state))

    def _end(self, outcome: str) -> None:
        load = self.now
        assert load is not None
        load.outcome = outcome
        self.done.append(load)
        self.now = None
        if load in self.aside:
            self.aside.remove(load)
        elif self.aside:  # people come to one that they left, after the newer one
            self.now = self.aside[0]
            self.now.since = monotonic()


def _releases_of(name: str, histories: Histories) -> list[str]:
    return [
        release
        for release, entries in histories.items()
        if any(entry.event == State.RECEIVED and entry.body["definition"] == name for entry in entries)
    ]


def _state(histories: Histories, release: str) -> State | None:
    return state_of(entry.event for entry in histories[release])


def plan_of_loads(random_: random.Random, numbers: list[int], length: str | None) -> list[Load]:
    """The loads of a desk, drawn by a seeded generator; each of a later period, where there are periods."""
    made = []
    for place, number in enumerate(numbers):
        step = timedelta(
            days=31 * (place // 2) if length == "month" else place
        )  # of a month the second is a correction
        [ill] = random_.choices(_ILL, _ILL_WEIGHTS)
        [review] = random_.choices(_REVIEWS, _REVIEW_WEIGHTS)
        announcements = random_.choice((2, 3)) if random_.random() < 0.15 else 1
        [victim] = random_.choices(_VICTIMS, _VICTIM_WEIGHTS)
        accident = (victim, random_.choice(_MOMENTS)) if random_.random() < _ACCIDENTS else None
        made.append(Load(number, str(_FIRST + step) if length else None, ill, review, announcements, accident))
    return made
