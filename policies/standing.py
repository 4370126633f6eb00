"""Standing: what the decisions of people on a release amount to, and what may be told of it.

Reviews are independent: what was decided is told to nobody until all have decided; where they differ, one more person
decides.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, cast

from pydantic import BaseModel, ConfigDict, Field

from policies.decision_table import DECISIONS, ON_REVIEW
from policies.people import Identity, Roster, folded
from sluice.ground.sentence import END, Saying, Sentences, text_of
from sluice.publication.manifest import GivenApproval

Decision = Literal["approve", "reject", "request_changes", "conflicted"]
"""What one person says of a release; `conflicted`: this person must not judge it, and another is needed."""

Outcome = Literal["open", "approved", "rejected", "changes_requested"]

REFUSALS: Mapping[str, Outcome] = {
    name: cast(Outcome, outcome.value) for name in ON_REVIEW if (outcome := DECISIONS[name].outcome)
}


_SAYS = Sentences(
    "standing",
    decided="{decided} of {asked} decisions",
    void=", {void} void",
    taken_back="taken back by {who}, who submitted it.",
    approved="; approved.",
    rejected="; rejected.",
    changes_requested="; changes requested.",
    differ=", and they differ; a further person must decide",
    needed="; needed: {missing} more",
    among=", among them {roles}",
    one_account=" All under one account, {account}: nothing but typed names tells them apart.",
)


def told(decision: Decision, revealed: bool) -> str:
    """What may be told of a decision now.

    That somebody stands aside is told at once: it is no word on the release, and as another is asked for, whoever
    counts would know.
    """
    if revealed:
        return decision.replace("_", " ")
    return "stands aside" if decision == "conflicted" else "has decided; what, is told when all have"


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class GivenDecision(_Strict):
    """One person's decision, as it counts."""

    who: str
    decision: Decision
    at: str
    identity: Identity
    comment: str = ""
    account: str | None = None
    series: bool = Field(default=False, description="whether it is of the editions that follow, too")


class VoidDecision(_Strict):
    who: str
    at: str
    because: Saying = Field(description="why it does not count: codes and data")

    @property
    def reason(self) -> str:
        return text_of(self.because)


class Standing(_Strict):
    """Where a release stands with the people who decide on it."""

    outcome: Outcome
    decided: tuple[GivenDecision, ...] = Field(description="all that count, in order; see `revealed`")
    valid: tuple[GivenApproval, ...] = Field(description="the approvals among them, with the roles that they fill")
    void: tuple[VoidDecision, ...]
    missing_roles: tuple[str, ...]
    missing_count: int = Field(ge=0, description="how many more people are needed at least")
    revealed: bool = Field(description="whether who decided what may be told: all who are needed have decided")
    statements: Saying = Field(description="where it stands: codes and data of what `says` puts in words")
    waits_for: str = Field(default="", description="such as '1 of 2, needs data_steward'; empty: for nobody")
    asked_roles: tuple[str, ...] = Field(
        default=(), description="the roles in which people must still decide; as `says`, it tells nothing of decisions"
    )
    series: str | None = Field(default=None, description="the edition with which this one was approved, if it was so")

    @property
    def says(self) -> str:
        """Where it stands, in a sentence that tells nobody what was decided before all have."""
        return text_of(self.statements)

    @property
    def complete(self) -> bool:
        """Whether it may be published."""
        return self.outcome == "approved"


@dataclass(frozen=True)
class Decisions:
    """The decisions on a release that count, held against how many people, of which roles, must approve."""

    count: int
    roles: Sequence[str]
    counted: Mapping[str, GivenDecision]  # by person, the latest of each, in order
    void: tuple[VoidDecision, ...]
    roster: Roster
    submitters: Collection[str]  # as `folded` writes them

    @cached_property
    def judged(self) -> Mapping[str, GivenDecision]:
        """Those of people who did not submit it."""
        return {who: given for who, given in self.counted.items() if folded(who) not in self.submitters}

    @cached_property
    def taken_back(self) -> Sequence[GivenDecision]:
        """Those of who submitted it, which are refusals."""
        return [given for who, given in self.counted.items() if folded(who) in self.submitters]

    @cached_property
    def approving(self) -> Mapping[str, GivenDecision]:
        return {who: given for who, given in self.judged.items() if given.decision == "approve"}

    @cached_property
    def refusing(self) -> Sequence[GivenDecision]:
        return [given for given in self.judged.values() if given.decision in REFUSALS]

    @property
    def decided(self) -> int:
        return len(self.approving) + len(self.refusing)

    @cached_property
    def undecided_roles(self) -> tuple[str, ...]:
        """The roles that those who decided, whatever they said, leave unfilled."""
        decided = [who for who, each in self.judged.items() if each.decision != "conflicted"]
        return _unfilled(self.roles, assign(self.roles, {who: self.roster.people[who].roles for who in decided}))

    @property
    def all_decided(self) -> bool:
        """Whether as many have decided as are asked, in all roles: before, nobody is told what anybody said."""
        return self.decided >= self.count and not self.undecided_roles

    @property
    def differ(self) -> bool:
        """Whether all who were asked have decided, and not all the same."""
        return bool(self.approving and self.refusing) and self.all_decided

    @property
    def needed(self) -> int:
        return self.count + (1 if self.differ else 0)

    @cached_property
    def filled(self) -> Mapping[int, str]:
        """Which of the roles those fill who approve: place -> person."""
        return assign(self.roles, {who: self.roster.people[who].roles for who in self.approving})

    @property
    def missing_roles(self) -> tuple[str, ...]:
        return _unfilled(self.roles, self.filled)

    @property
    def missing_count(self) -> int:
        missing = max(self.needed - self.decided, self.count - len(self.approving), len(self.missing_roles))
        return missing if self.outcome == "open" else 0

    @cached_property
    def outcome(self) -> Outcome:
        more_refuse = len(self.refusing) > len(self.approving)
        if self.taken_back:
            return REFUSALS[self.taken_back[-1].decision]
        if self.decided >= self.needed and more_refuse:
            return "rejected" if all(each.decision == "reject" for each in self.refusing) else "changes_requested"
        enough = len(self.approving) >= self.count and self.decided >= self.needed and not self.missing_roles
        return "approved" if enough and len(self.approving) > len(self.refusing) else "open"

    def standing(self) -> Standing:
        role_of = {who: self.roles[place] for place, who in self.filled.items()}
        return Standing(
            outcome=self.outcome,
            decided=tuple(self.counted.values()),
            valid=tuple(
                GivenApproval(who=who, role=role_of.get(who), at=given.at, identity=given.identity)
                for who, given in self.approving.items()
            ),
            void=self.void,
            missing_roles=self.missing_roles,
            missing_count=self.missing_count,
            revealed=self.outcome != "open" or self.all_decided,
            statements=self._statements(),
            waits_for=self._waits_for(),
            asked_roles=self._asked_roles,
        )

    @property
    def _asked_roles(self) -> tuple[str, ...]:
        if self.outcome != "open":
            return ()
        return self.missing_roles if self.all_decided else self.undecided_roles

    def _waits_for(self) -> str:
        if self.outcome != "open":
            return ""
        more = self.missing_count if self.all_decided else max(self.count - self.decided, len(self.undecided_roles))
        whom = listed_roles(self._asked_roles) if self._asked_roles else f"{more} more"
        return f"{self.decided} of {max(self.needed, self.decided)}, needs {whom}"

    def _statements(self) -> Saying:
        """Where it stands; it tells nobody what was decided before all have."""
        if self.taken_back:
            return _SAYS.taken_back(who=self.taken_back[-1].who)
        started = _SAYS.decided(decided=self.decided, asked=max(self.count, self.decided))
        started += _SAYS.void(void=len(self.void)) if self.void else ()
        match self.outcome:
            case "approved":
                return started + _SAYS.approved() + _one_account(self.judged.values())
            case "rejected":
                return started + _SAYS.rejected()
            case "changes_requested":
                return started + _SAYS.changes_requested()
        if self.differ:
            return started + _SAYS.differ() + _among(self.missing_roles)
        if not self.all_decided:
            missing = max(self.count - self.decided, len(self.undecided_roles))
            return started + _SAYS.needed(missing=missing) + _among(self.undecided_roles)
        return started + _SAYS.needed(missing=self.missing_count) + _among(self.missing_roles)


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


def _unfilled(roles: Sequence[str], filled: Mapping[int, str]) -> tuple[str, ...]:
    return tuple(role for place, role in enumerate(roles) if place not in filled)


def listed_roles(roles: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(roles[:-1]), roles[-1]]))


def _among(roles: Sequence[str]) -> Saying:
    return (_SAYS.among(roles=listed_roles(roles)) if roles else ()) + END()


def _one_account(given: Collection[GivenDecision]) -> Saying:
    """What must be said where nothing but typed names tells those apart who approved."""
    accounts = {each.account for each in given}
    typed = len(given) > 1 and len(accounts) == 1 and all(each.identity == "declared" for each in given)
    return _SAYS.one_account(account=str(accounts.pop())) if typed else ()
