"""A run that is forked: it has its own environment, outputs and end, and ends with whoever is known as its process."""

import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from flows import run_client, run_forks
from flows.run_forks import Forks
from tests.flows.installation import kill, until

pytestmark = pytest.mark.servers

_KIND = (socket.AF_UNIX, socket.SOCK_SEQPACKET)
FLOW = "flows.release.release_flow"
# What a child does in place of a run: it says what it was told, and waits for a second line of its file.
PROGRAM = """
import json, os, socket, sys, time
from flows import run_forks
run_forks._PATIENCE = 600.0  # longer than a test waits: nobody is served because somebody silent was left
order = run_forks.Forks(socket.socket(fileno=int(sys.argv[1])), 0, ["flows.release.release_flow"]).next_run()
if order is not None:
    os.environ.update(order)
    print(json.dumps({"order": order, "pid": os.getpid(), "open": os.listdir("/proc/self/fd")}), flush=True)
    while not os.path.exists(sys.argv[2]):
        time.sleep(0.02)
    sys.exit(7)
"""


class Nursery:
    """The process that forks, without what takes long: it imports nothing."""

    def __init__(self, folder: Path) -> None:
        self.path, self.end, self.started = str(folder / "runs"), folder / "end", []
        with socket.socket(*_KIND) as server:
            server.bind(self.path)
            server.listen(128)
            self.process = subprocess.Popen(
                [sys.executable, "-c", PROGRAM, str(server.fileno()), str(self.end)],
                stdin=subprocess.PIPE, pass_fds=[server.fileno()], env=os.environ | {"OF_THE_WORKER": "yes"},
            )  # fmt: skip

    def ask(self, flow: str = FLOW) -> "subprocess.Popen[str]":
        """The process that Prefect's server knows; on its own it would say that it runs for itself."""
        itself = [sys.executable, "-c", "print('for itself')"]
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", run_client.__file__, self.path, *itself],
            stdout=subprocess.PIPE, text=True,
            env={"PREFECT__FLOW_RUN_ID": "one", "PREFECT__FLOW_ENTRYPOINT": flow, "SLUICE_HOME": "/elsewhere"},
        )  # fmt: skip
        self.started.append(process)
        return process


@pytest.fixture
def nursery(tmp_path: Path) -> Iterator[Nursery]:
    made = Nursery(tmp_path)
    yield made
    for process in (*made.started, made.process):
        kill(process.pid)
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()


def told(process: "subprocess.Popen[str]") -> dict[str, object]:
    assert process.stdout is not None
    assert select.select([process.stdout], [], [], 20)[0], "nothing was told"
    return dict(json.loads(process.stdout.readline()))


def is_gone(pid: object) -> Callable[[], bool]:
    return lambda: not Path(f"/proc/{pid}").exists()


def test_a_run_knows_what_is_said_of_it_alone_and_ends_as_it_ends(nursery: Nursery) -> None:
    run, other = nursery.ask(), nursery.ask()
    said = told(run)
    assert said["order"] == {"PREFECT__FLOW_RUN_ID": "one", "PREFECT__FLOW_ENTRYPOINT": FLOW}
    assert said["pid"] not in (run.pid, nursery.process.pid, told(other)["pid"])
    assert len(said["open"]) == 4, "nothing of another run is open: three, and the folder that lists them"  # type: ignore[arg-type]
    nursery.end.touch()
    assert (run.wait(20), other.wait(20)) == (7, 7)


def test_who_ends_the_known_process_ends_the_run(nursery: Nursery) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        run = nursery.ask()
        child = told(run)["pid"]
        run.send_signal(number)
        assert run.wait(20) == -number
        until(is_gone(child), "the end of the run")
    assert nursery.process.poll() is None


def test_a_run_that_is_killed_is_known_to_be(nursery: Nursery) -> None:
    run = nursery.ask()
    kill(int(str(told(run)["pid"])))
    assert run.wait(20) == -signal.SIGKILL


def test_no_run_is_left_alone_where_what_forked_it_is_killed_and_the_next_runs_for_itself(nursery: Nursery) -> None:
    run = nursery.ask()
    child = told(run)["pid"]
    kill(nursery.process.pid)
    assert run.wait(20) == -signal.SIGKILL
    until(is_gone(child), "the end of the run")
    later = nursery.ask()
    assert later.communicate(timeout=20)[0] == "for itself\n"


def test_of_a_worker_that_is_gone_the_runs_go_on_and_then_nothing_is_left(nursery: Nursery) -> None:
    run = nursery.ask()
    told(run)
    assert nursery.process.stdin is not None
    nursery.process.stdin.close()
    until(lambda: _is_left(nursery), "that nobody can ask any more")
    assert nursery.process.poll() is None
    nursery.end.touch()
    assert (run.wait(20), nursery.process.wait(20)) == (7, 0)


def test_nothing_is_forked_but_the_flows_of_this_installation(nursery: Nursery) -> None:
    assert nursery.ask("os.system").communicate(timeout=20)[0] == "for itself\n"
    with socket.socket(*_KIND) as stranger:
        stranger.connect(nursery.path)
        stranger.send(b"{}")  # without the outputs of a process
        assert stranger.recv(8) == b""


def test_who_connects_and_says_nothing_holds_nobody(nursery: Nursery) -> None:
    """Beyond some the longest silent are left, so that they take no room from those who ask."""
    told(nursery.ask())
    silent = [_connected(nursery) for _ in range(run_forks._SILENT + 1)]
    told(nursery.ask())
    assert silent[0].recv(8) == b""
    for each in silent:
        each.close()
    told(nursery.ask())


def test_who_stays_silent_is_left(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(run_forks, "_PATIENCE", 0.0)
    worker, ended = os.pipe()
    os.close(ended)
    with socket.socket(*_KIND) as server, socket.socket(*_KIND) as silent:
        server.bind(str(tmp_path / "runs"))
        server.listen(1)
        silent.connect(str(tmp_path / "runs"))
        forks = Forks(server, worker, [FLOW])
        forks._asked(server)
        assert forks.next_run() is None, "and the process ends with its worker"
        assert silent.recv(8) == b""
    os.close(worker)


def _connected(nursery: Nursery) -> socket.socket:
    asking = socket.socket(*_KIND)
    asking.settimeout(20)
    asking.connect(nursery.path)
    return asking


def _is_left(nursery: Nursery) -> bool:
    try:
        _connected(nursery).close()
    except OSError:
        return True
    return False


def _asking(nursery: Nursery, told: bytes) -> socket.socket:
    asking = _connected(nursery)
    socket.send_fds(asking, [told], [1, 2])
    return asking


def test_whatever_is_sent_and_whenever_it_ends_the_other_runs_go_on(nursery: Nursery) -> None:
    """By an error of the process that forks all runs at work would be killed."""
    run = nursery.ask()
    told(run)
    for nonsense in (b"[]", b"[" * 100_000, b"\xff", b"{}"):
        with _asking(nursery, nonsense) as asking:
            assert asking.recv(8) == b""
    order = json.dumps({"PREFECT__FLOW_ENTRYPOINT": FLOW}).encode()
    with _asking(nursery, order) as asking:
        assert asking.recv(8) == run_client.BEGUN
        asking.send(bytes([200]))  # no signal has this number
        children = Path(f"/proc/{nursery.process.pid}/task/{nursery.process.pid}/children").read_text().split()
        nursery.process.send_signal(signal.SIGSTOP)
        kill(int(children[-1]))
        asking.send(bytes([signal.SIGTERM]))  # it ends, and is told to, at one moment
        nursery.process.send_signal(signal.SIGCONT)
        assert int(asking.recv(8)) == -signal.SIGKILL
    assert (nursery.process.poll(), run.poll()) == (None, None)
    nursery.end.touch()
    assert run.wait(20) == 7


def test_where_no_process_can_be_forked_who_asked_runs_for_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full() -> int:
        raise BlockingIOError

    monkeypatch.setattr(os, "fork", full)
    with socket.socket(*_KIND) as server:
        server.bind(str(tmp_path / "runs"))
        server.listen(1)
        with socket.socket(*_KIND) as asking:
            asking.connect(str(tmp_path / "runs"))
            socket.send_fds(asking, [json.dumps({"PREFECT__FLOW_ENTRYPOINT": FLOW}).encode()], [1, 2])
            forks = Forks(server, 0, [FLOW])
            forks._asked(server)
            [silent] = forks._silent
            assert forks._said(silent) is None
            assert asking.recv(8) == b""
