"""Participant inference: a variable is read off the released records nearest by all others, better of participants.

The intruder knows a person but for one variable. What is guessed of people who took no part is knowledge of everybody;
what is guessed better of participants, the file tells of them. Whether a person is guessed easily by the original
without their household is taken off on both sides, so that a draw of the people set aside decides less.

Source: Giomi, Boenisch, Wehmeyer and Tasnadi (2023), the inference attack with a control. Differs from it: every
variable is tried, and one or several nearest records; the people come in ten parts, and each of the last six is judged
by the variable and number that serve best on those before it (Luedtke and van der Laan 2016), so that a look at many
variables costs nothing; the parts are drawn many times, so that no draw decides; numbers are near by their ranks.
Where the interval crosses the limit, more people are attacked.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.comparable_values import plain_values
from sluice.ground.errors import DataError
from sluice.ground.variables import Kind
from sluice.risk.attacks.attack_success import (
    FEWEST,
    Attacked,
    excess_of_participants,
    is_open,
    looks,
    without_luck,
)
from sluice.risk.distances.gower import GowerPoints
from sluice.risk.measurement import Measurement

_NEIGHBOURS = (1, 5)
_CERTAIN = 3.0  # standard errors that are taken off what a guess seems to gain, before the best is chosen: of a file
# that tells nothing, a guess is judged that varies little, which needs fewer people to be decided
_SEEN = 15  # records of other people by which is told how well a person can be guessed anyway, of so many
_OTHERS = 10_000
_PARTS, _LEARNED, _DRAWS = 10, 4, 20  # of the people, of which so many only teach, and how often they are drawn
_RANKS = 0.025  # of the original's values, on either side, within which a number is guessed right


@dataclass(frozen=True)
class InferenceGain:
    """How much better participants are guessed.

    measurement : value is the share of participants guessed right, baseline that of others; the interval is the
                  baseline plus that of the difference; higher is worse
    variables   : the two that served best most often
    """

    measurement: Measurement
    variables: tuple[str, ...]


def participant_inference(attacked: Attacked) -> InferenceGain:
    """Guess each column of a person by the nearest released records by all other columns.

    attacked : at least 2 columns; its limit is that of the gain. A missing value is guessed, too
    raises   : DataError for one column, fewer than 20 people or 2 units on a side, or columns that `gower_points`
               refuses
    cost     : O(attacks x (released records + 10,000) x columns) time, O(attacks x columns) memory
    """
    columns, variables, rng, limit = attacked.columns, attacked.variables, attacked.rng, attacked.limit
    if len(columns) < 2:
        raise DataError(f"participant inference needs 2 columns; got {len(columns)}")
    points, of_units, original = attacked.points, attacked.belonging, attacked.original
    if min(len(points[0]), len(points[2])) < FEWEST or not len(points[1]):
        raise DataError(f"participant inference needs {FEWEST} participants and {FEWEST} others, and a released record")
    if min(len(np.unique(each)) for each in of_units) < 2:
        raise DataError("participant inference needs participants, and others, who do not all belong together")
    # Numbers first, as `gower_points` has them.
    names = sorted(columns, key=lambda name: variables[name].kind in (Kind.NOMINAL, Kind.BINARY, Kind.ITEMS))
    orders = [points[at].in_random_order(rng) for at in (0, 2)]
    guesses = len(names) * len(_NEIGHBOURS)
    right = [np.zeros((0, guesses))] * 2
    expected = [np.zeros((0, guesses, 2))] * 2
    seed = int(rng.integers(2**62))
    some = orders[0][:_OTHERS]
    files = _File(attacked.released, points[1]), _File(original.iloc[some], points[0].take(some), of_units[0][some])
    for level, people in looks(attacked.attacks, limit, [*map(len, orders)]):
        for side, (file, at) in enumerate(((original, 0), (attacked.files[-1], 2))):
            rows = orders[side][len(right[side]) : people]
            looked_for = _File(file.iloc[rows], points[at].take(rows), of_units[0][rows] if at == 0 else None)
            read, _ = _read(names, original, looked_for, files[0])
            without, share = _read(names, original, looked_for, files[1], _SEEN)
            right[side] = np.concatenate([right[side], read])
            expected[side] = np.concatenate([expected[side], np.stack([without, share], axis=2)])
        grouped = [of[order[:people]] for of, order in zip(of_units, orders, strict=True)]
        fair = [*without_luck(right, expected), right[0]]
        measured, chosen = _judged(fair, grouped, np.random.default_rng(seed), level, len(_NEIGHBOURS))
        if limit is None or not is_open(measured.beyond_baseline(), limit):
            break
    return InferenceGain(measured, tuple(dict.fromkeys(names[at] for at in chosen)))


@dataclass(frozen=True)
class _File:
    """Records, and whose they are, shape (m,); None: nobody's who is looked for."""

    records: pd.DataFrame
    points: GowerPoints
    units: IntArray | None = None

    def owners(self, of_nobody: int) -> IntArray:
        return np.full(len(self.points), of_nobody) if self.units is None else self.units


def _read(
    names: Sequence[str], original: pd.DataFrame, people: _File, file: _File, seen: int = max(_NEIGHBOURS)
) -> tuple[FloatArray, FloatArray]:
    """Which guesses are right by records of others, and the share of the nearest that are; shapes (people, guesses),
    the numbers of neighbours of one column beside each other.

    seen : how many of the nearest the share is of
    """
    from sluice.risk.attacks.participant_inference_kernel import nearest_without_each

    queries, points, most = people.points, file.points, min(seen, len(file.points))
    index = nearest_without_each(
        queries.numbers, queries.categories, points.numbers, points.categories, most, file.owners(-2), people.owners(-1)
    )
    right, share = (np.zeros((len(queries), len(names), len(_NEIGHBOURS)), np.float64) for _ in range(2))
    for column, name in enumerate(names):
        own, theirs, reach = _comparable(
            plain_values(original[name]), plain_values(people.records[name]), plain_values(file.records[name])
        )
        near = np.where(index[:, column] < 0, np.nan, theirs[index[:, column]])
        share[:, column] = (np.abs(near - own[:, None]) <= reach).mean(axis=1)[:, None]
        for at, k in enumerate(_NEIGHBOURS):
            guess = np.median(near[:, :k], axis=1) if reach else _most_frequent(near[:, :k])
            right[:, column, at] = np.abs(guess - own) <= reach
    shape = len(queries), len(names) * len(_NEIGHBOURS)  # of nobody, where all were looked at before
    return right.reshape(shape), share.reshape(shape)


def _comparable(*files: npt.NDArray[Any]) -> tuple[FloatArray, FloatArray, float]:
    """The last two files' values as ranks among the first file's, or codes of labels, and how near is right."""
    first = files[0]
    if all(values.dtype.kind == "f" for values in files):
        present = np.sort(first[~np.isnan(first)])
        if len(np.unique(present)) > 1 / _RANKS:
            ranks = [_ranks(values, present) for values in files[1:]]
            return ranks[0], ranks[1], _RANKS
    codes, _ = pd.factorize(np.concatenate([values.astype(object) for values in files[1:]]), use_na_sentinel=False)
    own, theirs = np.split(codes.astype(np.float64), [len(files[1])])
    return own, theirs, 0.0


def _ranks(values: FloatArray, ordered: FloatArray) -> FloatArray:
    """The share of the ordered values below each value, ties halved; -1 where it is missing."""
    below, at_most = (np.searchsorted(ordered, values, side) for side in ("left", "right"))
    return np.where(np.isnan(values), -1.0, (below + at_most) / (2 * len(ordered)))


def _most_frequent(near: FloatArray) -> FloatArray:
    """The most frequent of each row, among equally frequent ones the nearest; shape (n,)."""
    votes = (near[:, :, None] == near[:, None, :]).sum(axis=2)
    return np.asarray(near[np.arange(len(near)), votes.argmax(axis=1)])


def _judged(
    right: Sequence[FloatArray], units: Sequence[IntArray], rng: np.random.Generator, level: float, width: int
) -> tuple[Measurement, list[int]]:
    """Each part of the units by the guess that serves best on the parts before it; a mean over several draws of the
    parts. The two guesses that served most often.

    right : of participants, of others, and once more of participants as they were guessed, which the share is of

    Best is what gains most as far as that is certain: a guess that is right by chance for half of the people seems to
    gain more than others where none does. Were each part judged by all others, the people of one would choose for
    another and be judged by what the other chose: where several guesses serve alike, both err together, and intervals
    of 95 % held 85 to 90 %.
    """
    parts = min(_PARTS, *(len(np.unique(each)) for each in units))
    guesses = [each.astype(np.float32) for each in right]
    scores, chosen, guessed = [np.full((_DRAWS, len(each)), np.nan) for each in guesses[:2]], list[int](), list[float]()
    for draw in range(_DRAWS):
        of_part = [_parts_of(each, parts, rng) for each in units]
        sums = np.zeros((2, 2, parts - 1, guesses[0].shape[1]))  # by the parts up to each: of values, and of squares
        for side, (each, of) in enumerate(zip(guesses[:2], of_part, strict=True)):
            members = (of == np.arange(parts)[:, None]).astype(np.float32)
            counts = np.cumsum(members.sum(axis=1))[:-1, None]
            for power in (0, 1):
                sums[side, power] = np.cumsum(members @ each ** (power + 1), axis=0)[:-1] / counts
            sums[side, 1] = (sums[side, 1] - sums[side, 0] ** 2).clip(0) / counts
        better = sums[0, 0] - sums[1, 0]
        best = (better - _CERTAIN * np.sqrt(sums[0, 1] + sums[1, 1])).argmax(axis=1)
        first = min(_LEARNED, parts - 1)
        for score, each, of in zip(scores, guesses[:2], of_part, strict=True):
            judged = np.flatnonzero(of >= first)
            score[draw, judged] = each[judged, best[of[judged] - 1]]
        judged = np.flatnonzero(of_part[0] >= first)
        guessed.append(float(guesses[2][judged, best[of_part[0][judged] - 1]].mean()))
        chosen += (best[first - 1 :] // width).tolist()
    measured = excess_of_participants(scores[0], scores[1], (units[0], units[1]), level).moved_to(
        float(np.mean(guessed))
    )
    return measured, sorted(dict.fromkeys(chosen), key=lambda each: -chosen.count(each))[:2]


def _parts_of(units: IntArray, parts: int, rng: np.random.Generator) -> IntArray:
    """The part of each person, in which are all of the unit; drawn in the order in which units come."""
    codes, names = pd.factorize(units)
    return np.asarray((rng.permutation(len(names)) % parts)[codes])
