"""A release whose plan searches for its levels, under its own policy: published, explained, or refused whole."""

import json

import pandas as pd
import pytest

from sluice.ground.verdict import Verdict
from tests.flows.house import WAITING, House
from tests.golden import golden
from tests.report.pages import Page

KEYS = ["age", "sex", "region"]


@pytest.fixture
def searching(house: House) -> House:
    house.variable("age")["hierarchy"] = {"intervals": [5, 10, 20]}
    house.policy["rules"] = [{"rule": "k_anonymity", "k": 5}]
    plan = house.definition["plan"]
    plan[1] = {"method": "generalization", "columns": KEYS, "under": "policy", "suppression_limit": 0.02}
    house.write()
    return house


def test_levels_are_found_published_and_explained(searching: House) -> None:
    told = searching.release()
    assert told.code == WAITING, told.words
    page = searching.sluice("review", searching.id, "--html").out
    golden.where("k = 5", "\n".join(Page(page).lines))
    sex = page.split('aria-label="Counts of sex')[1].split("</svg>")[0]
    assert "*" not in sex  # a group of a level that was not chosen
    searching.approve_as_both()
    (name,) = searching.shelf
    file = pd.read_csv(searching.target / name / "people-puf.csv", dtype=str, keep_default_na=False)
    assert file.groupby(KEYS).size().min() >= 5
    assert file["age"].nunique() > 4  # finer than the widest level
    described = json.loads((searching.target / name / "datapackage.json").read_text(encoding="utf-8"))
    assert "'levels'" in str(described)  # those that were found, for whoever uses the file
    # No category of a level that was not chosen: whoever reads the file would have them, empty.
    listed = {each["name"]: each["constraints"]["enum"] for each in described["resources"][0]["schema"]["fields"][:3]}
    assert set(listed["sex"]) == set(file["sex"])
    assert set(file["age"]) < set(listed["age"])  # a declared group that nobody is in remains
    assert len({int(upper) - int(lower) for lower, _, upper in map(str.split, listed["age"])}) == 1


def test_the_same_data_in_another_order_give_the_same_file(searching: House) -> None:
    searching.release()
    first = searching.id
    searching.data = searching.data.sample(frac=1, random_state=3)
    searching.write()
    searching.release()
    assert searching.ids == [first]


def test_what_the_policy_asks_and_the_data_cannot_give_is_an_error_that_names_it(searching: House) -> None:
    searching.policy["rules"] = [{"rule": "k_anonymity", "k": 2000}]
    searching.write()
    searching.release().refused(figures=True)
    assert searching.shelf == []
    searching.policy["rules"] = [{"rule": "l_diversity", "l": 4, "columns": ["town"]}]
    searching.definition["plan"][0]["columns"] = ["household"]
    searching.write()
    searching.release().refused(figures=True)
    assert searching.shelf == []


def test_levels_that_depend_on_values_come_before_what_changes_these(searching: House) -> None:
    plan = searching.definition["plan"]
    plan[1]["refine"] = True
    plan.insert(1, {"method": "pram", "columns": ["sex"], "retention": 0.8})
    searching.write()
    searching.release().refused()


def test_an_edition_about_the_same_people_is_judged_beside_the_one_before(searching: House) -> None:
    searching.release()
    first = searching.id
    searching.approve_as_both()
    searching.data = searching.data.assign(income=searching.data["income"] + 1000)
    searching.write()
    told = searching.release()
    assert told.code == WAITING, told.words
    findings = searching.sluice("review", searching.ids[-1], "--json").json["findings"]
    assert findings
    assert Verdict.UNKNOWN not in {finding["verdict"] for finding in findings}
    assert f"1 compared ({first})" in searching.sluice("review", searching.ids[-1]).words
