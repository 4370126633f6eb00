"""The publisher's key can be changed by itself: what was published stays verifiable, and a thief of the old key or of
the vault's secret signs nothing more."""

import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from unittest.mock import patch

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from sluice.custody.signing.envelope import Envelope, Statement
from sluice.custody.signing.public_key import PublicKey
from sluice.custody.signing.ssh_signature import signed_by_key
from sluice.custody.vault import Vault
from sluice.ground.errors import SluiceError
from sluice.publication.attestation import envelope_bytes
from tests.flows.house import DONE, ERROR, WAITING, House, Told
from tests.flows.stages import stages
from tests.golden import golden
from tests.publication.signed_folder import sha256, write_checksums


def rotate(house: House, *who: str) -> Told:
    for each in who or ("amara", "jonas"):
        told = house.sluice("key", "rotate-publisher", "--as", each, "--comment", "a laptop was stolen")
    return told


def verify(house: House, folder: Path) -> Told:
    keys = house.root / "keys"
    keys.write_text(house.sluice("people", "--keys").out)
    return house.sluice("verify", str(folder), "--keys", str(keys), "--unsigned")


def publish_next(house: House) -> Path:
    house.new_edition()
    house.release_approved()
    return house.target / house.id


def signed_today(house: House, folder: Path, key: Ed25519PrivateKey) -> Path:
    """Another folder, as a thief of the publisher's key makes it: of today, with other data."""
    later = (datetime.now(UTC) + timedelta(seconds=2)).isoformat()
    statement = Envelope.from_json((folder / "attestation.json").read_bytes()).statement()
    files = {name: sha256((folder / name).read_bytes()) for name in statement.files}
    made = Statement.about(files, statement.predicate_type, {**statement.predicate, "at": later})
    sealed = Envelope.sign(made.payload(), partial(signed_by_key, key=key))
    (folder / "attestation.json").write_bytes(envelope_bytes(sealed))
    write_checksums(folder)
    return folder


def test_old_folders_are_verified_by_the_old_key_and_new_ones_by_the_new() -> None:
    house = stages(House).at("published")
    old, stolen = house.target / house.id, house.workspace().vault.signing_key()
    told = rotate(house, "jonas")
    assert told.code == WAITING
    golden(told.words)
    assert len(publisher_lines(house)) == 1
    assert rotate(house, "amara").code == DONE
    first, second = publisher_lines(house)
    assert "valid-before" in first
    assert "valid-after" in second
    golden(house.sluice("people").words)
    assert verify(house, old).code == DONE
    new = publish_next(house)
    assert verify(house, new).code == DONE
    verify(house, signed_today(house, new, stolen)).refused()
    assert verify(house, old).code == DONE


def publisher_lines(house: House) -> list[str]:
    return [line for line in house.sluice("people", "--keys").out.splitlines() if line.startswith("publisher ")]


def test_whoever_copied_the_secret_before_does_not_have_the_new_key(tmp_path: Path) -> None:
    house = stages(House).at("published")
    copy = tmp_path / "vault"
    shutil.copytree(house.home / "vault", copy)
    rotate(house)
    stolen = [Vault(copy).signing_key(number, draw=True) for number in (1, 2, 3)]
    new = house.workspace().vault.signing_key(2)
    assert PublicKey.of(new.public_key()) not in [PublicKey.of(each.public_key()) for each in stolen]


def test_a_publication_that_was_interrupted_ends_with_the_bytes_that_it_began_with() -> None:
    house = stages(House).at("almost")
    with patch("tasks.publish._destroy_seed", side_effect=OSError):
        assert house.approve("jonas").code == ERROR
    folder = house.target / house.id
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    rotate(house)
    assert house.approve("jonas").code == DONE
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert verify(house, folder).code == DONE


@pytest.mark.parametrize(
    "damage",
    [lambda file: file.unlink(), lambda file: file.write_bytes(b"short"), lambda file: file.write_bytes(bytes(32))],
)
def test_nothing_is_published_by_a_key_that_is_lost_or_was_swapped(damage: Callable[[Path], object]) -> None:
    house = stages(House).at("almost")
    rotate(house)
    damage(house.home / "vault" / "publisher" / "2")
    told = house.approve("jonas")
    assert (told.code, house.shelf) == (ERROR, [])
    golden(told.words)


def test_an_office_comes_before_its_keys(tmp_path: Path) -> None:
    House(tmp_path / "house").sluice("key", "rotate-publisher", "--as", "amara").refused()


def test_keys_are_drawn_once_each(tmp_path: Path) -> None:
    vault = Vault(tmp_path / "vault")
    golden.refused(SluiceError, vault.signing_key, 2)
    lines = [PublicKey.of(vault.signing_key(number, draw=True).public_key()).line for number in (1, 2, 3, 2, 3)]
    assert len({*lines}) == 3
    assert lines[1:3] == lines[3:]
    assert PublicKey.of(Vault(tmp_path / "vault").signing_key(3).public_key()).line == lines[2]
    assert (
        (vault.root / "publisher" / "2").stat().st_mode & 0o777,
        (vault.root / "publisher").stat().st_mode & 0o777,
    ) == (0o600, 0o700)
