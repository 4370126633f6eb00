"""The office of a workspace: what is recorded when somebody adopts a document, and what is not."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from policies.adoption import Adoption, Office
from schemas.contract import load_contract
from sluice.custody.signing.keys_at_hand import make_key_pair
from sluice.custody.states import OFFICE
from sluice.custody.workspace import Workspace
from sluice.documents.document_reading import document_sha256
from sluice.ground.errors import DocumentError, SluiceError
from tasks.release.decisions.office import Terms, adopt, open_office, read_document
from tasks.release.decisions.signing_in import Credentials, Request, sign
from tests.flows.house import contract, people, policy
from tests.golden import golden

AMARA, JONAS, MINA = (Credentials(declared=name) for name in ("amara", "jonas", "mina"))


class Desk:
    """A workspace, and documents beside it."""

    def __init__(self, root: Path) -> None:
        self.root, self.workspace = root, Workspace.open(root / "home")

    def document(self, name: str, content: dict[str, Any]) -> Path:
        path = self.root / f"{name}.yaml"
        path.write_text(yaml.safe_dump(content))
        return path

    def adopt(self, means: Credentials, *paths: Path, comment: str = "", **terms: Any) -> tuple[Office, list[Adoption]]:
        done = adopt(self.workspace, paths, Terms(**terms), means, comment)
        assert not isinstance(done, Request)
        return done

    @property
    def recorded(self) -> int:
        return len(self.workspace.ledger.entries(OFFICE))

    @property
    def kept(self) -> int:
        return len([*(self.workspace.vault.root / "objects").iterdir()])


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.fixture
def founded(desk: Desk) -> Desk:
    desk.adopt(AMARA, desk.document("people", people()))
    return desk


def test_the_office_is_what_the_ledger_says_up_to_any_row(founded: Desk) -> None:
    changed = people()
    changed["people"]["noor"] = {"roles": ["legal"]}
    path = founded.document("people", changed)
    founded.adopt(AMARA, path)
    founded.adopt(JONAS, path)
    now, before, first = (open_office(founded.workspace, row) for row in (None, 3, 2))
    assert now is not None
    assert before is not None
    assert first is not None
    assert ("noor" in now.roster.people, "noor" in before.roster.people) == (True, False)
    assert (len(before.proposed), len(first.proposed)) == (1, 0)
    assert open_office(founded.workspace, 1) is None


def test_whoever_founds_it_is_its_head_and_brings_its_people(desk: Desk) -> None:
    roster, rules = desk.document("people", people()), desk.document("policy", policy())
    assert open_office(desk.workspace) is None
    for means, paths in (
        (AMARA, (rules,)),
        (AMARA, (roster, roster)),
        (JONAS, (roster, rules)),
        (Credentials(declared="mallory"), (roster,)),
    ):
        golden.refused(SluiceError, desk.adopt, means, *paths)
    assert (desk.recorded, desk.kept) == (0, 0)
    office, adoptions = desk.adopt(AMARA, roster, rules)
    assert [each.kind for each in adoptions] == ["roster", "policy"]
    assert office.in_force.keys() == {("roster", "roster"), ("policy", "test-policy")}
    assert office.id == desk.workspace.vault.pseudonym("office", "")


def test_what_was_adopted_is_read_years_later_whatever_became_of_the_file(founded: Desk) -> None:
    path = founded.document("contract", contract())
    sha256 = document_sha256(read_document(path)[1])
    founded.adopt(JONAS, path, comment="the new questionnaire")
    path.unlink()
    kept = founded.workspace.vault.verify(sha256, ".json").read_bytes()
    assert b'"dataset":"people"' in kept
    entry = founded.workspace.ledger.entries(OFFICE)[-1]
    assert (entry.actor, entry.body["comment"]) == ("jonas", "the new questionnaire")
    assert [each["sha256"] for each in entry.body["adoptions"]] == [sha256]


def test_what_is_only_to_be_signed_leaves_no_trace(founded: Desk) -> None:
    before = founded.recorded, founded.kept
    asked = adopt(founded.workspace, [founded.document("policy", policy())], Terms(), Credentials(to_sign=True), "")
    assert isinstance(asked, Request)
    assert (founded.recorded, founded.kept) == before


@pytest.mark.parametrize("comment", ["\x1b[2J", "fine\u202eton", "a\u200bb"])
def test_a_comment_is_what_it_looks_like(founded: Desk, comment: str) -> None:
    with golden.raises(SluiceError):
        founded.adopt(AMARA, founded.document("policy", policy()), comment=comment)
    assert founded.recorded == 1


# Under which terms


def test_the_second_adopts_under_the_terms_of_the_first_without_repeating_them(founded: Desk) -> None:
    path, until = founded.document("policy", policy()), date.today() + timedelta(days=400)
    founded.adopt(AMARA, path, valid_until=until, datasets=("people",), submitters=("emil",))
    office, (adoption,) = founded.adopt(JONAS, path)
    assert (adoption.valid_until, adoption.datasets, adoption.submitters) == (until, ("people",), ("emil",))
    assert office.in_force["policy", "test-policy"].adoption == adoption


def test_of_two_proposals_nobody_guesses_which_is_meant(founded: Desk) -> None:
    path = founded.document("policy", policy())
    founded.adopt(AMARA, path, datasets=("people",))
    founded.adopt(MINA, path, datasets=("firms",))
    golden.refused(SluiceError, founded.adopt, JONAS, path)
    office, (adoption,) = founded.adopt(JONAS, path, datasets=("firms",))
    assert office.in_force["policy", "test-policy"].adoption == adoption


def test_other_content_takes_over_no_terms(founded: Desk) -> None:
    founded.adopt(AMARA, founded.document("policy", policy()), datasets=("people",))
    milder = founded.document("policy", policy() | {"rules": [{"rule": "k_anonymity", "k": 2}]})
    office, (adoption,) = founded.adopt(JONAS, milder)
    assert (adoption.terms, len(office.proposed)) == ("", 2)
    assert ("policy", "test-policy") not in office.in_force


def test_an_end_lies_ahead(founded: Desk) -> None:
    path, today = founded.document("policy", policy()), datetime.now(UTC).date()
    golden.refused(SluiceError, founded.adopt, AMARA, path, valid_until=today - timedelta(days=1))
    assert founded.adopt(AMARA, path, valid_until=today)[1][0].valid_until == today


# An act that does not count


def test_whoever_gives_an_act_that_counts_for_nothing_is_told(founded: Desk, tmp_path: Path) -> None:
    """Signed, kept back until another version was adopted, and then recorded: the newer one stays."""
    with_key = people()
    with_key["people"]["mina"]["keys"] = [make_key_pair(tmp_path / "mina.key", "mina").line]
    roster = founded.document("people", with_key)
    founded.adopt(AMARA, roster)
    founded.adopt(JONAS, roster)
    old, new = founded.document("old", policy()), founded.document("new", policy() | {"version": 2})
    asked = adopt(founded.workspace, [old], Terms(), Credentials(to_sign=True), "")
    assert isinstance(asked, Request)
    kept_back = sign(asked.payload, tmp_path / "mina.key").model_dump_json(by_alias=True)
    founded.adopt(AMARA, new)
    founded.adopt(JONAS, new)
    golden.refused(SluiceError, founded.adopt, Credentials(envelope=kept_back), old)
    office = open_office(founded.workspace)
    assert office is not None
    assert office.in_force["policy", "test-policy"].adoption.version == "2"
    assert (len(office.void), office.proposed) == (1, {})


# What is adopted


@pytest.mark.parametrize(
    ("content", "kind"),
    [(people, "roster"), (policy, "policy"), (contract, "contract")],
    ids=lambda each: str(each)[:9],
)
def test_what_a_document_is_follows_from_its_keys(desk: Desk, content: Callable[[], dict[str, Any]], kind: str) -> None:
    assert read_document(desk.document("any", content()))[0] == kind


@pytest.mark.parametrize("content", [{"name": "x"}, people() | {"approvals": {}}, policy() | {"variables": []}])
def test_a_document_that_is_none_or_two_is_refused(desk: Desk, content: dict[str, Any]) -> None:
    golden.refused(DocumentError, read_document, desk.document("any", content))


def test_a_document_that_is_wrong_is_refused_before_anything_is_recorded(founded: Desk) -> None:
    with pytest.raises(DocumentError, match=r"approvals\.count"):
        founded.adopt(AMARA, founded.document("policy", policy() | {"approvals": {"count": 0}}))
    assert founded.recorded == 1


def test_a_contract_is_adopted_as_a_release_loads_it(founded: Desk) -> None:
    """With its hierarchy in a file, and with a date that YAML takes for one: the hash must be that of the release."""
    written = contract()
    written["variables"][5]["hierarchy"] = {"file": "region.csv"}
    written["variables"].append({"name": "asked", "kind": "date", "role": "other", "minimum": date(2026, 1, 1)})
    (founded.root / "region.csv").write_text("north;all\nsouth;all\n")
    path = founded.document("contract", written)
    _, (proposed,) = founded.adopt(AMARA, path)
    assert proposed.sha256 == document_sha256(load_contract(path))
