"""Attack: what an intruder does who knows how a file was masked, its method and its published parameters.

A masking step declares the attacks known for it (`MaskingStep.attacks`); they are played on every release.

An attack is played on pairs: the original and the masked file record by record. How often an attack succeeds, and how
often it would without what the method tells, are counted on the same people, so that chance moves them together: only
the people in whom they differ make the excess uncertain.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import ClassVar, Literal

import numpy as np
import pandas as pd

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.variables import Kind, Variables
from sluice.risk.attacks.attack_success import LEVEL, Units, quantile
from sluice.risk.measurement import Measurement

Side = tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame, Units]
"""Those who took part, the file made of them, others, and who belongs together among the first and the last."""

RANKED = (Kind.CONTINUOUS, Kind.INTEGER, Kind.ORDINAL)


@dataclass(frozen=True)
class Pairs:
    """What the intruder knows of people, what was released, and which record is whose, to tell right from wrong.

    original : the people's records before masking, typed by `variables`, index 0..n-1
    recoded  : the same after the recodings of the plan alone, which the intruder repeats, typed by `released`
    masked   : typed by `released`; row i is the masked record of row i of `original`
    rows     : the people who are attacked, in rising order; all records of `masked` are searched
    rng      : for attacks that draw
    others   : people of the same kind who are not in the file, typed by `released`; None when none were set aside
    others_units : who belongs together among these; None: everybody is alone
    folds    : makes files of other parts of the people by the whole plan, the masked file first; None where no plan is
               known
    participation : how much more often a participant may be told, where what an interval leaves open is to be settled
    """

    original: pd.DataFrame
    variables: Variables
    recoded: pd.DataFrame
    masked: pd.DataFrame
    released: Variables
    rows: IntArray
    rng: np.random.Generator
    others: pd.DataFrame | None = None
    others_units: IntArray | None = None
    folds: Callable[[], Sequence[Side]] | None = None
    participation: float | None = None

    def part(self, members: IntArray) -> "Pairs":
        """The records at these places of the file as a file of their own, all of them attacked."""
        original, recoded, masked = (
            frame.iloc[members].reset_index(drop=True) for frame in (self.original, self.recoded, self.masked)
        )
        everyone = np.arange(len(members))
        return Pairs(original, self.variables, recoded, masked, self.released, everyone, self.rng)

    def known(self, names: Iterable[str]) -> FloatArray:
        """Numbers as the intruder knows them, ordered categories by position, NaN where missing, shape (n, names)."""
        return _numbers(self.recoded, names)

    def published(self, names: Iterable[str]) -> FloatArray:
        """The same of the masked file, on one scale with `known`."""
        return _numbers(self.masked, names)


def _numbers(frame: pd.DataFrame, names: Iterable[str]) -> FloatArray:
    columns = []
    for name in names:
        if isinstance(frame[name].dtype, pd.CategoricalDtype):
            codes = frame[name].cat.codes.to_numpy(np.float64)
            columns.append(np.where(codes < 0, np.nan, codes))
        else:
            columns.append(frame[name].to_numpy(np.float64, na_value=np.nan))
    return np.column_stack(columns)


def paired_share(success: FloatArray, without: FloatArray, of: int) -> Measurement:
    """Mean success, with that `without` as its baseline.

    success, without : shape (completed,), 0 to 1 each
    of               : cases in the file; when fewer were examined, those were drawn at random
    returns          : exact when all cases were examined, else with a 95 % interval of the excess around the value; a
                       difference that was not seen may be that of the next person
    cost             : O(completed)
    """
    completed = len(success)
    if completed == 0:
        return Measurement(value=float("nan"), attempted=of, completed=0, baseline=0.0)
    value, baseline = float(success.mean()), float(without.mean())
    interval = None
    if completed < of:
        half = quantile(LEVEL) * sqrt(float((success - without).var()) / completed) + 1 / completed
        interval = (value - half, value + half)
    return Measurement(value, attempted=completed, completed=completed, interval=interval, baseline=baseline)


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
