"""A release as those who decide on it find it: what they decide on, who may, where it stands, and whether it is still
what they read.

All of it comes from the ledger, and from the documents as the vault keeps them: what became of the files since, or of
where they lie, makes no difference.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from policies.adoption import Office
from policies.approvals import Subject
from policies.kept_policy import KeptPolicy
from policies.people import HEAD, Identity, stronger
from policies.standing import Standing
from sluice.custody.ledger_entry import Entry, last
from sluice.custody.states import State, Who
from sluice.custody.workspace import Workspace
from sluice.ground.errors import SluiceError, did_you_mean
from sluice.settings import settings
from tasks.release.decisions.office import open_office

if TYPE_CHECKING:
    from tasks.release.documented_release import DocumentedRelease
    from tasks.release.product import AnyRelease


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


@dataclass(frozen=True)
class UnderReview:
    workspace: Workspace
    id: str
    entries: Sequence[Entry]
    policy: KeptPolicy
    submitters: tuple[str, ...]  # who may not approve: the owner of the definition and every account that ran it
    office: Office
    begun: Entry | None = None  # the publication by whose time all this is seen

    @classmethod
    def of(
        cls,
        workspace: Workspace,
        release_id: str,
        begun: Entry | None = None,
        office: Office | None = None,
        entries: Sequence[Entry] | None = None,
    ) -> "UnderReview":
        """As it is now, or was when its publication was begun: so that one that was interrupted ends the same.

        office : as it is now, where it was opened already
        entries: all of the release, where they were read already
        raises : SluiceError for an id of which nothing was received, where no office was founded, and where what the
                 policy asks of people is written as this Sluice does not know it
        """
        everything = workspace.ledger.entries(release_id) if entries is None else entries
        entries = [entry for entry in everything if begun is None or entry.seq < begun.seq]
        received = received_of(workspace, release_id, entries)
        office = office or office_of(workspace, begun.seq if begun else None)
        policy, plan = (
            workspace.vault.verify(received.body[name], ".json").read_bytes() for name in ("policy", "plan")
        )
        try:
            judged_by = _kept_policy(policy)
        except ValidationError:
            raise SluiceError(f"the policy that {release_id} was judged by is of another version of Sluice") from None
        return cls(workspace, release_id, entries, judged_by, submitters_of(entries, plan), office, begun)

    @property
    def now(self) -> datetime:
        """The time by which all this is seen."""
        return datetime.fromisoformat(self.begun.at) if self.begun else datetime.now(UTC)

    @property
    def subject(self) -> Subject:
        """What there is to decide on: the hashes of the latest evaluation."""
        return subject_of(self.id, self.entries)

    def standing(self) -> Standing:
        """How the decisions on exactly these bytes stand; not whether those on another edition are of this one, too."""
        return self.policy.approvals.standing(
            self.entries,
            self.subject.digest(),
            self.submitters,
            self.office.roster,
            self.now,
            self.office.id,
        )

    @property
    def identity(self) -> Identity:
        """How whoever decides on it must at least be known."""
        return stronger(self.office.roster.identity, self.policy.approvals.identity)

    def is_submitter(self, person: str) -> bool:
        """Whether a person of the roster submitted or ran it."""
        return person in {self.office.roster.person(each) or each for each in self.submitters}

    def decides(self, person: str) -> bool:
        """Whether a person of the roster may decide on findings that need a decision."""
        roles = self.office.roster.people[person].roles
        return bool({*roles} & {*self.policy.approvals.decides}) and not self.is_submitter(person)

    def relation(self, person: str) -> Who:
        """What a person of the roster is to this release."""
        roles = self.office.roster.people[person].roles
        if self.is_submitter(person):
            return Who.SUBMITTER
        if HEAD in roles:
            return Who.HEAD
        return Who.IN_ROLE if {*roles} & {*self.policy.approvals.roles} else Who.ON_ROSTER


@lru_cache(maxsize=1 << 5)
def _kept_policy(written: bytes) -> KeptPolicy:
    """Thousands of releases are judged by a few policies."""
    return KeptPolicy.model_validate_json(written)


def received_of(workspace: Workspace, release_id: str, entries: Sequence[Entry]) -> Entry:
    """The entry by which a release was received last. Raises SluiceError for an id of which nothing was."""
    received = last(entries, State.RECEIVED)
    if received is None:
        hint = did_you_mean(release_id, workspace.ledger.histories())
        raise SluiceError(f"no release '{release_id}' here.{hint} See: sluice ledger status")
    return received


def office_of(workspace: Workspace, before: int | None = None) -> Office:
    """The office as it is, or was before a row of the ledger. Raises SluiceError where none was founded."""
    office = open_office(workspace, before)
    if office is None:
        raise SluiceError("this office has no people yet, so nobody can decide. Run: sluice office")
    return office


def submitters_of(entries: Sequence[Entry], plan: bytes) -> tuple[str, ...]:
    """The owner of the definition, which the vault keeps as `plan`, and every account that ran the release."""
    ran = (entry.actor for entry in entries if entry.event == State.RECEIVED)
    return tuple(dict.fromkeys((json.loads(plan)["owner"], *ran)))


def subject_of(release_id: str, entries: Sequence[Entry]) -> Subject:
    """The hashes of the latest evaluation among a release's entries. Raises SluiceError before the first."""
    evaluated = last(entries, State.EVALUATED)
    if evaluated is None:
        raise SluiceError(f"{release_id} has not been judged")
    return Subject(**evaluated.body["subject"])
