"""What is asked of people, in a few words: of whom, until when, and by which commands. Nothing of the data is in it, so
that mails may say it, too.
"""

from collections.abc import Sequence

from sluice.ground.document_parts import FrozenModel
from sluice.ground.verdict import Verdict

_NO_DEADLINE = "No deadline."


class WhatIsAsked(FrozenModel):
    """One sentence on what is asked of whom, one on the time, and the commands that answer it."""

    says: str
    until: str = ""
    commands: tuple[str, ...] = ()


def approvals_asked(release: str, count: int, roles: Sequence[str], valid_days: int, submitter: str) -> WhatIsAsked:
    """Of those who approve: `count` people, `roles` among them, each for `valid_days` days, and not the submitter."""
    people = "One person" if count == 1 else f"{count} people"
    among = f": {in_words([with_article(role) for role in roles])}" if roles else ""
    days = "a day" if valid_days == 1 else f"{valid_days} days"
    return WhatIsAsked(
        says=f"{people} other than {submitter} must approve or refuse this release{among}.",
        until=f"{_NO_DEADLINE} An approval is of exactly these files and lapses after {days}.",
        commands=(f"sluice approve {release}", f"sluice reject {release} --comment WHY"),
    )


def findings_asked(release: str, count: int | None, roles: Sequence[str], submitter: str) -> WhatIsAsked:
    """Of those who decide on findings; count: of these, where it is known."""
    who = (
        in_words([with_article(role) for role in roles], "or").capitalize()
        if roles
        else "One person whom the policy names"
    )
    which = "one finding" if count == 1 else "what was found" if count is None else f"{count} findings"
    return WhatIsAsked(
        says=f"{who} other than {submitter} must accept or refuse {which}; then approvals are asked for.",
        until=f"{_NO_DEADLINE} An acceptance ends on a day that you name.",
        commands=(f"sluice accept-finding {release} FINDING --reason WHY",),
    )


def nothing_asked(says: str, *commands: str) -> WhatIsAsked:
    """Of reviewers."""
    return WhatIsAsked(says=says, commands=commands)


def of_verdict(verdict: Verdict, submitter: str, unadopted: Sequence[str]) -> WhatIsAsked:
    """Where nobody can decide: what does not meet its policy, or whose documents do not count."""
    if verdict is Verdict.PASS and unadopted:
        return nothing_asked(f"Nothing can be approved yet: {unadopted[0]}.", "sluice office CONTRACT --people PEOPLE")
    return nothing_asked(f"Nothing is asked of reviewers. {submitter} has to change the plan or the data.")


def in_words(roles: Sequence[str], word: str = "and") -> str:
    """'methodologist and data steward'."""
    spelt = [role.replace("_", " ") for role in roles]
    return f" {word} ".join(filter(None, [", ".join(spelt[:-1]), spelt[-1]]))


def with_article(role: str) -> str:
    return f"{'an' if role[:1].lower() in 'aeiou' else 'a'} {role}"
