"""Attack: what an intruder does who knows how a file was masked, its method and its published parameters.

A masking step declares the attacks known for it (`MaskingStep.attacks`); they are played on every release.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

from sluice.risk.measurement import Measurement
from sluice.risk.transparency.pairs import Pairs

LeakKind = Literal["identified", "confident", "reconstructed", "participation"]


@dataclass(frozen=True)
class Leak:
    """One figure of an attack that was played.

    kind     : identified: share of the people whose record the intruder takes for theirs, ties shared; confident: share
               of the people whose record the intruder is rightly more than half sure of; reconstructed: share of the
               values that the intruder computes closely; participation: how much larger a share of those who took part
               the intruder gets right than of people who did not
    says     : how it was reached, as half a sentence after the figure
    claims   : of 'confident': share of the people whose record the intruder is more than half sure of, rightly or not
    """

    kind: LeakKind
    measured: Measurement
    says: str
    claims: float | None = None


@dataclass(frozen=True)
class Attack(ABC):
    """An attack on one step of a plan.

    columns : the variables that the step masked
    """

    columns: tuple[str, ...]

    knows_person: ClassVar[bool] = False  # the intruder knows the original values of the columns, and seeks the record

    @property
    @abstractmethod
    def knows(self) -> str:
        """What the intruder knows of the method, to follow 'knows'."""

    @abstractmethod
    def play(self, pairs: Pairs) -> tuple[Leak, ...]:
        """What the attack reaches on a masked file; at least one figure. Raises DataError when it cannot be played."""


@dataclass(frozen=True)
class NoAttack:
    """A step whose method leaves nothing to be attacked, and why."""

    reason: str
