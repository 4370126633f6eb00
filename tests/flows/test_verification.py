"""The audit of what was published: an altered file is named, though its checksums were altered with it."""

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from flows.verification import what_was_altered
from sluice.custody import shelf
from tests.flows.house import DONE, WAITING, House


def alter(folder: Path, file: str) -> None:
    """Change a file and its checksum, as somebody would who can write on the shelf."""
    path, checksums = folder / file, folder / shelf.CHECKSUMS
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    path.write_bytes(path.read_bytes() + b"\n")
    after = hashlib.sha256(path.read_bytes()).hexdigest()
    checksums.write_text(checksums.read_text().replace(before, after))
    assert shelf.read_back(folder) == []  # the folder alone does not tell


def test_the_ledger_names_the_manifest_that_was_published(published: House) -> None:
    assert what_was_altered(published.workspace()) == []
    [entry] = [entry for entry in published.workspace().ledger.entries() if entry.event == "published"]
    manifest = (published.target / published.id / "manifest.json").read_bytes()
    assert entry.body["manifest"] == hashlib.sha256(manifest).hexdigest()


@pytest.mark.parametrize("file", ["manifest.json", "people-puf.parquet", "people-puf.csv"])
def test_an_altered_file_is_named_though_its_checksum_fits(published: House, file: str) -> None:
    folder = published.target / published.id
    alter(folder, file)
    assert what_was_altered(published.workspace()) == [f"{folder / file} is not the one that was published"]


@pytest.mark.parametrize("file", ["manifest.json", "people-puf.csv"])
def test_a_file_that_is_gone_is_named(published: House, file: str) -> None:
    folder = published.target / published.id
    (folder / file).unlink()
    assert what_was_altered(published.workspace()) == [f"{folder / file} is not the one that was published"]


def test_an_earlier_edition_is_looked_at_too(published: House) -> None:
    first = published.target / published.id
    published.new_edition()
    assert published.release().code == WAITING
    for person in ("amara", "jonas"):
        published.approve(person)
    assert len(published.shelf) == 2
    alter(first, "manifest.json")
    assert what_was_altered(published.workspace()) == [f"{first / 'manifest.json'} is not the one that was published"]


def test_what_was_withdrawn_or_cannot_be_reached_is_no_fault(published: House) -> None:
    folder = published.target / published.id
    alter(folder, "manifest.json")
    hidden = published.file.rename(published.file.with_suffix(".elsewhere"))
    assert what_was_altered(published.workspace()) == []
    hidden.rename(published.file)
    aside = folder.rename(published.root / "aside")
    assert what_was_altered(published.workspace()) == []
    shutil.copytree(aside, folder)
    assert len(what_was_altered(published.workspace())) == 1
    assert published.sluice("withdraw", published.id, "--reason", "a mistake").code == DONE
    assert what_was_altered(published.workspace()) == []


def test_a_ledger_that_was_tampered_with_vouches_for_nothing(published: House) -> None:
    alter(published.target / published.id, "manifest.json")
    anchor = published.workspace().vault.anchor
    anchor.write_text(json.dumps("forged"))
    assert what_was_altered(published.workspace()) == ["the anchor in the vault is missing or was changed"]
