"""Two people, or two runs, act at the same moment: what was approved is published, once, and nobody's word is lost."""

from pathlib import Path

import pytest

from tests.flows.forks import Forks
from tests.flows.house import BLOCKED, DONE, ERROR, WAITING, House
from tests.golden import golden

JUDGED = ["received", "validated", "masked", "evaluated", "pending_review"]


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory, forks: Forks) -> tuple[House, Path]:
    """A house whose release lacks both approvals, and a copy of it all."""
    house = House(tmp_path_factory.mktemp("race") / "house")
    house.adopt()
    assert forks.run(house.home, "release", str(house.file)).code == WAITING
    return house, house.save("judged")


@pytest.mark.parametrize("place", ["before decision", "after decision"])
def test_two_approvals_at_the_same_moment_publish_once(judged: tuple[House, Path], forks: Forks, place: str) -> None:
    """Each may find that hers was the last that was needed, and that the other has come further with it."""
    house, saved = judged
    house.go_back(saved)
    release = house.id
    runs = forks.race(house.home, *((place, ("approve", release, "--as", person)) for person in ("amara", "jonas")))
    assert {run.code for run in runs} <= {DONE, WAITING}, [run.output for run in runs]
    assert DONE in {run.code for run in runs}
    is_published_once(house, release)


def test_a_person_and_the_doctor_who_publish_at_the_same_moment_do_it_once(
    judged: tuple[House, Path], forks: Forks
) -> None:
    """The process of the last approval was killed; both carry out what it would have."""
    house, saved = judged
    house.go_back(saved)
    release = house.id
    assert forks.run(house.home, "approve", release, "--as", "amara").code == WAITING
    approval = ("approve", release, "--as", "jonas")
    forks.run(house.home, *approval, kill_after_event={"event": "decision", "anchored": True})
    assert house.shelf == []
    runs = forks.race(house.home, ("start", approval), ("start", ("doctor", "--repair", "--after", "0")))
    assert runs[0].code == DONE, runs[0].output
    is_published_once(house, release)


def test_two_runs_of_one_release_judge_it_once(tmp_path: Path, forks: Forks) -> None:
    house = House(tmp_path / "house")
    house.adopt()
    runs = forks.race(house.home, *[("start", ("release", str(house.file)))] * 2)
    assert [run.code for run in runs] == [WAITING, WAITING], [run.output for run in runs]
    assert house.events() == JUDGED


def test_who_submitted_a_release_takes_it_back_in_the_last_moment(judged: tuple[House, Path], forks: Forks) -> None:
    """The last approval's process is about to record that publication begins; it must see what came before."""
    house, saved = judged
    house.go_back(saved)
    release = house.id
    assert forks.run(house.home, "approve", release, "--as", "amara").code == WAITING
    approval, refusal = forks.race(
        house.home,
        ("before publishing", ("approve", release, "--as", "jonas")),
        ("meanwhile", ("request-changes", release, "--as", "emil", "--comment", "too few women")),
    )
    events = house.events(release)
    assert (approval.code, refusal.code) == (ERROR, BLOCKED), (approval.output, refusal.output)
    golden.where("publishing", approval.output)
    assert events[5:8] == ["decision", "decision", "approved"]
    assert "publishing" not in events
    assert house.shelf == []
    assert house.workspace().ledger.verify() == []


def is_published_once(house: House, release: str) -> None:
    assert house.sluice("ledger", "verify").code == DONE
    assert house.shelf == [release]
    events = house.events(release)
    assert events[:5] == JUDGED
    assert sorted(events[5:]) == ["approved", "decision", "decision", "published", "publishing"], events
