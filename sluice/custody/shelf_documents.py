"""What a shelf says of the folders on it: pointers to what is current, the catalogue, notices in folders; and which
paths lead to one shelf.

All of it follows from the ledger, so it may be written anew at any time. Each file is replaced whole: a reader finds
the old one or the new one. A link is made beside a pointer where the file system knows links.
"""

import os
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from sluice.custody.shelf import alone_in
from sluice.ground.durable import disk_of, replace, sync_folder
from sluice.ground.errors import SluiceError

_PLAIN = re.compile(r"(\.withdrawn-)?[A-Za-z0-9][A-Za-z0-9._-]{0,250}")


@dataclass(frozen=True)
class ShelfDocuments:
    """Everything of the kind that a shelf should hold. Paths are relative to it."""

    files: Mapping[str, bytes] = field(default_factory=dict)  # on the shelf, or in a folder on it
    links: Mapping[str, str] = field(default_factory=dict)  # name on the shelf -> folder
    absent: frozenset[str] = frozenset()  # what may have been there, and must not be any more

    @property
    def names(self) -> set[str]:
        """What stands on the shelf itself."""
        return {name for name in (*self.files, *self.links) if "/" not in name}

    def in_folder(self, folder: str) -> dict[str, bytes]:
        """The notices that stand in a folder: name -> content."""
        return {
            path.removeprefix(f"{folder}/"): self.files[path] for path in self.files if path.startswith(f"{folder}/")
        }


def write_documents(shelf: Path, documents: ShelfDocuments) -> bool:
    """Bring the shelf in line; returns whether anything was changed. What is right already is not touched.

    raises : SluiceError for a name that leads elsewhere; DataError when the disk is full; OSError
    """
    for path in (*documents.files, *documents.links, *documents.links.values(), *documents.absent):
        if not all(_PLAIN.fullmatch(part) for part in path.split("/")) or path.count("/") > 1:
            raise SluiceError(f"a name on the shelf must be letters, digits, '.', '_' and '-'; got {path!r}")
    changed = False
    with disk_of(f"the disk of {shelf}"), alone_in(shelf):
        for path, content in documents.files.items():
            changed |= _write(shelf / path, content)
        for path in sorted(documents.absent):
            with suppress(FileNotFoundError):
                (shelf / path).unlink()
                changed = True
        for name, folder in documents.links.items():
            changed |= _link(shelf / name, folder)
        if changed:
            sync_folder(shelf)
    return changed


def _write(place: Path, content: bytes) -> bool:
    if not place.parent.is_dir() or place.parent.is_symlink():
        return False  # what was withdrawn may be disposed of; of what else is gone, `sluice ledger verify` tells
    for draft in place.parent.glob(f".{place.name}.*"):  # of a process that was killed
        draft.unlink()
    if _holds(place, content):
        return False
    if place.is_symlink():  # it would be replaced, and not written through; but nobody put it there for that
        place.unlink()
    replace(place, content, 0o644)
    return True


def _link(place: Path, folder: str) -> bool:
    if place.is_symlink() and os.readlink(place) == folder:
        return False
    draft = place.with_name(f".{place.name}.{secrets.token_hex(8)}")
    try:
        draft.symlink_to(folder)
        draft.replace(place)
    except OSError:  # a file system without links; one that led elsewhere must not stay
        draft.unlink(missing_ok=True)
        if not place.is_symlink():
            return False
        place.unlink()
    return True


def document_problems(shelf: Path, documents: ShelfDocuments) -> Iterator[str]:
    """How what stands on the shelf itself differs from what it should be, in words. Raises OSError."""
    for name, content in documents.files.items():
        if "/" not in name and not _holds(shelf / name, content):
            fault = "is not what the ledger says" if (shelf / name).exists() else "is missing"
            yield f"{shelf / name} {fault}; it is written anew by: sluice catalogue"
    for name, folder in documents.links.items():
        place = shelf / name
        if not place.is_symlink():
            if place.exists():
                yield f"{place} is no link: a copy, perhaps, of what was current; remove it, and run: sluice catalogue"
        elif os.readlink(place) != folder:
            yield f"{place} does not lead to {folder}, which is current; it is made anew by: sluice catalogue"
    for path in sorted(documents.absent):
        if "/" not in path and ((shelf / path).exists() or (shelf / path).is_symlink()):
            yield f"{shelf / path} is there, and no edition is current; it is removed by: sluice catalogue"


def _holds(place: Path, content: bytes) -> bool:
    return place.is_file() and not place.is_symlink() and place.read_bytes() == content


class ShelfPlaces:
    """Where shelves are now. Of several paths that lead to one shelf the first that was asked for stands for all."""

    def __init__(self, known: Iterable[Path] = ()) -> None:
        self._places: dict[Path, Path] = {}  # as recorded -> where it is
        self._folders: dict[tuple[int, int], Path] = {}  # device and number of a folder, which its mounts share
        for path in known:
            self.of(path)

    def of(self, recorded: Path) -> Path:
        """The place of a shelf that was recorded by this path. One that is not there stands for itself.

        Cost: for each path once a look at it.
        """
        if recorded not in self._places:
            place = recorded.resolve()
            with suppress(OSError):
                found = place.stat()
                place = self._folders.setdefault((found.st_dev, found.st_ino), place)
            self._places[recorded] = place
        return self._places[recorded]


def is_same_shelf(one: Path, other: Path) -> bool:
    """Whether two paths lead to one shelf, or to where there will be one."""
    with suppress(OSError):
        return os.path.samefile(one, other)
    return one.resolve() == other.resolve()
