"""Which documents a release may be judged by: what a submitter tries, who may not use them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sluice.ground.errors import SluiceError
from tasks.release.decisions.adopted_documents import refuse_unadopted
from tasks.release.decisions.office import Terms, adopt, open_office
from tasks.release.decisions.signing_in import Credentials
from tasks.release.products import load_product
from tests.flows.house import House
from tests.golden import golden

WAIVER = {
    "rule": "k_anonymity",
    "scope": "people-puf",
    "reason": "nobody knows these people",
    "granted": "2026-11-01",
    "expires": "2027-10-01",
}


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    """Amara has one name on the roster and another account."""
    house = House(tmp_path / "house")
    people = house.people["people"]
    people["Amara Okafor"] = people.pop("amara") | {"account": "okafor"}
    return house


def adopted(house: House, *people: str, terms: Terms = Terms(), names: tuple[str, ...] = ("policy",)) -> None:  # noqa: B008
    house.write()
    workspace = house.workspace()
    for person in people:
        adopt(workspace, [house.documents / f"{name}.yaml" for name in names], terms, Credentials(declared=person), "")


def founded(house: House) -> House:
    adopted(house, "Amara Okafor", names=("people", "contract"))
    return house


def refused(house: House, *submitters: str) -> str:
    try:
        refuse_unadopted(load_product(house.file, house.workspace()), submitters or (house.definition["owner"],))
    except SluiceError as error:
        return str(error)
    return ""


def test_what_two_people_adopted_may_be_used(house: House) -> None:
    adopted(founded(house), "Amara Okafor", "jonas")
    assert refused(house) == ""


def test_before_an_office_was_founded_nothing_may_be_used(house: House) -> None:
    golden.words(refused(house))


@pytest.mark.parametrize(
    "change", [{"version": 2}, {"name": "public-use-file"}, {"rules": [{"rule": "k_anonymity", "k": 2}]}]
)
def test_a_policy_of_the_submitter_s_own_may_not(house: House, change: dict[str, Any]) -> None:
    adopted(founded(house), "Amara Okafor", "jonas")
    house.policy |= change
    house.write()
    assert "policy" in refused(house)


@pytest.mark.parametrize("owner", ["Amara Okafor", "okafor", " OKAFOR ", "amara okafor"])
def test_a_waiver_of_the_submitter_s_own_excuses_nothing_in_any_spelling(house: House, owner: str) -> None:
    house.policy["waivers"] = [WAIVER | {"owner": "Amara Okafor"}]
    adopted(founded(house), "Amara Okafor", "jonas")
    assert refused(house) == ""  # emil submits
    house.definition["owner"] = owner
    house.write()
    golden.words(refused(house))
    golden.words(refused(house, "emil", owner))  # who ran it, not the owner


def test_a_waiver_in_the_name_of_somebody_who_did_not_adopt_it(house: House) -> None:
    house.policy["waivers"] = [WAIVER | {"owner": "mina"}]
    adopted(founded(house), "Amara Okafor", "jonas")
    golden.words(refused(house))


@pytest.mark.parametrize("name", ["income", "people-puf-7571ce7d34e8"])
def test_a_waiver_of_one_finding_is_none_of_a_release_that_took_its_name(house: House, name: str) -> None:
    """A submitter calls the definition as the variable, or as the other publication, that a waiver is for."""
    house.policy["waivers"] = [WAIVER | {"rule": "l_diversity", "scope": name, "owner": "jonas"}]
    adopted(founded(house), "Amara Okafor", "jonas")
    assert refused(house) == ""
    house.definition["name"] = name
    house.write()
    golden(refused(house))
    assert str(name) in refused(house)


def test_what_is_adopted_for_some_submitters_is_for_whoever_runs_it_too(house: House) -> None:
    """A definition's owner is a free text: mina writes jonas into it and runs it."""
    adopted(founded(house), "Amara Okafor", "jonas", terms=Terms(submitters=("jonas",)))
    house.definition["owner"] = "jonas"
    house.write()
    assert refused(house, "jonas", "a-service-account") == ""
    golden.words(refused(house, "jonas", "mina"))
    golden.words(refused(house, "emil"))


def test_of_several_proposals_of_one_content_none_is_taken_by_itself(house: House) -> None:
    """Who has proposed it with narrow terms, and somebody else with wide ones, must not meet in the wide ones."""
    founded(house)
    adopted(house, "jonas", terms=Terms(datasets=("people",)))
    adopted(house, "mina", terms=Terms(submitters=("mina",)))
    golden.refused(SluiceError, adopted, house, "Amara Okafor")
    adopted(house, "Amara Okafor", terms=Terms(datasets=("people",)))
    office = open_office(house.workspace())
    assert office is not None
    assert office.in_force["policy", "test-policy"].adoption.datasets == ("people",)
