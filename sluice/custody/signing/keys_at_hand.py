"""The keys that whoever runs a command has at hand, in `~/.ssh` and in the SSH agent; and key pairs for those who have
none: Ed25519, in the format of OpenSSH, so that git and `ssh-keygen` read them, too.
"""

import pwd
import shutil
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from sluice.custody.signing.public_key import PublicKey
from sluice.ground.durable import make_folder, write_new
from sluice.ground.errors import SluiceError


@dataclass(frozen=True)
class KeyAtHand:
    key: PublicKey
    file: Path | None  # the .pub file in ~/.ssh; None: only the agent has it
    in_agent: bool

    @property
    def private(self) -> Path | None:
        """The private key's file, where there is one."""
        beside = self.file.with_suffix("") if self.file else None
        return beside if beside and beside.exists() else None

    @property
    def can_sign(self) -> bool:
        """Whether its private part is at hand: the .pub file of somebody else is not."""
        return self.in_agent or self.private is not None

    def __str__(self) -> str:
        return str(self.private or self.file or f"{self.key.fingerprint} in the SSH agent")


def keys_at_hand() -> list[KeyAtHand]:
    """Each once, those of `~/.ssh` first. What is no key, or of a kind that is refused, is passed over."""
    files, agent = _in_files(Path.home()), _in_agent()
    return [KeyAtHand(key, files.get(key), key in agent) for key in dict.fromkeys([*files, *agent])]


def keys_of_account(account: str) -> list[KeyAtHand]:
    """The keys of another account, as far as this one may see them; they are for the roster, not to sign by."""
    try:
        home = Path(pwd.getpwnam(account).pw_dir)
    except KeyError:  # no such account here
        return []
    return [KeyAtHand(key, file, in_agent=False) for key, file in _in_files(home).items()]


def _in_files(home: Path) -> dict[PublicKey, Path]:
    files: dict[PublicKey, Path] = {}
    with suppress(OSError):  # the folder is closed to us
        for file in sorted((home / ".ssh").glob("*.pub")):
            with suppress(OSError, UnicodeDecodeError):
                for key in _keys([file.read_text(encoding="utf-8")]):
                    files.setdefault(key, file)
    return files


def _in_agent() -> list[PublicKey]:
    try:
        listed = subprocess.run(["ssh-add", "-L"], capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout
    except OSError:  # not installed
        return []
    return _keys(listed.splitlines())


def _keys(lines: Iterable[str]) -> list[PublicKey]:
    found = []
    for line in lines:
        try:
            found.append(PublicKey.parse(line))
        except SluiceError:
            continue
    return found


def make_key_pair(file: Path, comment: str, passphrase: bool = False) -> PublicKey:
    """Make a key pair: the private key in `file`, for its owner alone, the public key in `file`.pub.

    comment    : of the public key, for people; counts for nothing
    passphrase : let `ssh-keygen` make it, which asks for one on the terminal; else the private key has none
    raises     : SluiceError where either file exists, or there is no `ssh-keygen` to ask for a passphrase
    """
    public_file = file.with_name(f"{file.name}.pub")
    for each in (file, public_file):
        if each.exists() or each.is_symlink():
            raise SluiceError(f"{each} exists; a key is never overwritten. Name another file.")
    make_folder(file.parent, 0o700)
    if passphrase:
        _let_ssh_keygen(file, comment)
        return PublicKey.parse(public_file.read_text(encoding="utf-8"))
    private = Ed25519PrivateKey.generate()
    public = PublicKey.of(private.public_key())
    try:
        write_new(file, private.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()), 0o600)
        write_new(public_file, f"{public.line} {comment}\n".encode(), 0o644)
    except FileExistsError as error:  # it came in between
        raise SluiceError(f"{error.filename} exists; a key is never overwritten. Name another file.") from None
    return public


def _let_ssh_keygen(file: Path, comment: str) -> None:
    program = shutil.which("ssh-keygen")
    if program is None:
        raise SluiceError(
            "only `ssh-keygen` asks for a passphrase, and it is not installed (package openssh-client). Without "
            "--passphrase the key is protected by the file's permissions alone"
        )
    if subprocess.run([program, "-q", "-t", "ed25519", "-C", comment, "-f", str(file)]).returncode:
        raise SluiceError(f"{file}: ssh-keygen made no key")
