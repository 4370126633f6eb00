"""Adoption: by whose acts a roster, a policy or a contract counts in this office, and for whom.

What is submitted never says who may judge it. The ledger holds each act of adoption; an office is founded by the first,
of one person who is its head, and every later change needs two people, one of them in the role that answers for that
kind of document. Acts are verified anew whenever the office is read: who has a key is said by the roster that was in
force when the act was recorded.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from policies.acts import KNOWN_BY, digest_of_words, signatures, verified_person
from policies.people import HEAD, Identity, Roster
from sluice.custody.ledger import Entry
from sluice.custody.signing.public_key import PublicKey
from sluice.documents.documents import document_sha256
from sluice.errors import SluiceError

Kind = Literal["roster", "policy", "contract"]

ANSWERS_FOR: Mapping[Kind, str] = {"roster": HEAD, "policy": "methodologist", "contract": "owner"}
"""The role that one of those who adopt a document must have."""

PEOPLE_NEEDED = 2  # for every adoption but those of the founding

FOUNDED, ADOPTED = "founded", "adopted"  # events of the office in the ledger
PREDICATE = "urn:sluice:adoption:1"


class Adoption(BaseModel):
    """The terms under which a document counts. Two people adopt the same thing when every term is the same."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Kind
    name: str = Field(description="of the policy, or of the contract's data set; there is one roster")
    version: str = ""
    sha256: str = Field(pattern="^[0-9a-f]{64}$", description="of the document's canonical JSON")
    valid_until: date | None = Field(default=None, description="last day on which it counts")
    datasets: tuple[str, ...] = Field(default=(), description="data sets that it may be used for; none: for all")
    submitters: tuple[str, ...] = Field(default=(), description="who may submit releases under it; none: everybody")

    @property
    def called(self) -> str:
        """The document in words."""
        version = f", version {self.version}" if self.version else ""
        return "the roster" if self.kind == "roster" else f"the {self.kind} '{self.name}'{version}"


@dataclass(frozen=True)
class Act:
    """One person's adoption, as it counts."""

    who: str
    at: str
    identity: Identity


@dataclass(frozen=True)
class InForce:
    """A document that counts, with those who adopted it."""

    adoption: Adoption
    acts: tuple[Act, ...]
    founding: bool

    @property
    def says(self) -> str:
        """Who adopted it, when, known by what."""
        by = " and ".join(f"{act.who} ({act.at[:10]}, by {KNOWN_BY[act.identity]})" for act in self.acts)
        return f"{by}{', who founded the office' if self.founding else ''}"


@dataclass
class Office:
    """The people and the documents that count now."""

    id: str
    roster: Roster
    roster_sha256: str
    founder: Act
    in_force: dict[tuple[Kind, str], InForce] = field(default_factory=dict)
    proposed: dict[Adoption, list[Act]] = field(default_factory=dict)  # by fewer people than it takes
    void: list[str] = field(default_factory=list)  # acts that count for nothing, and why
    seen: set[tuple[str, PublicKey]] = field(default_factory=set)  # what was signed by whom: each counts once

    def fault(self, kind: Kind, name: str, sha256: str, dataset: str, submitter: str, now: datetime) -> str | None:
        """Why a document does not count for a release of this data set by this submitter; None when it does."""
        held = self.in_force.get((kind, name))
        if held is None:
            return f"no {kind} named '{name}' was adopted"
        adoption = held.adoption
        if adoption.sha256 != sha256:
            return f"{adoption.called} was adopted with other content than this one has"
        if adoption.valid_until and now.date() > adoption.valid_until:
            return f"the adoption of {adoption.called} ended on {adoption.valid_until}"
        if adoption.datasets and dataset not in adoption.datasets:
            return f"{adoption.called} was adopted for {', '.join(adoption.datasets)} only, not for '{dataset}'"
        allowed = {self.roster.person(each) or each for each in adoption.submitters}
        if allowed and (self.roster.person(submitter) or submitter) not in allowed:
            return f"{adoption.called} may be used by {', '.join(adoption.submitters)} only, not by '{submitter}'"
        return None

    def missing(self, adoption: Adoption, acts: Sequence[Act]) -> str | None:
        """What a proposed adoption still needs, in words; None when it is complete. Who left does not count."""
        role = ANSWERS_FOR[adoption.kind]
        people = {act.who for act in acts} & self.roster.people.keys()
        more = PEOPLE_NEEDED - len(people)
        if not people & {*self.roster.with_role(role)}:
            return f"{max(more, 1)} more of the roster, among them a {role}"
        return f"{more} more of the roster" if more > 0 else None


def read_office(entries: Sequence[Entry]) -> Office | None:
    """The office as its entries in the ledger make it; None before it was founded.

    entries : of the office alone, in order, from a ledger that was found whole
    raises  : SluiceError when the founding cannot be verified: then nothing counts
    cost    : a verification of a signature for each act, some 0.2 ms
    """
    if not entries:
        return None
    office = _founded(entries[0])
    for entry in entries[1:]:
        try:
            _adopt(office, entry)
        except (SluiceError, ValidationError, KeyError, TypeError) as error:
            says = str(error) if isinstance(error, SluiceError) else "it is incomplete"
            office.void.append(f"the act of {entry.actor} at {entry.at} counts for nothing: {says}")
    return office


def _founded(entry: Entry) -> Office:
    """The office by its first entry, whose author must be the head in the roster that it brings."""
    try:
        roster = Roster.model_validate(entry.body["roster"])
        adoptions = [Adoption.model_validate(each) for each in entry.body["adoptions"]]
        act = _act(entry, roster, entry.body["office"])
    except (ValidationError, KeyError, TypeError):
        raise SluiceError("the ledger's record of the founding of this office is incomplete") from None
    if entry.event != FOUNDED or act.who not in roster.with_role(HEAD):
        raise SluiceError(f"an office is founded by somebody with the role {HEAD}, by the first act on record")
    sha256 = document_sha256(roster)
    if [each.sha256 for each in adoptions if each.kind == "roster"] != [sha256]:
        raise SluiceError("the founding brings a roster that is not the one which was adopted")
    office = Office(entry.body["office"], roster, sha256, act)
    office.in_force = {(each.kind, each.name): InForce(each, (act,), founding=True) for each in adoptions}
    office.seen |= signatures(entry)
    return office


def _adopt(office: Office, entry: Entry) -> None:
    if entry.event != ADOPTED:
        raise SluiceError(f"'{entry.event}' is no act of an office that was founded")
    if signatures(entry) & office.seen:
        raise SluiceError("it is a copy of an earlier one")
    adoptions = [Adoption.model_validate(each) for each in entry.body["adoptions"]]
    act = _act(entry, office.roster, office.id)
    office.seen |= signatures(entry)
    for adoption in adoptions:
        acts = office.proposed.setdefault(adoption, [])
        if act.who not in {each.who for each in acts}:
            acts.append(act)
        if office.missing(adoption, acts) is not None:
            continue
        if adoption.kind == "roster":
            roster = Roster.model_validate(entry.body["roster"])
            if document_sha256(roster) != adoption.sha256:
                raise SluiceError("it brings a roster that is not the one which was adopted")
            office.roster, office.roster_sha256 = roster, adoption.sha256
        office.in_force[adoption.kind, adoption.name] = InForce(adoption, tuple(acts), founding=False)
        del office.proposed[adoption]


def _act(entry: Entry, roster: Roster, office: str) -> Act:
    """Who acted, verified by the roster. Raises SluiceError when nobody did who counts."""
    body = entry.body
    predicate = adoption_predicate(office, body["adoptions"], body["comment"], body["said_at"])
    who = verified_person(entry, roster, PREDICATE, predicate)
    return Act(who, entry.at, body["identity"])


def adoption_predicate(office: str, adoptions: Sequence[Mapping[str, Any]], comment: str, at: str) -> dict[str, Any]:
    """What somebody signs who adopts documents."""
    words = digest_of_words(comment)
    return {"office": office, "adoptions": [dict(each) for each in adoptions], "comment_sha256": words, "at": at}
