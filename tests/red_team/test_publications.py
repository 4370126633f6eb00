"""Several publications of the same people: each file may be safe alone, and both together are not.

Each test publishes a file, plays an intruder who has it and a second one, and asks which rule stops the second.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sluice.ground.errors import DocumentError, SluiceError
from sluice.ground.verdict import Finding, Verdict
from tasks.record_steps import mask
from tasks.release.product import AnyRelease
from tasks.release.records import record_editions
from tasks.release.records.record_editions import compare_publications
from tasks.release.records.record_variables import read_masked
from tests.flows.house import House, survey
from tests.golden import golden
from tests.red_team.stages import bare, made, publish

RECODED = [
    {"method": "removal", "columns": ["household"]},
    {"method": "global_recoding", "columns": ["age"], "bins": [40, 60]},
]
KNOWN = ["age", "sex", "region", "town"]
LEAVER = 17


@pytest.fixture
def house(tmp_path: Path) -> House:
    house = House(tmp_path / "house")
    house.definition["plan"] = RECODED
    return house


def masked(house: House) -> tuple[AnyRelease, pd.DataFrame]:
    """A release that was masked, and its file as the public would read it."""
    release = made(house)
    return release, read_masked(release, bare(mask)(release))


def published(house: House) -> pd.DataFrame:
    """The public file of a release whose history is that of one that went well."""
    release, file = masked(house)
    publish(release)
    return file


def judged(release: AnyRelease) -> dict[str, Finding]:
    return {finding.rule: finding for finding in compare_publications(release)}


def failing(release: AnyRelease) -> set[str]:
    return {rule for rule, finding in judged(release).items() if finding.verdict is Verdict.FAIL}


def leaves(house: House, row: int = LEAVER) -> "pd.Series[Any]":
    """One person less; returns who it was."""
    person = house.data.loc[row]
    house.data = house.data.drop(index=row).reset_index(drop=True)
    return person


def renamed(house: House) -> None:
    """The data set, the variable that is its key and the definition have other names: one that bears the name of
    another data set's definition is refused on its shelf."""
    house.definition["name"] = "inhabitants-puf"
    house.contract["dataset"] = "inhabitants"
    house.variable("person")["name"] = "number"
    house.contract["record_key"] = ["number"]
    house.data = house.data.rename(columns={"person": "number"})


def read_off(first: pd.DataFrame, second: pd.DataFrame, person: Any, value: str) -> list[str]:
    """The attack: what the first cross-tabulation has more than the second in the person's class."""
    counts = []
    for file in (first, second):
        mine = file[(file["age"] == group_of(person["age"], file)) & (file["sex"] == person["sex"])]
        counts.append(Counter(mine[mine["region"] == person["region"]][value].astype(str)))
    return list((counts[0] - counts[1]).elements())


def group_of(age: int, file: pd.DataFrame) -> str:
    groups = list(file["age"].cat.categories)
    return str(groups[int(np.searchsorted([40, 60], age, side="right"))])


@pytest.mark.parametrize(("value", "invented"), [("town", 0), ("income", 0), ("town", 10), ("town", 60)])
def test_one_person_less_under_another_name_of_the_data_set(house: House, value: str, invented: int) -> None:
    """Nor do invented changes elsewhere hide who left, though enough records changed: counting them is not enough."""
    first = published(house)
    person = leaves(house)
    renamed(house)
    mine = (house.data[["sex", "region"]] == person[["sex", "region"]]).all(axis=1)
    others = np.flatnonzero(~mine)[:invented]
    house.data.loc[others, "town"] = np.where(house.data.loc[others, "town"] == "Aldby", "Borgen", "Aldby")
    release, second = masked(house)
    (read,) = read_off(first, second, person, value)
    assert read == str(person[value])
    found = judged(release)
    assert found["differencing"].verdict is Verdict.FAIL
    assert found["few_changes"].verdict is (Verdict.PASS if invented else Verdict.REVIEW)
    assert "people-puf" in found["differencing"].says
    assert str(person[value]) not in found["differencing"].says


def test_somebody_who_comes_in_the_same_class_does_not_hide_who_left(house: House) -> None:
    other = leaves(house, 40)  # comes back in the second file
    first = published(house)
    person = leaves(house)
    house.data.loc[len(house.data)] = other
    release, second = masked(house)
    assert read_off(first, second, person, "income") == [str(person["income"])]
    assert "differencing" in failing(release)


def test_swapping_keeps_the_values_and_so_the_one_that_is_missing(house: House) -> None:
    swap = {"method": "rank_swapping", "columns": ["income"], "window": 0.3}
    house.definition["plan"] = [*RECODED, {"method": "removal", "columns": ["town"]}, swap]
    house.data.loc[LEAVER, "income"] = 987_654.0
    first = published(house)
    person = leaves(house)
    release, second = masked(house)
    assert list((Counter(first["income"]) - Counter(second["income"])).elements()) == [person["income"]]
    assert "differencing" in failing(release)


def test_values_with_noise_of_their_own_are_not_read_off(house: House) -> None:
    del house.contract["record_key"]
    noise = {"method": "additive_noise", "columns": ["income"], "amount": 1.0, "kind": "correlated"}
    house.definition["plan"] = [*RECODED, {"method": "removal", "columns": ["town"]}, noise]
    published(house)
    leaves(house)
    found = judged(masked(house)[0])
    assert found["differencing"].verdict is Verdict.PASS
    assert found["few_changes"].verdict is Verdict.REVIEW


def bins(*edges: int) -> list[dict[str, Any]]:
    return [RECODED[0], {"method": "global_recoding", "columns": ["age"], "bins": list(edges)}]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((30, 45, 60), (31, 46, 61)),
        ((40, 60), (39,)),
        pytest.param((25, 50, 75), (24, 50, 75), marks=pytest.mark.exhaustive),
    ],
)
def test_groups_of_two_plans_on_the_same_data_overlap_in_few_people(
    house: House, first: Sequence[int], second: Sequence[int]
) -> None:
    house.data["age"] = np.where(house.data["age"].isin([30, 39, 24]) & (house.data.index > 60), 70, house.data["age"])
    house.definition["plan"] = bins(*first)
    published(house)
    edges = [np.searchsorted(each, house.data["age"], side="right") for each in (first, second)]
    together = pd.DataFrame(
        {"first": edges[0], "second": edges[1], "sex": house.data["sex"], "region": house.data["region"]}
    )
    alone = [together.groupby([each, "sex", "region"]).size().min() for each in ("first", "second")]
    assert min(alone) >= 5 > together.groupby(list(together)).size().min()
    house.definition["plan"] = bins(*second)
    assert failing(masked(house)[0]) == {"joint_classes"}
    renamed(house)
    house.definition["name"] = "another"
    assert failing(masked(house)[0]) == {"joint_classes"}


def test_groups_that_lie_whole_in_those_of_the_other_plan_take_nothing_apart(house: House) -> None:
    house.definition["plan"] = bins(30, 40, 50, 60)
    published(house)
    house.definition["plan"] = bins(40, 60)
    release, _ = masked(house)
    assert {finding.verdict for finding in compare_publications(release)} == {Verdict.PASS}


NOISE = {"method": "additive_noise", "columns": ["income"], "amount": 0.1}


@pytest.mark.parametrize("step", [NOISE, {"method": "rank_swapping", "columns": ["income"], "window": 0.1}])
def test_noise_of_five_editions_averages_out(house: House, step: dict[str, Any]) -> None:
    """Each edition is of the same people, says of which month it is, and all is drawn anew."""
    house.policy["rules"] = house.policy["rules"][:1]
    house.definition["plan"] = [{"method": "removal", "columns": ["household"]}, step]
    del house.contract["record_key"]
    house.contract["variables"] = [each for each in house.contract["variables"] if each["name"] != "person"]
    house.data = survey(8000).drop(columns="person").drop_duplicates(KNOWN)
    people = house.data
    house.contract["rows"]["minimum"] = 10
    files = []
    month = {"name": "month", "kind": "nominal", "role": "other", "categories": list("01234")}
    house.contract["variables"].append(month)
    for edition in range(5):
        house.definition["name"] = f"edition-{edition}"
        house.data = people.assign(household=np.roll(people["household"], edition), month=str(edition))
        files.append(published(house) if edition < 4 else masked(house)[1])
    truth = people.set_index(KNOWN)["income"]
    read = [file.astype({"sex": str, "region": str, "town": str}).set_index(KNOWN)["income"] for file in files]
    errors = [float((each.reindex(truth.index) - truth).abs().median()) for each in (*read, sum(read) / 5)]
    assert errors[-1] < 0.75 * min(errors[:-1])
    release = masked(house)[0]
    finding = judged(release)["averaged_noise"]
    assert finding.verdict is Verdict.FAIL
    assert "over 5 publications" in finding.says


def monthly(house: House, month: str) -> None:
    """An edition says of which month it is, in a column that is the same for everybody, and weighs its people anew."""
    house.data["month"] = month
    house.data["weight"] = np.random.default_rng(len(month)).uniform(1, 2, len(house.data)).round(4)


@pytest.mark.parametrize("keyed", [True, False])
def test_columns_that_differ_for_everybody_do_not_hide_who_left(house: House, keyed: bool) -> None:
    """Each edition by itself is safe, and has columns that no other edition shares a value with."""
    house.contract["variables"] += [
        {"name": "month", "kind": "nominal", "role": "other", "categories": ["May", "September"]},
        {"name": "weight", "kind": "continuous", "role": "weight", "minimum": 1},
    ]
    if not keyed:
        del house.contract["record_key"]
        house.contract["variables"] = [each for each in house.contract["variables"] if each["name"] != "person"]
        house.data = house.data.drop(columns="person")
    monthly(house, "May")
    first = published(house)
    person = leaves(house)
    monthly(house, "September")
    release, second = masked(house)
    for value in ("town", "income"):
        assert read_off(first, second, person, value) == [str(person[value])]
    assert "differencing" in failing(release)


def test_birthdays_alone_name_people(house: House) -> None:
    """Nobody came or left: whoever crossed an edge of the groups is subtracted, and looked for in both files."""
    published(house)
    house.data.loc[house.data.index % 4 == 0, "age"] += 1
    release, _ = masked(house)
    assert failing(release) == {"differencing", "joint_classes"}


def test_birthdays_do_no_harm_where_the_groups_are_kept_as_they_were_first(house: House) -> None:
    """The year of birth, or the age at entry, in place of the age: nobody moves from one group to another."""
    month = {"name": "month", "kind": "nominal", "role": "other", "categories": ["May", "September"]}
    house.contract["variables"].append(month)
    house.data["month"] = "May"
    published(house)
    house.data = house.data.assign(month="September").sample(frac=1, random_state=1).reset_index(drop=True)
    release, _ = masked(house)
    assert {finding.verdict for finding in compare_publications(release)} == {Verdict.PASS}


def test_who_leaves_takes_four_others_along_and_nobody_is_read_off(house: House) -> None:
    house.definition["move_together"] = {"k": 5}
    first = published(house)
    person = leaves(house)
    release, second = masked(house)
    assert (len(first), len(second)) == (1200, 1195)
    assert len(read_off(first, second, person, "income")) == 5
    assert len(set(read_off(first, second, person, "town"))) > 1
    assert judged(release)["differencing"].verdict is Verdict.PASS


def test_who_was_taken_along_does_not_come_back_and_newcomers_wait(house: House) -> None:
    newcomers = house.data[1100:1103]
    house.data = house.data.drop(index=newcomers.index).reset_index(drop=True)
    house.definition["move_together"] = {"k": 5, "newcomers": 20}
    published(house)
    leaves(house)
    sizes = []
    for _ in range(2):
        house.data = pd.concat([house.data, newcomers[:1]], ignore_index=True)
        newcomers = newcomers[1:]
        sizes.append(len(published(house)))
    assert sizes == [1192, 1192]


@pytest.mark.parametrize("lacking", ["record_key", "a holdout is drawn"])
def test_people_move_together_only_where_they_are_known_again(house: House, lacking: str) -> None:
    house.definition["move_together"] = {"k": 5}
    if lacking == "record_key":
        del house.contract["record_key"]
    else:
        house.policy["reference_standard"] |= {"reference": "holdout", "holdout_share": 0.25}
    with golden.raises(DocumentError):
        made(house)


def renamed_all(house: House) -> None:
    """All variables but the key have other names, and so have the data set and the definition."""
    names = {each["name"]: f"{each['name']}_2" for each in house.contract["variables"] if each["name"] != "person"}
    for each in house.contract["variables"]:
        each["name"] = names.get(each["name"], each["name"])
    house.data = house.data.rename(columns=names)
    house.definition["plan"] = [{**step, "columns": [names[c] for c in step["columns"]]} for step in RECODED]
    house.policy["rules"] = [{"rule": "k_anonymity", "k": 5}]
    house.definition["name"], house.contract["dataset"] = "another", "another"


def in_other_codes(house: House) -> None:
    house.data = house.data.assign(
        age_2=2024 - house.data["age_2"],
        sex_2=house.data["sex_2"].map({"f": "2", "m": "1"}),
        town_2=house.data["town_2"].str.upper(),
        income_2=house.data["income_2"] / 1000,
    )
    for each in house.contract["variables"]:
        if each["name"] in ("age_2", "sex_2", "town_2", "income_2"):
            for limit in ("categories", "minimum", "maximum", "range", "decimals"):
                each.pop(limit, None)
    recoding = next(step for step in house.definition["plan"] if step["method"] == "global_recoding")
    recoding["bins"] = [1965, 1985]


@pytest.mark.parametrize("keyed", ["keyed", "", "in other codes"])
def test_who_leaves_is_found_where_all_variables_have_other_names(house: House, keyed: str) -> None:
    """And where ages are years of birth, sexes and towns have codes, and incomes are in thousands."""
    if keyed != "keyed":
        del house.contract["record_key"]
        house.contract["variables"] = [each for each in house.contract["variables"] if each["name"] != "person"]
        house.data = house.data.drop(columns="person")
    first = published(house)
    person = leaves(house)
    renamed_all(house)
    if keyed == "in other codes":
        in_other_codes(house)
    release, second = masked(house)
    if keyed == "in other codes":
        assert "differencing" in failing(release)
        return
    second = second.rename(columns=lambda name: name.removesuffix("_2"))
    assert read_off(first, second, person, "income") == [str(person["income"])]
    assert "differencing" in failing(release)


@pytest.mark.parametrize("renamed_too", [True, False])
@pytest.mark.parametrize("declared", [True, False])
def test_other_people_from_the_same_place_need_a_word_of_the_contract(
    house: House, declared: bool, renamed_too: bool
) -> None:
    """Numbered from 1 like those of the file before: equal keys alone say nothing."""
    if not declared:
        del house.contract["editions"]
    published(house)
    house.data = survey(seed=9)
    if renamed_too:
        house.definition["name"], house.contract["dataset"] = "another", "another"
    found = judged(masked(house)[0])
    assert found["differencing"].verdict is (Verdict.PASS if declared else Verdict.REVIEW)
    assert {finding.verdict for rule, finding in found.items() if rule != "differencing"} == {Verdict.PASS}


def test_other_people_of_another_place_and_data_set_need_none(house: House) -> None:
    del house.contract["editions"]
    published(house)
    house.data = survey(seed=9)
    house.definition["name"], house.contract["dataset"] = "another", "another"
    house.definition["source"] = {"type": "csv", "path": "others.csv"}
    house.write()
    house.data.to_csv(house.documents / "others.csv", index=False)
    assert {finding.verdict for finding in compare_publications(masked(house)[0])} == {Verdict.PASS}


@pytest.mark.parametrize("last", ["whole", "part", "of two splits", "nobody left out"])
def test_files_of_parts_less_the_file_of_all_are_who_is_in_no_part(house: House, last: str) -> None:
    """One person of the whole file is in neither region's. Any two of the three files differ by hundreds of people."""
    house.definition["plan"] = [RECODED[0], {"method": "removal", "columns": ["region"]}, RECODED[1]]
    everybody = house.data
    nowhere = (everybody.index == LEAVER) & (last != "nobody left out")
    parts = {each: (everybody["region"] == each) & ~nowhere for each in ("north", "south")}
    wholes = {"all": pd.Series(True, everybody.index)}
    if last == "of two splits":
        wholes = {each: everybody["sex"] == each for each in ("f", "m")}
    files = {}
    for name, some in ({**wholes, **parts} if last == "part" else {**parts, **wholes}).items():
        house.data = everybody[some].reset_index(drop=True)
        house.definition["name"] = house.contract["dataset"] = f"{name}-puf"
        release, files[name] = masked(house)
        if len(files) < len(parts) + len(wholes):
            publish(release)
    finding = judged(release)["differencing"]
    if last == "nobody left out":
        assert finding.verdict is Verdict.PASS
        return
    person = everybody.loc[LEAVER]
    mine = []
    for side in (wholes, parts):
        every = pd.concat([files[each] for each in side]).astype({"age": str})
        mine.append(every[(every["sex"] == person["sex"]) & (every["age"] == group_of(person["age"], files["north"]))])
    for value in ("town", "income"):
        read = Counter(mine[0][value].astype(str)) - Counter(mine[1][value].astype(str))
        assert list(read.elements()) == [str(person[value])]
    assert finding.verdict is Verdict.FAIL
    golden(finding.says)


def test_a_part_that_is_nobodys_any_more_or_whose_values_are_noise_needs_a_decision(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    noise = {"method": "additive_noise", "columns": ["income"], "amount": 1.0, "kind": "correlated"}
    house.definition["plan"] = [RECODED[0], {"method": "removal", "columns": ["region", "town"]}, RECODED[1], noise]
    del house.contract["record_key"]
    everybody = house.data
    for name in ("all", "north", "south"):
        some = (everybody["region"] == name) & (everybody.index != LEAVER) | (name == "all")
        house.data = everybody[some].reset_index(drop=True)
        house.definition["name"] = house.contract["dataset"] = f"{name}-puf"
        release, _ = masked(house)
        if name != "south":
            publish(release)
    finding = judged(release)["differencing"]
    assert (finding.verdict, finding.code) == (Verdict.REVIEW, "differencing.part")
    golden(finding.says)

    def destroyed(other: AnyRelease, *given: Any) -> Any:
        if other.id.startswith("north"):
            raise SluiceError("its seed was destroyed")
        return order_of(other, *given)

    order_of = record_editions.row_order
    monkeypatch.setattr(record_editions, "row_order", destroyed)
    found = compare_publications(release)
    assert [each.verdict for each in found if each.code == "joint_classes.seed_destroyed"] == [Verdict.REVIEW]
