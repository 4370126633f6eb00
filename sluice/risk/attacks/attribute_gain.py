"""Attribute gain: what the intruder learns of a person's other variables, beyond what a file of others tells.

He reads the value off one of the records that are most likely the person's, each with its posterior probability. The
same reading without the records of the household is what he would have learned had it stayed out (Lasko and Vinterbo
2010, section II): the difference, person by person, is what taking part costs. What a group of look-alikes has in
common is no gain, as it is read without the person, too; l-diversity and t-closeness look at that.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.risk.attacks.attack_success import quantile
from sluice.risk.linkage.learned_linker import CandidatePosterior

SmallCodes = npt.NDArray[np.signedinteger[Any]]  # a byte each where there are few

NEAR = (0.0, 0.01, 0.05)
"""How near a number must be read, as the share of the people who lie between: equal, a hundredth, a twentieth."""

Chances = tuple[FloatArray, FloatArray]
"""Of each of q people the chance that a variable is read rightly, from the file and from one without them."""


@dataclass(frozen=True)
class OtherVariable:
    """A variable that is read: codes of its true and released values, equal where the values are."""

    name: str
    truth: SmallCodes  # (n,) -1 where missing: nothing to learn
    released: SmallCodes  # (m,) -1 where missing
    places: FloatArray  # of each code, the share of true values below; empty: categories, which are equal or not

    @classmethod
    def of(cls, name: str, before: npt.NDArray[Any], after: npt.NDArray[Any], number: bool) -> "OtherVariable":
        both = np.concatenate([before, after])
        codes, values = pd.factorize(both, sort=number)
        codes = codes.astype(np.min_scalar_type(-max(1, len(values))))  # of all variables they are held at once
        truth, released = codes[: len(before)], codes[len(before) :]
        places = np.empty(0)
        if number:
            held = np.bincount(truth[truth >= 0], minlength=len(values)).astype(np.float64)
            places = (np.cumsum(held) - held / 2) / max(1.0, held.sum())
        return cls(name, truth, released, places)

    @property
    def nearness(self) -> tuple[float, ...]:
        return NEAR if len(self.places) else NEAR[:1]

    def near(self, one: SmallCodes, other: SmallCodes, within: float) -> BoolArray:
        equal = (one == other) & (one >= 0)
        if within == 0 or not len(self.places):
            return np.asarray(equal)
        far = np.abs(self.places[one] - self.places[other]) <= within
        return np.asarray(equal | (far & (one >= 0) & (other >= 0)))

    def common(self, within: float) -> int:
        """Code of the value that is near most released ones: the best guess of whoever knows the file alone."""
        held = np.bincount(self.released[self.released >= 0], minlength=1)
        if within == 0 or not len(self.places) or not held.sum():
            return int(held.argmax())
        places = self.places[: len(held)]
        below = np.concatenate([[0], np.cumsum(held)])
        ends = np.searchsorted(places, places + within, "right"), np.searchsorted(places, places - within, "left")
        return int((below[ends[0]] - below[ends[1]]).argmax())


@dataclass(frozen=True)
class Reading:
    """A way to read a variable: how near counts as right, and what to read where no record stands out."""

    within: float
    fall_back: bool  # to the value that most released records are near, where no posterior is above 1/2


@dataclass(frozen=True)
class AttributeGain:
    """Shares of the people whose value is read rightly."""

    name: str
    within: float
    right: float
    without: float  # from a file that the person is not in
    interval: tuple[float, float]  # of the gain

    @property
    def gain(self) -> float:
        return self.right - self.without


@dataclass(frozen=True)
class _Chances:
    """Chance to read each person's value rightly, shape (q,) each. What is missing in truth is not learned."""

    certain: BoolArray  # a posterior above 1/2
    read: FloatArray
    certain_without: BoolArray
    read_without: FloatArray
    common: FloatArray  # by the value that most released records are near

    @classmethod
    def of(cls, variable: OtherVariable, people: IntArray, found: CandidatePosterior, within: float) -> "_Chances":
        truth = variable.truth[people]
        values = np.where(found.rows >= 0, variable.released[found.rows], -1)
        hits = variable.near(values, truth[:, None], within)  # what is missing is near nothing
        common = variable.near(np.full(len(people), variable.common(within)), truth, within).astype(np.float64)
        certain, certain_without = found.sure, found.sure_without
        read = (hits * found.shares).sum(axis=1)
        return cls(certain, read, certain_without, (hits * found.without).sum(axis=1), common)

    def by(self, reading: Reading) -> tuple[FloatArray, FloatArray]:
        """From the file, and from one without the own record."""
        if not reading.fall_back:
            return self.read, self.read_without
        return (
            np.where(self.certain, self.read, self.common),
            np.where(self.certain_without, self.read_without, self.common),
        )


def strongest_readings(
    variables: Sequence[OtherVariable], people: IntArray, found: CandidatePosterior
) -> dict[str, Reading]:
    """For each variable the reading that gains most on these people, who are not those that are judged."""
    readings = {}
    for variable in variables:
        gains = {}
        for within in variable.nearness:
            chances = _Chances.of(variable, people, found, within)
            for fall_back in (False, True):
                right, without = chances.by(Reading(within, fall_back))
                gains[Reading(within, fall_back)] = float((right - without).mean())
        readings[variable.name] = max(gains, key=lambda each: gains[each])
    return readings


def gains_of_people(
    variables: Sequence[OtherVariable],
    people: IntArray,
    found: CandidatePosterior,
    readings: Mapping[str, Reading],
) -> list[Chances]:
    """Of each variable the chance to read each person's value rightly, from the file and from one without the own
    record, shapes (q,).

    people : shape (q,), the rows of `found`
    cost   : O(q k) for each variable and k candidates
    """
    return [
        _Chances.of(variable, people, found, readings[variable.name].within).by(readings[variable.name])
        for variable in variables
    ]


def attribute_gains(
    variables: Sequence[OtherVariable],
    chances: Sequence[Chances],
    readings: Mapping[str, Reading],
    units: IntArray,
    level: float = 0.95,
) -> list[AttributeGain]:
    """What people would lose in each variable.

    chances : of each variable, as `gains_of_people` has them, of all q people
    units   : shape (q,), who belongs together, such as the household of each; what happens to one may happen to all
    returns : intervals hold together for all variables with this probability (Bonferroni)
    """
    together = 1 - (1 - level) / max(1, len(variables))
    return [
        AttributeGain(
            variable.name, readings[variable.name].within, float(right.mean()), float(without.mean()),
            gain_interval(right - without, units, together),
        )
        for variable, (right, without) in zip(variables, chances, strict=True)
    ]  # fmt: skip


def gain_interval(gain: FloatArray, units: IntArray, level: float) -> tuple[float, float]:
    """Of the mean of what each person gains, -1 to 1, shape (q,); whole units are drawn.

    It counts one more unit that gains and one that loses, so that no gain is certain to be nought, as Agresti and Min
    (2005) do for matched pairs.
    """
    value, errors = float(gain.mean()), np.bincount(np.unique(units, return_inverse=True)[1], gain - gain.mean())
    size = len(gain) / len(errors)  # people of a unit
    half = quantile(level) * sqrt(float((errors**2).sum()) + 2 * size**2) / (len(gain) + 2 * size)
    return max(-1.0, value - half), min(1.0, value + half)
