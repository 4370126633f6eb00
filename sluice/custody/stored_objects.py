"""The objects of a vault as files: how big each is, when it was written; and how one is taken out.

Deleting takes the name off the disk, and with the last name the file system frees its blocks. It does not overwrite
them: on flash, in snapshots, journals and backups the bytes may live on. Who must be sure encrypts the disk and the
backups, and lets the keys of these end.
"""

import os
import re
import stat
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sluice.custody.vault import Vault
from sluice.ground.durable import disk_of, locked, sync_folder

_OBJECT = re.compile(r"[0-9a-f]{64}(\.[a-z0-9]+)*")


@dataclass(frozen=True)
class StoredObject:
    """One entry of the store.

    name    : SHA-256 and ending
    plain   : whether it is a file of its own, and no link or folder: nothing else is ever deleted
    written : when its bytes were last kept
    names   : how many names the file has on its disk: the others outlive a deletion
    """

    name: str
    size: int
    written: datetime
    plain: bool
    names: int

    @classmethod
    def at(cls, path: "Path | os.DirEntry[str]") -> "StoredObject":
        found = path.stat(follow_symlinks=False)
        plain = stat.S_ISREG(found.st_mode) and _OBJECT.fullmatch(path.name) is not None
        written = datetime.fromtimestamp(found.st_mtime, UTC)
        return cls(path.name, found.st_size, written, plain, found.st_nlink)


def stored_objects(vault: Vault) -> dict[str, StoredObject]:
    """Name -> every entry of the store, links and strangers included. Cost: a look at each, none is read."""
    found = {}
    with os.scandir(vault.objects) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):  # deleted meanwhile
                found[entry.name] = StoredObject.at(entry)
    return dict(sorted(found.items()))


def discard(vault: Vault, seen: StoredObject) -> bool:
    """Delete an object as it was seen, unless its bytes were kept again since; whether it is gone.

    A run that keeps the same bytes meanwhile is waited for, and so is noticed, or puts them there anew.
    """
    path = vault.objects / seen.name
    with disk_of("the vault's disk"), locked(vault.keeping):
        try:
            found = StoredObject.at(path)
        except FileNotFoundError:
            return True
        if not found.plain or found.written > seen.written:
            return False
        os.unlink(path)
        sync_folder(vault.objects)
    return True
