"""A load has one run on the server, and another where that crashed or failed and nobody else took its place."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from unittest.mock import patch
from uuid import UUID, uuid4

import pytest
from prefect import flow
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.states import Completed, Crashed, Failed, Running, Scheduled, State, Suspended

from flows.polling import ATTEMPTS, run_of_load
from sluice.ground.errors import SluiceError
from tests.golden import golden

pytestmark = pytest.mark.servers


@flow(name="release")
def release_flow() -> None:
    """As the server knows the flow of releases."""


class Deployed:
    """A deployment on a real server, whose loads have runs."""

    def __init__(self, client: SyncPrefectClient, project: Path) -> None:
        self.client, self.name, self.load = client, f"puf-{uuid4().hex[:8]}", uuid4().hex
        self.definition = project / "releases" / "puf.yaml"
        flow_id = client.create_flow(release_flow)
        self.deployment = client.create_deployment(
            flow_id, self.name, entrypoint="flows.release.release_flow", parameters={"definition": "releases/puf.yaml"}
        )

    def run(self, *, new: bool = False) -> UUID | None:
        return run_of_load(self.name, self.definition, self.load, new=new)

    def ends(self, run: UUID | None, state: State[None]) -> None:
        assert run is not None
        self.client.set_flow_run_state(run, state, force=True)

    def another(self) -> UUID:
        """A run that a schedule, the doctor or a person started."""
        return self.client.create_flow_run_from_deployment(
            self.deployment, state=Scheduled(scheduled_time=datetime.now(UTC))
        ).id


@pytest.fixture
def deployed(on_prefect: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployed]:
    monkeypatch.setenv("SLUICE_PROJECT", str(tmp_path))
    with get_client(sync_client=True) as client:
        yield Deployed(client, tmp_path)


def test_a_load_has_one_run_however_often_it_is_noticed(deployed: Deployed) -> None:
    first = deployed.run(new=True)
    assert first == deployed.run(new=True), "as by another machine, or a poll that was killed before it noted it"


@pytest.mark.parametrize("state", [Running(), Completed(), Suspended(), None])
def test_a_run_that_did_not_break_stays_the_only_one(deployed: Deployed, state: State[None] | None) -> None:
    first = deployed.run(new=True)
    if state:
        deployed.ends(first, state)
    assert deployed.run() is None


@pytest.mark.parametrize("state", [Crashed(), Failed()])
def test_one_that_crashed_is_started_again_some_times_and_then_somebody_must_look(
    deployed: Deployed, state: State[None]
) -> None:
    runs = [deployed.run(new=True)]
    for _ in range(ATTEMPTS - 1):
        deployed.ends(runs[-1], state)
        runs.append(deployed.run())
        assert deployed.run() is None, "the next one is on its way"
    assert len({*runs} - {None}) == ATTEMPTS
    deployed.ends(runs[-1], state)
    golden.refused(SluiceError, deployed.run)
    deployed.another()
    assert deployed.run() is None, "a person started it"


def test_one_in_whose_place_another_was_started_is_left_alone(deployed: Deployed) -> None:
    deployed.ends(deployed.run(new=True), Crashed())
    deployed.another()
    assert deployed.run() is None


def test_a_server_that_lost_its_history_starts_no_old_load(deployed: Deployed) -> None:
    assert deployed.run() is None


def test_the_deployment_of_another_definition_is_not_run(deployed: Deployed, tmp_path: Path) -> None:
    """Two files with one name: the later one that was deployed would be released for the loads of both."""
    deployed.definition = tmp_path / "elsewhere" / "puf.yaml"
    with golden.raises(SluiceError) as refused:
        deployed.run(new=True)
    assert "prefect deployment run" not in str(refused.value), "that would release the other file"
    assert deployed.client.read_flow_runs() == [] or all(
        run.deployment_id != deployed.deployment for run in deployed.client.read_flow_runs()
    )


def test_a_server_that_does_not_answer_is_named_and_its_words_are_not(deployed: Deployed) -> None:
    with patch("flows.polling.get_client", side_effect=OSError("geheim-4711")), golden.raises(SluiceError) as refused:
        deployed.run(new=True)
    assert "geheim" not in str(refused.value)
