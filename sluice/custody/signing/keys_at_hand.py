"""The keys that whoever runs a command has at hand: in `~/.ssh` and in the SSH agent."""

import pwd
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sluice.custody.signing.public_key import PublicKey
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
