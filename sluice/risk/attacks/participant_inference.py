"""Participant inference: a variable is read off the released records nearest by all others, better of participants.

The intruder knows a person but for one variable. What is guessed of people who took no part is knowledge of everybody;
what is guessed better of participants, the file tells of them.

Source: Giomi, Boenisch, Wehmeyer and Tasnadi (2023), the inference attack with a control. Differs from it: every
variable is tried, and one or several nearest records; the variable and number that serve best on half of the people are
judged on the other half, both ways, so that a look at many variables costs nothing; numbers are near by their ranks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.ground.comparable_values import plain_values
from sluice.ground.errors import DataError
from sluice.ground.variables import Kind, Variables
from sluice.risk.attacks.attack_success import FEWEST, LEVEL, quantile
from sluice.risk.distances.gower import GowerPoints, gower_points
from sluice.risk.measurement import Measurement

_NEIGHBOURS = (1, 5)
_RANKS = 0.025  # of the original's values, on either side, within which a number is guessed right


@dataclass(frozen=True)
class InferenceGain:
    """How much better participants are guessed.

    measurement : value is the share of participants guessed right, baseline that of others; the interval is the
                  baseline plus the 95 % interval of the difference; higher is worse
    variables   : those that served best on either half of the people
    """

    measurement: Measurement
    variables: tuple[str, ...]


def participant_inference(
    original: pd.DataFrame,
    released: pd.DataFrame,
    control: pd.DataFrame,
    variables: Variables,
    columns: Sequence[str],
    attacks: int,
    rng: np.random.Generator,
) -> InferenceGain:
    """Guess each column of a person by the nearest released records by all other columns.

    original, released, control : typed by `variables`, any index
    columns : at least 2
    attacks : participants and others, so many each; all, where there are fewer. A missing value is guessed, too
    raises  : DataError for one column, fewer than 20 people on a side, or columns that `gower_points` refuses
    cost    : O(attacks x released records x columns) time, O(attacks x columns) memory
    """
    if len(columns) < 2:
        raise DataError(f"participant inference needs 2 columns; got {len(columns)}")
    points = gower_points(columns, variables, original, released, control)
    if min(len(original), len(control)) < FEWEST or not len(released):
        raise DataError(f"participant inference needs {FEWEST} participants and {FEWEST} others, and a released record")
    # Numbers first, as `gower_points` has them.
    names = sorted(columns, key=lambda name: variables[name].kind in (Kind.NOMINAL, Kind.BINARY, Kind.ITEMS))
    sides = []
    for file, at in ((original, 0), (control, 2)):
        rows = points[at].in_random_order(rng)[:attacks]
        sides.append(_right(names, original, released, file.iloc[rows], points[at].take(rows), points[1]))
    measured, chosen = _judged(*sides)
    return InferenceGain(measured, tuple(dict.fromkeys(names[at] for at in chosen)))


def _right(
    names: Sequence[str],
    original: pd.DataFrame,
    released: pd.DataFrame,
    people: pd.DataFrame,
    queries: GowerPoints,
    file: GowerPoints,
) -> BoolArray:
    """Shape (people, columns, numbers of neighbours): which guesses are right."""
    from sluice.risk.attacks.participant_inference_kernel import nearest_without_each

    most = min(max(_NEIGHBOURS), len(file))
    index = nearest_without_each(queries.numbers, queries.categories, file.numbers, file.categories, most)
    right = np.zeros((len(people), len(names), len(_NEIGHBOURS)), np.bool_)
    for column, name in enumerate(names):
        own, theirs, reach = _comparable(
            plain_values(original[name]), plain_values(people[name]), plain_values(released[name])
        )
        for at, k in enumerate(_NEIGHBOURS):
            near = theirs[index[:, column, : min(k, most)]]
            guess = np.median(near, axis=1) if reach else _most_frequent(near)
            right[:, column, at] = np.abs(guess - own) <= reach
    return right


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


def _judged(participants: BoolArray, others: BoolArray) -> tuple[Measurement, IntArray]:
    """The guess that serves best on one half of the people, on the other half; both ways."""
    hits, alarms, chosen = [], [], []
    for half in (0, 1):
        gain = participants[half::2].mean(axis=0) - others[half::2].mean(axis=0)
        column, neighbours = np.unravel_index(int(gain.argmax()), gain.shape)
        hits.append(participants[1 - half :: 2, column, neighbours])
        alarms.append(others[1 - half :: 2, column, neighbours])
        chosen.append(int(column))
    n, m = len(participants), len(others)
    value = sum(each.mean() for each in hits) / 2
    baseline = sum(each.mean() for each in alarms) / 2
    variance = sum(each.var() / len(each) for each in (*hits, *alarms)) / 4 + 1 / (n + m) ** 2
    half_width = quantile(LEVEL) * sqrt(variance)
    low, high = max(0.0, value - half_width), min(1.0, value + half_width)
    measured = Measurement(float(value), n, n, interval=(low, high), baseline=float(baseline))
    return measured, np.array(chosen)
