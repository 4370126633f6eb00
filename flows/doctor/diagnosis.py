"""A diagnosis: one thing that was looked at, how it is, and what to do about it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum


class Condition(StrEnum):
    OK = "ok"
    WARN = "warn"  # it works, and will not for ever
    FAIL = "fail"  # something does not work, or is left undone


@dataclass(frozen=True)
class Diagnosis:
    """What was found of one thing, in words that hold no value of the data and no secret."""

    looked_at: str
    condition: Condition
    says: str
    mend: str = ""  # what to do, for a person
    # What can safely be done without one; returns what was done, in words. It may be done twice. Raises SluiceError.
    repair: Callable[[], str] | None = field(default=None, compare=False)


def ok(looked_at: str, says: str) -> Diagnosis:
    return Diagnosis(looked_at, Condition.OK, says)


def warn(looked_at: str, says: str, mend: str, repair: Callable[[], str] | None = None) -> Diagnosis:
    return Diagnosis(looked_at, Condition.WARN, says, mend, repair)


def fail(looked_at: str, says: str, mend: str, repair: Callable[[], str] | None = None) -> Diagnosis:
    return Diagnosis(looked_at, Condition.FAIL, says, mend, repair)
