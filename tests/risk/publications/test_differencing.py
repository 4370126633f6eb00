"""What a person's coming, leaving or changing tells, counted class by class."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sluice.risk.publications.differencing import Differences, differencing
from sluice.risk.publications.publication import Publication, SamePeople, same_people
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


def tables(labels: pd.DataFrame) -> dict[tuple[Any, ...], Counter[str]]:
    """What the public sees: how often each town occurs in each class of age, sex and region."""
    counts: dict[tuple[Any, ...], Counter[str]] = {}
    for *group, town in labels[[*KEYS, "town"]].itertuples(index=False):
        counts.setdefault(tuple(group), Counter())[town] += 1
    return counts


def claimed(first: Publication, second: Publication, bands: Sequence[str] = ()) -> tuple[int, int]:
    """An intruder who knows everybody's keys on both days subtracts the files: whose town is named; how often
    rightly.

    Of a class that lost as many entries as people left it, all that it lost is theirs; of one that won as many as came,
    all that it won. Row i of both originals is the same person. Of `bands` in their order, the ages below each are one
    class, too, and the others: whoever crosses it is then not hidden by those who move within.
    """
    found: dict[Any, set[Any]] = {}
    files = [file.masked[[*KEYS, "town"]].astype(str).set_axis(file.people) for file in (first, second)]
    parted = [files]
    for at in range(1, len(bands)):
        below = [each.assign(age=[str(bands.index(age) < at) for age in each["age"]]) for each in files]
        parted += [below, [each.assign(sex="", region="") for each in below]]
    for each in parted:
        for row, possible in subtracted(each).items():
            found[row] = found.get(row, possible) & possible
    truth = {row: town for each in files for row, town in each["town"].items()}
    claims = [(row, *possible) for row, possible in found.items() if len(possible) == 1]
    return len(claims), sum(truth[row] == town for row, town in claims)


def subtracted(labels: list[pd.DataFrame]) -> dict[Any, set[Any]]:
    """The towns that are possible of each person who moved."""
    before, after = (tables(each) for each in labels)
    places = [{row: tuple(label) for row, *label in each[KEYS].itertuples()} for each in labels]
    left = Counter(place for row, place in places[0].items() if places[1].get(row) != place)
    came = Counter(place for row, place in places[1].items() if places[0].get(row) != place)
    lost = {group: before[group] - after.get(group, Counter()) for group in left}
    won = {group: after[group] - before.get(group, Counter()) for group in came}
    possible = {}
    for row in places[0].keys() | places[1].keys():
        old, new = places[0].get(row), places[1].get(row)
        if old == new:
            continue
        said = [set(lost[old])] if old is not None and lost[old].total() == left[old] else []
        said += [set(won[new])] if new is not None and won[new].total() == came[new] else []
        if said:
            possible[row] = set.intersection(*said)
    return possible


def of_two_months(count: int, leaving: int, birthdays: int) -> tuple[Publication, Publication, SamePeople]:
    """Two editions that say of which month they are; so many leave in between, and so many have a birthday."""
    first = people(count).assign(month="May")[[*KEYS, "town", "month"]]
    second = first.iloc[: count - leaving].assign(month="June")
    second.loc[: birthdays - 1, "age"] += 1
    rows = np.arange(count - leaving)
    plan = [recoded(30, 45, 60)]
    return published(first, plan, 1), published(second, plan, 2), SamePeople(rows, rows)


@pytest.mark.parametrize(("leaving", "birthdays"), [(10, 0), (0, 400), (10, 400)])
def test_whom_subtraction_names_is_counted_though_every_record_tells_another_month(
    leaving: int, birthdays: int
) -> None:
    earlier, later, same = of_two_months(1500, leaving, birthdays)
    claims, right = claimed(earlier, later)
    more, right_of_more = claimed(earlier, later, ["under 30", "30 to 44", "45 to 59", "60 and over"])
    found = differencing(earlier, later, same, KEYS, ["town", "month"])
    assert 0 < claims == right <= found.told <= more == right_of_more
    assert found.told > claims or not leaving or not birthdays
    assert found.changed == leaving + birthdays


def test_an_age_that_grew_for_everybody_hides_nobody_who_left() -> None:
    """Whoever is 41 was 40: a year is subtracted from the later file, and then it is compared."""
    first = people(3000).assign(region="north")[[*KEYS, "town"]]
    second = first.iloc[:-10].assign(age=first["age"] + 1)
    earlier, later = published(first, [], 1), published(second, [], 2)
    same = SamePeople(np.arange(2990), np.arange(2990))
    found = differencing(earlier, later, same, KEYS, ["town"])
    assert (found.changed, found.told) == (10, 10)


def test_nobody_is_named_where_everybody_stayed_and_only_the_month_is_another() -> None:
    earlier, later, same = of_two_months(1500, 0, 0)
    found = differencing(earlier, later, same, KEYS, ["town", "month"])
    assert (found.changed, found.told) == (0, 0)


@pytest.mark.parametrize("seed", range(4))
def test_who_leaves_is_named_though_others_moved_between_regions(seed: int) -> None:
    """Region left out, those who moved house are where they were; whoever left is missing."""
    rng = np.random.default_rng(seed)
    first = people(3000, seed + 1)[[*KEYS, "town"]]
    second = first.copy()
    band = np.searchsorted([40, 60], first["age"], side="right")
    leavers = []
    for group in range(3):
        for sex in ("f", "m"):
            members = np.flatnonzero((band == group) & (first["sex"] == sex))
            leavers.append(members[0])
            for old, new in (("north", "south"), ("south", "north")):
                there = members[1:][first["region"].to_numpy()[members[1:]] == old]
                second.loc[rng.choice(there, 8, replace=False), "region"] = new
    rows = np.setdiff1d(np.arange(3000), leavers)
    plan = [recoded(40, 60)]
    earlier, later = published(first, plan, 1), published(second.loc[rows].reset_index(drop=True), plan, 2)
    same = SamePeople(rows, np.arange(len(rows)))
    assert differencing(earlier, later, same, KEYS, ["town"]).told >= 6


@pytest.mark.parametrize(
    ("rewritten", "concerned"),
    [({"town": str.upper}, 1500), ({"town": str.upper}, 1100), ({"income": lambda each: each / 1000}, 1500)],
)
def test_values_that_are_written_otherwise_hide_nobody(rewritten: dict[str, Any], concerned: int) -> None:
    (name,) = rewritten
    first = people(1500)[[*KEYS, name]]
    left = first.iloc[:-10]
    same, plan = SamePeople(np.arange(1490), np.arange(1490)), [recoded(40, 60)]
    earlier = published(first, plan, 1)
    found, plainly = (
        differencing(earlier, published(second, plan, 2), same, KEYS, [name])
        for second in (
            left.assign(**{name: left[name].map(rewritten[name]).where(left.index < concerned, left[name])}),
            left,
        )
    )
    assert found.told == plainly.told > 0


def test_values_that_were_measured_anew_for_everybody_give_nobody_away() -> None:
    rng = np.random.default_rng(1)
    first = people(3000)[[*KEYS, "income"]].assign(income=rng.normal(size=3000).round(6))
    second = first.iloc[:-200].assign(income=rng.normal(size=2800).round(6))
    earlier, later = published(first, [recoded(40, 60)], 1), published(second, [recoded(40, 60)], 2)
    same = SamePeople(np.arange(2800), np.arange(2800))
    assert differencing(earlier, later, same, KEYS, ["income"]).told == 0


@pytest.mark.parametrize(("usual", "told"), [(0.99, 0), (0.5, 5)])
def test_what_all_of_ones_group_have_is_not_told_by_a_larger_group_in_which_few_have_it(
    usual: float, told: int
) -> None:
    """The young nearly all live in Aldby, and five of them leave: of a young person everybody would have guessed it."""
    first = people(3000).assign(income=0.0)
    young = first["age"] < 30
    first["town"] = np.where(young & (np.random.default_rng(1).random(len(first)) < usual), "Aldby", first["town"])
    alike = (first["sex"] == "f") & (first["region"] == "north") & (first["town"] == "Aldby")
    few = [recoded(30), {"method": "removal", "columns": ["income"]}]
    assert difference(first, first.drop(index=first[young & alike].index[:5]), few).told == told


@pytest.mark.chain  # every label is subtracted: half a second
@pytest.mark.parametrize("finer", [1, 2])
def test_single_years_of_age_or_less_are_subtracted_below_each_where_few_crossed(finer: int) -> None:
    """Ages in years have more labels than bands have, and ages in halves of a year very many."""
    first = people(2500).assign(region="north")[[*KEYS, "town"]]
    if finer > 1:
        first["age"] = first["age"] * finer + np.random.default_rng(1).integers(0, finer, len(first))
    second = first.assign(age=first["age"] + (np.arange(len(first)) % 12 == 0))
    rows = np.arange(len(first))
    earlier, later = published(first, seed=1), published(second, seed=2)
    found = differencing(earlier, later, SamePeople(rows, rows), ["age", "sex"], ["town"])
    assert first["age"].nunique() > 60 * finer
    claims, right = claimed(earlier, later)
    assert found.told > claims == right
