"""Durable files: bytes that are on the disk, whole or not at all, whenever the machine stops."""

import errno
import fcntl
import hashlib
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from sluice.ground.errors import DataError

CHUNK = 1 << 20  # bytes
NO_SPACE = (errno.ENOSPC, errno.EDQUOT)


@contextmanager
def disk_of(place: str) -> Iterator[None]:
    """Turn 'no space left' into a DataError that names the place, such as "the vault's disk"."""
    try:
        yield
    except OSError as error:
        if error.errno not in NO_SPACE:
            raise
        raise DataError(f"no space left on {place}") from None


@contextmanager
def locked(lock: Path, waits: Callable[[], None] | None = None, shared: bool = False) -> Iterator[None]:
    """Alone among all processes that lock this file, which is made where it is missing. Ends with the process.

    waits  : called once, where another has the lock, before this one waits for it
    shared : beside others who share it
    """
    mode = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    handle = os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        try:
            fcntl.flock(handle, mode | fcntl.LOCK_NB)
        except BlockingIOError:
            if waits is not None:
                waits()
            fcntl.flock(handle, mode)
        yield
    finally:
        os.close(handle)


def sha256_of(file: BinaryIO) -> str:
    """SHA-256 of what is left to read, in hexadecimal. Cost: one pass, constant memory."""
    digest = hashlib.sha256()
    while chunk := file.read(CHUNK):
        digest.update(chunk)
    return digest.hexdigest()


def sync_folder(folder: Path) -> None:
    """Bring the folder's entries (names made, renamed, removed) to the disk."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_new(path: Path, content: bytes | Path, mode: int) -> str:
    """Write a file that must not exist yet, down to the disk; returns its SHA-256.

    content : the bytes, or a file to copy
    raises  : FileExistsError; whatever the disk raises. What was written by then is left to the caller to remove
    """
    digest = hashlib.sha256()
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(handle, "wb") as file:
        os.fchmod(file.fileno(), mode)  # whatever the umask is
        for chunk in [content] if isinstance(content, bytes) else _chunks(content):
            digest.update(chunk)
            file.write(chunk)
        file.flush()
        os.fsync(file.fileno())
    return digest.hexdigest()


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            yield chunk


def make_folder(path: Path, mode: int) -> None:
    """Make the folder, and those above it that are missing, with this mode whatever the umask is."""
    for folder in reversed([path, *path.parents]):
        if not folder.exists():
            try:
                folder.mkdir(mode=0o700)
            except FileExistsError:  # another process made it
                continue
            folder.chmod(mode)
    if not path.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))


def create_once(path: Path, content: bytes) -> bytes:
    """The file's content: `content` if this call made it (mode 0600), otherwise what was there first.

    Safe between processes: the file appears under its name only when it is whole.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError:
        pass
    draft = _draft_of(path)
    try:
        write_new(draft, content, 0o600)
        os.link(draft, path)
        sync_folder(path.parent)
    except FileExistsError:
        return path.read_bytes()
    finally:
        draft.unlink(missing_ok=True)
    return content


def replace(path: Path, content: bytes, mode: int) -> None:
    """Put `content` in the place of the file; a reader sees the old bytes or the new ones."""
    draft = _draft_of(path)
    try:
        write_new(draft, content, mode)
        draft.replace(path)
        sync_folder(path.parent)
    finally:
        draft.unlink(missing_ok=True)


def _draft_of(path: Path) -> Path:
    return path.with_name(f".{path.name}.{secrets.token_hex(8)}")
