"""Acting: what is signed, and what it gives away."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from policies.people import Roster
from sluice.custody.signing.keys_at_hand import make_key_pair
from sluice.custody.vault import Vault
from sluice.ground.errors import SluiceError
from tasks.release.decisions.signing_in import Credentials, Request, Said, act, sign
from tests.golden import golden
from tests.policies.signed_acts import PEOPLE, roster

FILES = {"people.csv": "a" * 64}


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    return Vault(tmp_path / "vault")


def predicate(comment: str, at: str, salt: str) -> dict[str, Any]:
    return {"words": hashlib.sha256(f"{salt}{comment}".encode()).hexdigest(), "at": at}


def acted(vault: Vault, means: Credentials, comment: str = "agreed", people: Roster | None = None) -> Said | Request:
    known = (people or roster(PEOPLE)).model_copy(update={"identity": "declared"})
    return act(known, "declared", means, "urn:test:1", predicate, FILES, comment, vault)


def requested(vault: Vault, comment: str = "agreed") -> dict[str, Any]:
    request = acted(vault, Credentials(to_sign=True), comment)
    assert isinstance(request, Request)
    content: dict[str, Any] = json.loads(request.payload)
    return content


def test_what_is_signed_holds_no_comment_that_could_be_guessed(vault: Vault, tmp_path: Path) -> None:
    """Who tries out what somebody may have said knows all but the salt, which is the vault's."""
    said = requested(vault)["predicate"]
    guesses = {hashlib.sha256(f"{salt}agreed".encode()).hexdigest() for salt in ("", said["at"], "\n")}
    assert said["words"] not in guesses
    elsewhere = Vault(tmp_path / "other").pseudonym("comment", f"{said['at']}\nagreed")
    assert said["words"] != hashlib.sha256(f"{elsewhere}agreed".encode()).hexdigest()
    salt = vault.pseudonym("comment", f"{said['at']}\nagreed")
    assert said["words"] == hashlib.sha256(f"{salt}agreed".encode()).hexdigest()


def test_what_the_ledger_keeps_is_enough_to_verify_it(vault: Vault) -> None:
    said = acted(vault, Credentials(declared="mina"))
    assert isinstance(said, Said)
    assert said.body["salt"] == vault.pseudonym("comment", f"{said.body['said_at']}\nagreed")
    assert (said.person, said.body["identity"], said.body["comment"]) == ("mina", "declared", "agreed")


def test_a_statement_is_for_one_comment(vault: Vault, tmp_path: Path) -> None:
    request = acted(vault, Credentials(to_sign=True))
    assert isinstance(request, Request)
    key = tmp_path / "key"
    public = make_key_pair(key, "mina")
    people = roster(PEOPLE, mina={"keys": [public.line]})
    envelope = json.dumps(sign(request.payload, key).as_json())
    done = acted(vault, Credentials(envelope=envelope), people=people)
    assert isinstance(done, Said)
    assert (done.person, done.body["identity"]) == ("mina", "key")
    golden.refused(SluiceError, acted, vault, Credentials(envelope=envelope), "never", people)


def test_who_is_signed_on_acts_for_nobody_else(vault: Vault) -> None:
    """Whatever name is typed, or whoever signed what is brought."""
    golden.refused(SluiceError, acted, vault, Credentials(declared="mina", signed_on="paul"))
    said = acted(vault, Credentials(declared="mina", signed_on="mina"))
    assert isinstance(said, Said)
    assert said.person == "mina"
