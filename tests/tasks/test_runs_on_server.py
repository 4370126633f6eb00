"""Resuming the runs that wait for a decision: which go on, whose notes are stale, and what an absent server costs."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from prefect.client.schemas.responses import SetStateStatus
from prefect.exceptions import ObjectNotFound
from prefect.settings import PREFECT_API_URL, temporary_settings
from prefect.states import Cancelled, Completed, Pending, Running, Scheduled, State, Suspended

from sluice.custody.workspace import Workspace
from sluice.ground.errors import SluiceError
from tasks import runs_on_server
from tests.golden import golden

RUN = UUID("25333088-2a99-418e-8fb0-499bb6aab8b7")
HERE = "http://127.0.0.1:9/api"  # nobody listens at the port of 'discard'


@dataclass
class Server:
    """Answers as Prefect's does: the states of the one run in turn, the last again and again; None: no such run."""

    states: list[State[Any] | None]
    refuses: int = 0
    resumed: list[UUID] = field(default_factory=list)

    def read_flow_run(self, run: UUID) -> SimpleNamespace:
        assert run == RUN
        state = self.states.pop(0) if len(self.states) > 1 else self.states[0]
        if state is None:
            raise ObjectNotFound(KeyError())
        return SimpleNamespace(state=state)

    def resume_flow_run(self, run: UUID) -> SimpleNamespace:
        if self.refuses:
            self.refuses -= 1
            return SimpleNamespace(status=SetStateStatus.REJECT)
        self.resumed.append(run)
        return SimpleNamespace(status=SetStateStatus.ACCEPT)


Serve = Callable[..., Server]


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """With the note of a run that waits for the release 'mine'."""
    opened = Workspace.open(tmp_path / "home")
    note_of(opened).parent.mkdir(mode=0o700)
    note_of(opened).write_text(json.dumps({"release": "mine", "rounds": 1}))
    return opened


@pytest.fixture(autouse=True)
def _a_server_somewhere() -> Iterator[None]:
    with temporary_settings({PREFECT_API_URL: HERE}):
        yield


def note_of(workspace: Workspace) -> Path:
    return workspace.home / "runs" / f"{RUN}.run"


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Serve:
    """The states of the one run in turn, on a server that Sluice finds; nobody waits between two questions."""

    def serve(*states: State[Any] | None, refuses: int = 0) -> Server:
        server = Server([*states], refuses)

        @contextmanager
        def client(sync_client: bool) -> Iterator[Server]:
            assert sync_client
            yield server

        monkeypatch.setattr(runs_on_server, "get_client", client)
        return server

    monkeypatch.setattr(runs_on_server, "sleep", lambda seconds: None)
    return serve


def test_a_suspended_run_is_resumed(workspace: Workspace, serve: Serve) -> None:
    server = serve(Suspended())
    assert runs_on_server.resume_runs(workspace, "mine") == 1
    assert server.resumed == [RUN]
    assert note_of(workspace).exists()  # the run itself needs it, to find its release


def test_runs_of_other_releases_are_left_alone(workspace: Workspace, serve: Serve) -> None:
    server = serve(Suspended())
    assert runs_on_server.resume_runs(workspace, "another") == 0
    assert server.resumed == []


@pytest.mark.parametrize("state", [Completed(), Cancelled(), None], ids=["completed", "cancelled", "unknown"])
def test_the_note_of_a_run_that_ended_is_removed(workspace: Workspace, serve: Serve, state: State[Any] | None) -> None:
    serve(state)
    assert runs_on_server.resume_runs(workspace, "mine") == 0
    assert not note_of(workspace).exists()


@pytest.mark.parametrize("state", [Scheduled(), Pending()], ids=["scheduled", "pending"])
def test_a_run_about_to_start_needs_no_resuming(workspace: Workspace, serve: Serve, state: State[Any]) -> None:
    server = serve(state)
    assert runs_on_server.resume_runs(workspace, "mine") == 1
    assert server.resumed == []


def test_a_run_about_to_suspend_is_awaited(workspace: Workspace, serve: Serve) -> None:
    """It asked for the decision just before there was one; left to itself it would wait for ever."""
    server = serve(Running(), Running(), Suspended())
    assert runs_on_server.resume_runs(workspace, "mine") == 1
    assert server.resumed == [RUN]


def test_a_run_that_somebody_else_resumes_meanwhile_counts(workspace: Workspace, serve: Serve) -> None:
    server = serve(Suspended(), Scheduled(), refuses=1)
    assert runs_on_server.resume_runs(workspace, "mine") == 1
    assert server.resumed == []


def test_a_run_that_never_settles_is_given_up(
    workspace: Workspace, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its process was killed and nobody told Prefect: the decision is carried out elsewhere."""
    serve(Running())
    monkeypatch.setattr(runs_on_server, "_SETTLING", 0)
    assert runs_on_server.resume_runs(workspace, "mine") == 0


def test_without_a_server_there_is_nothing_to_resume(workspace: Workspace) -> None:
    with temporary_settings(restore_defaults={PREFECT_API_URL}):
        assert runs_on_server.resume_runs(workspace, "mine") == 0
    assert note_of(workspace).exists()


def test_an_absent_server_is_named_with_what_to_do(workspace: Workspace) -> None:
    with pytest.raises(SluiceError) as refused:
        runs_on_server.resume_runs(workspace, "mine")
    says = str(refused.value)
    golden.words(says)
    assert str(RUN) in says
    assert f"curl -X POST {HERE}/flow_runs/ID/resume" in says
    assert note_of(workspace).exists()


def test_a_note_that_vanishes_is_no_note(workspace: Workspace) -> None:
    note_of(workspace).unlink()
    assert runs_on_server.resume_runs(workspace, "mine") == 0


# -- runs that come to a release that waits already


@dataclass(frozen=True)
class Product:
    workspace: Workspace


@dataclass(frozen=True)
class Waits:
    """As much of a release as matters here."""

    product: Product
    id: str = "mine"


def run_as(monkeypatch: pytest.MonkeyPatch, run: UUID | None, deployment: str | None = "a-deployment") -> None:
    ids = {"flow_run": SimpleNamespace(id=str(run) if run else None), "deployment": SimpleNamespace(id=deployment)}
    monkeypatch.setattr(runs_on_server, "runtime", SimpleNamespace(**ids))


OTHER = UUID("7d7f0a6e-21c5-4b0e-8d1c-2b5a6f4c9a01")


def asks(workspace: Workspace) -> Any:
    return runs_on_server.waits_already(Waits(Product(workspace)))  # type: ignore[arg-type]


@pytest.mark.parametrize("state", [Suspended(), Running(), Scheduled()], ids=["suspended", "running", "resumed"])
def test_a_second_run_learns_which_one_waits(
    workspace: Workspace, serve: Serve, monkeypatch: pytest.MonkeyPatch, state: State[Any]
) -> None:
    run_as(monkeypatch, OTHER)
    serve(state)
    found = asks(workspace)
    assert found.id == str(RUN)
    assert str(RUN) in found.link
    assert [note.stem for note in note_of(workspace).parent.glob("*.run")] == [str(RUN)]  # it does not wait itself


@pytest.mark.parametrize("state", [Completed(), Cancelled(), None], ids=["completed", "cancelled", "unknown"])
def test_a_run_whose_forerunner_ended_waits_itself(
    workspace: Workspace, serve: Serve, monkeypatch: pytest.MonkeyPatch, state: State[Any] | None
) -> None:
    run_as(monkeypatch, OTHER)
    serve(state)
    assert asks(workspace) is None
    assert [note.stem for note in note_of(workspace).parent.glob("*.run")] == [str(OTHER)]


def test_a_run_is_not_in_its_own_way(workspace: Workspace, serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was resumed by somebody without a decision, and goes on counting its rounds."""
    run_as(monkeypatch, RUN)
    serve(Running())
    assert asks(workspace) is None
    assert json.loads(note_of(workspace).read_text()) == {"release": "mine", "rounds": 1}


def test_a_server_that_does_not_answer_lets_a_run_wait(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two that wait are resumed both; none would leave the release to be forgotten."""

    @contextmanager
    def client(sync_client: bool) -> Iterator[Server]:
        raise ConnectionError

    run_as(monkeypatch, OTHER)
    monkeypatch.setattr(runs_on_server, "get_client", client)
    assert asks(workspace) is None
    assert {note.stem for note in note_of(workspace).parent.glob("*.run")} == {str(RUN), str(OTHER)}


def test_what_cannot_be_suspended_leaves_no_note(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    note_of(workspace).unlink()
    run_as(monkeypatch, OTHER, deployment=None)
    assert asks(workspace) is None
    run_as(monkeypatch, None)
    assert asks(workspace) is None
    assert not [*note_of(workspace).parent.glob("*.run")]


def test_of_runs_that_come_at_the_same_time_one_waits(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    note_of(workspace).unlink()
    runs = [UUID(int=number) for number in range(1, 9)]
    mine, answers, start = threading.local(), [], threading.Barrier(len(runs))

    class Server(SimpleNamespace):
        def read_flow_run(self, run: UUID) -> SimpleNamespace:
            return SimpleNamespace(state=Running())

    @contextmanager
    def client(sync_client: bool) -> Iterator[Server]:
        yield Server()

    class Runtime:
        deployment = SimpleNamespace(id="a-deployment")

        @property
        def flow_run(self) -> SimpleNamespace:
            return SimpleNamespace(id=mine.id)

    monkeypatch.setattr(runs_on_server, "get_client", client)
    monkeypatch.setattr(runs_on_server, "runtime", Runtime())

    def come(run: UUID) -> None:
        mine.id = str(run)
        start.wait()
        answers.append((str(run), asks(workspace)))

    threads = [threading.Thread(target=come, args=(run,)) for run in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    [first] = [run for run, other in answers if other is None]
    assert {other.id for _, other in answers if other} == {first}
