"""Verification by an outsider: whether a published folder is what its publisher and the people who decided signed.

Nothing is needed but the folder and a file of allowed signers: no vault, no ledger, no network. A folder without
problems holds the files that were signed and no others. What is believed: that the keys were in the right hands, and
the times in what was signed, unless an authority stamped them.
"""

import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from cryptography.x509 import Certificate
from pydantic import ValidationError

from sluice.custody.shelf import CHECKSUMS, NOTICES, compare, read_checksums, tombstone_of
from sluice.custody.signing.allowed_signers import PUBLISHER, AllowedSigner, signer_name
from sluice.custody.signing.envelope import CLOCK_SKEW, Envelope, Statement
from sluice.custody.states import DECISION_PREDICATE
from sluice.ground.errors import DataError, SluiceError
from sluice.publication.attestation import (
    ATTESTATION,
    PREDICATE,
    VerificationSummary,
    describes,
    digest_of,
    stamped_at,
)
from sluice.publication.catalogue_of_shelf import EditionNotice, read_notice
from sluice.publication.manifest import read_manifest

MANIFEST, STAMP = "manifest.json", "manifest.tsr"

_MOST_BYTES = 16 << 20  # of a file that is parsed; the data are only hashed


@dataclass
class VerifiedFolder:
    """What was found. The summary is to be believed only where there are no problems."""

    summary: VerificationSummary | None = None
    signed_by: list[str] = field(default_factory=list)  # whose decisions bear their own signature
    stamped: datetime | None = None  # by an authority; None: there is no stamp, or no certificates to check it by
    files: dict[str, str] = field(default_factory=dict)  # name -> SHA-256 of the data files
    notices: list[EditionNotice] = field(default_factory=list)  # that it is no longer current; nobody signed them
    problems: list[str] = field(default_factory=list)


def verify_folder(
    folder: Path,
    signers: Sequence[AllowedSigner],
    *,
    release: str | None = None,
    people: int | None = None,
    unsigned: bool = False,
    certificates: Sequence[Certificate] | None = None,
) -> VerifiedFolder:
    """Hold a published folder against its signatures.

    release      : the release that it should be; by default the one that the folder is named after, as it was asked for
                   and not where a link leads to, so that another one, however genuine, does not pass in its place
    people       : how many must have signed their approval, at least; by default one, or none where `unsigned`
    unsigned     : believe the publisher about approvals that are not signed
    certificates : of the time-stamping authority; with them there must be a stamp
    cost         : one pass over the files, and some 0.2 ms for each signature
    """
    found = VerifiedFolder()
    if not folder.is_dir():
        gone = "; a notice in its place, which nobody signed, says that it was withdrawn"
        found.problems.append(f"no folder is there{gone if tombstone_of(folder).is_file() else ''}")
        return found
    try:
        checked = _checked_files(folder, found.problems)
        found.summary = _attested(folder, checked, signers, found, certificates)
        _read_notices(folder, found)
        _check_release(found.summary, release or Path(os.path.normpath(folder.absolute())).name, found.problems)
        _check_manifest(folder, found.summary, checked, found)
        _check_decisions(folder, found.summary, checked, signers, found)
    except SluiceError as error:  # without this nothing that follows means anything
        found.problems.append(str(error))
        return found
    unsaid = [each.who for each in found.summary.decided_by if each.who not in found.signed_by]
    if unsaid and not unsigned:
        found.problems.append(f"the publisher alone says that {' and '.join(unsaid)} approved: there is no signature")
    needed = people if people is not None else 0 if unsigned else 1
    if len(found.signed_by) < needed:
        found.problems.append(f"too few people signed their approval: {len(found.signed_by)} of at least {needed}")
    return found


def _checked_files(folder: Path, problems: list[str]) -> dict[str, str]:
    """Name -> SHA-256 of all files but the checksums, which were compared with them."""
    listed = read_checksums(_content(folder, CHECKSUMS))
    compared = compare(folder, listed, [CHECKSUMS, *NOTICES])
    problems += [*compared.problems, *compared.unread]
    return listed


def _read_notices(folder: Path, found: VerifiedFolder) -> None:
    """What lies beside the signed files is a notice in its one form, or does not belong there."""
    assert found.summary is not None
    for file in NOTICES:
        if os.path.lexists(folder / file):
            try:
                found.notices.append(read_notice(_content(folder, file), found.summary.release))
            except DataError as error:
                found.problems.append(f"{file} {str(error).removeprefix(f'{file} ')}")


def _content(folder: Path, file: str) -> bytes:
    """What a file holds that is small. Raises DataError when it is not there, no plain file or too large."""
    path = folder / file
    try:
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode):
            raise DataError(f"{file} is not a plain file")
        if status.st_size > _MOST_BYTES:
            raise DataError(f"{file} is longer than {_MOST_BYTES >> 20} MiB")
        return path.read_bytes()
    except OSError as error:
        raise DataError(f"{file} cannot be read ({error.strerror})") from None


def _attested(
    folder: Path,
    checked: Mapping[str, str],
    signers: Sequence[AllowedSigner],
    found: VerifiedFolder,
    certificates: Sequence[Certificate] | None,
) -> VerificationSummary:
    """The publisher's summary, after its signature was verified and its files were held against the folder's."""
    envelope, statement = _signed(folder, ATTESTATION, PREDICATE)
    try:
        summary = VerificationSummary.model_validate(statement.predicate)
        at = _time(summary.at)
    except (ValidationError, ValueError):
        raise DataError(f"{ATTESTATION} holds no verification summary in the form of this version") from None
    if certificates is not None:
        try:
            stamp, manifest = _content(folder, STAMP), _content(folder, MANIFEST)
            at = found.stamped = stamped_at(stamp, manifest, certificates)
        except DataError as error:
            found.problems.append(f"{STAMP} {str(error).removeprefix(f'{STAMP} ')}")
    _whose(envelope, [PUBLISHER], signers, at, ATTESTATION)
    others = {file: sha256 for file, sha256 in checked.items() if file != ATTESTATION}
    for file in sorted(others.keys() | statement.files.keys()):
        if others.get(file) != statement.files.get(file):
            was = "is not the file that was signed" if file in statement.files else "was not signed"
            found.problems.append(f"{file} {was if file in others else 'was signed, and is missing'}")
    if digest_of(summary.reviewed) != summary.digest:
        found.problems.append(f"{ATTESTATION}: its digest is not that of what was reviewed")
    for name, judged_by in (("policy", summary.policy), ("contract", summary.contract)):
        if summary.reviewed.get(name) != judged_by.sha256:
            found.problems.append(f"{ATTESTATION}: what was reviewed was judged by another {name}")
    return summary


def _check_release(summary: VerificationSummary, wanted: str, problems: list[str]) -> None:
    if summary.release != wanted:
        problems.append(f"this is the release {summary.release}, not {wanted}")


def _check_manifest(
    folder: Path, summary: VerificationSummary, checked: Mapping[str, str], found: VerifiedFolder
) -> None:
    """Whether the manifest says the same as the summary, and lists the data files as they are."""
    manifest = _manifest(folder)
    said: dict[str, Any] = {
        "release": summary.release,
        "verdict": summary.verdict,
        "policy": {"name": summary.policy.name, "version": summary.policy.version},
        "dataset": summary.contract.name,
        "contract_version": summary.contract.version,
        "approvals": [each.model_dump(mode="json") for each in summary.decided_by],
        "series": summary.series.release if summary.series else None,
    }
    differ = [name for name, value in said.items() if manifest.get(name) != value]
    differ += [] if _waived(manifest) == list(summary.waived) else ["waived rules"]
    accepted = [each.model_dump(mode="json") for each in summary.accepted]
    differ += [] if _accepted(manifest) == accepted else ["accepted findings"]
    hashes = manifest.get("hashes")
    differ += [
        f"hashes of {name}"
        for name, sha256 in summary.reviewed.items()
        if isinstance(hashes, dict) and name in hashes and hashes[name] != sha256
    ]
    found.problems += [f"{MANIFEST} and {ATTESTATION} differ in: {', '.join(differ)}"] if differ else []
    try:
        found.files = {each["path"]: each["sha256"] for each in manifest["files"]}
    except (KeyError, TypeError):
        raise DataError(f"{MANIFEST} does not list the files") from None
    data = {file: sha256 for file, sha256 in checked.items() if not describes(file)}
    for file in sorted(data.keys() | found.files.keys()):
        if data.get(file) != found.files.get(file):
            found.problems.append(f"{file} is not as {MANIFEST} lists it")


def _waived(manifest: Mapping[str, Any]) -> list[str] | None:
    try:
        return [each["rule"] for each in manifest["findings"]["waived"]]
    except (KeyError, TypeError):
        return None


def _accepted(manifest: Mapping[str, Any]) -> object:
    findings = manifest.get("findings")
    return findings.get("accepted", []) if isinstance(findings, dict) else None


def _manifest(folder: Path) -> dict[str, Any]:
    """The manifest in a folder. Raises DataError, naming it."""
    content = _content(folder, MANIFEST)
    try:
        return read_manifest(content)[0]
    except DataError as error:
        raise DataError(f"{MANIFEST} {error}") from None


def _check_decisions(
    folder: Path,
    summary: VerificationSummary,
    checked: Mapping[str, str],
    signers: Sequence[AllowedSigner],
    found: VerifiedFolder,
) -> None:
    """Whose approvals of exactly these files bear the signature of one of their keys."""
    approved = {signer_name(each.who): each.who for each in summary.decided_by}
    if not approved:
        found.problems.append("nobody decided on it")
    begun = _time(summary.at)
    wanted: dict[str, Any] = {"release": summary.release, "decision": "approve", "subject": summary.digest}
    if series := summary.series:
        wanted |= {"release": series.release, "subject": digest_of(series.reviewed)}
        for name in ("contract", "policy", "plan"):
            if series.reviewed.get(name) != summary.reviewed.get(name):
                found.problems.append(f"{ATTESTATION}: the series was approved with another {name}")
    for file in sorted(file for file in checked if file.startswith("decision-")):
        try:
            envelope, statement = _signed(folder, file, DECISION_PREDICATE)
            said = statement.predicate
            for name, value in wanted.items():
                if said.get(name) != value:
                    raise DataError(f"{file}: it is signed for another {name}")
            if summary.series is None and statement.files != found.files:
                raise DataError(f"{file}: it is signed for other files")
            try:
                at = _time(said.get("at"))
            except ValueError:
                raise DataError(f"{file}: it has no time") from None
            if at > begun + CLOCK_SKEW:
                raise DataError(f"{file}: it was signed after the publication was begun")
            who = approved[_whose(envelope, [*approved], signers, at, file)]
            if summary.series:  # it is an approval of each edition as long as its giver counts
                published = found.stamped or begun
                _whose(envelope, [signer_name(who)], signers, published, file)
                _refuse_ended(said.get("series"), at, published, file)
            if who in found.signed_by:
                raise DataError(f"{file}: there is a decision of {who} already")
            found.signed_by.append(who)
        except SluiceError as error:
            found.problems.append(str(error))


def _refuse_ended(limits: object, at: datetime, published: datetime, file: str) -> None:
    """Raise DataError unless a decision is of a series, and of one that had not ended when an edition was published."""
    days = limits.get("days") if isinstance(limits, dict) else None
    if not isinstance(days, int):
        raise DataError(f"{file}: it is signed for no series")
    try:
        until = at + timedelta(days=days)
    except OverflowError:
        raise DataError(f"{file}: its series has no end") from None
    if published > until + CLOCK_SKEW:
        raise DataError(f"{file}: the series that it approves ended at {until:%Y-%m-%d %H:%M} UTC")


def _signed(folder: Path, file: str, predicate_type: str) -> tuple[Envelope, Statement]:
    content = _content(folder, file)
    try:
        envelope = Envelope.from_json(content)
        statement = envelope.statement()
    except (SluiceError, RecursionError):
        raise DataError(f"{file} is not a signed statement") from None
    if statement.predicate_type != predicate_type:
        raise DataError(f"{file} is a statement of another kind")
    return envelope, statement


def _whose(envelope: Envelope, names: Sequence[str], signers: Sequence[AllowedSigner], at: datetime, file: str) -> str:
    """Which of the names signed, by a key that was theirs at that time. Raises DataError when none did."""
    keys = envelope.signed_by()
    known = [signer for signer in signers if signer.key in keys]
    for signer in known:
        for name in signer.names:
            if name in names and signer.holds(at):
                return name
    wanted = " or ".join(names) or "anybody who decided"
    if any(name in names for signer in known for name in signer.names):
        raise DataError(f"{file}: the key of {wanted} that signed it did not count at {at:%Y-%m-%d %H:%M} UTC")
    raise DataError(f"{file}: no key of {wanted} signed it")


def _time(text: object) -> datetime:
    """A time of a statement. Raises ValueError for another text, or a time without its zone."""
    if not isinstance(text, str):
        raise ValueError("no text")
    time = datetime.fromisoformat(text)
    if time.tzinfo is None:
        raise ValueError("no zone")
    return time
