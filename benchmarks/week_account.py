"""The account of the simulated week: each release in its state, nothing lost, nothing doubled, by sums of its own.

What is compared with the ledger here shares no code with the board, the catalogue or the order of editions.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.week_desk import Desk, Histories
from benchmarks.week_office import WeeklyOffice
from sluice.custody.states import State, state_of
from tests.flows.house import DONE

_ON_SHELF = (State.PUBLISHED, State.SUPERSEDED)


def releases(office: WeeklyOffice) -> Histories:
    """The entries of each release; the office's own and failures before there was a release are none."""
    found = office.house.workspace().ledger.histories()
    return {name: [*entries] for name, entries in found.items() if any(e.event == State.RECEIVED for e in entries)}


def states(histories: Histories) -> dict[str, State | None]:
    return {name: state_of(entry.event for entry in entries) for name, entries in histories.items()}


def latest(histories: Histories) -> dict[str, str]:
    """Of each definition the edition that must be current: the last period, and of one period the newest data."""
    first: dict[str, int] = {}
    received = {name: next(e for e in entries if e.event == State.RECEIVED) for name, entries in histories.items()}
    for entry in sorted(received.values(), key=lambda each: each.seq):
        first.setdefault(entry.body["data"]["sha256"], entry.seq)
    best: dict[str, tuple[tuple[str, int], str]] = {}
    for name, state in states(histories).items():
        body = received[name].body
        place = ((body["period"] or {}).get("last", ""), first[body["data"]["sha256"]])
        if state in _ON_SHELF and place >= best.get(body["definition"], (("", 0), ""))[0]:
            best[body["definition"]] = (place, name)
    return {definition: name for definition, (_, name) in best.items()}


def board_faults(office: WeeklyOffice, board: dict[str, Any]) -> list[str]:
    """Where the board says other than the ledger."""
    histories = releases(office)
    now, faults = states(histories), []
    for what, says, is_so in (
        ("waiting", {each["about"] for each in board["waiting"]},
         {name for name, state in now.items() if state in (State.PENDING_REVIEW, State.APPROVED)}),
        ("current", {each["release"] for each in board["current"]}, {*latest(histories).values()}),
        ("under way", {each["release"] for each in board["under_way"]},
         {name for name, state in now.items()
          if state in (State.RECEIVED, State.VALIDATED, State.MASKED, State.PUBLISHING)}),
    ):  # fmt: skip
        if says != is_so:
            faults.append(f"{what}: the board has {sorted(says - is_so)} too many, {sorted(is_so - says)} too few")
    if board["server"]:
        faults.append(board["server"])
    for each in board["runs"]:
        if each["condition"] in ("stuck", "late", "lost", "crashed"):
            faults.append(f"the run {each['name']} is {each['condition']}")
    for definition, release in latest(histories).items():
        pointer = json.loads((office.house.target / f"{definition}.current.json").read_text())
        if release not in json.dumps(pointer):
            faults.append(f"{definition}.current.json does not name {release}")
    return faults


def final_faults(office: WeeklyOffice, desks: list[Desk]) -> list[str]:
    """What must not be at the end of the week."""
    histories, faults = releases(office), []
    now = states(histories)
    for desk in desks:
        faults += [f"{desk.name}: load {load.number} is lost: {load}" for load in desk.done if load.outcome == "lost"]
        expected = {load.release for load in (*desk.done, *desk.aside) if load.release}
        made = {name for name, entries in histories.items() if entries[0].body["definition"] == desk.name}
        faults += [f"{desk.name}: {name} is of no load" for name in made - expected]
        for load in (*desk.done, *desk.aside):
            review = "never" if load in desk.aside else load.review  # the week ended before people came
            faults += _load_faults(review, load.ill, load.release, now.get(load.release))
    for name, entries in histories.items():
        events = Counter(entry.event for entry in entries)
        faults += [f"{name}: {events[once]} times {once}" for once in ("published", "withdrawn") if events[once] > 1]
    shelf = {path.name for path in office.house.target.iterdir() if path.is_dir() and not path.is_symlink()}
    should = {name for name, state in now.items() if state in _ON_SHELF}
    faults += [f"the shelf lacks {name}" for name in should - shelf]
    faults += [f"the shelf has {name}" for name in {each for each in shelf - should if each[0] != "."}
               if now.get(name) is not State.WITHDRAWN]  # fmt: skip
    keys = office.folder / "keys.txt"
    keys.write_text(office.command("people", "--keys").out)
    for name in sorted(should & shelf):
        told = office.house.sluice("verify", str(office.house.target / name), "--keys", str(keys), "--people", "2")
        faults += [f"verify {name}: {told.words}"] if told.code != DONE else []
    told = office.house.sluice("ledger", "verify")
    faults += [f"ledger verify: {told.words}"] if told.code != DONE else []
    return faults + _run_faults(office, now)


def _load_faults(review: str, ill: str, release: str, state: State | None) -> list[str]:
    """What people decided must have become of the release, and nothing else."""
    on_shelf = {State.PUBLISHED, State.SUPERSEDED}
    if ill in ("broken", "negative"):
        allowed: set[State | None] = {None, State.BLOCKED}
    elif ill == "revealing":
        allowed = {State.BLOCKED}
    else:
        allowed = {
            "approve": {*on_shelf},
            "late": {*on_shelf, State.OVERTAKEN},
            "refuse": {State.REJECTED},
            "never": {State.PENDING_REVIEW, State.OVERTAKEN},
            "withdraw": {State.WITHDRAWN},
        }[review]
    return [] if state in allowed else [f"{release}: {ill or 'sound'} data, {review}: it is {state}"]


def _run_faults(office: WeeklyOffice, now: dict[str, State | None]) -> list[str]:
    """Runs that are stuck, and releases for which not one run waits."""
    faults = [f"the run {run['name']} is still {run['state_name']}" for run in office.found("PENDING", "RUNNING")]
    waiting = Counter(run["name"] for run in office.found("PAUSED"))
    for name, number in waiting.items():
        if now.get(name) is not State.PENDING_REVIEW or number > 1:
            faults.append(f"{number} runs wait for {name}, which is {now.get(name)}")
    return faults


def notices(office: WeeklyOffice, taken: list[tuple[str, Any]]) -> tuple[Counter[str], list[str]]:
    """How many mails each kind of event made, and what is wrong with them: nobody told of a state, somebody twice."""
    events: Counter[str] = Counter(str(message["Subject"]).rpartition(": ")[2] for _, message in taken)
    twice = [mail for mail, times in Counter((to, str(each["Message-ID"])) for to, each in taken).items() if times > 1]
    faults = [f"told twice: {mail}" for mail in twice]
    told = {str(message["Subject"]).removeprefix("[Sluice] ") for _, message in taken}
    for name, entries in releases(office).items():
        for event in {entry.event for entry in entries} & {
            "blocked",
            "rejected",
            "published",
            "overtaken",
            "withdrawn",
        }:
            if f"{name}: {event}" not in told:
                faults.append(f"nobody was told: {name}: {event}")
    return events, faults


def write(file: Path, desks: list[Desk]) -> None:
    """What became of each load, for whoever looks for what is wrong."""
    rows = [{"desk": desk.name} | vars(load) for desk in desks for load in (*desk.done, *desk.aside)]
    file.write_text(json.dumps(rows, indent=1, default=str))
