"""A week of releases on a real server, at speed: monthly, daily, and when the warehouse says so, with accidents.

PostgreSQL below Prefect, ledger and warehouse; Prefect's server; `sluice worker`; reviewers who sign by their keys, are
late, refuse and withdraw; a mail server. Meanwhile runs, worker, server and postmaster are killed by `kill -9`, and
`sluice doctor --repair` is called every half minute, as by a cron. At the end each load is accounted for.
"""

import json
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from benchmarks.week_account import board_faults, final_faults, notices, releases, states, write
from benchmarks.week_database import Database
from benchmarks.week_desk import Desk, plan_of_loads
from benchmarks.week_office import LOADS, Accidents, WeeklyOffice
from sluice.ground.errors import SluiceError
from tests.flows.house import WAITING
from tests.flows.installation import BIN, processes, until
from tests.flows.prefect_server import using
from tests.notices.servers import Mailbox, mail_server

SEED = 1126
_TABLES = ("arrivals", "transfers", "births", "wards", "doctors", "beds")  # each loaded some times a day
_PERIODS = {"transfers": "day", "wards": "day"}  # the others have none


@dataclass(frozen=True)
class Size:
    days: int
    loads_a_day: int  # of each table
    tables: tuple[str, ...]
    daily: str  # when the register is released: a day takes minutes here
    monthly: str
    calm: int  # releases before anything is killed, one after the other


FULL = Size(days=7, loads_a_day=2, tables=_TABLES, daily="*/2 * * * *", monthly="*/5 * * * *", calm=3)
QUICK = Size(days=1, loads_a_day=3, tables=_TABLES[:2], daily="*/5 * * * *", monthly="*/5 * * * *", calm=1)
_OPEN = ("SCHEDULED", "PENDING", "RUNNING", "CANCELLING")


def desks_of(size: Size) -> dict[str, dict[str, Any]]:
    """What each desk's definition says beside what all say."""
    desks: dict[str, dict[str, Any]] = {
        "calm": {},
        "census": {"schedule": {"cron": size.monthly, "timezone": "UTC"}, "period": "month"},
        "register": {"schedule": {"cron": size.daily, "timezone": "UTC"}, "period": "day"},
    }
    for name in size.tables:
        desks[name] = {"trigger": {"resource": f"warehouse.{name}"}, "period": _PERIODS.get(name)}
    if "beds" in desks:
        desks["beds"] = {"poll": {"table": LOADS, "column": "finished_at"}}
    return desks


def main(quick: bool = False) -> None:
    """Print the account of the week; exit code 1 where something is lost, doubled or wrong. `quick`: one small day."""
    if faults := simulate(QUICK if quick else FULL):
        sys.exit(f"{len(faults)} faults")


def simulate(size: Size) -> list[str]:
    """What is wrong at the end, also printed; empty: nothing."""
    database = Database()
    folder = Path(tempfile.mkdtemp(prefix="sluice-week-"))
    with mail_server() as box:
        office = WeeklyOffice(folder, database, desks_of(size), box.port)
        try:
            with office.here:
                office.open_office()
                with using(office.server):
                    faults = Week(office, box, size).run()
        finally:
            office.stop()
            database.remove()
    if faults:
        print("\n".join(["", "What is wrong:", *faults, f"What there was is in {folder}"]))
    else:
        shutil.rmtree(folder)
    return faults


class Week:
    """The desks, day by day."""

    def __init__(self, office: WeeklyOffice, box: Mailbox, size: Size) -> None:
        self.office, self.box, self.size = office, box, size
        self.accidents = Accidents(office, SEED)
        self.desks: list[Desk] = []
        self.faults: list[str] = []
        self.away = 0  # looks at which the server or the database was away
        random_ = random.Random(SEED)
        for name, change in list(desks_of(size).items())[1:]:
            told = next(each for each in ("schedule", "trigger", "poll") if each in change)
            loads = size.days * (1 if told == "schedule" else size.loads_a_day)
            loads = min(loads, 2) if name == "census" else loads  # the month, and its correction
            first = 1000 * (len(self.desks) + 1)
            plan = plan_of_loads(random_, [*range(first, first + loads)], change.get("period"))
            self.desks.append(Desk(name, told, plan, office))
        self.per_day = {desk.name: -(-len(desk.loads) // size.days) for desk in self.desks}

    def run(self) -> list[str]:
        """What is wrong at the end; empty: nothing."""
        calm = overhead(self.office, self.size.calm)
        self.office.schedules(going=True)
        begun = monotonic()
        for day in range(1, self.size.days + 1):
            self._day(day)
        seconds = monotonic() - begun
        self.faults += final_faults(self.office, self.desks)
        kinds, wrong = notices(self.office, self.box.taken)
        self.faults += wrong
        self._show(seconds, calm, kinds)
        write(self.office.folder / "loads.json", self.desks)
        return self.faults

    def _day(self, day: int) -> None:
        left = {desk.name: min(self.per_day[desk.name], len(desk.loads)) for desk in self.desks}
        while any(left.values()) or not all(desk.idle for desk in self.desks):
            if self.accidents.faults:  # what was killed does not come back
                raise RuntimeError(self.accidents.faults[0])
            try:
                self._step(left)
                self.accidents.cron()
            except (OSError, SluiceError):  # the server or the database is away
                self.away += 1
            sleep(1)
        self.accidents.rest()
        until(self._quiet, "the end of all runs", patience=600)
        self._close(day)

    def _step(self, left: dict[str, int]) -> None:
        histories = releases(self.office)
        open_runs = defaultdict(list)
        for run in self.office.found(*_OPEN):
            open_runs[self._deployment(run)].append(run["id"])
        for desk in self.desks:
            at_work = [number for run in open_runs[desk.name] for number in processes(run)]
            if victim := desk.accident(histories, at_work):
                self.accidents.strike(victim, at_work)
            if desk.idle and left[desk.name] and not open_runs[desk.name]:
                left[desk.name] -= 1
                desk.begin()
            elif not desk.idle:
                desk.step(histories, bool(open_runs[desk.name]))

    def _deployment(self, run: dict[str, Any]) -> str:
        return next((tag for tag in run["tags"] if tag in self.office.changes), "")

    def _quiet(self) -> bool:
        try:
            return not self.office.found(*_OPEN)
        except OSError:
            return False

    def _close(self, day: int) -> None:
        """The evening: the doctor, reminders and the board, which must say what the ledger says."""
        self.accidents.cure()
        until(self._quiet, "the end of what the doctor began", patience=600)
        self.office.command("remind")
        board = self.office.command("board", "--json").json
        faults = board_faults(self.office, board)
        self.faults += [f"day {day}, board: {fault}" for fault in faults]
        now = Counter(str(state) for state in states(releases(self.office)).values())
        unsent = board["notices"]["waiting"] + board["notices"]["refused"]
        print(f"day {day}: {_listed(now)}; board: {len(board['waiting'])} wait, {len(board['current'])} current, "
              f"{len(board['stopped'])} stopped, {len(faults)} wrong; {len(self.box.taken)} notices, {unsent} unsent;\n"
              f"  killed: {_listed(self.accidents.kills)}; repaired: {len(self.accidents.repairs)}; "
              f"found the server or the database away: {self.away} times",
              flush=True)  # fmt: skip

    def _show(self, seconds: float, calm: dict[str, float], kinds: Counter[str]) -> None:
        loads = [load for desk in self.desks for load in desk.done]
        runs = self.office.found()
        ended = Counter(run["state_name"] for run in runs)
        at_end = Counter(str(state) for state in states(releases(self.office)).values())
        print(f"\n{len(loads)} loads, announced {sum(load.announcements for load in loads)} times; {len(runs)} runs")
        print(f"runs ended: {_listed(ended)}")
        print(f"loads: {_listed(Counter(load.outcome for load in loads))}")
        print(f"releases at the end: {_listed(at_end)}")
        print(f"killed: {_listed(self.accidents.kills)}; the doctor came {self.accidents.doctors} times")
        for what, times in Counter(_kind(each) for each in self.accidents.repairs).most_common():
            print(f"  {times} x {what}")
        print(f"notices: {_listed(kinds)}")
        judged = sum(bool(load.release) for load in loads)
        print(
            f"{seconds:.0f} s: {3600 * judged / seconds:.0f} releases and {3600 * len(runs) / seconds:.0f} runs an hour"
        )
        print("one release, seconds: " + ", ".join(f"{what} {value:.1f}" for what, value in calm.items()))


def overhead(office: WeeklyOffice, releases: int) -> dict[str, float]:
    """Medians of releases, one after the other and nothing killed: seconds of the clock from the call to the review.

    Each time one that the worker runs for the server, and one that a command runs without it, of other people.

    steps  : inside the steps, as the log has them
    begin  : from the call until the flow begins: the worker's look at the server, a process, its imports
    between: between the steps and after the last, until the process is gone: Prefect's
    """
    log, found = office.folder / "worker.log", []
    for number in range(releases):
        alone = _without_server(office, releases + number + 1)
        office.load("calm", number + 1, None, "")
        before, begun = log.stat().st_size, monotonic()
        office.run("calm")
        until(lambda number=number: len(office.found("PAUSED", deployment="calm")) > number, "the review")  # type: ignore[misc]
        waited = monotonic() - begun
        run = office.found("PAUSED", deployment="calm")[-1]
        steps = _seconds_of_steps(log.read_bytes()[before:].decode())
        found.append({"in all": waited, "steps": steps, "flow": run["total_run_time"], **alone})
    middle = {what: sorted(each[what] for each in found)[len(found) // 2] for what in found[0]}
    return {
        "in all": middle["in all"],
        "steps": middle["steps"],
        "before the flow": middle["in all"] - middle["flow"],
        "in the flow, outside its steps": middle["flow"] - middle["steps"],
        "in all without a server": middle["alone"],
        "steps without a server": middle["steps alone"],
    }


def _without_server(office: WeeklyOffice, number: int) -> dict[str, float]:
    office.load("calm", number, None, "")
    environment = {name: value for name, value in office.environment.items() if not name.startswith("PREFECT_")}
    begun = monotonic()
    command = [str(BIN / "sluice"), "release", str(office.definition("calm"))]
    done = subprocess.run(command, env=environment, cwd=office.folder, capture_output=True, text=True)
    assert done.returncode == WAITING, done.stdout + done.stderr
    return {"alone": monotonic() - begun, "steps alone": _seconds_of_steps(done.stderr)}


def _seconds_of_steps(log: str) -> float:
    lines = [json.loads(line) for line in log.splitlines() if line[:1] == "{"]
    ends = [line for line in lines if line["event"] == "step ends"]
    return float(sum(line["seconds"] for line in ends if line["step"] != "release"))


def _kind(repaired: str) -> str:
    """What was repaired, without the names of runs and releases."""
    return " ".join(word for word in repaired.split() if "-" not in word)


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{number} {what}" for what, number in sorted(counts.items())) or "nothing"
