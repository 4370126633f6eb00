"""Gzip and zip around a file: one file, of a size in proportion, and nothing written anywhere."""

import gzip
import io
import zipfile
from pathlib import Path

import pytest

from sluice.ground.errors import DataError
from sluice.sources import packed_file
from sluice.sources.hierarchy_file import read_hierarchy, read_rows
from sluice.sources.packed_file import refuse_large
from sluice.sources.sources import CsvSource
from tests.golden import golden
from tests.sources.readers import SECRET, refusal


def said(path: Path) -> str:
    return refusal(CsvSource(path=str(path)), "a")


def zipped(path: Path, members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def test_one_file_whatever_it_is_called(tmp_path: Path) -> None:
    before = sorted(tmp_path.parent.iterdir())
    path = zipped(tmp_path / "a", {"../../../escaped.csv": b"a\n01\n", "__MACOSX/._x": b"", "folder/": b""})
    assert [list(batch["a"]) for batch in CsvSource(path=str(path)).batches(["a"])] == [["01"]]
    assert sorted(tmp_path.parent.iterdir()) == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["a"]


def test_what_is_no_single_readable_file(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    golden(said(zipped(path, {f"{n}.csv": b"a\n1\n" for n in range(2000)})))
    golden(said(zipped(path, {"folder/": b""})))
    golden.words(said(zipped(path, {"a.csv": b"a\n1\n"}, zipfile.ZIP_LZMA)))
    content = bytearray(zipped(path, {"a.csv": f"a\n{SECRET}\n".encode()}).read_bytes())
    for header, place in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        content[content.index(header) + place] |= 1
    path.write_bytes(content)
    assert "is encrypted" in said(path)
    whole = zipped(path, {"a.csv": b"a\n" + bytes(range(48, 58)) * 900 + b"\n"}).read_bytes()
    path.write_bytes(whole[:-30])
    golden.words(said(path))
    path.write_bytes(whole[:50] + b"\xff" * 8 + whole[58:])
    assert "zip" in said(path)


@pytest.mark.chain
def test_bombs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small file that becomes a large one, by many records or by one line without an end."""
    monkeypatch.setattr(packed_file, "_FROM", 1 << 20)
    path = tmp_path / "a"
    path.write_bytes(gzip.compress(b"a\n" + b"1\n" * (4 << 20), 9))
    golden(said(path))
    path.write_bytes(b"a\n" + b"1" * (17 << 20))
    golden(said(path))
    zipped(path, {"a.csv": b"a\n" + b"1\n" * (4 << 20)})
    golden(said(path))


def test_a_size_that_is_not_true(tmp_path: Path) -> None:
    """The directory of an archive says less than is in it: no more than that is read, and it is damaged."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", b"a\n" + b"1\n" * 100_000)
    content = packed.getvalue().replace((200_002).to_bytes(4, "little"), (1_000).to_bytes(4, "little"))
    (tmp_path / "a").write_bytes(content)
    golden.words(said(tmp_path / "a"))


def test_a_text_of_which_a_document_consists_is_no_larger_than_documents_are(tmp_path: Path) -> None:
    """It is read where the vault is open, so it may not fill the memory: by its bytes, or by lines that it repeats."""
    path = tmp_path / "h.csv"
    path.write_bytes(b"code,parent\n" + b"a,\n" * 999_000)
    refuse_large(path)
    for content in (b"a,\n" * 1_000_001, b"a,\r" * 1_000_001, (b"a" * 99 + b"\n") * 700_000):
        path.write_bytes(gzip.compress(content, 1))
        with golden.raises(DataError):
            refuse_large(path)
        for read in (read_rows, read_hierarchy):
            with golden.raises(DataError):
                read(path)
