"""The vault: the one directory that holds records, secrets and seeds.

    VAULT/secret              32 bytes from the operating system; every key of the vault is derived from it
    VAULT/publisher/NUMBER    32 bytes from the operating system, each later key by which publications are signed
    VAULT/seeds/NAME          32 bytes from the operating system, one root seed for a plan on the same data
    VAULT/objects/SHA256.EXT  what was kept, named by its content
    VAULT/scratch/            files being written
    VAULT/anchor              the last row of the ledger
    VAULT/anchor.checkpoint   the row up to which all was verified
    VAULT/anchor.index        its rows without their bodies, where there are thousands; made anew where it is lost
    VAULT/format              the number of this layout; in a vault from before it was written there is none

Directories have mode 0700 and files 0600: the records in it may be read by the account that runs releases alone.
"""

import hmac
import os
import re
import secrets
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from sluice.ground.durable import create_once, disk_of, locked, make_folder, sha256_of, sync_folder, write_new
from sluice.ground.errors import DataError, SluiceError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

FORMAT = 1  # of the layout above
SECRET_BYTES = 32
PSEUDONYM_BYTES = 16
FOREIGN_SCRATCH_AGE = 3600  # seconds without a write after which another machine's scratch file is taken as left over
OWN_SCRATCH_AGE = 86400  # the same where a process of its number lives here: the number may be another program's by now

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
_SUFFIX = re.compile(r"(\.[a-z0-9]+)*")
_SHA256 = re.compile(r"[0-9a-f]{64}")


class Vault:
    def __init__(self, path: Path) -> None:
        """Open the vault, making it where there is none; scratch files of runs that were killed are removed.

        A vault from before its format was written has the same layout, and from now on says so.

        raises : SluiceError when others can read it, its secret is lost or a later Sluice made it; DataError when the
                 disk is full
        """
        self.root = path
        with disk_of("the vault's disk"):
            make_folder(path, 0o700)
            _refuse_open_to_others(path)
            self._refuse_later_format()
            self._secret = self._open_secret()
            for folder in (self._seeds, self.objects, self._scratch):
                make_folder(folder, 0o700)
        self._remove_left_over()

    @property
    def anchor(self) -> Path:
        """Where the ledger's anchor lies."""
        return self.root / "anchor"

    @property
    def is_in_use(self) -> bool:
        """Whether anything was kept in it, and so recorded in a ledger, before."""
        return any(self._seeds.iterdir()) or any(self.objects.iterdir())

    @property
    def _seeds(self) -> Path:
        return self.root / "seeds"

    @property
    def objects(self) -> Path:
        """The folder of the store."""
        return self.root / "objects"

    @property
    def keeping(self) -> Path:
        """The lock that is shared while an object is put into the store, and held alone while one is taken out."""
        return self.root / "keeping.lock"

    @property
    def _scratch(self) -> Path:
        return self.root / "scratch"

    def _refuse_later_format(self) -> None:
        """What a later Sluice keeps elsewhere, this one would not find, and might make anew: a seed, or a secret."""
        file = self.root / "format"
        written = create_once(file, f"{FORMAT}\n".encode()).decode("ascii", "replace").strip()
        if not (written.isascii() and written.isdigit()):
            raise SluiceError(f"{file} must hold the number of the vault's format. Restore it from the backup.")
        if int(written) > FORMAT:
            raise SluiceError(
                f"{self.root} has format {written}, of a later Sluice than this, which knows {FORMAT}. "
                "Install the later one again."
            )

    # -- secrets

    def _open_secret(self) -> bytes:
        file = self.root / "secret"
        if self.objects.exists() and not file.exists():
            # A new secret would change every pseudonym and make the whole ledger look forged.
            raise SluiceError(f"{file} is missing from a vault that was in use. Restore it from the backup.")
        secret = create_once(file, secrets.token_bytes(SECRET_BYTES))
        _refuse_open_to_others(file)
        if len(secret) != SECRET_BYTES:
            raise SluiceError(f"{file} must hold {SECRET_BYTES} bytes; it holds {len(secret)}. Restore the backup.")
        return secret

    def ledger_key(self) -> bytes:
        """The key of the ledger's hashes: 32 bytes, the same at every opening of this vault."""
        return hmac.digest(self._secret, b"ledger", "sha256")

    def signing_key(self, number: int = 1, draw: bool = False) -> Ed25519PrivateKey:
        """A key by which this installation signs what it publishes, the same at every opening of this vault.

        number : the first follows from the secret; each later one is drawn from the operating system, so that whoever
                 copied the secret before does not have it
        draw   : make a later one where there is none
        raises : SluiceError where it is lost or damaged
        """
        if number == 1:
            return Ed25519PrivateKey.from_private_bytes(hmac.digest(self._secret, b"publication", "sha256"))
        file = self.root / "publisher" / str(number)
        if draw:
            with disk_of("the vault's disk"):
                make_folder(file.parent, 0o700)
                create_once(file, secrets.token_bytes(SECRET_BYTES))
        content = file.read_bytes() if file.exists() else b""
        if len(content) != SECRET_BYTES:
            raise SluiceError(f"{file} is missing or damaged. Restore it from the backup.")
        return Ed25519PrivateKey.from_private_bytes(content)

    def pseudonym(self, name: str, value: str) -> str:
        """A keyed hash that stands for `value` of the variable `name`: 32 hexadecimal digits (128 bits).

        The same at every call on this vault, another for another variable or vault. Without the vault's secret it
        can neither be turned back nor be tried out over a list of values. HMAC-SHA256 (RFC 2104), truncated.
        """
        key = hmac.digest(self._secret, b"pseudonym\0" + name.encode(), "sha256")
        return hmac.digest(key, value.encode(), "sha256")[:PSEUDONYM_BYTES].hex()

    def record_keys(self, keys: Sequence[str]) -> "npt.NDArray[np.uint64]":
        """Shape (n,): 64 bits for each record, by a keyed hash of what names it; as secret as a seed.

        cost : about a microsecond a record
        """
        key = hmac.digest(self._secret, b"records", "sha256")
        hashes = b"".join(hmac.digest(key, text.encode(), "sha256")[:8] for text in keys)
        import numpy as np  # who asks the ledger for something need not wait for it

        return np.frombuffer(hashes, dtype="<u8").astype(np.uint64)

    # -- seeds

    def seed(self, name: str) -> "np.random.SeedSequence":
        """The root seed of this name, drawn from the operating system once: a rerun makes the same bytes.

        raises : SluiceError when the seed was destroyed, is damaged, or `name` is no plain name
        """
        file = self._seeds / _plain(name)
        with disk_of("the vault's disk"):
            self._refuse_destroyed(name)
            entropy = create_once(file, secrets.token_bytes(SECRET_BYTES))
        if _tombstone_of(file).exists():  # destroyed by another process meanwhile
            file.unlink(missing_ok=True)
            self._refuse_destroyed(name)
        if len(entropy) != SECRET_BYTES:
            raise SluiceError(f"the seed '{name}' is damaged: {len(entropy)} bytes, not {SECRET_BYTES}.")
        import numpy as np

        return np.random.SeedSequence(int.from_bytes(entropy, "big"))

    def has_seed(self, name: str) -> bool:
        """Whether the seed of this name was drawn in this vault, or drawn and destroyed."""
        file = self._seeds / _plain(name)
        return file.exists() or _tombstone_of(file).exists()

    def holds_seed(self, name: str) -> bool:
        """Whether the seed of this name lies here, whatever is said of it."""
        return (self._seeds / _plain(name)).exists()

    def destroy_seed(self, name: str) -> None:
        """Forget the seed of this name for good: nobody can make its file again, or take the noise off it."""
        file = self._seeds / _plain(name)
        with disk_of("the vault's disk"):
            create_once(_tombstone_of(file), b"destroyed\n")  # first, so that no rerun draws a second seed
            file.unlink(missing_ok=True)
            sync_folder(self._seeds)

    def _refuse_destroyed(self, name: str) -> None:
        if _tombstone_of(self._seeds / name).exists():
            raise SluiceError(f"the seed '{name}' was destroyed; what was made from it cannot be made again.")

    # -- files

    @contextmanager
    def scratch(self, suffix: str = "") -> Iterator[Path]:
        """A private empty file to write to; gone at the end, unless `keep` took it.

        raises : DataError when the disk is full, also from within the block
        """
        mark = f"{socket.gethostname()}~{os.getpid()}~{secrets.token_hex(8)}"
        path = self._scratch / f"{mark}{_checked(suffix, _SUFFIX, 'suffix')}"
        with disk_of("the vault's disk"):
            try:
                os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
                yield path
            finally:
                path.unlink(missing_ok=True)

    def keep(self, path: Path, suffix: str = "") -> str:
        """Move a scratch file into the store; returns its SHA-256. Keeping equal bytes twice keeps them once.

        path : on the vault's disk, as `scratch` gives it
        cost : one pass over the file
        """
        _checked(suffix, _SUFFIX, "suffix")
        with disk_of("the vault's disk"):
            path.chmod(0o600)
            with path.open("rb") as file:
                sha256 = sha256_of(file)
                os.fsync(file.fileno())
            os.utime(path)  # kept now, however long it took to write
            with locked(self.keeping, shared=True):
                path.replace(self.objects / f"{sha256}{suffix}")
            sync_folder(self.objects)
        return sha256

    def keep_bytes(self, content: bytes, suffix: str = "") -> str:
        """Put `content` into the store; returns its SHA-256."""
        with self.scratch(suffix) as path:
            path.unlink()
            write_new(path, content, 0o600)
            return self.keep(path, suffix)

    def path(self, sha256: str, suffix: str = "") -> Path:
        """Where the object lies. Raises DataError when it is not in the store. Its content is not looked at."""
        checked = _checked(sha256, _SHA256, "SHA-256") + _checked(suffix, _SUFFIX, "suffix")
        path = self.objects / checked
        if not path.is_file():
            raise DataError(f"the vault holds no object {checked}.")
        return path

    @contextmanager
    def open_verified(self, sha256: str, suffix: str = "") -> Iterator[BinaryIO]:
        """The object, open for reading at its start, after its bytes were hashed again.

        raises : DataError when it is not in the store or is not what it was
        """
        with self.path(sha256, suffix).open("rb") as file:
            if sha256_of(file) != sha256:
                raise DataError(f"object {sha256}{suffix} of the vault was changed or damaged: its hash differs.")
            file.seek(0)
            yield file

    def verify(self, sha256: str, suffix: str = "") -> Path:
        """Where the object lies, after its bytes were hashed again. Raises as `open_verified` does."""
        with self.open_verified(sha256, suffix):
            return self.path(sha256, suffix)

    def _remove_left_over(self) -> None:
        for path in self._scratch.iterdir():
            try:
                age = time.time() - path.stat().st_mtime
                if _is_left_over(path.name, age):
                    path.unlink()
            except FileNotFoundError:  # its run ended meanwhile
                continue


def _is_left_over(name: str, age: float) -> bool:
    host, _, rest = name.partition("~")
    number = rest.partition("~")[0]
    if host != socket.gethostname() or not number.isdigit():
        return age > FOREIGN_SCRATCH_AGE
    try:
        os.kill(int(number), 0)  # signal 0 asks whether the process lives
    except ProcessLookupError:
        return True
    except PermissionError:
        pass  # it lives, under another account
    return int(number) != os.getpid() and age > OWN_SCRATCH_AGE


def _refuse_open_to_others(path: Path) -> None:
    mode = path.stat().st_mode & 0o777
    if mode & 0o077:
        wanted = "0700" if path.is_dir() else "0600"
        raise SluiceError(f"{path} must be closed to other accounts; its mode is 0{mode:o}. Run: chmod {wanted} {path}")


def _tombstone_of(seed: Path) -> Path:
    return seed.with_name(f"{seed.name}~destroyed")  # '~' is in no seed's name


def _plain(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise SluiceError(f"name of a seed must be letters, digits, '.', '_' and '-', up to 200; got {name!r}")
    return name


def _checked(text: str, form: re.Pattern[str], what: str) -> str:
    if not form.fullmatch(text):
        raise SluiceError(f"{what} of a vault object must match {form.pattern}; got {text!r}")
    return text
