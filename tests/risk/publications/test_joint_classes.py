"""Who fits a person in every file: counted as a program of a few lines counts it."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.risk.publications.joint_classes import JointClasses, KeyedFile, _fitting, joint_classes
from sluice.risk.publications.publication import SamePeople, same_people
from tests.risk.publications.publications import KEYS, VALUES, people, published, recoded


def joint(first: pd.DataFrame, second: pd.DataFrame, plans: list[list[dict[str, Any]]], k: int = 5) -> JointClasses:
    earlier, later = published(first, plans[0], 1), published(second, plans[1], 2)
    same = same_people(earlier.original, later.original, [*KEYS, *VALUES])
    assert same is not None
    return joint_classes(KeyedFile(later, KEYS, None), [KeyedFile(earlier, KEYS, same)], k, ["town"])


def counted(records: pd.DataFrame, first: list[int], second: list[int], k: int) -> int:
    groups = [np.searchsorted(edges, records["age"], side="right") for edges in (first, second)]
    alone = [records.assign(g=each).groupby(["g", "sex", "region"])["age"].transform("size") for each in groups]
    both = records.assign(g=groups[0], h=groups[1]).groupby(["g", "h", "sex", "region"])["age"].transform("size")
    return int(((both < k) & (alone[0] >= k) & (alone[1] >= k)).sum())


@pytest.mark.parametrize("count", [300, 1500])
def test_the_groups_of_two_recodings_overlap_in_few(count: int) -> None:
    records = people(count)
    found = joint(records, records, [[recoded(30, 45)], [recoded(31, 47)]])
    assert (found.people, found.below) == (count, counted(records, [30, 45], [31, 47], 5))
    assert found.below > 0


def test_one_who_is_left_alone_is_counted_and_shares_a_value() -> None:
    records = people(1500)
    records.loc[records["age"] == 30, "age"] = 50
    records.loc[0, "age"] = 30
    found = joint(records, records, [[recoded(30)], [recoded(31)]])
    assert (found.below, found.smallest, found.alike) == (1, 1, 1)


def test_the_same_recoding_of_a_later_edition_takes_nothing_apart() -> None:
    records = people(300)
    later = records.sample(frac=0.8, random_state=1)
    suppressed = [recoded(40, 60), {"method": "local_suppression", "columns": KEYS, "k": 5}]
    found = joint(records, later, [suppressed, suppressed])
    assert (found.people, found.below, found.alike) == (240, 0, 0)


def test_groups_within_groups_take_nothing_apart() -> None:
    records = people(1500)
    assert joint(records, records, [[recoded(30, 40, 60)], [recoded(40)]]).below == 0


def test_who_crossed_an_edge_is_known_in_both_files() -> None:
    """A date of birth tells every age: whoever turned 40 is looked for below 40 in one file, from 40 in the other."""
    records = people(1500)
    older = records.copy()
    older.loc[1000:, "age"] += 1
    moved = records[(records["age"] == 39) & (older["age"] == 40)]
    together = moved.groupby(["sex", "region"])["age"].transform("size")
    earlier, later = published(records, [recoded(40)], 1), published(older, [recoded(40)], 2)
    same = SamePeople(np.arange(1500), np.arange(1500))
    found = joint_classes(KeyedFile(later, KEYS, None), [KeyedFile(earlier, KEYS, same)], 5, ["town"])
    assert found.below == int((together < 5).sum()) > 0


@given(st.integers(0, 2**32 - 1))
def test_who_fits_in_many_files_is_who_agrees_wherever_both_have_a_label(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = rng.integers(1, (12, 30, 6))
    known, released = (rng.integers(-1, 3, (rows, shape[2])) for rows in shape[:2])
    codes = rng.integers(-1, 2, shape[1])
    found = _fitting(known, released, [codes])
    agree = ((known[:, None] == released) | (known[:, None] < 0) | (released < 0)).all(axis=2)
    assert np.array_equal(found.count, agree.sum(axis=1))
    assert found.one_value[0].tolist() == [len(set(codes[row & (codes >= 0)])) == 1 for row in agree]
