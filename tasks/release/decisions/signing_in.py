"""Signing in: who decides something that the ledger keeps, known by a signature, an account or a typed name."""

import json
import os
import pwd
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from policies.acts import KNOWN_BY
from policies.people import Identity, Roster, at_least
from sluice.custody.signing.allowed_signers import AllowedSigner
from sluice.custody.signing.envelope import CLOCK_SKEW, Envelope, Statement, parse_statement
from sluice.custody.signing.keys_at_hand import KeyAtHand, keys_at_hand
from sluice.custody.signing.ssh_signature import SCHEME, signed_by_file, signed_by_token
from sluice.custody.vault import Vault
from sluice.ground.errors import SluiceError
from sluice.ground.visible_text import as_prose

_LOGIN = Path("/proc/self/loginuid")  # Linux: who logged in; sudo and su leave it as it is, and only root can change it

_PROCESSES = Path("/proc")
_NOBODY = 2**32 - 1  # what it says of a service
_LONGEST = timedelta(days=7)  # between a signature and the record of it

Predicate = Callable[[str, str, str], dict[str, Any]]
"""What is signed, by the comment, the time and the comment's salt."""


@dataclass(frozen=True)
class Credentials:
    """How whoever runs a command lets it be known who acts."""

    declared: str | None = None  # a name that was typed
    key: Path | None = None  # sign by this key: its file, or where it lies in a token
    envelope: str | None = None  # what was signed elsewhere
    to_sign: bool = False  # give what is to be signed, and record nothing
    signed_on: str | None = None  # who is known to be there otherwise: nobody else's act is recorded


@dataclass(frozen=True)
class Said:
    """Who acts, and what the ledger keeps of how that is known."""

    person: str
    body: dict[str, Any]


@dataclass(frozen=True)
class Request:
    """A statement for somebody to sign elsewhere."""

    payload: bytes


def act(
    roster: Roster,
    asked: Identity,
    credentials: Credentials,
    predicate_type: str,
    predicate: Predicate,
    files: Mapping[str, str],
    comment: str,
    vault: Vault,
) -> Said | Request:
    """Who acts, by `credentials`, known at least by what is `asked`.

    predicate_type, predicate, files : what is signed, and about what: name -> SHA-256
    vault                            : whose secret salts the comment: the same for a statement that is signed elsewhere
    raises                           : SluiceError for who is not on the roster, cannot be known so, or has no key here
    """

    def statement(at: str) -> Statement:
        return Statement.about(files, predicate_type, predicate(comment, at, salt(at)))

    def salt(at: str) -> str:
        return vault.pseudonym("comment", f"{at}\n{comment}")

    at = datetime.now(UTC).isoformat(timespec="microseconds")  # of one person's acts, the order in which they were said
    if credentials.to_sign:
        return Request(statement(at).payload())
    envelope = None
    if credentials.envelope is not None:
        envelope = Envelope.from_json(credentials.envelope)
        at = _signed_at(envelope, statement)
    elif credentials.key is not None or (asked == "key" and credentials.declared is None):
        with _signing_key(credentials.key, roster) as key:
            envelope = Envelope.sign(statement(at).payload(), lambda message: _signed_by(message, key))
    if envelope is not None:
        signers = {roster.by_key(key) for key in envelope.signed_by()} - {None}
        if len(signers) != 1:
            whose = "of several people of the roster: each signs alone" if signers else "of nobody on the roster"
            raise SluiceError(f"it bears the signature {whose}. On it: {_listed(roster)}")
        person, identity = str(signers.pop()), "key"
    else:
        person, identity = _by_name(roster, asked, credentials.declared)
    if credentials.signed_on not in (None, person):
        raise SluiceError(
            f"this was signed by '{person}', and '{credentials.signed_on}' is signed on: each signs for themselves"
        )
    if not roster.people[person].counts(datetime.now(UTC)):
        raise SluiceError(f"'{person}' is on the roster, but not at this time")
    said = {"comment": comment, "salt": salt(at), "said_at": at}
    body: dict[str, Any] = {"identity": identity, "account": account(), **said}
    return Said(person, body | ({"envelope": envelope.as_json()} if envelope else {}))


def refuse_unverifiable(said: Said, keys: Sequence[AllowedSigner]) -> None:
    """Raise SluiceError for what was signed at a time when its key did not count: nobody outside would believe it.

    keys : all that ever counted
    """
    if "envelope" not in said.body:
        return
    signed_by, at = Envelope.from_json(json.dumps(said.body["envelope"])).signed_by(), said.body["said_at"]
    if not any(each.key in signed_by and each.holds(datetime.fromisoformat(at)) for each in keys):
        raise SluiceError(f"it was signed at {at}, when its key did not count here yet; sign it again")


def refuse_unseen(field: str, text: str) -> None:
    """Raise SluiceError for words that would not be what they look like to whoever reads them years later."""
    try:
        as_prose(text)
    except ValueError as error:
        raise SluiceError(str(error), field=field) from None


def sign(payload: bytes, key: Path | None) -> Envelope:
    """The envelope over a statement, signed by this key, or by the one key that is at hand."""
    parse_statement(payload)
    with _signing_key(key, None) as found:
        return Envelope.sign(payload, lambda message: _signed_by(message, found))


def _signed_at(envelope: Envelope, expected: Callable[[str], Statement]) -> str:
    """The time of a statement that was signed elsewhere. Raises SluiceError unless it says what is recorded.

    expected : what it must say, by its time
    """
    statement = envelope.statement()
    at = str(statement.predicate.get("at"))
    try:
        age = datetime.now(UTC) - datetime.fromisoformat(at)
    except (ValueError, TypeError):
        raise SluiceError("the time of what was signed is not a time in UTC") from None
    if not -CLOCK_SKEW <= age <= _LONGEST:
        raise SluiceError(f"it was signed at {at}; a signature must be recorded within {_LONGEST.days} days")
    if statement != expected(at):
        raise SluiceError(
            "what was signed is not what this command records: it names another release, decision, document, file or "
            "--comment"
        )
    return at


def _by_name(roster: Roster, asked: Identity, declared: str | None) -> tuple[str, Identity]:
    """The person on the roster whose account or typed name this is."""
    identity: Identity = "account" if declared is None else "declared"
    person = roster.by_account(account()) if declared is None else roster.person(declared)
    if not at_least(identity, asked):
        how = "sign with --key" if asked == "key" else "run the command under the person's own account"
        raise SluiceError(f"here people are known by {KNOWN_BY[asked]}, not by --as; {how}")
    if person is None:
        hint = "" if declared is not None else ". Run the command under the account that the roster gives you"
        if declared is None and asked == "declared":
            hint += ", or say who you are with --as"
        raise SluiceError(f"'{declared or account()}' is not on the roster. On it: {_listed(roster)}{hint}")
    runs = roster.by_account(account())
    if runs not in (None, person):
        raise SluiceError(f"this is the account of '{runs}', in which nobody else is believed to act")
    return person, identity


def _signed_by(message: bytes, key: Path) -> str:
    return signed_by_token(message, str(key)) if str(key).startswith(SCHEME) else signed_by_file(message, key)


@contextmanager
def _signing_key(named: Path | None, roster: Roster | None) -> Iterator[Path]:
    """The key to sign by: the one that is named, or the one of `~/.ssh` and the agent that is on the roster."""
    if named is not None:
        yield named.expanduser()
        return
    able = [each for each in keys_at_hand() if each.can_sign and (roster is None or roster.by_key(each.key))]
    whose = [roster.by_key(each.key) if roster else each.key.line for each in able]
    if len(set(whose)) != 1:
        raise SluiceError(_no_one_key(able, whose if roster else []))
    chosen = next((each for each in able if each.private), able[0])
    if place := chosen.private or chosen.file:
        yield place
        return
    with tempfile.TemporaryDirectory(prefix="sluice-key-") as folder:  # ssh-keygen finds the agent's key by a file
        file = Path(folder) / "agent.pub"
        file.write_text(f"{chosen.key.line}\n", encoding="ascii")
        yield file


def _no_one_key(able: Sequence[KeyAtHand], whose: Sequence[str | None]) -> str:
    """Why it does not follow from the keys at hand who acts, and what to do."""
    if able:
        people = [f" ({person})" for person in whose] or [""] * len(able)
        listed = ", ".join(f"{each}{person}" for each, person in zip(able, people, strict=True))
        return f"several keys are at hand: {listed}. Name yours with --key"
    return (
        "people are known by their signature here, and none of the keys in ~/.ssh and in the SSH agent is one of "
        "somebody on the roster. Name another with --key. If yours is on another machine or in another account: write "
        "what is to be signed with --to-sign, sign that with `sluice sign`, and give the result with --envelope. Who "
        "has no key: sluice key new"
    )


def _listed(roster: Roster) -> str:
    return ", ".join(roster.people)


def read_text(place: str) -> str:
    """The text in a file, or on standard input for '-'."""
    if place == "-":
        return sys.stdin.read()
    try:
        return Path(place).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SluiceError(f"{place}: cannot be read ({getattr(error, 'strerror', None) or 'not UTF-8 text'})") from None


def account() -> str:
    """The operating-system account of whoever runs this process; read from the system, never from the environment.

    Only the vault's owner can open the vault, so people run commands as that account, through sudo: then it is the
    account that they logged in with. Without a login (a service, a container) it is the account of the process.
    """
    try:
        return pwd.getpwuid(int(_LOGIN.read_text())).pw_name
    except (OSError, ValueError, OverflowError, KeyError):  # no such file; nobody logged in, or nobody known here
        return pwd.getpwuid(os.geteuid()).pw_name


def acts_for_another() -> bool:
    """Whether this process has the rights of another account than that of whoever began it: by sudo, doas or su.

    By what the system knows of the login, and of the processes from which this one comes: `su` runs under the account
    of whoever called it. What sudo and doas leave in the environment can only take rights away. What systemd-run or
    setpriv begin at root's order comes from root, who may do it all anyway.
    """
    return any(number not in (os.geteuid(), _NOBODY) for number in _began())


def _began() -> Iterator[int]:
    """Numbers of the accounts that this process may come from."""
    if (said := os.environ.get("SUDO_UID", "")).isdigit():
        yield int(said)
    with suppress(KeyError):
        yield pwd.getpwnam(os.environ.get("DOAS_USER", "")).pw_uid
    with suppress(OSError, ValueError):
        yield int(_LOGIN.read_text())
    process, own = os.getppid(), os.getpid()
    while process > 0 and process != own:
        try:
            lines = (_PROCESSES / str(process) / "status").read_text("utf-8", errors="replace").splitlines()
        except OSError:  # the system hides others' processes, or has no such folder
            return
        said_of = dict(line.split(":", 1) for line in lines if ":" in line)
        account, own, process = int(said_of["Uid"].split()[0]), process, int(said_of["PPid"])
        if account != 0:  # every process comes from one of root's
            yield account
