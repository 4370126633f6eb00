"""Averaged noise: several files with noise of their own tell a value better together than each does alone.

The intruder knows some of a person's variables, finds by these the nearest record of each file, and takes the average
of a number, or the most frequent category, over the files. Where several records are equally near, as in a class of
look-alikes, their mean is taken.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.ground.comparable_values import column_hashes, plain_values
from sluice.risk.distances.neighbours import nearest_neighbours
from sluice.risk.publications.publication import Publication, SamePeople
from sluice.risk.row_groups import RowGroups, row_groups
from sluice.risk.spread import COARSE

_FAR = 6.0  # spreads; whatever lies farther out is as far as that
_MOST_LABELS = 100  # of a variable by which records are compared
_SAME = 0.9  # share of the values that are the same in both files, from which nothing is to be averaged


@dataclass(frozen=True)
class AveragedNoise:
    """How often a variable is read rightly: a category, or a number to a tenth of its spread.

    name     : the variable
    files    : how many files hold it, the last one included
    people   : of whom it was read
    alone    : share of them of whom it was read rightly, in whichever file tells most
    together : the same from all of them
    gain     : together less alone, with its interval at 95 %
    """

    name: str
    files: int
    people: int
    alone: float
    together: float
    gain: float
    interval: tuple[float, float]


def averaged_noise(
    last: Publication,
    earlier: Sequence[tuple[Publication, SamePeople]],
    keys: Sequence[str],
    most: int,
    rng: np.random.Generator,
) -> list[AveragedNoise]:
    """Each variable of the last file that was released in another one with other values of the same originals.

    keys : what an intruder knows of a person, besides all that no file changes
    most : people attacked at most
    cost : that of nearest_neighbours for `most` queries in each file, and again for each redrawn key
    """
    redrawn = {place: _redrawn(last, *pair) for place, pair in enumerate(earlier)}
    known = set(keys) | {str(each) for each in last.masked if not any(each in names for names in redrawn.values())}
    people = np.flatnonzero(_released(last) & np.any([_also_in(last, *pair) for pair in earlier], axis=0))
    if len(people) > most:
        people = np.sort(rng.choice(people, most, replace=False))
    nearest = _Nearest(last.original.iloc[people])
    return [
        found
        for name in dict.fromkeys(name for names in redrawn.values() for name in names)
        for found in _read(
            name, last, [pair for place, pair in enumerate(earlier) if name in redrawn[place]], known, people, nearest
        )
    ]


def _also_in(last: Publication, file: Publication, same: SamePeople) -> BoolArray:
    """Shape (people of the last file,): who has a record in the other one."""
    there = np.zeros(len(last.original), np.bool_)
    there[same.later[_released(file)[same.earlier]]] = True
    return there


class _Nearest:
    """The nearest records of people in each file, searched once for each set of known variables."""

    def __init__(self, originals: pd.DataFrame) -> None:
        self._originals = originals
        self._found: dict[tuple[int, tuple[str, ...]], tuple[RowGroups, IntArray]] = {}

    def __call__(self, file: Publication, known: tuple[str, ...]) -> tuple[RowGroups, IntArray]:
        """The groups of equal records, by the known variables, and each person's nearest group."""
        key = id(file), known
        if key not in self._found:
            origins = {name: file.original if name in file.original else self._originals for name in known}
            scales = {name: _Scale.of(origin[name]) for name, origin in origins.items()}
            points = np.column_stack([scales[name].points(file.masked[name]) for name in known])
            queries = np.column_stack([scales[name].points(self._originals[name]) for name in known])
            groups = row_groups(points.T)
            self._found[key] = groups, nearest_neighbours(queries, points[groups.first], 1).index[:, 0]
        return self._found[key]


def _read(
    name: str,
    last: Publication,
    earlier: Sequence[tuple[Publication, SamePeople]],
    known: set[str],
    people: IntArray,
    nearest: _Nearest,
) -> Iterator[AveragedNoise]:
    """What all files together tell of one variable, of those who are in all of them with the same original value."""
    truth = plain_values(last.original[name])
    there = ~pd.isna(truth)
    for file, same in earlier:
        before, after = column_hashes(file.original[name])[same.earlier], column_hashes(last.original[name])[same.later]
        place = np.zeros(len(last.original), np.bool_)
        place[same.later[(before == after) & _released(file)[same.earlier]]] = True
        there &= place
    some = there[people]
    if not some.any():
        return
    scale = _Scale.of(last.original[name])
    readings = []
    for file in (last, *(file for file, _ in earlier)):
        names = tuple(str(each) for each in last.original if each in known and each != name and each in file.masked)
        if names:
            groups, found = nearest(file, names)
            values = scale.points(file.masked[name], clipped=False)
            sums = [np.bincount(groups.of, column, minlength=len(groups.size)) for column in values.T]
            readings.append((np.column_stack(sums) / groups.size[:, None])[found[some]])
    if len(readings) < 2:
        return
    right = [scale.right(reading, truth[people[some]]) for reading in (*readings, np.mean(readings, axis=0))]
    alone, together = max(right[:-1], key=lambda each: int(each.sum())), right[-1]
    difference = together.astype(np.float64) - alone
    count = int(some.sum())
    error = 1.96 * float(np.sqrt(difference.var() / count + 1 / count**2))
    gain = float(difference.mean())
    yield AveragedNoise(
        name, len(readings), count, float(alone.mean()), float(together.mean()), gain, (gain - error, gain + error)
    )


def _released(file: Publication) -> BoolArray:
    released = np.zeros(len(file.original), np.bool_)
    released[file.people] = True
    return released


def _redrawn(last: Publication, file: Publication, same: SamePeople) -> list[str]:
    """Variables released in both files with other values for people whose original value is the same."""
    rows = [np.full(len(each.original), -1, np.int64) for each in (file, last)]
    rows[0][file.people], rows[1][last.people] = np.arange(len(file.people)), np.arange(len(last.people))
    mine, theirs = rows[0][same.earlier], rows[1][same.later]
    both = (mine >= 0) & (theirs >= 0)
    names = []
    for name in last.masked:
        if not all(name in each for each in (file.masked, file.original, last.original)):
            continue
        before, after = column_hashes(file.original[name])[same.earlier], column_hashes(last.original[name])[same.later]
        unchanged = both & (before == after)
        released = (
            column_hashes(file.masked[name])[mine[unchanged]],
            column_hashes(last.masked[name])[theirs[unchanged]],
        )
        if unchanged.any() and float((released[0] == released[1]).mean()) < _SAME:
            names.append(str(name))
    return names


@dataclass(frozen=True)
class _Scale:
    """How the values of one variable become coordinates: robustly standardised, or one for each label."""

    labels: "pd.Index[Any] | None"
    centre: float
    spread: float

    @classmethod
    def of(cls, column: "pd.Series[Any]") -> "_Scale":
        values = plain_values(column)
        if values.dtype.kind != "f":
            labels = pd.Series(values).value_counts().index[:_MOST_LABELS]
            return cls(labels, 0.0, 1.0)
        present = values[np.isfinite(values)]
        if not len(present):
            return cls(None, 0.0, 1.0)
        low, centre, high = np.quantile(present, [0.25, 0.5, 0.75])
        spread = (high - low) / 1.349 or float(present.std()) or 1.0
        return cls(None, float(centre), float(spread))

    @property
    def width(self) -> int:
        return 1 if self.labels is None else len(self.labels)

    def points(self, column: "pd.Series[Any]", clipped: bool = True) -> FloatArray:
        values = plain_values(column)
        if self.labels is not None:
            codes = self.labels.get_indexer(pd.Index(values.astype(object)))
            return np.asarray(codes[:, None] == np.arange(self.width), dtype=np.float64)
        if values.dtype.kind != "f":  # recoded to labels, which are nowhere on the scale
            return np.zeros((len(values), 1))
        places = (values - self.centre) / self.spread
        return np.nan_to_num(np.clip(places, -_FAR, _FAR) if clipped else places)[:, None]

    def right(self, reading: FloatArray, truth: "npt.NDArray[Any]") -> BoolArray:
        """Whether the value read is the true one."""
        if self.labels is not None:
            return np.asarray(reading.argmax(axis=1) == self.labels.get_indexer(pd.Index(truth.astype(object))))
        return np.asarray(np.abs(reading[:, 0] - (truth - self.centre) / self.spread) <= COARSE)
