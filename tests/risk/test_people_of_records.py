"""Whose record each is: people by their names, and who stays together when people are drawn."""

from typing import Any

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.variables import Kind, Role, Variable
from sluice.risk.people_of_records import groups_of_people, people_of, places_of_groups

Names = list[str | None]


def named(**roles: Role) -> dict[str, Variable]:
    return {name: Variable(name=name, kind=Kind.TEXT, role=role) for name, role in roles.items()}


def frame(**columns: Names) -> pd.DataFrame:
    return pd.DataFrame({name: pd.Series(values, dtype="str") for name, values in columns.items()})


def together(codes: Any) -> list[list[int]]:
    return sorted(np.flatnonzero(codes == code).tolist() for code in np.unique(codes))


def test_records_of_one_name_are_one_person_and_one_without_a_name_is_by_itself() -> None:
    codes = people_of(frame(patient=["a", None, "b", "a", None]), named(patient=Role.PERSON))
    assert together(codes) == [[0, 3], [1], [2], [4]]
    assert together(people_of(frame(firm=["a", "a"]), named(firm=Role.CONTRIBUTOR))) == [[0, 1]]
    assert people_of(frame(house=["a", "a"]), named(house=Role.HOUSEHOLD)) is None  # two people of one household
    assert people_of(frame(other=["a"]), named(patient=Role.PERSON)) is None  # not in this file


def test_who_shared_a_household_stays_together_with_all_their_records() -> None:
    both = named(patient=Role.PERSON, house=Role.HOUSEHOLD)
    stays = frame(patient=["a", "a", "b", "c", None], house=["x", "y", "y", "z", None])
    assert together(groups_of_people(stays, both)) == [[0, 1, 2], [3], [4]]
    assert together(groups_of_people(stays, named(house=Role.HOUSEHOLD))) == [[0], [1, 2], [3], [4]]
    assert together(groups_of_people(stays, named(patient=Role.PERSON))) == [[0, 1], [2], [3], [4]]
    assert together(groups_of_people(stays, {})) == [[0], [1], [2], [3], [4]]


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("xyz")), max_size=12))
def test_nobody_and_no_household_is_torn_apart(stays: list[tuple[str, str]]) -> None:
    records = frame(patient=[who for who, _ in stays], house=[where for _, where in stays])
    groups = groups_of_people(records, named(patient=Role.PERSON, house=Role.HOUSEHOLD))
    for name in records:
        for value in records[name].unique():
            assert len(set(groups[records[name] == value])) == 1


def test_groups_stand_in_the_order_of_their_names() -> None:
    house = named(house=Role.HOUSEHOLD)
    for names, places in (
        (["10", "9", "10", None], [2, 1, 2, np.nan]), (["b", "a", "10", "a"], [3, 2, 1, 2]),
    ):  # fmt: skip
        houses = frame(house=names)
        np.testing.assert_array_equal(places_of_groups(houses, house, groups_of_people(houses, house)), places)
    nobody = frame(age=["1", "2"])
    np.testing.assert_array_equal(places_of_groups(nobody, {}, groups_of_people(nobody, {})), [0, 1])
