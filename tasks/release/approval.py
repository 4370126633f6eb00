"""What people approve of a release, and whether it is still what they read."""

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from policies.approvals import Subject
from policies.standing import Standing
from sluice.custody.ledger import Entry
from sluice.custody.workspace import Workspace
from sluice.ground.errors import SluiceError
from sluice.settings import settings
from tasks.release.series import standing_in_series
from tasks.release.under_review import UnderReview, subject_of

if TYPE_CHECKING:
    from tasks.release.product import AnyRelease
    from tasks.release.release import DocumentedRelease


def report_path(release: "DocumentedRelease") -> Path:
    """The page that people read before they decide."""
    return release.product.workspace.reports / f"{release.id}.html"


def report_place(workspace: Workspace, release_id: str) -> str:
    """Where people find it: below the address at which the operator serves reports, or as a path of this machine."""
    page, served = f"{release_id}.html", settings().reports_url
    return f"{served.rstrip('/')}/{page}" if served else str(workspace.reports / page)


def subject(release: "DocumentedRelease") -> Subject:
    """What there is to approve: the hashes of the latest evaluation."""
    return subject_of(release.id, release.entries())


def approved_files(release: "AnyRelease") -> dict[str, tuple[str, str]]:
    """The data files that are approved and published: name -> SHA-256 and ending in the vault."""
    return release.product.files(subject(release))


def verify_subject(release: "AnyRelease") -> None:
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


def submitters(release: "DocumentedRelease") -> tuple[str, ...]:
    """The owner of the definition and every account that ran it."""
    return UnderReview.of(release.product.workspace, release.id).submitters


def standing(release: "DocumentedRelease", begun: Entry | None = None) -> Standing:
    """How the decisions on exactly these bytes stand now, or stood when a publication was begun."""
    return standing_in_series(UnderReview.of(release.product.workspace, release.id, begun))
