"""Approvals: how many people, of which roles, must say yes to exactly this file before it may be published.

An approval is bound to the SHA-256 of everything that was reviewed. It is void when any of it changed, when it is too
old, when its giver is the submitter or no longer on the roster, or when the giver refused the release afterwards.
"""

import unicodedata
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from sluice.custody.ledger import Entry
from sluice.custody.states import State
from sluice.documents.documents import document_sha256, parse_document, read_yaml
from sluice.publication.manifest import GivenApproval
from sluice.reading.visible_text import Name

CLOCK_SKEW = timedelta(minutes=5)  # between the machines that write the ledger

_SHA256 = Field(pattern="^[0-9a-f]{64}$")


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Subject(_Strict):
    """What an approval is given to: the SHA-256 of each thing that was reviewed."""

    data: str = Field(pattern="^[0-9a-f]{64}$", description="the masked Parquet file, or the list of a table's files")
    csv: str | None = Field(default=None, pattern="^[0-9a-f]{64}$", description="the masked CSV file; tables have none")
    contract: str = _SHA256
    policy: str = _SHA256
    plan: str = _SHA256
    report: str = _SHA256
    dossier: str = _SHA256

    def digest(self) -> str:
        """One SHA-256 over all of them."""
        return document_sha256(self)


class Person(_Strict):
    roles: tuple[Name, ...] = Field(min_length=1)
    account: Name | None = Field(default=None, description="name of the system account")


class Roster(_Strict):
    """The people who may approve. No two spellings of a name or account may mean two people."""

    people: dict[Name, Person] = Field(min_length=1)

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        owner: dict[str, str] = {}
        for name, person in self.people.items():
            for spelling in (name, *([person.account] if person.account else [])):
                if not _folded(spelling):
                    raise ValueError(f"a name or account of '{name}' is blank")
                if owner.setdefault(_folded(spelling), name) != name:
                    raise ValueError(f"'{spelling}' names both '{owner[_folded(spelling)]}' and '{name}'")
        return self

    def by_account(self, account: str) -> str | None:
        """The name of whom this system account belongs to, letter for letter; None: nobody on the roster."""
        return next((name for name, person in self.people.items() if person.account == account), None)

    def person(self, spelling: str) -> str | None:
        """The name, as listed, of whom a name or an account means in any letter case and spacing; None: nobody."""
        wanted = _folded(spelling)
        matches = (name for name, p in self.people.items() if wanted in (_folded(name), _folded(p.account or name)))
        return next(matches, None)


def load_roster(path: Path) -> Roster:
    """The roster in a YAML file. Raises DocumentError."""
    return parse_document(Roster, read_yaml(path), str(path))


class VoidApproval(_Strict):
    who: str
    at: str
    reason: str


class Standing(_Strict):
    """Where a release's approvals stand."""

    valid: tuple[GivenApproval, ...]
    void: tuple[VoidApproval, ...]
    missing_roles: tuple[str, ...]
    missing_count: int = Field(ge=0, description="how many more people are needed at least")
    complete: bool
    says: str


class Approvals(_Strict):
    """What a policy asks for. The submitter never counts; one person counts once, and for one role at a time."""

    count: int = Field(default=1, ge=1, description="how many people")
    roles: tuple[Name, ...] = Field(
        default=(), description="each needs a person of its own; a role listed twice needs two"
    )
    valid_days: int = Field(default=30, ge=1, le=366, description="days that an approval holds")
    identity: Literal["account", "declared"] = Field(
        default="account", description="declared: a name that the approver types is believed"
    )

    @model_validator(mode="after")
    def _enough_people(self) -> Self:
        if self.count < len(self.roles):
            raise ValueError(f"count must be at least the number of roles, {len(self.roles)}; got {self.count}")
        return self

    def describe(self) -> str:
        """The demand in one sentence, for the dossier."""
        people = "1 person" if self.count == 1 else f"{self.count} people"
        roles = f", among them {_listed(self.roles)}" if self.roles else ""
        return f"{people} other than the submitter must approve{roles}; an approval holds {_days(self.valid_days)}."

    def standing(
        self, entries: Sequence[Entry], subject_digest: str, submitters: Collection[str], roster: Roster, now: datetime
    ) -> Standing:
        """What the approvals among a release's ledger entries amount to.

        entries        : of one release, in order. The body of an `approval` holds `subject` (a digest) and `identity`
        subject_digest : of what would be published now
        submitters     : names or accounts, in any spelling: the owner and whoever ran the release
        now            : with a time zone
        """
        if now.tzinfo is None:
            raise ValueError("now must have a time zone")
        submitted = {_folded(roster.person(submitter) or submitter) for submitter in submitters}
        counted: dict[str, Entry] = {}  # by person, the latest approval that holds
        void: list[VoidApproval] = []
        refused: set[str] = set()  # who said no after the entry that is being looked at
        for entry in reversed(entries):
            who = roster.person(entry.actor) or entry.actor
            if entry.event in (State.REJECTED, State.CHANGES_REQUESTED):
                refused.add(_folded(who))
            if entry.event != "approval":
                continue
            if _folded(who) in submitted:
                reason: str | None = "the submitter cannot approve"
            elif who not in roster.people:
                reason = "is not on the roster"
            elif _folded(who) in refused:
                reason = "was taken back by a later refusal"
            else:
                reason = self._void_because(entry, subject_digest, now)
            if reason:
                void.append(VoidApproval(who=who, at=entry.at, reason=reason))
            else:
                counted.setdefault(who, entry)
        return self._sum_up(dict(reversed(counted.items())), tuple(reversed(void)), roster)

    def _void_because(self, entry: Entry, subject_digest: str, now: datetime) -> str | None:
        given = datetime.fromisoformat(entry.at)
        identity = entry.body.get("identity")
        if entry.body.get("subject") != subject_digest:
            return "was given to another file, document or report"
        if identity not in ("account", "declared"):
            return "does not say how its giver was known"
        if self.identity == "account" and identity != "account":
            return "the policy asks for the approver's own account, not a declared name"
        if now > given + timedelta(days=self.valid_days):
            return f"expired after {_days(self.valid_days)}"
        if given > now + CLOCK_SKEW:
            return "is dated in the future"
        return None

    def _sum_up(self, counted: Mapping[str, Entry], void: tuple[VoidApproval, ...], roster: Roster) -> Standing:
        filled = assign(self.roles, {who: roster.people[who].roles for who in counted})
        role_of = {who: self.roles[slot] for slot, who in filled.items()}
        missing_roles = tuple(role for slot, role in enumerate(self.roles) if slot not in filled)
        missing_count = max(self.count - len(counted), len(missing_roles))
        complete = missing_count == 0
        needs = f"; needed: {missing_count} more" + (f", among them {_listed(missing_roles)}" if missing_roles else "")
        given = tuple(
            GivenApproval(who=who, role=role_of.get(who), at=entry.at, identity=entry.body["identity"])
            for who, entry in counted.items()
        )
        return Standing(
            valid=given,
            void=void,
            missing_roles=missing_roles,
            missing_count=missing_count,
            complete=complete,
            says=f"{len(given)} of {self.count} approvals"
            + (f", {len(void)} void" if void else "")
            + ("; complete." if complete else f"{needs}."),
        )


def assign(roles: Sequence[str], people: Mapping[str, Collection[str]]) -> dict[int, str]:
    """Give as many places of `roles` as possible to a person each: place -> person.

    A maximum bipartite matching by augmenting paths (Kuhn 1955): a person who could fill two places makes room for one
    who could fill only one of them. Cost: O(people x roles x people).
    """
    holder: dict[int, str] = {}

    def place(person: str, tried: set[int]) -> bool:
        for slot, role in enumerate(roles):
            if role in people[person] and slot not in tried:
                tried.add(slot)
                if slot not in holder or place(holder[slot], tried):
                    holder[slot] = person
                    return True
        return False

    for person in people:
        place(person, set())
    return holder


def _folded(name: str) -> str:
    """A name without letter case, blanks and invisible characters, so that another spelling is no other person."""
    plain = unicodedata.normalize("NFKC", name).casefold()
    return "".join(sign for sign in plain if not sign.isspace() and unicodedata.category(sign) not in ("Cf", "Cc"))


def _listed(roles: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(roles[:-1]), roles[-1]]))


def _days(number: int) -> str:
    return "1 day" if number == 1 else f"{number} days"
