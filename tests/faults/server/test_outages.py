"""Whatever is killed, whenever: nothing unsafe is published, nothing approved is lost, nothing is doubled, the ledger
verifies, and it finishes by itself or by `sluice doctor --repair`."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import cycle

import pytest

import tasks.runs
from tests.faults.server.database import Database
from tests.faults.server.standing_installation import StandingInstallation
from tests.flows.house import DONE, WAITING
from tests.flows.installation import until
from tests.flows.prefect_server import using
from tests.golden import golden
from tests.notices.servers import web_server

pytestmark = pytest.mark.servers

NAMES = (
    "everything", "postmaster", "orphan", "outlived", "struck", "early", "killed", "shelved", "server", "submitting",
    "late",
)  # fmt: skip
JUDGED = ["received", "validated", "masked", "evaluated", "pending_review"]
SHELVED = ["approved", "publishing", "published"]


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandingInstallation]:
    database = Database()
    made = StandingInstallation(tmp_path_factory.mktemp("standing"), database, NAMES)
    try:
        with made.here:
            made.set_up()
            with using(made.server):
                yield made
    finally:
        made.stop()
        database.remove()


Strike = Callable[[StandingInstallation], None]


def kill_postmaster(installation: StandingInstallation) -> None:
    """The run's ledger and source and the server's own database are gone for a while."""
    installation.database.kill()
    installation.database.start()


def kill_worker(installation: StandingInstallation) -> None:
    """As by the kernel, for want of memory: nobody reads what the run writes any more."""
    installation.kill_worker()
    installation.start_worker()


def kill_server(installation: StandingInstallation) -> None:
    """The run's process goes on: it asks the server again until it is back."""
    installation.kill_server()
    installation.start_server()


def goes_through(installation: StandingInstallation, name: str, *strikes: Strike) -> None:
    """A release is published though at each of its states something is killed and started again, these in turn; nobody
    has to do anything."""
    strike = cycle(strikes)
    with installation.stalled(*JUDGED) as turns:
        installation.run(name)
        for _ in turns:
            next(strike)(installation)
    installation.waits(name)
    assert installation.events(name) == JUDGED
    installation.is_whole(name)

    assert installation.approve(name, "amara").code == WAITING
    with installation.stalled(*SHELVED) as turns:
        assert installation.approve(name, "jonas").code == DONE
        for _ in turns:
            next(strike)(installation)
    until(lambda: installation.states(name) == ["Published"], "the publication")
    installation.is_whole(name)


def test_whatever_a_run_needs_is_killed_at_its_states_and_waited_for(installation: StandingInstallation) -> None:
    goes_through(installation, "everything", kill_postmaster, kill_worker, kill_server)
    assert "connection is tried again" in (installation.folder / "worker.log").read_text()


@pytest.mark.longest
@pytest.mark.parametrize(
    ("name", "strike"), [("postmaster", kill_postmaster), ("orphan", kill_worker), ("outlived", kill_server)]
)
def test_each_of_it_is_killed_at_every_state(installation: StandingInstallation, name: str, strike: Strike) -> None:
    goes_through(installation, name, strike)


@pytest.mark.parametrize(
    ("name", "states"),
    [
        ("struck", ["masked", "pending_review", "publishing"]),
        pytest.param("early", JUDGED[:3], marks=pytest.mark.longest),
        pytest.param("killed", JUDGED[3:], marks=pytest.mark.longest),
        pytest.param("shelved", SHELVED, marks=pytest.mark.longest),
    ],
)  # as many as are started again without a person
def test_a_run_killed_with_its_worker_at_each_state_is_started_again(
    installation: StandingInstallation, name: str, states: list[str]
) -> None:
    installation.run(name)
    run = until(lambda: installation.runs(name), "the run")[0]["id"]
    approved = False
    for event in states:
        if event in SHELVED and not approved:
            installation.waits(name)
            assert installation.approve(name, "amara").code == WAITING
        with installation.stalled(event) as turns:
            if event in SHELVED and not approved:
                assert installation.approve(name, "jonas").code == DONE
                approved = True
            next(turns)
            installation.kill_worker()
            installation.kill_run(run)
        run = started_again(installation, name, run)
    if approved:
        until(lambda: "Published" in installation.states(name), "the publication")
    else:
        installation.waits(name)
    through = [*JUDGED, *SHELVED] if approved else JUDGED
    told = [event for event in installation.events(name) if event not in ("restarted", "decision")]
    assert told[-len(through) :] == through, "one of the runs went through"
    installation.is_whole(name)


def started_again(installation: StandingInstallation, name: str, run: str) -> str:
    """The doctor says that the run is dead, and starts one in its place: the id of that."""
    installation.start_worker()
    golden(installation.finds(run)["says"].rpartition(", ")[2])  # before it the state, which is a race
    [done] = installation.repairs(run)
    assert "was started in its place" in done or "started again" in done
    return str(installation.runs(name)[-1]["id"])


def test_a_server_that_is_away_when_the_last_person_approves(installation: StandingInstallation) -> None:
    """What was decided stands in the ledger; the doctor does what could not be told. Then the power fails."""
    installation.run("server")
    installation.waits("server")
    assert installation.approve("server", "amara").code == WAITING
    installation.kill_server()
    told = installation.approve("server", "jonas")  # nobody can be told to go on
    assert "in the ledger" in told.words  # how the connection broke off is a race
    installation.start_server()
    [done] = installation.repairs(installation.release("server"))
    assert "was resumed" in done

    with installation.stalled("published") as turns:
        next(turns)  # the folder is on the shelf, and the ledger does not say so yet
        power_cut(installation)
    assert installation.events("server")[-1] == "publishing"
    installation.start_server()
    installation.start_worker()
    [run] = installation.runs("server")
    installation.finds(run["id"])
    [done] = installation.repairs(run["id"])
    assert "was started in its place" in done or "started again" in done
    until(lambda: installation.states("server") == ["Crashed", "Published"], "the publication")
    installation.is_whole("server")


def power_cut(installation: StandingInstallation) -> None:
    [run] = installation.runs("server")
    installation.kill_worker()
    installation.kill_run(run["id"])
    installation.kill_server()
    installation.database.kill()
    installation.database.start()


def stuck_in_submission(installation: StandingInstallation, name: str) -> str:
    """A run that its worker was about to start when the database went away: no process, and no word of it again."""
    installation.kill_worker()
    installation.run(name)
    run: str = until(lambda: installation.runs(name), "the run")[0]["id"]
    state = {"type": "PENDING", "name": "Submitting"}
    installation.call("POST", f"/flow_runs/{run}/set_state", {"state": state, "force": True})
    installation.start_worker()
    return run


def test_a_run_stuck_in_submission_is_told_and_started_again_once(
    installation: StandingInstallation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There are two of everybody: doctors, workers, and people who approve at the same moment."""
    run = stuck_in_submission(installation, "submitting")
    until(lambda: "run of submitting is stuck" in notices(installation, monkeypatch), "the word of it")
    found = installation.finds(run)
    assert found["repaired"] is None
    golden(found["says"].rpartition(", ")[2])
    with ThreadPoolExecutor(2) as both, installation.another_worker():
        assert any(both.map(installation.repairs_elsewhere, [run, run]))
        installation.waits("submitting")
        assert sorted(installation.states("submitting")) == ["Crashed", "Suspended"], "one run in the place of one"
        assert installation.events("submitting") == JUDGED
        assert not installation.repairs(run), "there is nothing left to repair"

        release = installation.release("submitting")
        told = list(both.map(lambda who: installation.sluice("approve", release, "--as", who), ["amara", "jonas"]))
        assert {each.returncode for each in told} <= {DONE, WAITING}, told
        until(lambda: "Published" in installation.states("submitting"), "the publication")
    assert sorted(installation.states("submitting")) == ["Crashed", "Published"]
    installation.is_whole("submitting")


def notices(installation: StandingInstallation, monkeypatch: pytest.MonkeyPatch) -> str:
    """What the head is told by `sluice remind`, which otherwise takes a run for stuck after ten minutes."""
    monkeypatch.setattr(tasks.runs, "_STUCK", timedelta(seconds=1))
    with web_server() as hook, monkeypatch.context() as here:
        here.setenv("SLUICE_WEBHOOK_URL", hook.url)
        here.setenv("SLUICE_WEBHOOK_SECRET", "a secret of two machines")
        told = installation.house.sluice("remind")
        assert told.code == DONE, told.words
        return b" ".join(body for _, body in hook.taken).decode()


def test_a_run_that_crashed_at_its_start_is_started_again_and_not_for_ever(installation: StandingInstallation) -> None:
    installation.kill_worker()
    installation.run("late")
    run = until(lambda: installation.runs("late"), "the run")[0]["id"]
    for number in range(1, 4):
        installation.set_state(run, "CRASHED")
        [done] = installation.repairs(run)
        assert "was started in its place" in done or "started again" in done
        assert len(installation.runs("late")) == number + 1
        run = installation.runs("late")[-1]["id"]
    installation.set_state(run, "CRASHED")
    assert not installation.repairs(run), "what crashes four times crashes again"
    installation.start_worker()
    assert installation.house.workspace().ledger.verify() == []
