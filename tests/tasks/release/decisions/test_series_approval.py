"""The approval of a series: what goes out under it, and all that does not."""

import json
from datetime import UTC, datetime, timedelta

import pytest

import tasks.release.decisions.under_review
from policies.decision_table import DECISION
from sluice.custody.ledger_entry import Entry
from sluice.custody.states import State
from tasks.release.decisions.series_approval import standing_in_series
from tasks.release.decisions.signing_in import account
from tasks.release.decisions.under_review import UnderReview
from tests.flows.clocks import in_days
from tests.flows.house import DONE, WAITING, survey
from tests.flows.test_verify import keys_of, verify
from tests.golden import golden
from tests.report.pages import Page
from tests.tasks.release.series_house import SeriesHouse, judged_series, published_series


@pytest.fixture
def house() -> SeriesHouse:
    return published_series()


@pytest.fixture
def judged() -> SeriesHouse:
    return judged_series()


def test_editions_within_the_limits_go_out_until_there_were_as_many_as_approved(house: SeriesHouse) -> None:
    first = house.id
    for number in (1, 2):
        assert house.next_edition(1 + number) == DONE, house.standing.says
        entries = house.workspace().ledger.entries(house.id)
        assert not [entry for entry in entries if entry.event == DECISION]
        approved = next(entry for entry in entries if entry.event == State.APPROVED)
        assert str(first) in approved.body["says"]
        golden(approved.body["says"])
    golden([each for each in Page(house.page).lines if "that approval" in each])

    folder = house.target / house.id  # an outsider verifies it by the decisions on the first
    manifest = json.loads((folder / "manifest.json").read_text())
    assert (manifest["series"], [each["who"] for each in manifest["approvals"]]) == (first, ["amara", "jonas"])
    keys_of(house)
    told = verify(house, folder, "--people", "2")
    assert told.code == DONE, told.words
    golden(told.words)
    assert str(first) in told.words

    assert house.next_edition(4) == WAITING
    golden(house.standing.says)
    assert str(first) in house.standing.says
    assert house.approve_series("amara") == WAITING
    assert house.approve_series("jonas") == DONE
    house.data = survey(seed=5)
    house.judge()
    assert house.standing.complete, house.standing.says  # by the new approval


def test_an_edition_that_moved_waits_for_people(house: SeriesHouse) -> None:
    house.data = survey(1400, seed=2)
    house.data["age"] = house.data["age"].where(house.data["age"] > 48, 79)
    house.write()
    assert house.release().code == WAITING
    says = house.standing.says
    golden(says)
    golden([each for each in Page(house.page).lines if "that approval" in each])
    told = house.sluice("reject", house.id, "--as", "mina", "--comment", "why so many?")
    assert (told.code, house.shelf.count(house.id)) == (WAITING, 0)
    golden(house.standing.says)  # who decided, and what is left


def test_slow_drift_is_held_against_what_people_saw(house: SeriesHouse) -> None:
    first = house.id
    for part, seed in ((0.5, 2), (1, 3)):  # each step within the limit
        house.data = survey(seed=seed)
        moved = (house.data.index < part * len(house.data)) & (house.data["age"] <= 48)
        house.data["age"] = house.data["age"].mask(moved, 79)
        house.write()
        assert house.release().code == (DONE if part < 1 else WAITING), house.standing.says
    needs = house.standing.says.partition("needs decisions of its own: ")[2]
    assert needs.startswith(f"compared with {first}, the distribution of 'age' moved by")
    assert needs.count("compared with") == 1


def test_tries_with_the_same_data_wait_for_people(house: SeriesHouse) -> None:
    plan = house.definition["plan"]
    house.data = survey(seed=2)
    house.definition["plan"] = plan[:-1]
    house.judge()
    house.definition["plan"] = plan
    house.judge()
    assert not house.standing.complete
    golden(house.standing.says)


def test_one_person_ends_a_series(judged: SeriesHouse) -> None:
    told = judged.sluice("end-series", judged.ids[0], "--as", "mina", "--comment", "another questionnaire")
    assert told.code == DONE, told.words
    golden.words(judged.standing.says)
    assert not judged.standing.complete


def test_a_withdrawn_edition_ends_a_series(judged: SeriesHouse) -> None:
    assert judged.withdraw(judged.ids[0], "wrong weights").code == DONE
    assert not judged.standing.complete


@pytest.mark.parametrize("end", [State.BLOCKED, State.REJECTED, State.CHANGES_REQUESTED])
def test_an_edition_that_was_refused_ends_a_series(judged: SeriesHouse, end: State) -> None:
    ledger = judged.workspace().ledger
    received = next(each for each in ledger.entries(judged.id) if each.event == State.RECEIVED)
    way = [State.RECEIVED, State.VALIDATED, State.MASKED, State.EVALUATED, State.PENDING_REVIEW, end]
    for state in way if end is not State.BLOCKED else [State.RECEIVED, end]:
        ledger.append("people-puf-another", state, "emil", received.body)
    assert not standing_in_series(UnderReview.of(judged.workspace(), received.release)).complete


def test_an_edition_that_was_left_unpublished_makes_the_next_wait(judged: SeriesHouse) -> None:
    second = judged.id
    judged.new_edition(3)
    judged.judge()
    golden(judged.standing.says)
    assert str(second) in judged.standing.says


def test_who_left_approves_no_further_edition(judged: SeriesHouse) -> None:
    judged.people["people"]["jonas"]["valid_until"] = str((datetime.now(UTC) - timedelta(days=1)).date())
    judged.people["people"]["mina"]["roles"] += ["data_steward", "owner"]
    judged.adopt_roster("amara", "mina")
    assert not judged.standing.complete


def test_an_approver_who_submits_the_next_edition_did_not_approve_it(judged: SeriesHouse) -> None:
    judged.people["people"]["amara"]["account"] = account()
    judged.adopt_roster("amara", "jonas")
    assert not judged.standing.complete


def test_it_ends_by_its_days(judged: SeriesHouse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks.release.decisions.under_review, "datetime", in_days(91))
    assert not judged.standing.complete
    assert "ended on" in judged.standing.says


def test_all_who_approve_must_approve_the_series(house: SeriesHouse) -> None:
    house.sluice("end-series", house.id, "--as", "mina", "--comment", "another questionnaire")
    assert house.next_edition(2) == WAITING
    assert house.approve_series("amara") == WAITING
    assert house.approve("jonas").code == DONE
    house.data = survey(seed=3)
    house.judge()
    assert not house.standing.complete


@pytest.mark.parametrize("part", ["plan", "policy"])
def test_other_documents_make_no_edition_of_the_series(house: SeriesHouse, part: str) -> None:
    house.data = survey(seed=2)
    if part == "plan":
        house.definition["title"] = "Others"
    else:
        house.policy["minimum_cell"] = 11
    house.judge()
    assert not house.standing.complete


def test_without_limits_in_the_policy_nobody_approves_a_series(house: SeriesHouse) -> None:
    del house.policy["approvals"]["series"]
    house.write()
    house.adopt()
    assert house.next_edition(2) == WAITING
    house.sluice("approve", house.id, "--series", "--as", "amara").refused()
    golden.words(house.sluice("end-series", house.id, "--as", "mina").words)


def test_the_series_is_in_what_was_signed(judged: SeriesHouse) -> None:
    case = UnderReview.of(judged.workspace(), judged.ids[0])
    for entry in case.entries:
        if entry.event == DECISION:
            del entry.body["series"]  # by somebody with the vault's key
    assert len(case.standing().void) == 2


def way_to_publishing(received: Entry, evaluated: Entry) -> list[tuple[State, dict[str, object]]]:
    judged = [(State.VALIDATED, {}), (State.MASKED, {}), (State.EVALUATED, evaluated.body)]
    decided = [(state, {}) for state in (State.PENDING_REVIEW, State.APPROVED, State.PUBLISHING)]
    return [(State.RECEIVED, received.body), *judged, *decided]


def test_a_refusal_does_not_lapse_into_an_approval(judged: SeriesHouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of two rejects an edition; who submits it waits until that has expired."""
    judged.workspace().ledger.append(judged.id, State.PENDING_REVIEW, "emil", {})
    told = judged.sluice("reject", judged.id, "--as", "mina", "--comment", "the weights are wrong")
    assert told.code == WAITING, told.words

    monkeypatch.setattr(tasks.release.decisions.under_review, "datetime", in_days(31))
    golden(judged.standing.says)
    assert not judged.standing.complete


def test_while_an_edition_is_being_published_no_other_goes_out(judged: SeriesHouse) -> None:
    """Else both would be out, as the same edition of the series, and neither was held against the other."""
    ledger = judged.workspace().ledger
    received, evaluated = (
        next(entry for entry in ledger.entries(judged.id) if entry.event == event)
        for event in (State.RECEIVED, State.EVALUATED)
    )
    for state, body in way_to_publishing(received, evaluated):
        ledger.append("people-puf-another", state, "emil", body)
    assert not standing_in_series(UnderReview.of(judged.workspace(), received.release)).complete
