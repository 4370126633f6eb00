"""sluice.risk.publications.sums_of_files."""

from itertools import chain, combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.arrays import IntArray
from sluice.ground.variables import Kind, Variable
from sluice.risk.publications.publication import Publication, SamePeople
from sluice.risk.publications.sums_of_files import SumOfFiles, sums_of_files

PEOPLE = 40


def file_of(people: set[int], seed: int) -> Publication:
    """Its people, in an order of its own; the value of each is its number."""
    rows = np.random.default_rng(seed).permutation(sorted(people))
    frame = pd.DataFrame({"number": rows})
    variables = {"number": Variable(name="number", kind=Kind.INTEGER)}
    return Publication(frame, frame, np.arange(len(rows)), variables, variables)


def numbers(file: Publication) -> IntArray:
    return file.original["number"].to_numpy()


def same(earlier: Publication, later: Publication) -> SamePeople:
    _, mine, theirs = np.intersect1d(numbers(earlier), numbers(later), return_indices=True)
    return SamePeople(mine, theirs)


def found(sets: list[set[int]]) -> list[SumOfFiles]:
    """The last of the sets is the file to be published."""
    *before, last = (file_of(people, seed) for seed, people in enumerate(sets))
    files = {str(place): file for place, file in enumerate(before)}
    pairs = {name: same(file, last) for name, file in files.items()}
    earlier = [(name, file, pairs[name]) for name, file in files.items() if len(pairs[name].earlier)]
    others = [(name, len(file.people)) for name, file in files.items() if not len(pairs[name].earlier)]

    def read(name: str, whole: str) -> tuple[Publication, SamePeople] | None:
        both = same(files[name], files[whole])
        return (files[name], both) if len(both.earlier) else None

    return list(sums_of_files(last, earlier, others, read))


def disjoint(places: tuple[int, ...], sets: list[set[int]]) -> bool:
    return sum(len(sets[each]) for each in places) == len(set().union(*(sets[each] for each in places)))


@given(st.lists(st.sets(st.integers(1, PEOPLE), min_size=5), min_size=3, max_size=5))
def test_of_all_ways_to_add_files_up_the_nearest_is_found(sets: list[set[int]]) -> None:
    last = len(sets) - 1
    subsets = list(chain.from_iterable(combinations(range(last), size) for size in range(len(sets))))
    nearest = None
    for with_last, without in ((a, b) for a in subsets for b in subsets):
        sides = (*with_last, last), without
        several = without and len(with_last) + len(without) >= 2 and not {*with_last} & {*without}
        if not several or not all(disjoint(side, sets) for side in sides):
            continue
        people = [set().union(*(sets[each] for each in side)) for side in sides]
        if all(len(sets[each] & sets[last]) < 0.9 * max(len(sets[each]), len(sets[last])) for each in without):
            apart = len(people[0] ^ people[1])
            nearest = apart if nearest is None else min(nearest, apart)
    answers = found(sets)
    for each in answers:
        mine, theirs = (numbers(file) for file in each.files)
        assert {*mine[each.same.earlier]} == {*mine} & {*theirs}
        assert np.array_equal(mine[each.same.earlier], theirs[each.same.later])
    if nearest == 0:
        assert answers
        assert len({*numbers(answers[0].files[0])} ^ {*numbers(answers[0].files[1])}) == 0


def test_a_series_of_the_same_people_is_not_added_up() -> None:
    everybody = set(range(100))
    assert found([everybody, everybody - {1}, everybody - {1, 2}]) == []


def test_parts_are_added_up_however_they_were_split() -> None:
    by_region = [set(range(30)), set(range(30, 100)) - {50}]
    by_sex = [set(range(0, 100, 2)), set(range(1, 100, 2))]
    (nearest, *_) = found([*by_region, *by_sex])
    assert ({*nearest.earlier}, {*nearest.later}) == ({"0", "1"}, {"2", ""})
    assert {*numbers(nearest.files[1])} - {*numbers(nearest.files[0])} == {50}


@pytest.mark.parametrize("last", ["whole", "part"])
def test_sixteen_parts_are_added_up(last: str) -> None:
    parts = [set(range(start, start + 10)) - {50} for start in range(0, 160, 10)]
    whole = set(range(160))
    (nearest, *_) = found([*parts, whole] if last == "whole" else [whole, *parts])
    assert len(nearest.earlier) + len(nearest.later) == 17
    assert {*numbers(nearest.files[0])} ^ {*numbers(nearest.files[1])} == {50}
