"""Adoption: by whose acts a roster, a policy, a contract or a key of the publisher counts in this office, and for whom.

What is submitted never says who may judge it. The ledger holds each act of adoption; an office is founded by the first,
of one person who is its head, and every later change needs two people, one of them in the role that answers for that
kind of document. Acts are verified anew whenever the office is read: who has a key is said by the roster that was in
force when the act was recorded, and of two acts that meet also by the one of the second. An act counts by when it was
said: a copy of one, or one that was kept back, brings nothing back that was replaced since.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from policies.acts import KNOWN_BY, digest_of_words, said_at, verified_person
from policies.decision_table import LAPSES_AFTER, OFFICE_DECISIONS
from policies.people import HEAD, Identity, Roster
from sluice.custody.ledger_entry import Entry
from sluice.custody.signing.public_key import PublicKey
from sluice.custody.states import ADOPTED, FOUNDED
from sluice.documents.document_reading import document_sha256
from sluice.ground.errors import SluiceError

Kind = Literal["roster", "policy", "contract", "publisher"]

PUBLISHER_KEY: Literal["publisher"] = "publisher"
"""The key by which the installation signs from then on; its version is its number."""

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

    @model_validator(mode="after")
    def _suits_its_kind(self) -> Self:
        if self.kind in ("roster", PUBLISHER_KEY) and self.terms:
            raise ValueError(
                "a roster, and the publisher's key, have no end, data sets or submitters: the roster has the "
                "days of each person, and a key ends with the next"
            )
        return self

    @property
    def called(self) -> str:
        """The document in words."""
        if self.kind == PUBLISHER_KEY:
            return f"the publisher's key number {self.version}"
        version = f", version {self.version}" if self.version else ""
        return "the roster" if self.kind == "roster" else f"the {self.kind} '{self.name}'{version}"

    @property
    def terms(self) -> str:
        """Its limits in words; empty when it has none."""
        limits = [f"until {self.valid_until}"] if self.valid_until else []
        limits += [f"for {', '.join(self.datasets)}"] if self.datasets else []
        limits += [f"by {', '.join(self.submitters)}"] if self.submitters else []
        return ", ".join(limits)


@dataclass(frozen=True)
class Act:
    """One person's adoption, as it counts."""

    who: str
    at: str
    identity: Identity
    entry: Entry = field(repr=False, compare=False)


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
    founder: Act
    rosters: list[tuple[datetime, Roster]]  # each that was in force, and since when; the last is `roster`
    publishers: list[tuple[datetime, PublicKey]] = field(default_factory=list)  # after the first, and since when
    in_force: dict[tuple[Kind, str], InForce] = field(default_factory=dict)
    proposed: dict[Adoption, list[Act]] = field(default_factory=dict)  # by fewer people than it takes
    void: dict[int, str] = field(default_factory=dict)  # by their row, acts that count for nothing, and why

    def fault(
        self, kind: Kind, name: str, sha256: str, dataset: str, submitters: Sequence[str], now: datetime
    ) -> str | None:
        """Why a document does not count for a release of this data set by these submitters; None when it does.

        submitters : the definition's owner first; of others, those count who are on the roster (no service's account)
        """
        held = self.in_force.get((kind, name))
        if held is None:
            return f"no {kind} named '{name}' was adopted"
        adoption = held.adoption
        if adoption.sha256 != sha256:
            return (
                f"{adoption.called} was adopted with other content than this one has; to adopt it as it is now: "
                "sluice adopt FILE"
            )
        if adoption.valid_until and now.date() > adoption.valid_until:
            return f"the adoption of {adoption.called} ended on {adoption.valid_until}"
        if adoption.datasets and dataset not in adoption.datasets:
            return f"{adoption.called} was adopted for {', '.join(adoption.datasets)} only, not for '{dataset}'"
        allowed = {self.roster.person(each) or each for each in adoption.submitters}
        people = {
            self.roster.person(submitters[0]) or submitters[0],
            *filter(None, map(self.roster.person, submitters)),
        }
        if allowed and (others := sorted(people - allowed)):
            return f"{adoption.called} may be used by {', '.join(adoption.submitters)} only, not by '{others[0]}'"
        return None

    @property
    def next_publisher(self) -> int:
        """The number of the publisher's key that comes next; the first is there before any office."""
        return len(self.publishers) + 2

    def missing(self, adoption: Adoption, acts: Sequence[Act]) -> str | None:
        """What a proposed adoption still needs, in words; None when it is complete. Who left does not count."""
        rule = OFFICE_DECISIONS[adoption.kind]
        people = {act.who for act in acts} & self.roster.people.keys()
        more = rule.people - len(people)
        if not people & {*self.roster.with_role(rule.role)}:
            return f"{max(more, 1)} more of the roster, among them somebody in the role {rule.role}"
        return f"{more} more of the roster" if more > 0 else None

    def may_complete(self, adoption: Adoption, acts: Sequence[Act]) -> tuple[str, ...]:
        """Whose act brings a proposed adoption on: of all, or of those in the role that answers for it, if one act of
        theirs completes it."""
        people = {act.who for act in acts} & self.roster.people.keys()
        rule = OFFICE_DECISIONS[adoption.kind]
        answer = {*self.roster.with_role(rule.role)}
        asked = answer if len(people) >= rule.people - 1 and not people & answer else self.roster.people.keys()
        return tuple(who for who in self.roster.people if who in asked and who not in people)


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
            office.void[entry.seq] = f"the act of {entry.actor} at {entry.at} counts for nothing: {says}"
    return office


def _founded(entry: Entry) -> Office:
    """The office by its first entry, whose author must be the head in the roster that it brings."""
    try:
        adoptions = _adoptions(entry)
        roster = _brought(entry, adoptions)
        if entry.event != FOUNDED or roster is None or _brought_key(entry, adoptions, 1):
            raise SluiceError("an office is founded by the first act on record, which brings its roster")
        act = _act(entry, roster, entry.body["office"])
    except (ValidationError, KeyError, TypeError):
        raise SluiceError("the ledger's record of the founding of this office is incomplete") from None
    if act.who not in roster.with_role(HEAD):
        raise SluiceError(f"an office is founded by somebody with the role {HEAD}")
    rosters = [(datetime.fromisoformat(entry.at), roster)]
    office = Office(entry.body["office"], roster, act, rosters)
    office.in_force = {(each.kind, each.name): InForce(each, (act,), founding=True) for each in adoptions}
    return office


def _adopt(office: Office, entry: Entry) -> None:
    """Let an act count. Raises before anything is changed when it does not."""
    if entry.event != ADOPTED:
        raise SluiceError(f"'{entry.event}' is not an act of a founded office")
    adoptions = _adoptions(entry)
    roster, key = _brought(entry, adoptions), _brought_key(entry, adoptions, office.next_publisher)
    act = _act(entry, office.roster, office.id)
    for adoption in adoptions:
        held = office.in_force.get((adoption.kind, adoption.name))
        if held and said_at(entry) <= max(said_at(each.entry) for each in held.acts):
            raise SluiceError(f"it was given before {held.adoption.called} was adopted")
    _drop_lapsed(office, entry)
    for adoption in adoptions:
        acts = office.proposed.setdefault(adoption, [])
        if act.who not in {each.who for each in acts}:
            acts.append(act)
    complete = [each for each in adoptions if office.missing(each, office.proposed[each]) is None]
    for adoption in complete:
        named = adoption.kind, adoption.name
        office.in_force[named] = InForce(adoption, tuple(office.proposed[adoption]), founding=False)
        office.proposed = {each: acts for each, acts in office.proposed.items() if (each.kind, each.name) != named}
        if roster is not None and adoption.kind == "roster":
            office.roster = roster
            office.rosters.append((datetime.fromisoformat(entry.at), roster))
        if key is not None and adoption.kind == PUBLISHER_KEY:
            office.publishers.append((datetime.fromisoformat(entry.at), key))
    _drop_lapsed(office, entry)


def _drop_lapsed(office: Office, now: Entry) -> None:
    """Leave of what was proposed the acts that count beside one of now: as recent, and by the same people and keys."""

    def holds(act: Act) -> bool:
        try:
            who = _act(act.entry, office.roster, office.id).who
        except SluiceError:
            return False
        at = datetime.fromisoformat(now.at)
        return who == act.who and office.roster.people[who].counts(at) and at - said_at(act.entry) <= LAPSES_AFTER

    kept = {adoption: [act for act in acts if holds(act)] for adoption, acts in office.proposed.items()}
    office.proposed = {adoption: acts for adoption, acts in kept.items() if acts}


def _adoptions(entry: Entry) -> list[Adoption]:
    """What an act adopts. Raises SluiceError where it says two things of one document."""
    adoptions = [Adoption.model_validate(each) for each in entry.body["adoptions"]]
    if len({(each.kind, each.name) for each in adoptions}) != len(adoptions):
        raise SluiceError("it names a document twice")
    return adoptions


def _brought(entry: Entry, adoptions: Sequence[Adoption]) -> Roster | None:
    """The roster that an act adopts, if it adopts one."""
    adopted = [each.sha256 for each in adoptions if each.kind == "roster"]
    if not adopted:
        return None
    roster = Roster.model_validate(entry.body["roster"])
    if [document_sha256(roster)] != adopted:
        raise SluiceError("it brings a roster that is not the one which was adopted")
    if not roster.with_role(HEAD):
        raise SluiceError(f"a roster needs somebody with the role {HEAD}, without whom it would be the last one")
    return roster


def _brought_key(entry: Entry, adoptions: Sequence[Adoption], number: int) -> PublicKey | None:
    """The publisher's key that an act adopts, if it adopts one; it must be the one of this number."""
    adopted = [each for each in adoptions if each.kind == PUBLISHER_KEY]
    if not adopted:
        return None
    key = PublicKey.parse(entry.body["publisher"])
    if adopted != [adoption_of_publisher(key, number)]:
        raise SluiceError(f"it adopts another key than the publisher's number {number} that it brings")
    return key


def adoption_of_publisher(key: PublicKey, number: int) -> Adoption:
    """The terms under which the publisher's key of a number is adopted."""
    sha256 = hashlib.sha256(key.line.encode()).hexdigest()
    return Adoption(kind=PUBLISHER_KEY, name=PUBLISHER_KEY, version=str(number), sha256=sha256)


def _act(entry: Entry, roster: Roster, office: str) -> Act:
    """Who acted, verified by the roster. Raises SluiceError when nobody did who counts."""
    body = entry.body
    predicate = adoption_predicate(office, body["adoptions"], body["comment"], body["said_at"], body.get("salt", ""))
    who = verified_person(entry, roster, PREDICATE, predicate)
    return Act(who, entry.at, body["identity"], entry)


def adoption_predicate(
    office: str, adoptions: Sequence[Mapping[str, Any]], comment: str, at: str, salt: str = ""
) -> dict[str, Any]:
    """What somebody signs who adopts documents."""
    words = digest_of_words(comment, salt)
    return {"office": office, "adoptions": [dict(each) for each in adoptions], "comment_sha256": words, "at": at}
