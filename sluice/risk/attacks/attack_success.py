"""Attack success: how often an intruder is right, and how much of it the released file gave away.

An attack is played against people in the file (main), against people who are not in it (control), and by guessing
(baseline). What works on the control too is knowledge of the population; only what works better on the people in the
file is a disclosure.

Source: Giomi, Boenisch, Wehmeyer and Tasnadi (2023); Wilson (1927); Clopper and Pearson (1934). Added: the share is of
the guesses that were made, not of those asked for; the risk is not cut off at 0, so a control that fares better shows;
and an attack that does not beat guessing is reported as not informative, whatever its figure.

The share at risk is the part of the examined cases in which an attack succeeds, with what chance may have done to it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from sluice.ground.arrays import FloatArray
from sluice.ground.comparable_values import plain_values
from sluice.ground.errors import DataError
from sluice.ground.variables import Variables
from sluice.risk.distances.gower import GowerPoints, gower_points
from sluice.risk.measurement import Measurement

LEVEL = 0.95
LOOKS = (0.99, 0.96)
"""Levels of the intervals of a figure that is looked at twice: at some of the people and, where the first interval
crosses the limit, at more. The errors of both looks, 1 % and 4 %, add up to the 5 % of a single one, however the looks
depend on each other (Dunn 1961): no more than one file in forty passes whose truth is at the limit."""
OF_FOLDS = 1.4
"""How much wider the interval of a figure over folds is than the people's own errors make it: their files were made of
the same people but for one fold, and no estimate of what that adds is unbiased (Bengio and Grandvalet 2004). Of 3,000
records of Adult, drawn 40 times, with leaves of 5, the figures varied by 1.2 to 1.35 times these errors."""
FEWEST = 20  # people on each side, half of whom teach an intruder what serves best


@dataclass(frozen=True)
class AttackSuccess:
    """Guesses and how many were right.

    attempted : guesses that were asked for
    completed : guesses that were made
    successes : of these, those that were right; a part of one where a tie was shared or a size corrected for
    cases     : as many independent guesses as those made are worth, where households succeed together; None: all
    """

    attempted: int
    completed: int
    successes: float
    cases: int | None = None

    @classmethod
    def of(cls, attempted: int, right: npt.NDArray[np.float64], units: npt.NDArray[np.int64] | None) -> "AttackSuccess":
        """right : of each guess made, 0 to 1; units: who belongs together of those guessed about, None: nobody."""
        worth = None if units is None or not len(right) else cases_worth(right, units)
        return cls(attempted, len(right), float(right.sum()), worth)

    def __post_init__(self) -> None:
        if not 0 <= self.successes <= self.completed <= self.attempted:
            raise ValueError(
                f"0 <= successes <= completed <= attempted must hold; "
                f"got {self.successes}, {self.completed} and {self.attempted}"
            )

    @property
    def share(self) -> float:
        """Right guesses as a share of the guesses made. Raises DataError when none was made."""
        if not self.completed:
            raise DataError("a share of right guesses needs at least one guess; none could be made")
        return self.successes / self.completed

    @property
    def _cases(self) -> int:
        return self.completed if self.cases is None else self.cases

    def wilson(self, level: float = LEVEL) -> tuple[float, float]:
        """Centre and half-width of Wilson's score interval. Raises DataError when no guess was made."""
        share, n, z = self.share, self._cases, quantile(level)
        centre = (share + z * z / (2 * n)) / (1 + z * z / n)
        half = z / (1 + z * z / n) * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
        return centre, half

    def exact(self, level: float = LEVEL) -> tuple[float, float]:
        """Clopper and Pearson's interval: that of the binomial law itself, so that either end errs at most as often as
        the level says, however few the guesses. Raises DataError when no guess was made."""
        right, cases, beyond = self.share * self._cases, self._cases, (1 - level) / 2
        if right in (0, cases):
            farthest = beyond ** (1 / cases)
            return (farthest, 1.0) if right else (0.0, 1 - farthest)
        from scipy.special import betaincinv  # loaded where it is needed

        wrong = cases - right
        return float(betaincinv(right, wrong + 1, beyond)), float(betaincinv(right + 1, wrong, 1 - beyond))


@dataclass(frozen=True)
class ControlledAttack:
    """One attack, played against the people in the file and against the control.

    baseline : share of right guesses of an intruder who guesses at random
    """

    main: AttackSuccess
    control: AttackSuccess
    baseline: float

    @property
    def completed(self) -> bool:
        """Whether there was a guess on either side; without one there is no figure."""
        return self.main.completed > 0 and self.control.completed > 0

    @property
    def informative(self) -> bool:
        """Whether the attack on the people in the file beats guessing; if not, its figure tells nothing of the file."""
        return self.completed and self.main.share > self.baseline

    @property
    def worse_than_guessing(self) -> bool:
        """Whether the attack does worse than guessing beyond chance: it was then played badly."""
        if not self.completed:
            return False
        centre, half = self.main.wilson()
        return centre + half < self.baseline

    def risk(self, level: float = LEVEL) -> Measurement:
        """(main - control) / (1 - control): of what the control leaves to win, the part that the attack wins.

        returns : at most 1; higher is worse; below 0 where the control fares better. The shares are the centres of
                  Wilson's intervals, and their half-widths are propagated as independent errors. The baseline is that
                  of guessing, on the same scale
        raises  : DataError when no guess was made on one of the sides
        source  : Giomi et al., the risk relative to the control and its error
        """
        (main, main_error), (control, control_error) = self.main.wilson(level), self.control.wilson(level)
        left = 1 - control
        value = (main - control) / left
        error = sqrt((main_error / left) ** 2 + (control_error * (1 - main) / left**2) ** 2)
        return Measurement(
            value=value,
            attempted=self.main.attempted,
            completed=self.main.completed,
            interval=(value - error, min(1.0, value + error)),
            level=level,
            baseline=(self.baseline - control) / left,
        )


_MORE = 4  # times as many are attacked where a first look leaves a figure open


def people_of_looks(attacks: int) -> tuple[int, ...]:
    """How many people are attacked on each side, at most, by the end of each look."""
    return attacks, _MORE * attacks


def looks(attacks: int, limit: float | None, sides: Sequence[int]) -> Iterator[tuple[float, int]]:
    """Level and people of each look; one where there is no limit, or where the first look takes all of both sides."""
    people = people_of_looks(attacks)
    if limit is None or max(sides) <= people[0]:
        yield LEVEL, people[0]
    else:
        yield from zip(LOOKS, people, strict=True)


def is_open(measured: Measurement, limit: float) -> bool:
    """Whether the interval of a figure of which more is worse crosses the limit."""
    low, high = measured.interval or (measured.value, measured.value)
    return low <= limit < high


Units = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]
"""Who belongs together, such as the household of each record: of the people in the file, and of the others."""


@dataclass(frozen=True)
class Attacked:
    """What an attack on having taken part is played on: a released file, the people behind it, and others.

    original, released, control : typed by `variables`, any index; control None: nobody was set aside
    columns : what the intruder knows of each person
    attacks : members and non-members whom the intruder judges, so many each; all, where there are fewer
    limit   : of what is judged: where its interval crosses it, up to four times as many. None: one look
    units   : who belongs together in `original` and in `control`; None: everybody is alone
    """

    original: pd.DataFrame
    released: pd.DataFrame
    control: pd.DataFrame | None
    variables: Variables
    columns: Sequence[str]
    attacks: int
    rng: np.random.Generator
    limit: float | None = None
    units: Units | None = None

    @property
    def files(self) -> tuple[pd.DataFrame, ...]:
        return tuple(file for file in (self.original, self.released, self.control) if file is not None)

    @cached_property
    def points(self) -> tuple[GowerPoints, ...]:
        """Of each file. Raises DataError for columns that `gower_points` refuses."""
        return gower_points(self.columns, self.variables, *self.files)

    @cached_property
    def values(self) -> list[list[npt.NDArray[Any]]]:
        """The columns of each file."""
        return [[plain_values(file[name]) for name in self.columns] for file in self.files]

    @cached_property
    def belonging(self) -> Units:
        others = 0 if self.control is None else len(self.control)
        return self.units or (np.arange(len(self.original)), np.arange(others))


_LEAST = 0.25  # of the variance of one split that is left to the mean of several, which is known no better


def excess_of_participants(
    participants: npt.NDArray[np.float64], others: npt.NDArray[np.float64], units: Units, level: float = LEVEL
) -> Measurement:
    """How much more is right of the people in the file than of others.

    participants, others : shapes (s, n) and (s, m), 0 to 1 each, one value a person in each of s splits; NaN for whom a
                           split does not judge
    returns  : the share of participants, its baseline that of others; the interval is the baseline plus that of the
               difference, by whole units. The mean of s splits that were drawn alike varies as one of them, less what
               they differ among each other: Var(T) = Var(E[T | people]) + E[Var(T | people)], of which the mean has the
               first part and 1 / s of the second
    """
    sides = list(zip((participants, others), units, strict=True))
    shares = [np.nanmean(each, axis=1) for each, _ in sides]
    variance = differing = 0.0
    for splits, of in sides:
        judged = [(each[held], of[held]) for each, held in zip(splits, ~np.isnan(splits), strict=True)]
        variance += float(np.mean([variance_of_mean(*each) for each in judged]))
        differing += 1 / min(len(np.unique(each)) for _, each in judged) ** 2
    if (drawn := len(participants)) > 1:
        among = float(np.var(shares[0] - shares[1], ddof=1))
        variance = max(variance - (1 - 1 / drawn) * among, variance * _LEAST)
    half = half_width(variance, 1 / sqrt(differing), level)
    value, baseline, n = float(shares[0].mean()), float(shares[1].mean()), participants.shape[1]
    interval = value - half, value + half
    if 0 <= value <= 1:  # what is adjusted may lie a little outside
        interval = max(0.0, interval[0]), min(1.0, interval[1])
    return Measurement(value, n, n, interval=interval, level=level, baseline=baseline)


def without_luck(right: Sequence[FloatArray], expected: Sequence[FloatArray]) -> list[FloatArray]:
    """What is right of each person, less what could be expected of them whatever the file: of those who are guessed
    easily by anybody's records, one side may happen to have more.

    right    : of participants and of others, shapes (n, g) and (m, g) for g guesses
    expected : shapes (n, g, c) and (m, g, c), figures of each person that a file without them gives. People were set
               aside at random, so that both sides have the same in the mean, and whatever explains what is right may
               be taken off: the difference of the means stays unbiased, up to 1 / m, and varies less
    returns  : shapes (n, g) and (m, g); participants keep their mean, others get that of people like participants
    cost     : O((n + m) g c^2)
    source   : Lin (2013); Deng, Xu, Kohavi and Walker (2013)
    """
    off = [each - each.mean(axis=0) for each in expected]
    centred = [each - each.mean(axis=0) for each in right]
    squares = sum(np.einsum("ngc,ngd->gcd", each, each) for each in off)
    products = sum(np.einsum("ngc,ng->gc", each, of) for each, of in zip(off, centred, strict=True))
    slopes = np.einsum("gcd,gd->gc", np.linalg.pinv(squares, hermitian=True), products)
    typical = expected[0].mean(axis=0)
    return [of - np.einsum("ngc,gc->ng", each - typical, slopes) for of, each in zip(right, expected, strict=True)]


def sides_of(units: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The half of each person, 0 or 1, in which are all of the unit: every second one in the order in which they come,
    shape (n,)."""
    return np.asarray(pd.factorize(units)[0] % 2)


def cases_worth(success: npt.NDArray[np.float64], units: npt.NDArray[np.int64]) -> int:
    """As many independent cases as tell what these tell, of whom households succeed or fail together (Kish 1965).

    success, units : of each person, 0 to 1 and who belongs together, shapes (n,)
    returns        : no more than there are households: where all succeed, or nobody does, nothing tells how far they
                     do so together
    """
    share = float(success.mean())
    places, of = np.unique(units, return_inverse=True)
    totals = np.bincount(of, success - share)
    clustered, simple = float((totals**2).sum()), float(((success - share) ** 2).sum())
    cases = len(places)
    return max(1, min(cases, round(len(success) * simple / clustered))) if clustered > 0 else cases


def adjusted_cases(cases: int, success: FloatArray, adjusted: FloatArray, units: npt.NDArray[np.int64]) -> int:
    """As many cases as tell what these do once something is known of them that explains a part, shapes (n,)."""
    before, after = (variance_of_mean(each, units) for each in (success, adjusted))
    return round(cases * before / max(after, before * _LEAST)) if before > 0 else cases


def variance_of_mean(values: npt.NDArray[np.float64], units: npt.NDArray[np.int64]) -> float:
    """Of the mean of values, shape (n,), whose units were drawn (Kish 1965)."""
    totals = np.bincount(np.unique(units, return_inverse=True)[1], values - values.mean())
    return float((totals**2).sum()) / len(values) ** 2


def half_width(variance: float, units: float, level: float) -> float:
    """Of a difference of means; one unit that differs is counted besides, so that none is certain to be nought."""
    return quantile(level) * sqrt(variance + 1 / units**2)


def quantile(level: float) -> float:
    """How many standard errors of a normal law hold the middle `level` of it."""
    if not 0 < level < 1:
        raise ValueError(f"level must be in (0, 1); got {level}")
    return NormalDist().inv_cdf((1 + level) / 2)


def share_at_risk(success: npt.NDArray[np.float64], of: int, baseline: float | None = None) -> Measurement:
    """Mean success over the examined cases, as a measurement.

    success  : shape (completed,), 0 to 1 each: 1 / t where the true answer is one of t that are as good
    of       : cases in the file; when fewer were examined, those were drawn at random
    baseline : the share that an intruder reaches by guessing
    returns  : as it is when all cases were examined, else with the exact 95 % interval (a success of less than 1
               varies less than one of 0 or 1, so the interval is rather too wide). A share of all cases below its
               baseline gets the interval from itself to what chance explains, at most the baseline: masking is a game
               of chance, and an intruder can always guess
    raises   : DataError when more cases were examined than there are
    cost     : O(completed)
    """
    completed = len(success)
    if completed > of:
        raise DataError(f"of the {of:,} cases of the file {completed:,} cannot have been examined.")
    if completed == 0:
        return Measurement(value=float("nan"), attempted=0, completed=0, baseline=baseline)
    value = float(success.mean())
    low, high = AttackSuccess(completed, completed, min(float(completed), float(success.sum()))).exact()
    low, high = min(value, low), max(value, high)  # rounding aside, as they are
    interval: tuple[float, float] | None = None
    if completed < of:
        interval = (low, high)
    elif baseline is not None and value < baseline:
        interval = (value, min(high, baseline))
    return Measurement(value, attempted=completed, completed=completed, interval=interval, baseline=baseline)
