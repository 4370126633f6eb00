"""What a person's coming, leaving or changing tells, counted class by class."""

from typing import Any

import pandas as pd
import pytest

from sluice.risk.publications.differencing import Differences, differencing
from sluice.risk.publications.publication import same_people
from tests.risk.publications.publications import KEYS, VALUES, people, published, recoded


def difference(
    first: pd.DataFrame, second: pd.DataFrame, plan: list[dict[str, Any]], other: list[dict[str, Any]] | None = None
) -> Differences:
    earlier, later = published(first, plan, 1), published(second, plan if other is None else other, 2)
    same = same_people(earlier.original, later.original, [*KEYS, *VALUES])
    assert same is not None
    values = [name for name in VALUES if name in earlier.masked and name in later.masked]
    return differencing(earlier, later, same, KEYS, values)


def test_one_person_less_is_told() -> None:
    found = difference(people(), people().drop(index=17), [recoded(40, 60)])
    assert (found.changed, found.attempted, found.told, found.guessed) == (1, 1, 1, 0)


def test_the_same_people_under_another_plan_tell_nothing() -> None:
    found = difference(people(), people(), [recoded(40, 60)], [recoded(45)])
    assert (found.changed, found.attempted, found.told) == (0, 0, 0)


def test_two_who_leave_a_class_with_different_values_hide_each_other() -> None:
    first = people()
    mine = first[(first["age"] < 40) & (first["sex"] == "f") & (first["region"] == "north")]
    pair = mine.drop_duplicates("town").head(2).index
    few = [recoded(40, 60), {"method": "removal", "columns": ["income"]}]
    assert difference(first, first.drop(index=pair), few).told == 0
    alike = mine[mine["town"] == "Aldby"].head(2).index
    assert difference(first, first.drop(index=alike), few).told == 2


def test_who_leaves_a_class_whose_people_are_all_alike_was_known_before() -> None:
    first = people().assign(town="Aldby")
    first.loc[0, "town"] = "Borgen"
    few = [recoded(40, 60), {"method": "removal", "columns": ["income"]}]
    assert difference(first, first.drop(index=17), few).told == 0


@pytest.mark.parametrize("bins", [(39,), (20, 41, 61)])
def test_other_cut_points_hide_nobody_where_no_class_is_left(bins: tuple[int, ...]) -> None:
    found = difference(people(), people().drop(index=17), [recoded(40, 60)], [recoded(*bins)])
    assert found.told == 1


def test_a_tenth_who_leave_large_classes_tell_nothing() -> None:
    found = difference(people(), people().sample(frac=0.9, random_state=1), [recoded(40, 60)])
    assert (found.changed, found.told) == (150, 0)


@pytest.mark.parametrize("amount", [1e-8, 1e-6])
def test_noise_by_a_hair_hides_nobody_from_the_sums(amount: float) -> None:
    hair = {"method": "additive_noise", "columns": ["income"], "amount": amount}
    plan = [recoded(40, 60), {"method": "removal", "columns": ["town"]}, hair]
    assert difference(people(), people().drop(index=17), plan).told == 1


def test_noise_of_each_file_hides_who_left() -> None:
    noise = {"method": "additive_noise", "columns": ["income"], "amount": 0.5}
    pram = {"method": "pram", "columns": ["town"], "retention": 0.5}
    found = difference(people(), people().drop(index=17), [recoded(40, 60), noise, pram])
    assert (found.changed, found.told) == (1, 0)
