"""The public keys by which an outsider verifies: a file of allowed signers, as `ssh-keygen -Y verify` reads it.

A line is `NAME[,NAME...] [OPTIONS] KIND BASE64 [COMMENT]`; the options `valid-after`, `valid-before` and `namespaces`
count, certificate authorities are refused (OpenSSH, ssh-keygen(1), ALLOWED SIGNERS).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from pathlib import Path

from sluice.custody.signing.public_key import KINDS, PublicKey
from sluice.custody.signing.ssh_signature import NAMESPACE
from sluice.ground.errors import DocumentError, SluiceError

PUBLISHER = "publisher"  # the name of an installation, which signs what it publishes; no person has it

_LINE = re.compile(
    rf"(?P<names>\S+)\s+(?:(?P<options>\S.*?)\s+)?(?P<key>(?:{'|'.join(map(re.escape, KINDS))})\s+\S+)(\s.*)?"
)
_OPTION = r'(namespaces|valid-after|valid-before)="([^"\\]*)"'
_OPTIONS = re.compile(rf"(?:{_OPTION}(?:,(?!$)|$))*")
_ENDS_A_LINE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")  # for one program or another; a tab is a blank
_TIME = re.compile(r"(\d{8})(\d{4})?(\d{2})?(Z?)")


@dataclass(frozen=True)
class AllowedSigner:
    """A key, whose it is, and when it holds."""

    names: tuple[str, ...]
    key: PublicKey
    after: datetime | None = None
    before: datetime | None = None

    def holds(self, at: datetime) -> bool:
        return (self.after is None or at >= self.after) and (self.before is None or at < self.before)

    @property
    def line(self) -> str:
        """The line that `parse_allowed_signers` reads; times in UTC, of whole seconds that hold the whole time."""
        options = [f'namespaces="{NAMESPACE}"']
        options += [f'valid-after="{self.after.astimezone(UTC):%Y%m%d%H%M%S}Z"'] if self.after else []
        end = self.before and self.before.astimezone(UTC) + timedelta(microseconds=999_999)
        options += [f'valid-before="{end:%Y%m%d%H%M%S}Z"'] if end else []
        return f"{','.join(self.names)} {','.join(options)} {self.key.line}"


def signer_name(person: str) -> str:
    """A person's name as a file of allowed signers can hold it: without blanks."""
    return "-".join(person.split())


def read_allowed_signers(path: Path) -> list[AllowedSigner]:
    """The keys in a file. Raises DocumentError, naming the line, for whatever `ssh-keygen` would read otherwise."""
    try:
        text = path.read_bytes().decode("utf-8").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError) as error:
        raise DocumentError(
            f"{path}: cannot be read ({getattr(error, 'strerror', None) or 'not UTF-8 text'})"
        ) from None
    return parse_allowed_signers(text.split("\n"), str(path))


def parse_allowed_signers(lines: Sequence[str], name: str) -> list[AllowedSigner]:
    """The keys in the lines of a file that is called `name` in errors. Raises DocumentError."""
    found = []
    for number, line in enumerate(lines, 1):
        if _ENDS_A_LINE.search(line):  # a comment could have a key of its own in it
            raise DocumentError(f"{name}: line {number}: holds a character that nobody sees, or that ends a line")
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            signer = _signer(line.strip())
        except SluiceError as error:
            raise DocumentError(f"{name}: line {number}: {error}") from None
        found += [signer] if signer else []
    return found


def _signer(line: str) -> AllowedSigner | None:
    """None for a key that is allowed for other namespaces only."""
    match = _LINE.fullmatch(line)
    if match is None:
        raise SluiceError(f"must be NAME [OPTIONS] KIND KEY, of the kind {', '.join(KINDS)}")
    written = match["options"] or ""
    found = re.findall(_OPTION, written)
    options = dict(found)
    if not _OPTIONS.fullmatch(written) or len(options) != len(found):
        raise SluiceError(
            f'the options {written} are not understood; known: namespaces="...", valid-after="...", '
            'valid-before="...", each once, with a comma between them'
        )
    namespaces = options.get("namespaces", NAMESPACE).split(",")
    if any(each.startswith("!") for each in namespaces):
        raise SluiceError("namespaces must be plain, or with * and ?: those that are excluded are not understood")
    if not any(fnmatchcase(NAMESPACE, each) for each in namespaces):
        return None
    names = tuple(match["names"].strip('"').split(","))
    if any(set(each) & set("*?!") for each in names):
        raise SluiceError("names must be plain: a pattern would let one key stand for several people")
    after, before = (_time(options[each]) if each in options else None for each in ("valid-after", "valid-before"))
    return AllowedSigner(names, PublicKey.parse(match["key"]), after, before)


def _time(text: str) -> datetime:
    """A time of the file, which is local unless it ends in Z."""
    match = _TIME.fullmatch(text)
    if match is None:
        raise SluiceError("a time must be YYYYMMDD[HHMM[SS]][Z]")
    day, minute, second, utc = match[1], match[2] or "0000", match[3] or "00", match[4]
    try:
        found = datetime.strptime(f"{day}{minute}{second}", "%Y%m%d%H%M%S")
    except ValueError:
        raise SluiceError("a time must be YYYYMMDD[HHMM[SS]][Z]") from None
    return found.replace(tzinfo=UTC) if utc else found.astimezone()
