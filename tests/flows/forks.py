"""Commands of Sluice in processes of their own, which can be killed or made to fail at a chosen place.

A process that has imported everything waits for orders and forks a child for each, so that a run costs a second or two.
Run as a module it is that process; `Forks` is how a test speaks to it.
"""

import atexit
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from policies.standing import assign
from policies.waivers import apply_waivers
from schemas.checks.expectations_run import check_batch
from schemas.checks.frame_check import check_frame, check_released
from schemas.checks.profile import profile
from schemas.contract import load_contract
from sluice.ground.verdict import decide as verdict_of
from sluice.masking.plan import apply_plan
from sluice.publication.manifest import build_manifest
from sluice.publication.records_file import write_csv, write_parquet
from sluice.report.report_page import render
from sluice.risk.classes.k_anonymity import k_anonymity
from sluice.risk.reference.reference_attack import attack
from sluice.utility.variable_summary import summarise
from tasks.release.decisions.under_review import report_place
from tasks.release.intake.staging import set_aside
from tasks.release.records.record_findings import check_original, evaluate_file
from tasks.release.run_notes import read_note
from tests.evaluated_once import evaluated_once
from tests.flows.house import House
from tests.flows.prefect_server import without_heartbeats

ROOT = Path(__file__).resolve().parents[2]

# What each step calls, each made to raise wherever it is called: a step's first call of it comes before any other's.
PLACES: dict[str, Callable[..., Any]] = {
    "open_documents": load_contract,
    "known_release": read_note,
    "ingest": write_parquet,
    "ingest_record": set_aside,
    "validate": check_frame,
    "validate_source": check_batch,
    "validate_verdict": verdict_of,
    "check": check_original,
    "check_rule": k_anonymity,
    "mask": apply_plan,
    "mask_file": write_csv,
    "evaluate": evaluate_file,
    "evaluate_standard": attack,
    "evaluate_summary": summarise,
    "report": render,
    "report_waivers": apply_waivers,
    "decide": report_place,
    "approve": assign,
    "publish": build_manifest,
    "publish_inspection": check_released,
    "publish_profile": profile,
}

_PACKAGES = ("sluice", "schemas", "policies", "tasks", "flows")
_PATIENCE = 120.0  # seconds that one who races waits for the others
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}  # a fork has none of its parent's other threads


@dataclass(frozen=True)
class Run:
    """How a child ended: its exit code, or minus the signal that killed it; and all that it wrote on its streams."""

    code: int
    output: str


class Forks:
    """`environment` names a Prefect server, which must be there once a run asks for it."""

    def __init__(self, environment: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.flows.forks"],
            cwd=ROOT,
            env=os.environ | environment | _ONE_THREAD | {"SLUICE_LOG": "json"},  # what is logged is searched, too
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(
        self, home: Path, *arguments: str, on_prefect: bool = False, reads_apart: bool = False, **fault: Any
    ) -> Run:
        """Run `sluice ARGUMENTS` in the workspace `home` with one fault planted (see `_FAULTS`), or none.

        on_prefect  : releases are runs on the server; without, as on a methodologist's own machine
        reads_apart : the source is read by a process of its own; without, by the child itself, which takes less time
        """
        order = {"arguments": arguments, "fault": fault}
        return self._run(home, [order], on_prefect=on_prefect, reads_apart=reads_apart)[0]

    def race(self, home: Path, *racers: tuple[str, tuple[str, ...]]) -> list[Run]:
        """Run commands at the same time, each with the place where it waits for the others: 'start', 'before EVENT' or
        'after EVENT' of the ledger; or 'meanwhile', for one that begins when they wait, and is waited for to its end.

        Whoever is at its end is not waited for; a process that waits for a lock that another holds must not have to.
        """
        with tempfile.TemporaryDirectory() as folder:
            orders = [
                {"arguments": given, "fault": {"meet": {"place": place, "folder": folder, "number": len(racers)}}}
                for place, given in racers
            ]
            return self._run(home, orders)

    def _run(self, home: Path, orders: list[dict[str, Any]], **kind: bool) -> list[Run]:
        assert self._process.stdin
        assert self._process.stdout
        with tempfile.TemporaryDirectory() as folder:
            outputs = [Path(folder) / str(number) for number, _ in enumerate(orders)]
            whole = [
                {"home": str(home), "output": str(output), "on_prefect": False, "reads_apart": False, **kind, **order}
                for order, output in zip(orders, outputs, strict=True)
            ]
            self._process.stdin.write(json.dumps(whole) + "\n")
            self._process.stdin.flush()
            codes = json.loads(self._process.stdout.readline())
            said = [output.read_text(errors="replace") for output in outputs]
            return [Run(code, output) for code, output in zip(codes, said, strict=True)]

    def close(self) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(30)


# -- in the forked process: the faults


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _kill_at(step: str, end: bool, time: int = 1) -> None:
    """Kill the run where a step begins or ends, at the given occurrence."""
    from tasks.release import running_step

    seen = 0

    def tell(running: str, seconds: float | None) -> None:
        nonlocal seen
        if running == step and (seconds is not None) == end:
            seen += 1
            if seen == time:
                _die()

    running_step._listeners.append(tell)


def _kill_on_shelf(hook: str) -> None:
    """Kill the run where the shelf says that it has reached `hook`."""
    from sluice.custody import shelf

    publish = shelf.publish

    def hooked(*args: Any, **kwargs: Any) -> Path:
        return publish(*args, **kwargs, fault_hook=lambda reached: _die() if reached == hook else None)

    shelf.publish = hooked


def _kill_after_event(event: str, anchored: bool = True) -> None:
    """Kill the run when the ledger has this event, before or after the anchor in the vault has moved on to it."""
    from sluice.custody.ledger import Ledger
    from sluice.custody.ledger_chain import Anchor

    move, append = Anchor.move, Ledger.append
    recorded = False

    def moved(self: Anchor, seq: int, digest: str) -> None:
        if recorded and not anchored:
            _die()
        move(self, seq, digest)

    def appended(self: Ledger, release: str, happened: str, *args: Any, **kwargs: Any) -> Any:
        nonlocal recorded
        recorded = happened == event
        entry = append(self, release, happened, *args, **kwargs)
        if recorded:
            _die()
        return entry

    Anchor.move, Ledger.append = moved, appended  # type: ignore[method-assign]


class Panic(BaseException):
    """What a library in another language raises when it breaks: not even an Exception."""


def _meet(place: str, folder: str, number: int) -> None:
    """Wait at a place for all who race."""
    from sluice.custody.ledger import Ledger

    append, here = Ledger.append, Path(folder) / str(os.getpid())
    atexit.register(here.touch)  # whoever ends without it is waited for no more

    def meet(others: int = number) -> None:
        if others == number:
            here.touch()
        late = time.monotonic() + _PATIENCE
        while len(list(here.parent.iterdir())) < others:
            assert time.monotonic() < late, f"nobody else came: {place}"
            time.sleep(0.005)

    def appended(self: Ledger, release: str, happened: str, *args: Any, **kwargs: Any) -> Any:
        if place == f"before {happened}":
            meet()
        entry = append(self, release, happened, *args, **kwargs)
        if place == f"after {happened}":
            meet()
        return entry

    if place == "meanwhile":
        meet(number - 1)
    elif place == "start":
        meet()
    else:
        Ledger.append = appended  # type: ignore[method-assign]


def _raise_in(place: str, text: str, panic: bool = False) -> None:
    """Make what a step calls raise an exception that quotes `text` in every way an exception can."""
    whole = PLACES[place]

    def broken(*args: Any, **kwargs: Any) -> Any:
        confidential = text  # also in a local variable, which some tracebacks show
        error = (Panic if panic else ValueError)(f"could not convert {confidential}")
        error.add_note(f"the value was {confidential}")
        raise error from KeyError(confidential)

    modules = [module for module in sys.modules.values() if module and module.__name__.split(".")[0] in _PACKAGES]
    names = [(module, name) for module in modules for name, value in vars(module).items() if value is whole]
    for module, name in names:
        setattr(module, name, broken)


def _trace(file: str) -> None:
    """As `opentelemetry-instrument` does before a program, with a file in the place of a collector."""
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor

    provider = TracerProvider()
    spans = Path(file).open("a")  # noqa: SIM115 - to the end of the process
    provider.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter(out=spans)))
    trace.set_tracer_provider(provider)


_FAULTS: dict[str, Callable[..., None]] = {
    "kill_at": _kill_at,
    "kill_on_shelf": _kill_on_shelf,
    "kill_after_event": _kill_after_event,
    "meet": _meet,
    "raise_in": _raise_in,
    "trace": _trace,
    "environment": lambda **variables: os.environ.update(variables),
}


def _obey(order: dict[str, Any]) -> None:
    """What the child does: the run, and an end that sends out what was still to be logged, but takes down no module."""
    streams = os.open(order["output"], os.O_WRONLY | os.O_CREAT, 0o600)
    os.dup2(streams, 1)
    os.dup2(streams, 2)
    os.environ["SLUICE_HOME"] = order["home"]
    for fault, settings in order["fault"].items():
        _FAULTS[fault](**settings)
    code = 99  # of a run that not even the command line could end
    try:
        with (
            nullcontext() if order["on_prefect"] else _without_server(),
            nullcontext() if order["reads_apart"] else _reading_here(),
            nullcontext() if {"raise_in", "environment"} & set(order["fault"]) else _evaluating_once(),
        ):
            code = importlib.import_module("flows.cli.main").main(order["arguments"])
    finally:
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        os._exit(code)


@contextmanager
def _without_server() -> Iterator[None]:
    from prefect.settings import PREFECT_API_URL, temporary_settings

    del os.environ["PREFECT_API_URL"]
    with temporary_settings({PREFECT_API_URL: None}):
        yield


def _reading_here() -> AbstractContextManager[Any]:
    return patch("tasks.release.intake.staging.read_apart", lambda source, columns: source.batches(columns))


def _evaluating_once() -> AbstractContextManager[Any]:
    """What was evaluated before the fork is not measured again by a run that is only to be killed, or to race."""
    return patch("tasks.record_steps.evaluate_file", evaluated_once)


def _warm_up() -> None:
    """Load and compile before the first fork whatever a run needs, by a release that Prefect knows nothing of."""
    from flows.chain import release

    with tempfile.TemporaryDirectory() as folder, patch.dict(os.environ, {"SLUICE_HOME": f"{folder}/house/home"}):
        house = House(Path(folder) / "house")
        house.adopt()
        with _evaluating_once():
            release(str(house.file))
    for module in ("flows.cli.main", "flows.follow_up", "tasks.release.decisions.decisions_of_people"):
        importlib.import_module(module)


def _serve() -> None:
    _warm_up()
    with without_heartbeats():
        for line in sys.stdin:
            children = []
            for order in json.loads(line):
                child = os.fork()
                if child == 0:
                    _obey(order)
                children.append(child)
            ended = [os.waitpid(child, 0)[1] for child in children]
            print(json.dumps([os.waitstatus_to_exitcode(status) for status in ended]), flush=True)


if __name__ == "__main__":
    _serve()
