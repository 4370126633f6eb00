"""What a shelf says of its folders: written whole, only where it differs, and nowhere else."""

import os
from pathlib import Path
from unittest.mock import patch

import pytest

from sluice.custody.shelf_documents import ShelfDocuments, document_problems, write_documents
from sluice.ground.errors import SluiceError
from tests.golden import golden


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    place = tmp_path / "shelf"
    (place / "fair-1").mkdir(parents=True)
    return place


SAYS = ShelfDocuments(
    files={"fair.current.json": b"{}", "fair-1/superseded.json": b"later"},
    links={"fair.current": "fair-1"},
    absent=frozenset({"other.current"}),
)


def test_it_is_written_once(shelf: Path) -> None:
    assert write_documents(shelf, SAYS)
    assert not write_documents(shelf, SAYS)
    assert (shelf / "fair.current.json").read_bytes() == b"{}"
    assert (shelf / "fair-1" / "superseded.json").read_bytes() == b"later"
    assert os.readlink(shelf / "fair.current") == "fair-1"
    assert [*document_problems(shelf, SAYS)] == []
    assert SAYS.names == {"fair.current.json", "fair.current"}
    assert SAYS.in_folder("fair-1") == {"superseded.json": b"later"}


def test_what_must_not_be_there_is_named_and_taken_away(shelf: Path) -> None:
    (shelf / "other.current").symlink_to("fair-1")
    write_documents(shelf, ShelfDocuments())
    problem = f"{shelf / 'other.current'} is there, and no edition is current; it is removed by: sluice catalogue"
    assert problem in document_problems(shelf, SAYS)
    write_documents(shelf, SAYS)
    assert not (shelf / "other.current").is_symlink()


def test_a_link_is_not_written_through(shelf: Path, tmp_path: Path) -> None:
    """Somebody who could write on the shelf once leads the next publication to a file of their choice."""
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    (shelf / "fair.current.json").symlink_to(victim)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (shelf / "fair-2").symlink_to(elsewhere)
    write_documents(shelf, ShelfDocuments(files={**SAYS.files, "fair-2/superseded.json": b"later"}))
    assert victim.read_bytes() == b"precious"
    assert not (shelf / "fair.current.json").is_symlink()
    assert [*elsewhere.iterdir()] == []


def test_a_copy_in_the_place_of_the_link_is_named_and_left(shelf: Path) -> None:
    """As a backup leaves it that follows links: nobody knows any more which edition it is."""
    (shelf / "fair.current").mkdir()
    write_documents(shelf, SAYS)
    [problem] = document_problems(shelf, SAYS)
    golden(problem)
    assert str(shelf / "fair.current") in problem


def test_a_folder_that_is_gone_is_not_made_anew(shelf: Path) -> None:
    (shelf / "fair-1").rmdir()
    write_documents(shelf, SAYS)
    assert not (shelf / "fair-1").exists()


def test_drafts_of_a_killed_process_go(shelf: Path) -> None:
    draft = shelf / "fair-1" / ".superseded.json.0123456789abcdef"
    draft.write_bytes(b"half")
    write_documents(shelf, SAYS)
    assert not draft.exists()


def test_a_reader_finds_the_old_file_or_the_new_one(shelf: Path) -> None:
    write_documents(shelf, SAYS)
    with patch.object(Path, "replace", side_effect=OSError), pytest.raises(OSError):
        write_documents(shelf, ShelfDocuments(files={"fair.current.json": b"new"}))
    assert (shelf / "fair.current.json").read_bytes() == b"{}"


@pytest.mark.parametrize("name", ["../elsewhere", "/etc/passwd", "a/b/c", "", ".hidden", "a\nb", "a/../b"])
def test_no_name_leads_off_the_shelf(shelf: Path, name: str) -> None:
    for documents in (
        ShelfDocuments(files={name: b""}),
        ShelfDocuments(links={name: "a"}),
        ShelfDocuments(links={"a": name}),
        ShelfDocuments(absent=frozenset({name})),
    ):
        with golden.raises(SluiceError):
            write_documents(shelf, documents)
    assert [path.name for path in shelf.parent.iterdir()] == ["shelf"]
