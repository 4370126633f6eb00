"""A file as it is, or what a gzip file or a zip archive of one file holds: by its content, not by its name.

Nothing is unpacked to a disk, so no name in an archive leads anywhere. What grows out of all proportion is refused.
"""

import gzip
import io
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO

from sluice.ground.errors import DataError
from sluice.sources.tabular_source import missing_file

MOST_IN_MEMORY = 1 << 30  # bytes of an unpacked file that must be read at random
_TIMES, _FROM = 50, 64 << 20  # how often larger it may become, once it is as large; real records: 5 to 20 times
_LONGEST_LINE = 16 << 20
_BLOCK = 1 << 20
_MOST_OF_TEXT, _MOST_LINES = 64 << 20, 1_000_000
_GZIP, _ZIP = b"\x1f\x8b", b"PK\x03\x04"
_OF_MACS = ("__MACOSX/", ".DS_Store")
_READABLE = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def packing(path: Path) -> str:
    """'gzip', 'zip' or '', by the first bytes. An Office document is a zip archive, too."""
    with path.open("rb") as file:
        start = file.read(4)
    return "gzip" if start.startswith(_GZIP) else "zip" if start == _ZIP else ""


@contextmanager
def unpacked(path: Path, lines: bool = False) -> Iterator[BinaryIO]:
    """The bytes of the file, or of the one that is packed in it, front to back.

    lines  : they are lines of text, none of which is out of proportion either
    raises : DataError for a file that is absent, cannot be read, is damaged, or holds no single file
    """
    if not path.is_file():
        raise missing_file(path)
    try:
        kind = packing(path)
        if kind == "zip":
            with zipfile.ZipFile(path) as archive, archive.open(the_member(path, archive)) as file:
                yield _guarded(file, path, lines)
        else:
            with (gzip.open if kind == "gzip" or path.suffix == ".gz" else open)(path, "rb") as file:
                yield _guarded(file, path, lines)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise DataError(f"{path}: is not a whole {'zip' if kind == 'zip' else 'gzip'} file; it breaks off") from None
    except (zipfile.BadZipFile, NotImplementedError):
        raise DataError(f"{path}: is a damaged zip archive") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None


def in_memory(path: Path) -> BinaryIO | None:
    """What is packed in the file, to be read at random; None for a file that is not packed."""
    if not path.is_file():
        raise missing_file(path)
    if not packing(path):
        return None
    content = io.BytesIO()
    with unpacked(path) as file:
        while block := file.read(_BLOCK):  # to ask for all of it at once would take the most that there may be
            content.write(block)
            if content.tell() > MOST_IN_MEMORY:
                raise DataError(f"{path}: holds more than {MOST_IN_MEMORY >> 30} GiB. Unpack it first.")
    return content


def refuse_large(path: Path) -> None:
    """Raise DataError for a text of which a document consists, too, if it has more than a document may have.

    cost : one pass, which ends where there is too much
    """
    size = lines = 0
    with unpacked(path, lines=True) as file:
        while block := file.read(_BLOCK):
            size, lines = size + len(block), lines + max(block.count(b"\n"), block.count(b"\r"))
            if size > _MOST_OF_TEXT or lines > _MOST_LINES:
                raise DataError(
                    f"{path}: is larger than {_MOST_OF_TEXT >> 20} MiB, or longer than {_MOST_LINES:,} lines, which no "
                    "file that a document names is"
                )


def the_member(path: Path, archive: zipfile.ZipFile) -> zipfile.ZipInfo:
    """The one file in an archive. Raises DataError for none, several, or one that is encrypted."""
    members = [
        member
        for member in archive.infolist()
        if not member.is_dir() and not any(name in member.filename for name in _OF_MACS)
    ]
    if len(members) != 1:
        raise DataError(f"{path}: is a zip archive of {len(members)} files; one is read. Unpack it and name the file.")
    if members[0].flag_bits & 1:
        raise DataError(f"{path}: the file in this zip archive is encrypted. Unpack it where it may lie in the clear.")
    if members[0].compress_type not in _READABLE:
        raise DataError(f"{path}: this zip archive is packed by a rare method. Unpack it, or pack it anew.")
    return members[0]


def _guarded(file: IO[bytes] | gzip.GzipFile, path: Path, lines: bool) -> BinaryIO:
    return io.BufferedReader(_Guard(file, path, lines), 1 << 16)


class _Guard(io.RawIOBase):
    """Passes bytes on until there are too many of them."""

    def __init__(self, file: IO[bytes] | gzip.GzipFile, path: Path, lines: bool) -> None:
        self._file, self._path, self._lines = file, path, lines
        self._allowed = max(_FROM, _TIMES * path.stat().st_size)
        self._passed = self._line = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        block = self._file.read(len(buffer))
        buffer[: len(block)] = block
        self._passed += len(block)
        if self._passed > self._allowed:
            raise DataError(
                f"{self._path}: what is packed in it is more than {_TIMES} times as large. If that is right, unpack it."
            )
        if self._lines:
            last = max(block.rfind(b"\n"), block.rfind(b"\r"))
            self._line = self._line + len(block) if last < 0 else len(block) - last - 1
            if self._line > _LONGEST_LINE:
                raise DataError(f"{self._path}: a line is longer than {_LONGEST_LINE >> 20} MiB. Is it a text file?")
        return len(block)
