"""Sums of files: files of different people, added up, less others that have nearly the same people together.

A file of each region and one of the whole country differ by hundreds of people, each from each; the country less all
regions may be one person. So editions and extracts are also held beside each other as unions.

Source: Hundepool and others (2012), who describe differencing for tables; for records as in differencing.py.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from pandas.api.types import union_categoricals

from sluice.ground.arrays import BoolArray, IntArray
from sluice.risk.publications.publication import Publication, SamePeople

_OVERLAP = 0.02  # of the smaller of two files, whom both may have and still be added up
_APART = 0.5  # of the people of all, in one of two sums only: more are no difference to subtract by
_MOST_FILES = 40  # that are added up or subtracted, beside the last one: the latest
_ALL_SUMS = 12  # of so many files all sums are looked at; of more, those to which no further file can be added
_MOST_WHOLES = 4  # files with people of the last one and others, by which parts of the same are found
_COMPARED = 6  # pairs of sums, those with the fewest people apart
_SERIES = 0.9  # of both files' people in both: another edition of the same people, which no other file makes whole


@dataclass(frozen=True)
class SumOfFiles:
    """Two sums of nearly the same people, three files or more in all; the last file is one of `later`.

    earlier, later : the names of their files
    files          : the union of each
    same           : who is in both
    """

    earlier: tuple[str, ...]
    later: tuple[str, ...]
    files: tuple[Publication, Publication]
    same: SamePeople


@dataclass(frozen=True)
class _Member:
    name: str
    file: Publication
    person: IntArray  # of each row of the original, numbered alike in all files

    @property
    def people(self) -> IntArray:
        """Whoever has a record in it."""
        return self.person[self.file.people]


def sums_of_files(
    last: Publication,
    earlier: Sequence[tuple[str, Publication, SamePeople]],
    others: Sequence[tuple[str, int]],
    read: Callable[[str, str], tuple[Publication, SamePeople] | None],
) -> Iterator[SumOfFiles]:
    """The sums that have nearly the same people as others, those with the fewest people apart first, six at most.

    last    : the file that is to be published, whose name here is empty
    earlier : files with some of its people, in the order of their publication, and whom both have
    others  : names and records of files with nobody of it, in that order: parts of the same whole, perhaps
    read    : of any file and one of `earlier`: the former, and whom both have; None where nobody is
    cost    : none where all other files have nearly all of its people, as in most series; otherwise that of joining
              the people of four files with those of each other one, of 40, and at most half a million pairs of sums
    """
    numbering = _Numbering(last, read)
    parts = [each for each in earlier if not _is_edition(each[1], last, each[2])][-_MOST_FILES:]
    if not parts:
        return
    outside = {name: int((~np.isin(file.people, same.earlier, kind="table")).sum()) for name, file, same in parts}
    wholes = [each for each in parts if outside[each[0]] > _OVERLAP * len(each[1].people)]
    wholes = sorted(wholes, key=lambda each: -outside[each[0]])[:_MOST_WHOLES]
    for each in (*wholes, *(each for each in parts if each not in wholes)):
        numbering.add(*each, whole=each in wholes)
    room = _largest(numbering.members[1 : 1 + len(wholes)]) * (1 + _APART) - len(last.original)
    some = [name for name, records in others if records <= room]
    for name in some[::-1][: max(_MOST_FILES - len(parts), 0)]:
        numbering.add(name)
    yield from _nearly_the_same(numbering.members)


class _Numbering:
    """The files whose people bear the same number in each of them, the last one first."""

    def __init__(self, last: Publication, read: Callable[[str, str], tuple[Publication, SamePeople] | None]) -> None:
        self.members = [_Member("", last, np.arange(len(last.original)))]
        self._wholes: list[_Member] = []
        self._size, self._read = len(last.original), read

    def add(
        self, name: str, file: Publication | None = None, same: SamePeople | None = None, whole: bool = False
    ) -> None:
        """Number a file's people as in the last one, then as in those that are wholes; nothing where nobody is."""
        person = np.full(0 if file is None else len(file.original), -1, np.int64)
        if same is not None:
            person[same.earlier] = same.later
        for each in self._wholes:
            if file is not None and (person[file.people] < 0).sum() <= _OVERLAP * len(file.people):
                break
            found = self._read(name, each.name)
            if found is None:
                continue
            if file is None:
                file, person = found[0], np.full(len(found[0].original), -1, np.int64)
            rows, theirs = found[1].earlier, each.person[found[1].later]
            taken = np.zeros(self._size, np.bool_)
            taken[person[person >= 0]] = True
            free = (person[rows] < 0) & ~taken[theirs]
            person[rows[free]] = theirs[free]
        if file is None:
            return
        new = np.flatnonzero(person < 0)
        person[new] = self._size + np.arange(len(new))
        self._size += len(new)
        self.members.append(_Member(name, file, person))
        if whole:
            self._wholes.append(self.members[-1])


def _largest(wholes: Sequence[_Member]) -> int:
    """Records of the largest sum of files that have nobody in common."""
    sets = [each.people for each in wholes]
    apart = _apart(sets)[0]
    sums = [chosen for first in range(len(sets)) for chosen in _sums(first, range(first + 1, len(sets)), apart)]
    return max((sum(len(wholes[each].file.original) for each in chosen) for chosen in sums), default=0)


def _apart(sets: Sequence[IntArray]) -> tuple[BoolArray, IntArray]:
    """Which sets have nearly nobody in common, and how many they have; shape (sets, sets)."""
    size = 1 + max((int(each.max(initial=0)) for each in sets), default=0)
    there = np.zeros((len(sets), size), np.bool_)
    for place, each in enumerate(sets):
        there[place, each] = True
    common = np.zeros((len(sets), len(sets)), np.int64)
    for place in range(len(sets)):
        common[place] = (there & there[place]).sum(axis=1)
    sizes = np.diag(common)
    return common <= _OVERLAP * np.minimum(sizes[:, None], sizes), common


def _is_edition(file: Publication, last: Publication, same: SamePeople) -> bool:
    """Whether both have nearly the same people: what is to be seen then, the difference of the two shows."""
    rows = np.zeros(len(file.original), np.bool_), np.zeros(len(last.original), np.bool_)
    rows[0][file.people], rows[1][last.people] = True, True
    both = int((rows[0][same.earlier] & rows[1][same.later]).sum())
    return both >= _SERIES * max(len(file.people), len(last.people))


def _nearly_the_same(members: Sequence[_Member]) -> Iterator[SumOfFiles]:
    if len(members) < 3:
        return
    apart, common = _apart([each.people for each in members])
    sizes, found = np.diag(common), []
    for later in _sums(0, range(1, len(members)), apart):
        rest = [each for each in range(1, len(members)) if each not in later and common[each, list(later)].any()]
        for start in range(len(rest)):
            for earlier in _sums(rest[start], rest[start + 1 :], apart):
                if len(later) + len(earlier) < 3:
                    continue
                total = int(sizes[list(later)].sum() + sizes[list(earlier)].sum())
                differ = total - 2 * int(common[np.ix_(later, earlier)].sum())
                if differ <= _APART * total / 2:
                    found.append((differ, earlier, later))
    for _, earlier, later in sorted(found)[:_COMPARED]:
        files, people = zip(*(_union([members[each] for each in side]) for side in (earlier, later)), strict=True)
        yield SumOfFiles(
            tuple(members[each].name for each in earlier),
            tuple(members[each].name for each in later),
            (files[0], files[1]),
            _paired(people[0], people[1]),
        )


def _sums(first: int, others: Sequence[int], apart: BoolArray) -> Iterator[tuple[int, ...]]:
    """The sets of files with `first`, no two of which have people in common; of many files a largest one."""
    waiting: list[tuple[tuple[int, ...], int]] = [((first,), 0)]
    while waiting:
        chosen, start = waiting.pop()
        more = [at for at in range(start, len(others)) if apart[others[at], list(chosen)].all()]
        if len(others) <= _ALL_SUMS or not more:
            yield chosen
        waiting += [((*chosen, others[at]), at + 1) for at in (more if len(others) <= _ALL_SUMS else more[:1])]


def _union(members: Sequence[_Member]) -> tuple[Publication, IntArray]:
    """The files as one, of the variables that all have, and the number of each row's person."""
    if len(members) == 1:
        return members[0].file, members[0].person
    files = [each.file for each in members]
    starts = np.cumsum([0, *(len(each.original) for each in files[:-1])])
    first = files[0]
    originals, masked = (_below([getattr(each, part) for each in files]) for part in ("original", "masked"))
    union = Publication(
        original=originals,
        masked=masked,
        people=np.concatenate([each.people + start for each, start in zip(files, starts, strict=True)]),
        variables={name: each for name, each in first.variables.items() if name in originals},
        released={name: each for name, each in first.released.items() if name in masked},
    )
    return union, np.concatenate([each.person for each in members])


def _below(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """The rows of all, of the columns that all have; categories stay in their order where all have the same ones."""
    columns = {}
    for name in frames[0]:
        if not all(name in frame for frame in frames):
            continue
        parts = [frame[name] for frame in frames]
        if all(isinstance(part.dtype, pd.CategoricalDtype) for part in parts):
            ordered = all(part.dtype == parts[0].dtype for part in parts)
            columns[name] = pd.Series(union_categoricals(parts, ignore_order=not ordered))
        else:
            columns[name] = pd.concat(parts, ignore_index=True)
    return pd.DataFrame(columns)


def _paired(earlier: IntArray, later: IntArray) -> SamePeople:
    """The rows of both with the same person, the first of each."""
    _, mine, theirs = np.intersect1d(earlier, later, return_indices=True)
    return SamePeople(mine.astype(np.int64), theirs.astype(np.int64))
