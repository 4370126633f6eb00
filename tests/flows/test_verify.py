"""Verification of a published folder by somebody who has nothing else of the house but its keys."""

import json
import os
import shutil
import subprocess
import sys
from base64 import b64decode
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from unittest.mock import patch

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_ssh_private_key

from sluice.custody import shelf
from sluice.custody.signing.envelope import Envelope, Statement
from sluice.custody.signing.keys_at_hand import make_key_pair
from sluice.custody.signing.public_key import PublicKey
from sluice.custody.signing.ssh_signature import signed_by_key
from sluice.publication.attestation import VerificationSummary, attestation, digest_of, envelope_bytes
from tests.flows.house import DONE, ERROR, WAITING, House, Told
from tests.flows.stages import stages
from tests.flows.tables_house import TablesHouse
from tests.golden import golden
from tests.publication.signed_folder import sha256, write_checksums


def keys_of(house: House) -> Path:
    keys = house.root / "keys"
    keys.write_text(house.sluice("people", "--keys").out)
    return keys


def verify(house: House, folder: Path, *options: str) -> Told:
    """With no workspace, no network and no settings but these."""
    with patch("socket.socket.connect", side_effect=AssertionError("it asked the network")):
        return house.sluice("verify", str(folder), "--keys", str(house.root / "keys"), "--unsigned", *options)


@pytest.mark.parametrize("kind", [House, TablesHouse])
def test_a_published_folder_is_verified_without_the_house(kind: type[House], tmp_path: Path) -> None:
    house = stages(kind).at("published")
    folder = house.target / house.id
    keys_of(house)
    shutil.rmtree(house.home)
    shutil.rmtree(house.documents)
    answer = verify(house, folder)
    assert answer.code == DONE, answer.words
    golden(answer.words)
    assert str(folder.name) in answer.words
    assert "meets policy" in answer.words
    golden.words(answer.words)
    assert not house.home.exists()  # not even made
    file = next(path for path in folder.iterdir() if path.suffix == ".csv")
    file.write_bytes(file.read_bytes() + b"\n")
    refused = verify(house, folder).refused(figures=True)
    assert str(folder) in refused.words
    assert str(file.name) in refused.words


def test_what_nobody_signed_is_said(published: House) -> None:
    keys = keys_of(published)
    folder = published.target / published.id
    published.sluice("verify", str(folder), "--keys", str(keys)).refused()


def test_machines_are_told_the_same(published: House) -> None:
    keys_of(published)
    folder = published.target / published.id
    told = verify(published, folder, "--json").json
    assert (told["verified"], told["problems"], told["signed_by"]) == (True, [], [])
    assert told["summary"]["release"] == published.id
    assert told["files"].keys() == {"people-puf.csv", "people-puf.parquet"}
    Path(os.fsdecode(os.fsencode(folder) + b"/\xff\n.csv")).touch()
    refused = verify(published, folder, "--json")
    assert (refused.code, refused.json["verified"]) == (ERROR, False)
    assert len(verify(published, folder).out.splitlines()) == 2  # no name adds a line of its own


def test_keys_that_cannot_be_read_are_refused(published: House) -> None:
    folder = published.target / published.id
    (published.root / "keys").write_text("publisher ssh-rsa AAAA\n")
    verify(published, folder).refused(figures=True)


def test_the_key_is_the_same_as_long_as_the_vault_is(published: House, house: House) -> None:
    house.draws = "2"
    house.write()
    house.adopt()
    first, again, other = (each.sluice("people", "--keys").out.splitlines() for each in (published, published, house))
    assert first == again != other
    assert [line.split()[0] for line in first] == ["publisher"]  # the people of this house have no keys


@pytest.mark.servers
def test_it_starts_without_what_only_releases_need(published: House) -> None:
    keys = keys_of(published)
    code = (
        "import sys; from flows.cli.main import main; "
        f"code = main(['verify', {str(published.target / published.id)!r}, '--keys', {str(keys)!r}, '--unsigned']); "
        "print(sorted({'prefect', 'pandas', 'sqlalchemy', 'duckdb'} & sys.modules.keys())); sys.exit(code)"
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SLUICE_")}
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == DONE, run.stderr
    assert run.stdout.splitlines()[-1] == "[]"


class SigningHouse(House):
    """A house whose people sign."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.people["identity"] = "key"
        for number, (name, person) in enumerate(self.people["people"].items(), 1):
            key = Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32)
            private = key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())
            self.key(name).write_bytes(private)
            self.key(name).chmod(0o600)
            person["keys"] = [PublicKey.of(key.public_key()).line]
        self.write()

    def key(self, name: str) -> Path:
        return self.documents / f"{name}.key"

    def adopt(self) -> None:
        for name in ("people.yaml", "contract.yaml", "policy.yaml"):
            for person in ("amara", "jonas"):
                told = self.sluice("adopt", str(self.documents / name), "--key", str(self.key(person)))
                assert told.code in (DONE, WAITING), told.words
                if name == "people.yaml":
                    break  # who founds the office does so alone

    def sluice(self, *arguments: str) -> Told:
        """Who types a name signs by that person's key."""
        if "--as" in arguments:
            place = arguments.index("--as")
            name = arguments[place + 1]
            arguments = (*arguments[:place], "--key", str(self.key(name)), *arguments[place + 2 :])
        return super().sluice(*arguments)


def test_signed_decisions_are_verified_by_whoever_has_the_keys() -> None:
    house = stages(SigningHouse).at("published")
    keys, folder = keys_of(house), house.target / house.id
    shutil.rmtree(house.home)
    answer = house.sluice("verify", str(folder), "--keys", str(keys), "--people", "2")
    assert answer.code == DONE, answer.words
    golden.words(answer.words)
    assert {path.name for path in folder.glob("decision-*")} == {"decision-1.json", "decision-2.json"}
    keys.write_text("".join(line for line in keys.read_text().splitlines(keepends=True) if "jonas" not in line))
    house.sluice("verify", str(folder), "--keys", str(keys)).refused(figures=True)
    assert (
        house.sluice("verify", str(folder), "--keys", str(keys), "--unsigned").code == ERROR
    )  # it is there, and wrong


def test_a_key_verifies_what_it_signed_before_it_was_taken_off_the_roster_and_nothing_later() -> None:
    """Jonas leaves his old key to the owner of the vault, who signs a folder of today by it."""
    house = stages(SigningHouse).at("published")
    old = house.key("jonas").read_bytes()
    make_key_pair(house.documents / "new", "jonas")
    house.people["people"]["jonas"]["keys"] = [(house.documents / "new.pub").read_text()]
    house.write()
    for person in ("amara", "jonas"):
        house.sluice("adopt", str(house.documents / "people.yaml"), "--as", person)
    keys, folder = keys_of(house), house.target / house.id
    answer = house.sluice("verify", str(folder), "--keys", str(keys), "--people", "2")
    assert answer.code == DONE, answer.words
    later = (datetime.now(UTC) + timedelta(seconds=2)).isoformat()
    for file, key in (("decision-2.json", old), ("attestation.json", None)):
        statement = Envelope.from_json((folder / file).read_bytes()).statement()
        predicate = {**statement.predicate, "at": later}
        files = {name: sha256((folder / name).read_bytes()) for name in statement.files}
        by = load_ssh_private_key(key, None) if key else house.workspace().vault.signing_key()
        assert isinstance(by, Ed25519PrivateKey)
        payload = Statement.about(files, statement.predicate_type, predicate).payload()
        (folder / file).write_bytes(envelope_bytes(Envelope.sign(payload, partial(signed_by_key, key=by))))
    write_checksums(folder)
    house.sluice("verify", str(folder), "--keys", str(keys), "--unsigned").refused(figures=True)


def test_what_was_signed_before_its_key_was_on_the_roster_is_no_decision() -> None:
    """Recorded once the key counts, it would be published, and nobody outside would believe it."""
    house = stages(SigningHouse).at("almost")
    asked = house.sluice("approve", house.id, "--to-sign", "-").out
    make_key_pair(house.documents / "new", "jonas")
    house.people["people"]["jonas"]["keys"].append((house.documents / "new.pub").read_text())
    house.write()
    (house.documents / "asked").write_text(asked)
    signed = house.documents / "signed"
    new = str(house.documents / "new")
    house.sluice("sign", str(house.documents / "asked"), "--key", new, "--output", str(signed))
    for person in ("amara", "jonas"):
        house.sluice("adopt", str(house.documents / "people.yaml"), "--as", person)
    told = house.sluice("approve", house.id, "--envelope", str(signed))
    assert (told.code, house.shelf) == (ERROR, []), told.words
    golden.words(told.words)
    assert house.sluice("approve", house.id, "--key", new).code == DONE
    told = house.sluice("verify", str(house.target / house.id), "--keys", str(keys_of(house)), "--people", "2")
    assert told.code == DONE, told.words


def test_the_owner_of_the_vault_cannot_make_up_a_decision() -> None:
    """Signs another folder as the publisher, and puts in its place what people signed for the true one."""
    house = stages(SigningHouse).at("published")
    keys, folder = keys_of(house), house.target / house.id
    key = house.workspace().vault.signing_key()
    attested = Envelope.from_json((folder / "attestation.json").read_bytes()).statement()
    data = folder / "people-puf.csv"
    before = sha256(data.read_bytes())
    data.write_bytes(data.read_bytes().replace(b"north", b"south"))
    manifest = folder / "manifest.json"
    manifest.write_text(manifest.read_text().replace(before, sha256(data.read_bytes())))
    files = {file: sha256((folder / file).read_bytes()) for file in attested.files}
    reviewed = {**attested.predicate["reviewed"], "csv": files[data.name]}
    summary = VerificationSummary.model_validate(
        {**attested.predicate, "reviewed": reviewed, "digest": digest_of(reviewed)}
    )
    (folder / "attestation.json").write_bytes(attestation(files, summary, key))
    write_checksums(folder)
    golden(house.sluice("verify", str(folder), "--keys", str(keys)).words.split(": ", 1)[1])


def test_the_attestation_names_every_file_and_a_rerun_makes_the_same_bytes() -> None:
    house = stages(House).at("almost")
    with patch("tasks.publish._destroy_seed", side_effect=OSError):
        assert house.approve("jonas").code == ERROR
    folder = house.target / house.id
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert house.approve("jonas").code == DONE
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    payload = json.loads(before["attestation.json"])["payload"]
    decoded = b64decode(payload, validate=True)
    named = {subject["name"] for subject in json.loads(decoded)["subject"]}
    assert named == before.keys() - {"attestation.json", shelf.CHECKSUMS}
