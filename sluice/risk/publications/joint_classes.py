"""Joint classes: who fits a person in every one of several files.

Ages of 10 to 19 in one file and of 15 to 24 in another leave those of 15 to 19 together, though each file alone keeps
its groups large (the composition attack).

Source: Ganta, Kasiviswanathan and Smith (2008), intersection attack.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sluice.ground.arrays import BoolArray, IntArray
from sluice.ground.comparable_values import plain_values
from sluice.risk.classes.equivalence_classes import category_codes
from sluice.risk.publications.publication import Publication, SamePeople
from sluice.risk.spread import on_grid, resolution

_ABSENT = -1  # of a label: suppressed, or the person is not in that file; whatever it is, it fits


@dataclass(frozen=True)
class JointClasses:
    """What the files tell together of the people of the last one who are in another one, too.

    people  : how many of them
    below   : how many are left with fewer than k people who fit in every file, where each file alone leaves k
    smallest: how many fit the person who is worst off by that; None where nobody is
    alike   : people whom all who fit share one value of a variable with, where those of no file alone do
    """

    people: int
    below: int
    smallest: int | None
    alike: int


@dataclass(frozen=True)
class KeyedFile:
    """A publication, the variables by which an intruder recognises people in it, and who they are in the last one."""

    file: Publication
    keys: Sequence[str]
    same: SamePeople | None  # None: it is the last one


def joint_classes(last: KeyedFile, earlier: Sequence[KeyedFile], k: int, values: Sequence[str]) -> JointClasses:
    """Count, for each person of the last file, who fits its original quasi-identifiers in every file.

    k      : size that each file must leave; 0: it is not looked at
    values : variables of the last file's originals; whom they all agree for is found out
    cost   : O(keys (n + c f)) for c different people and f who fit each by the first of them; with four keys 2 s of CPU
             for 10,000 people in 36 files, 11 s for 100,000 in twelve

    Somebody whose quasi-identifiers changed between two files is one person whose label in each is known: a date of
    birth tells every age. Whoever is not in a file fits it: an intruder need not know who is missing.
    """
    known, released, size = _labels(last, earlier)
    parts = [np.flatnonzero(part) for part in _columns_of(last, earlier)]
    in_both = np.zeros(size, np.bool_)
    for part in parts[1:]:
        in_both |= (known[:, part] != _ABSENT).any(axis=1)
    in_both &= (known[:, parts[0]] != _ABSENT).any(axis=1)
    targets = np.flatnonzero(in_both & _fits_itself(known, released))
    codes = [_value_codes(last.file.original[name], size) for name in values]
    together = _fitting(known[targets], released, codes)
    alone = [_fitting(known[targets][:, part], released[:, part], codes) for part in parts]
    few = np.zeros(len(targets), np.bool_)
    if k:
        few = (together.count < k) & np.all([each.count >= k for each in alone], axis=0)
    alike = np.zeros(len(targets), np.bool_)
    for place in range(len(codes)):
        alike |= together.one_value[place] & ~np.any([each.one_value[place] for each in alone], axis=0)
    return JointClasses(
        people=len(targets),
        below=int(few.sum()),
        smallest=int(together.count[few].min()) if few.any() else None,
        alike=int(alike.sum()),
    )


def _columns_of(last: KeyedFile, earlier: Sequence[KeyedFile]) -> list[BoolArray]:
    owner = np.repeat(np.arange(1 + len(earlier)), [len(each.keys) for each in (last, *earlier)])
    return [owner == file for file in range(1 + len(earlier))]


def _labels(last: KeyedFile, earlier: Sequence[KeyedFile]) -> tuple[IntArray, IntArray, int]:
    """Of everybody in any file: the label that an intruder expects in each file, and the released one; (n, keys).

    The first rows are the people of the last file; those of an earlier one whom it does not have follow.
    """
    size = len(last.file.original)
    places = [np.arange(size)]
    for each in earlier:
        assert each.same is not None
        place = np.full(len(each.file.original), -1, np.int64)
        place[each.same.earlier] = each.same.later
        alone = np.flatnonzero(place < 0)
        place[alone] = size + np.arange(len(alone))
        size += len(alone)
        places.append(place)
    known: list[IntArray] = []
    released: list[IntArray] = []
    for each, place in zip((last, *earlier), places, strict=True):
        row = each.file.people
        for name in each.keys:
            label, expected = _label_codes(each.file, name)
            for column, values, rows in ((released, label, place[row]), (known, expected, place)):
                filled = np.full(size, _ABSENT, np.int64)
                filled[rows] = values
                column.append(filled)
    return np.column_stack(known), np.column_stack(released), size


def _label_codes(file: Publication, name: str) -> tuple[IntArray, IntArray]:
    """The released label of each record, and the one that is expected of each person by the original value.

    Expected is what most of those with the same original value have: it is also known of whom it was suppressed for.
    """
    label = pd.factorize(plain_values(file.masked[name]))[0].astype(np.int64)
    if name not in file.original:
        return label, np.full(len(file.original), _ABSENT, np.int64)
    origin = category_codes(file.original[name]).astype(np.int64)
    present = label >= 0
    pairs = pd.DataFrame({"origin": origin[file.people[present]], "label": label[present]})
    times = pairs.groupby(["origin", "label"]).size().sort_values(kind="stable").reset_index()
    most = np.full(int(origin.max(initial=0)) + 1, _ABSENT, np.int64)
    most[times["origin"]] = times["label"]  # the last, most frequent one stays
    expected = most[origin]
    out = np.ones(len(expected), np.bool_)
    out[file.people] = False
    expected[out] = _ABSENT  # held out or not sampled: nobody looks for them in this file
    return label, expected


def _fits_itself(known: IntArray, released: IntArray) -> BoolArray:
    return np.asarray(((known == released) | (known == _ABSENT) | (released == _ABSENT)).all(axis=1))


def _value_codes(column: "pd.Series[Any]", size: int) -> IntArray:
    """Codes of the values, -1 where there is none or it is not known; numbers that nobody would tell apart are one."""
    values = plain_values(column)
    if values.dtype.kind == "f":
        values = on_grid(values, resolution(values))
    codes = np.full(size, -1, np.int64)
    codes[: len(column)] = pd.factorize(values)[0]
    return codes


@dataclass(frozen=True)
class _Fitting:
    """For each person looked for."""

    count: IntArray  # who fits
    one_value: list[BoolArray]  # of each variable, whether all who fit have the same value


def _fitting(known: IntArray, released: IntArray, values: Sequence[IntArray]) -> _Fitting:
    """Who agrees with each row of `known` on every key, where an absent label on either side agrees with all."""
    from sluice.risk.publications.fitting_kernel import fitting  # loaded where it is needed

    varied = np.argsort([-len(np.unique(column)) for column in known.T], kind="stable")  # these leave the fewest
    (wanted, which), (there, row) = (_rows_once(labels[:, varied]) for labels in (known, released))
    most_code = np.iinfo(np.int64).max
    low, high = np.full((len(there), len(values)), most_code), np.full((len(there), len(values)), -1, np.int64)
    for place, codes in enumerate(values):
        np.minimum.at(low[:, place], row[codes >= 0], codes[codes >= 0])
        np.maximum.at(high[:, place], row[codes >= 0], codes[codes >= 0])
    count = np.zeros(len(wanted), np.int64)
    least, most = np.full((len(wanted), len(values)), most_code), np.full((len(wanted), len(values)), -1, np.int64)
    fitting(wanted, there, np.bincount(row, minlength=len(there)), low, high, count, least, most)
    return _Fitting(count[which], list((least == most)[which].T))


def _rows_once(labels: IntArray) -> tuple[NDArray[np.int32], IntArray]:
    """The different rows, sorted by their columns, and which of them each row is."""
    if not labels.shape[1]:
        return np.zeros((min(len(labels), 1), 0), np.int32), np.zeros(len(labels), np.int64)
    order = np.lexsort(labels.T[::-1])
    ordered = labels[order]
    new = np.r_[True, (ordered[1:] != ordered[:-1]).any(axis=1)][: len(labels)]
    which = np.empty(len(labels), np.int64)
    which[order] = np.cumsum(new) - 1
    return ordered[new].astype(np.int32), which
