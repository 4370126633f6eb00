"""What people approve of a release, who may, and where their approvals stand."""

import hashlib
from datetime import UTC, datetime
from pathlib import Path

from policies.approvals import Standing, Subject
from sluice.custody.ledger import Entry
from sluice.custody.states import State
from sluice.errors import SluiceError
from tasks.release.product import AnyRelease
from tasks.release.release import DocumentedRelease, last


def report_path(release: DocumentedRelease) -> Path:
    """The page that people read before they decide."""
    return release.product.workspace.reports / f"{release.id}.html"


def subject(release: DocumentedRelease) -> Subject:
    """What there is to approve: the hashes of the latest evaluation."""
    evaluated = last(release.entries(), State.EVALUATED)
    if evaluated is None:
        raise SluiceError(f"{release.id} has not been judged; run: sluice release {release.product.path}")
    return Subject(**evaluated.body["subject"])


def approved_files(release: AnyRelease) -> dict[str, tuple[str, str]]:
    """The data files that are approved and published: name -> SHA-256 and ending in the vault."""
    return release.product.files(subject(release))


def verify_subject(release: AnyRelease) -> None:
    """Hash again what the approvals are bound to, and the report that people read. Raises when any was altered."""
    bound, vault, read = subject(release), release.vault, report_path(release)
    for sha256, suffix in (*approved_files(release).values(), (bound.dossier, ".json")):
        vault.verify(sha256, suffix)
    kept = vault.verify(bound.report, ".html")
    page = read.read_bytes() if read.is_file() else b""
    if hashlib.sha256(page).hexdigest() != bound.report:
        raise SluiceError(
            f"{read} is not the report that was made when {release.id} was judged. Put that one back and "
            f"read it: cp {kept} {read}"
        )


def standing(release: DocumentedRelease, begun: Entry | None = None) -> Standing:
    """How the approvals of exactly these bytes stand now, or stood when a publication was begun."""
    return release.product.policy.approvals.standing(
        [entry for entry in release.entries() if begun is None or entry.seq < begun.seq],
        subject(release).digest(),
        submitters(release),
        release.product.roster,
        datetime.fromisoformat(begun.at) if begun else datetime.now(UTC),
    )


def submitters(release: DocumentedRelease) -> tuple[str, ...]:
    """Who may not approve: the owner of the definition and every account that ran it."""
    ran = (entry.actor for entry in release.entries() if entry.event == State.RECEIVED)
    return tuple(dict.fromkeys((release.product.definition.owner, *ran)))
