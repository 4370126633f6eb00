"""The whole way of a release of which a finding needs a decision: held, accepted, approved, published, verified."""

import json
from pathlib import Path

import pytest

import policies.acceptances as acceptances
import tasks.release.decisions.under_review as under_review
from sluice.custody.states import State
from tests.flows.clocks import in_days
from tests.flows.house import BLOCKED, DONE, ERROR, WAITING, House
from tests.flows.overlooking_house import WHY, overlooking_house
from tests.flows.test_verify import keys_of, verify
from tests.golden import golden


@pytest.fixture
def held() -> House:
    return overlooking_house()


def accept(house: House, who: str, *options: str, code: int = WAITING) -> str:
    answer = house.sluice(
        "accept-finding", house.id, "overlooked_keys.overlooked", "--reason", WHY, "--as", who, *options
    )
    assert answer.code == code, answer.words
    return answer.words


def test_accepted_approved_published_and_verified(held: House) -> None:
    shown = held.sluice("review", held.id).words
    assert "needs a decision" in shown
    assert f"sluice accept-finding {held.id}" in shown
    assert held.approve("amara").code == ERROR  # not before the finding is decided
    accept(held, "emil", code=ERROR)
    accept(held, "jonas", code=ERROR)
    golden(accept(held, "mina"))
    held.approve_as_both()
    folder = held.target / held.id
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    (said,) = manifest["findings"]["accepted"]
    assert (said["by"], said["reason"], said["code"]) == ("mina", WHY, "overlooked_keys.overlooked")
    keys_of(held)
    verified = verify(held, folder)
    assert verified.code == DONE, verified.words
    golden.where("overlooked_keys.overlooked", verified.out)
    assert said["until"] in verified.words
    assert WHY.rstrip(".") in verified.words
    # A manifest that hides it, or gives another reason, is not what was signed.
    path = folder / "manifest.json"
    path.chmod(0o644)
    path.write_text(path.read_text(encoding="utf-8").replace(WHY, "Nothing was found."), encoding="utf-8")
    assert verify(held, folder).code == ERROR


def test_a_rerun_of_the_same_documents_asks_for_no_second_decision(held: House) -> None:
    again = held.release()
    assert again.code == WAITING
    assert held.events(held.id).count("needs_decision") == 1
    assert held.events(held.id).count("evaluated") == 1


def test_a_refused_one_goes_back_and_comes_again_as_another_round(held: House) -> None:
    first, why = held.id, "Take the region into the columns of the rule, as people are recognised by it."
    answer = held.sluice("refuse-finding", first, "overlooked_keys", "--reason", why, "--as", "amara")
    assert answer.code == BLOCKED, answer.words
    assert held.release().code == BLOCKED  # the same is not judged again, so nobody else is asked
    held.policy["rules"] = [{"rule": "k_anonymity", "k": 5}]
    held.policy["version"] = 2
    held.write()
    held.release()
    assert held.id != first
    page = (held.workspace().reports / f"{held.id}.html").read_text(encoding="utf-8")
    assert why in page


def test_where_the_acceptance_ended_nothing_is_published(held: House, monkeypatch: pytest.MonkeyPatch) -> None:
    accept(held, "mina", "--until", _day(2))
    held.approve("amara")
    monkeypatch.setattr(under_review, "datetime", in_days(3))
    answer = held.approve("jonas")
    assert answer.code == WAITING, answer.words
    assert held.shelf == []
    assert held.workspace().ledger.state(held.id) is State.NEEDS_DECISION
    monkeypatch.undo()
    accept(held, "amara")  # anew; and so are the approvals, which were given to what mina had accepted
    assert held.shelf == []


def _day(days: int) -> str:
    return in_days(days).now().date().isoformat()


def test_a_row_without_its_acceptance_is_not_published(held: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever has the ledger's key writes that it was accepted: the findings of the dossier are asked, not the row."""
    accept(held, "mina")
    held.approve("amara")
    monkeypatch.setattr(acceptances, "verified_person", _nobody)
    answer = held.approve("jonas")
    assert answer.code != DONE
    assert held.shelf == []


def _nobody(*_: object) -> str:
    from sluice.ground.errors import SluiceError

    raise SluiceError("it was given under another account than its author's")


def test_machines_are_told_the_same(held: House, tmp_path: Path) -> None:
    answer = held.sluice("accept-finding", held.id, "overlooked_keys", "--reason", WHY, "--as", "mina", "--json")
    assert answer.json["state"] == "pending_review"
    listed = held.sluice("board", "--json").json
    assert not any("decision on" in str(each) for each in listed["waiting"])
