"""One edition is current, whatever is approved, withdrawn or interrupted in which order."""

import copy
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest

from sluice.custody.states import IN_DOUBT, State
from sluice.ground.errors import SluiceError
from sluice.ground.verdict import Finding, Verdict
from tasks.decide import approve, decide
from tasks.failure import StepFailed
from tasks.ingest import ingest, validate
from tasks.publish import publish
from tasks.record_steps import mask
from tasks.release.decisions.decisions_of_people import approve as approve_as
from tasks.release.decisions.decisions_of_people import withdraw
from tasks.release.decisions.signing_in import Credentials
from tasks.release.documented_release import recorded_release
from tasks.release.editions.current_edition import edition_notices
from tasks.release.product import AnyRelease
from tasks.release.products import load_product
from tasks.report import report
from tasks.settle import settle
from tests.flows.house import House
from tests.golden import golden

Bring = Callable[[House], AnyRelease]


def judged(house: House) -> AnyRelease:
    """A release that waits for people."""
    house.write()
    house.adopt()
    release = ingest(load_product(house.file, house.workspace()))
    validate(release)
    decide(release, report(release, [Finding(rule="k", verdict=Verdict.PASS, says="Fine.")], mask(release)))
    return release


def approved(release: AnyRelease) -> AnyRelease:
    for who in ("amara", "jonas"):
        approve_as(release, Credentials(declared=who), "")
    assert approve(release)
    return release


def published(release: AnyRelease) -> AnyRelease:
    assert publish(approved(release))
    settle(release.product)
    return release


def withdrawn(house: House, release: AnyRelease, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLUICE_HOME", str(house.home))
    for who in ("amara", "jonas"):
        withdraw(release.id, Credentials(declared=who), "a mistake")


def states(*releases: AnyRelease) -> list[State | None]:
    return [release.state for release in releases]


def of_period(house: House, month: str, seed: int) -> None:
    """Data that say which month they are about."""
    house.new_edition(seed)
    house.data["month"] = month
    if "reference_period" not in house.contract:
        house.contract["variables"].append({"name": "month", "kind": "text", "role": "other"})
        house.contract["reference_period"] = {"length": "month", "column": "month"}
        house.contract["version"] = "by month"
        house.definition["plan"][0]["columns"].append("month")


def test_an_old_edition_that_is_approved_late_closes(house: House) -> None:
    """The people who approve Monday's data on Wednesday put them in nobody's hands in the place of Tuesday's."""
    monday = judged(house)
    house.new_edition()
    tuesday = published(judged(house))
    assert states(monday, tuesday) == [State.OVERTAKEN, State.PUBLISHED]
    golden.refused(SluiceError, approve_as, monday, Credentials(declared="amara"), "")
    assert not approve(monday)
    assert house.shelf == [tuesday.id]


def test_an_approval_that_is_complete_already_does_not_let_it_out(house: House) -> None:
    """Two approvals race: both runs know that theirs is complete, and the newer one begins first."""
    monday = approved(judged(house))
    house.new_edition()
    tuesday = approved(judged(house))
    assert publish(tuesday)
    assert publish(monday) is None
    settle(monday.product)
    assert states(monday, tuesday) == [State.OVERTAKEN, State.PUBLISHED]
    assert house.shelf == [tuesday.id]


def test_one_that_had_begun_before_the_newer_one_ends_superseded(house: House) -> None:
    monday = approved(judged(house))
    house.new_edition()
    tuesday = approved(judged(house))
    with patch("tasks.publish._destroy_seed", side_effect=OSError), pytest.raises(StepFailed):
        publish(monday)
    published_first = publish(tuesday)
    settle(tuesday.product)
    assert published_first
    assert states(monday, tuesday) == [State.PUBLISHING, State.PUBLISHED]
    assert publish(monday)
    settle(monday.product)
    settle(monday.product)  # and again: nothing is recorded twice
    assert states(monday, tuesday) == [State.SUPERSEDED, State.PUBLISHED]
    assert house.events(monday.id).count("superseded") == 1


def test_withdrawal_reinstates_the_edition_before_that_is_still_there(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    editions = []
    for seed in (1, 2, 3):
        house.new_edition(seed)
        editions.append(published(judged(house)))
    first, second, third = editions
    withdrawn(house, second, monkeypatch)
    assert states(*editions) == [State.SUPERSEDED, State.WITHDRAWN, State.PUBLISHED]
    house.workspace().ledger.append(first.id, IN_DOUBT, "sluice", {"verdict_now": "FAIL"})
    withdrawn(house, third, monkeypatch)
    assert states(*editions) == [State.PUBLISHED, State.WITHDRAWN, State.WITHDRAWN]
    assert house.events(first.id)[-1] == "reinstated"
    golden.words(first.entries()[-1].body["says"])
    withdrawn(house, first, monkeypatch)
    assert states(*editions) == [State.WITHDRAWN] * 3
    assert house.workspace().ledger.verify() == []


def test_people_are_told_that_data_were_withdrawn_before_they_let_them_out_again(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = published(judged(house))
    withdrawn(house, first, monkeypatch)
    house.definition |= {"name": "people-again", "title": "People"}
    again = judged(house)
    assert edition_notices(again) == (f"{first.id}, of these very data, was withdrawn: a mistake",)
    assert edition_notices(again)[0] in (house.home / "reports" / f"{again.id}.html").read_text()


def test_what_was_overtaken_can_be_judged_again_when_the_newer_one_is_withdrawn(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = house.data
    monday = judged(house)
    house.new_edition()
    tuesday = published(judged(house))
    assert not monday.needs_judgement
    withdrawn(house, tuesday, monkeypatch)
    assert monday.needs_judgement
    house.data = data
    assert judged(house).id == monday.id
    assert published(monday).state is State.PUBLISHED


def test_an_earlier_month_that_comes_late_is_published_and_not_current(house: House) -> None:
    of_period(house, "2025-04", 1)
    april = published(judged(house))
    of_period(house, "2025-03", 2)
    march = judged(house)
    assert edition_notices(march) == (
        f"{march.id} (2025-03) comes late: {april.id} (2025-04) is and stays the current edition.",
    )
    published(march)
    assert states(march, april) == [State.SUPERSEDED, State.PUBLISHED]
    assert house.shelf == sorted([march.id, april.id])
    of_period(house, "2025-05", 3)
    may = judged(house)
    says = f"When {may.id} (2025-05) is published, it takes the place of {april.id} (2025-04) as the current edition."
    assert edition_notices(may) == (says,)
    of_period(house, "2025-05", 4)
    revised = published(judged(house))  # before anybody looked at the first one of May
    assert states(may, april, revised) == [State.OVERTAKEN, State.SUPERSEDED, State.PUBLISHED]


def refused(house: House) -> str:
    house.write()
    house.adopt()
    with pytest.raises(StepFailed) as failure:
        ingest(load_product(house.file, house.workspace()))
    return failure.value.detail


@pytest.mark.parametrize("month", ["2999-12", "next-7193", None])
def test_a_period_that_nobody_can_have_data_of_is_refused(house: House, month: Any) -> None:
    """Who submits it would stay current for ever."""
    of_period(house, month, 1)
    told = refused(house)
    golden(told)
    assert "2999" not in told
    assert "7193" not in told
    assert house.ids in ([], ["people-puf"])  # the failure, and no release


@pytest.mark.parametrize("change", ["data set", "period", "owner"])
def test_a_name_cannot_be_taken_over(house: House, change: str) -> None:
    of_period(house, "2025-04", 1)
    first = published(judged(house))
    if change == "data set":
        house.contract["dataset"] = "other-people"
        golden.words(refused(house))
    elif change == "period":
        del house.contract["reference_period"]
        house.contract["version"] = 2
        house.new_edition(2)
        house.data["month"] = "2025-05"
        golden.words(refused(house))
    else:
        of_period(house, "2025-05", 2)
        house.definition["owner"] = "mina"
        second = judged(house)
        assert f"The edition before it, {first.id} (2025-04), was submitted by emil." in edition_notices(second)
    assert first.state is State.PUBLISHED


def test_a_name_cannot_be_taken_over_by_a_definition_that_was_moved(house: House) -> None:
    """It is held against the shelf on which it is published, and not against where its target would lead by now."""
    contract = copy.deepcopy(house.contract)
    house.contract["dataset"] = "other-people"
    others = judged(house)
    house.contract = contract
    house.new_edition()
    late = judged(house)
    published(others)
    moved = house.root / "elsewhere" / "documents"
    moved.parent.mkdir()
    house.documents.rename(moved)
    late = recorded_release(load_product(moved / "release.yaml", house.workspace()), late.id)
    with pytest.raises(StepFailed) as failure:
        publish(approved(late))
    golden.words(failure.value.detail)
    assert house.shelf == [others.id]


def test_a_definition_that_is_named_like_a_release_writes_nothing_into_its_history(house: House) -> None:
    first = published(judged(house))
    house.definition |= {"name": first.id, "source": {"type": "csv", "path": "nowhere.csv"}}
    golden.words(refused(house))
    assert house.events(first.id)[-1] == "published"


def test_nothing_is_published_into_what_was_published(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its folder would hold what nobody signed, and be believed by nobody any more."""
    unpublished = judged(house)
    house.definition |= {"name": "inner", "target": f"../published/{unpublished.id}"}
    inner = approved(judged(house))  # before there is such a folder
    published(unpublished)
    with pytest.raises(StepFailed) as failure:
        publish(inner)
    golden.words(failure.value.detail)
    for target in (f"../published/{unpublished.id}/deeper", "../published/elsewhere"):
        house.definition["target"] = target
        golden.words(refused(house))
    assert house.shelf == [unpublished.id]
    withdrawn(house, unpublished, monkeypatch)
    golden.words(refused(house))  # it stays a shelf


def test_nothing_is_published_into_a_shelf_that_was_reached_by_a_link(house: House) -> None:
    """The ledger has the path of then, and a link may have taken its place since, as where a disk was moved."""
    first = published(judged(house))
    moved = house.target.rename(house.root / "moved")
    house.target.symlink_to(moved)
    house.definition |= {"name": "inner", "target": f"../moved/{first.id}/deeper"}
    golden.words(refused(house))


def test_a_crash_after_publication_is_mended_by_the_next_run(house: House) -> None:
    first = published(judged(house))
    house.new_edition()
    second = approved(judged(house))
    publish(second)  # and its run is killed here
    assert states(first, second) == [State.PUBLISHED, State.PUBLISHED]
    settle(first.product)  # by any other
    assert states(first, second) == [State.SUPERSEDED, State.PUBLISHED]


def test_runs_that_wait_in_vain_are_let_go(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    resumed: list[str] = []

    def resume(workspace: Any, release: str) -> int:
        resumed.append(release)
        raise SluiceError("the server does not answer")  # which is no reason to fail

    monkeypatch.setattr("tasks.settle.resume_runs", resume)
    monday = judged(house)
    house.new_edition()
    published(judged(house))
    assert resumed == [monday.id]
    assert monday.state is State.OVERTAKEN


def test_a_shelf_that_was_moved_is_one_shelf_however_it_is_spelled(house: House) -> None:
    """Else two editions would be current on it, and the catalogue would be of whichever was written last."""
    monday = published(judged(house))
    moved = house.target.with_name("moved")
    house.target.rename(moved)
    house.target.symlink_to(moved)
    house.new_edition()
    tuesday = published(judged(house))
    assert [monday.state, tuesday.state] == [State.SUPERSEDED, State.PUBLISHED]
    assert (moved / "people-puf.current").readlink().name == tuesday.id
    assert monday.id in (moved / "catalogue.html").read_text(encoding="utf-8")
    assert not house.workspace().ledger.verify()
