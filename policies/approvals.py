"""Approvals: how many people, of which roles, must say yes to exactly this file before it may be published.

A decision is bound to the SHA-256 of everything that was reviewed. It is void when any of it changed, when it is too
old, when its giver is the submitter or no longer on the roster, or when it is not what its giver signed. Of one person
the latest decision counts; who must not judge the release stays out of it. Reviews are independent: what was decided is
told to nobody until all have decided; where they differ, one more person decides.
"""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, model_validator

from policies.acts import KNOWN_BY, digest_of_words, said_at, verified_person
from policies.decision_table import DECISION
from policies.people import Identity, Roster, at_least, folded
from policies.series import SeriesLimits
from policies.standing import REFUSALS, Decision, Decisions, GivenDecision, Standing, VoidDecision, listed_roles
from sluice.custody.ledger_entry import Entry
from sluice.custody.signing.envelope import CLOCK_SKEW
from sluice.custody.states import DECISION_PREDICATE
from sluice.documents.document_reading import document_sha256
from sluice.ground.errors import SluiceError
from sluice.ground.sentence import Saying, Sentences
from sluice.ground.visible_text import Name

PREDICATE = DECISION_PREDICATE

_SHA256 = Field(pattern="^[0-9a-f]{64}$")


_VOID = Sentences(
    "void_decision",
    said_before="was said before another decision of the same person",
    stood_aside="its giver had said that they must not judge this release",
    of_submitter="the submitter cannot approve",
    unknown="is not a known decision",
    not_on_roster="is not on the roster",
    of_another="was given to another file, document or report",
    giver_unknown="does not say how its giver was known",
    weakly_known="the policy asks for approvers known by {asked}, not by {known}",
    unverified="{why}",
    giver_left="its giver is on the roster, but no more at this time",
    expired="expired after {days:count_day}",
    of_the_future="is dated in the future",
)


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


def _not_there(sha256: str | None) -> bool:
    """Of what few releases have: what was approved without it keeps its digest."""
    return sha256 is None


class Subject(_Strict):
    """What an approval is given to: the SHA-256 of each thing that was reviewed."""

    data: str = Field(pattern="^[0-9a-f]{64}$", description="the masked Parquet file, or the list of a table's files")
    csv: str | None = Field(default=None, pattern="^[0-9a-f]{64}$", description="the masked CSV file; tables have none")
    stata: str | None = Field(default=None, pattern="^[0-9a-f]{64}$", exclude_if=_not_there, description="a copy of it")
    spss: str | None = Field(default=None, pattern="^[0-9a-f]{64}$", exclude_if=_not_there, description="a copy of it")
    contract: str = _SHA256
    policy: str = _SHA256
    plan: str = _SHA256
    report: str = _SHA256
    dossier: str = _SHA256

    def digest(self) -> str:
        """One SHA-256 over all of them."""
        return document_sha256(self)


_DECIDES = ("methodologist",)


class Approvals(_Strict):
    """What a policy asks for. The submitter never counts; one person counts once, and for one role at a time."""

    count: int = Field(default=1, ge=1, description="how many people")
    roles: tuple[Name, ...] = Field(
        default=(), description="each needs a person of its own; a role listed twice needs two"
    )
    valid_days: int = Field(default=30, ge=1, le=366, description="days that an approval holds")
    identity: Identity = Field(
        default="account",
        description="the least by which approvers are known: key: they sign; account: their account of the system; "
        "declared: a name that is typed is believed. The office's roster may ask for more",
    )
    decides: tuple[Name, ...] = Field(
        default=_DECIDES,
        min_length=1,
        exclude_if=lambda roles: roles == _DECIDES,  # a policy that says nothing of it stays the one it was
        description="roles of which any may decide on a finding that needs a decision: accept it for one release, with "
        "a reason and an end, or refuse it. The submitter never can; the approvals are asked for afterwards",
    )
    series: SeriesLimits | None = Field(
        default=None, description="what people may approve of the editions that follow; not given: nothing"
    )

    @model_validator(mode="after")
    def _enough_people(self) -> Self:
        if self.count < len(self.roles):
            raise ValueError(f"count must be at least the number of roles, {len(self.roles)}; got {self.count}")
        return self

    def describe(self) -> str:
        """The demand in one sentence, for the dossier."""
        people = "1 person" if self.count == 1 else f"{self.count} people"
        roles = f", among them {listed_roles(self.roles)}" if self.roles else ""
        says = f"{people} other than the submitter must approve{roles}; an approval holds {_days(self.valid_days)}."
        return f"{says} {self.series.describe()}" if self.series else says

    def standing(
        self,
        entries: Sequence[Entry],
        subject_digest: str,
        submitters: Collection[str],
        roster: Roster,
        now: datetime,
        office: str = "",
    ) -> Standing:
        """What the decisions among a release's ledger entries amount to.

        entries        : of one release, in order. The body of a `decision` holds `decision`, `subject` (a digest),
                         `identity`, `account`, `comment`, `said_at` and, where it was signed, `envelope`
        subject_digest : of what would be published now
        submitters     : names or accounts, in any spelling: the owner and whoever ran the release
        now            : with a time zone
        office         : the id of the office, which a signed decision names
        cost           : a verification of a signature for each decision, some 0.2 ms
        """
        if now.tzinfo is None:
            raise ValueError("now must have a time zone")
        submitted = {folded(roster.person(submitter) or submitter) for submitter in submitters}
        counted: dict[str, GivenDecision] = {}  # by person, the latest that holds
        said: dict[str, datetime] = {}  # when each of them was
        void: list[VoidDecision] = []
        for entry in entries:
            if entry.event != DECISION:
                continue
            who = roster.person(entry.actor) or entry.actor
            reason = self._void_because(entry, subject_digest, roster, now, office)
            if reason is None and said_at(entry) < said.get(who, said_at(entry)):  # a copy, or one that was kept back
                reason = _VOID.said_before()
            if reason is None and who in counted and counted[who].decision == "conflicted" != entry.body["decision"]:
                reason = _VOID.stood_aside()
            if reason is None and folded(who) in submitted and entry.body["decision"] not in REFUSALS:
                reason = _VOID.of_submitter()
            if reason:
                void.append(VoidDecision(who=who, at=entry.at, because=reason))
                continue
            said[who] = said_at(entry)
            counted.pop(who, None)  # so that the latest stands last
            counted[who] = GivenDecision(
                who=who,
                decision=entry.body["decision"],
                at=entry.at,
                identity=entry.body["identity"],
                comment=entry.body.get("comment", ""),
                account=entry.body.get("account"),
                series=entry.body.get("series") is True,
            )
        return Decisions(self.count, self.roles, counted, tuple(void), roster, submitted).standing()

    def _void_because(
        self, entry: Entry, subject_digest: str, roster: Roster, now: datetime, office: str
    ) -> Saying | None:
        body = entry.body
        if body.get("decision") not in get_args(Decision):
            return _VOID.unknown()
        if roster.person(entry.actor) is None:
            return _VOID.not_on_roster()
        if body.get("subject") != subject_digest:
            return _VOID.of_another()
        if body.get("identity") not in KNOWN_BY:
            return _VOID.giver_unknown()
        if not at_least(body["identity"], self.identity):
            return _VOID.weakly_known(asked=KNOWN_BY[self.identity], known=KNOWN_BY[body["identity"]])
        predicate = decision_predicate(
            office, entry.release, body["decision"], subject_digest, body.get("comment", ""), body.get("said_at", ""),
            body.get("salt", ""), self.series if body.get("series") is True else None,
        )  # fmt: skip
        try:
            verified_person(entry, roster, PREDICATE, predicate)
            given = said_at(entry)
        except SluiceError as error:
            return _VOID.unverified(why=str(error))
        if body["decision"] == "conflicted":  # for good
            return None
        if not roster.people[str(roster.person(entry.actor))].counts(now):
            return _VOID.giver_left()
        if now > given + timedelta(days=self.valid_days):
            return _VOID.expired(days=self.valid_days)
        if given > now + CLOCK_SKEW:
            return _VOID.of_the_future()
        return None


def decision_predicate(
    office: str,
    release: str,
    decision: str,
    subject: str,
    comment: str,
    at: str,
    salt: str = "",
    series: SeriesLimits | None = None,
) -> dict[str, Any]:
    """What somebody signs who decides on a release.

    subject : the digest of everything that was reviewed
    at      : ISO 8601, when it was said
    salt    : of the comment, see `digest_of_words`
    series  : the policy's limits, where the editions that follow are approved, too
    """
    said = {
        "office": office,
        "release": release,
        "decision": decision,
        "subject": subject,
        "comment_sha256": digest_of_words(comment, salt),
        "at": at,
    }
    return said | ({"series": {"days": series.days, "editions": series.editions}} if series else {})


def _days(number: int) -> str:
    return "1 day" if number == 1 else f"{number} days"
