"""Metrics of an installation, for Prometheus: how many releases stand where, what happened how often, how long the
steps of runs took, how old the ledger's last row is, what is unsent, and the room on the disk.

Format: Prometheus' text-based exposition format, version 0.0.4. Labels are the words of `State` and of the ledger's
events and nothing else: no release, no data set, no person and no value of the data. Whoever asks shows the token that
lies in the workspace.
"""

import hmac
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Lock

from fastapi import APIRouter, HTTPException, Request, Response

from flows.desk.sign_on import TheDesk
from sluice.custody.ledger_entry import Entry
from sluice.custody.states import WITHOUT_STATES, State, state_of
from sluice.custody.workspace import Workspace
from sluice.ground.errors import SluiceError
from tasks.release.decisions.notices import undelivered

metrics = APIRouter()

_FORMAT = "text/plain; version=0.0.4; charset=utf-8"
_STEPS = (State.VALIDATED, State.MASKED, State.EVALUATED)  # each follows the one before at once, in one run
_BEFORE: Mapping[str, str] = dict(zip(_STEPS, (State.RECEIVED, *_STEPS), strict=False))


@dataclass
class Counted:
    """What was counted of the ledger's rows up to one of them; a scrape only looks at those that came since."""

    rows: int = 0
    events: Counter[str] = field(default_factory=Counter)
    steps: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    last: dict[str, Entry] = field(default_factory=dict)  # of each release
    lock: Lock = field(default_factory=Lock)

    def go_on(self, entries: Sequence[Entry]) -> None:
        """Count the rows that are new. Cost: a microsecond for each."""
        with self.lock:
            for entry in entries[self.rows :]:
                self.events[entry.event] += 1
                before = self.last.get(entry.release)
                if before is not None and _BEFORE.get(entry.event) == before.event:
                    self.steps[entry.event] += 1
                    self.seconds[entry.event] += (_time(entry) - _time(before)).total_seconds()
                if entry.release not in WITHOUT_STATES:
                    self.last[entry.release] = entry
            self.rows = max(self.rows, len(entries))


@metrics.get("/metrics")
def scraped(request: Request, desk: TheDesk) -> Response:
    """The metrics, for whoever shows the token; of nothing else is it told whether there are any."""
    shown = [value for name, value in request.scope["headers"] if name.lower() == b"authorization"]
    if len(shown) != 1 or not hmac.compare_digest(shown[0], f"Bearer {desk.metrics_token}".encode()):
        raise HTTPException(404)
    return Response(as_text(desk.workspace, request.app.state.counted), media_type=_FORMAT)


def as_text(workspace: Workspace, counted: Counted) -> str:
    """The metrics as they are now. Raises as `Ledger.entries` does."""
    entries, histories = workspace.ledger.entries(), workspace.ledger.histories()
    counted.go_on(entries)
    states = Counter(_state(history) for history in histories.values())
    notices, disk = undelivered(workspace), shutil.disk_usage(workspace.home)
    lines = [
        *_metric("releases", "gauge", "Releases by the state in which they stand.", "state",
                 {state.value: states[state] for state in State} | {"unknown": states[None]}),
        *_metric("events_total", "counter", "Rows of the ledger by their event.", "event", counted.events),
        *_metric("step_seconds_sum", "counter", "Seconds that steps of runs took.", "step", counted.seconds),
        *_metric("step_seconds_count", "counter", "Steps of runs that ended.", "step", counted.steps),
        *_metric("ledger_rows", "gauge", "Rows of the ledger.", "", {"": len(entries)}),
        *_metric("ledger_last_row_timestamp_seconds", "gauge", "When its last row was recorded.", "",
                 {"": _time(entries[-1]).timestamp()} if entries else {}),
        *_metric("notices_unsent", "gauge", "Notices that wait to be sent.", "", {"": notices.waiting}),
        *_metric("notices_refused", "gauge", "Notices that were refused.", "", {"": notices.refused}),
        *_metric("workspace_free_bytes", "gauge", "Room on the workspace's disk.", "", {"": disk.free}),
        *_metric("workspace_size_bytes", "gauge", "Size of that disk.", "", {"": disk.total}),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _metric(name: str, kind: str, says: str, label: str, values: Mapping[str, float]) -> Iterator[str]:
    yield f"# HELP sluice_{name} {says}"
    yield f"# TYPE sluice_{name} {kind}"
    for value, number in sorted(values.items()):
        labels = f'{{{label}="{value}"}}' if label else ""
        yield f"sluice_{name}{labels} {number:.15g}"


def _state(entries: Sequence[Entry]) -> State | None:
    try:
        return state_of(entry.event for entry in entries)
    except SluiceError:  # of a later version's events
        return None


def _time(entry: Entry) -> datetime:
    return datetime.fromisoformat(entry.at).astimezone(UTC)
