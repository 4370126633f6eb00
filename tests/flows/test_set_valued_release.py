"""Real baskets through the whole chain, and an intruder who knows a few items of somebody's, on the published CSV.

The intruder's search shares nothing with the project: it reads the file's lines and counts.
"""

import csv
from itertools import combinations
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.flows.house import BLOCKED, House
from tests.golden import golden
from tests.items.grocery_aisles import AISLES, grocery_hierarchy
from tests.publication.data_package import problems

K = 5
UP = grocery_hierarchy().rows


def few_who_fit(sets: list[set[str]], fits: dict[str, set[str]]) -> int:
    """People of whom up to two items are known, and whom fewer than K released sets fit.

    fits : for each item that may be known, the released items that may stand for it
    """
    holding = {item: {row for row, each in enumerate(sets) if each & released} for item, released in fits.items()}
    found: set[int] = set()
    for one, other in combinations(sorted(holding), 2):
        for known in ({one}, {one, other}):
            crowd = set.intersection(*(holding[item] for item in known))
            found |= crowd if len(crowd) < K else set()
    return len(found)


def published(house: House) -> list[set[str]]:
    (release,) = house.shelf
    with (house.target / release / "baskets.csv").open(newline="", encoding="utf-8") as file:
        return [set(row["basket"].split(";")) - {""} for row in csv.DictReader(file)]


@pytest.fixture
def groceries(house: House, reference_data: Path) -> House:
    """The first 3,000 of 9,835 baskets."""
    lines = (reference_data / "groceries" / "groceries.csv").read_text(encoding="utf-8").splitlines()[:3000]
    house.data = pd.DataFrame({"basket": [line.replace(",", ";") for line in lines]})
    basket: dict[str, Any] = {"name": "basket", "kind": "items", "role": "quasi_identifier"}
    basket["hierarchy"] = {"rows": {item: list(groups) for item, groups in UP.items()}}
    house.contract = {"dataset": "groceries", "version": 1, "records_are": "baskets", "variables": [basket]}
    house.policy["rules"] = [{"rule": "km_anonymity", "k": K, "m": 2}]
    house.definition |= {"name": "baskets", "title": "A month of baskets"}
    house.definition["plan"] = [
        # Departments for whoever knows a few items; and for whoever knows the whole basket, others with the same.
        {"method": "item_generalization", "columns": ["basket"], "k": K, "m": 2, "released_items": list(AISLES)},
        {"method": "local_suppression", "columns": ["basket"], "k": 2 * K},
    ]
    house.write()
    return house


def test_baskets_are_published_in_which_two_known_items_find_a_crowd(groceries: House) -> None:
    original = [{item.strip() for item in text.split(";")} for text in groceries.data["basket"]]
    assert few_who_fit(original, {item: {item} for item in UP}) > 1000

    groceries.release_approved()

    sets = published(groceries)
    assert problems(groceries.target / groceries.id, nothing_known_of_some=True) == []
    assert len(sets) == len(original)
    assert set().union(*sets) == set(AISLES)
    assert few_who_fit(sets, {item: {item, *groups} for item, groups in UP.items()}) == 0
    assert sum(not each for each in sets) < 0.1 * len(sets)


def test_the_rule_blocks_what_the_search_finds_and_no_rule_at_all_blocks_too(groceries: House) -> None:
    """What the step should have done was not done: twenty items stay in full detail."""
    groceries.data = groceries.data[:800]
    (step, _) = groceries.definition["plan"]
    groceries.definition["plan"] = [step | {"released_items": [*AISLES, *[*UP][:20]]}]
    groceries.write()
    assert groceries.sluice("check", str(groceries.file)).code == BLOCKED
    (finding,) = _findings(groceries, "km_anonymity", "masked")
    assert finding["verdict"] == 2
    assert finding["observed"] < K

    groceries.policy["rules"] = [{"rule": "k_anonymity", "k": 2}]
    groceries.write()
    assert groceries.sluice("check", str(groceries.file)).code == BLOCKED
    (finding,) = _findings(groceries, "km_anonymity", "masked")
    assert finding["verdict"] == 3


@pytest.mark.exhaustive
def test_baskets_come_from_lists_of_parquet_as_from_texts(groceries: House) -> None:
    groceries.data = groceries.data[:400]
    groceries.write()
    lists = [[item.strip() for item in text.split(";")] for text in groceries.data["basket"]]
    pq.write_table(pa.table({"basket": pa.array(lists)}), groceries.documents / "baskets.parquet")
    groceries.sluice("check", str(groceries.file))
    (from_text,) = _findings(groceries, "km_anonymity", "original")
    groceries.definition["source"] = {"type": "parquet", "path": "baskets.parquet"}
    groceries.definition["plan"][0]["k"] = K + 1  # another release
    groceries.write()
    groceries.sluice("check", str(groceries.file))
    (from_lists,) = _findings(groceries, "km_anonymity", "original")
    assert from_lists["says"] == from_text["says"]


def test_an_item_that_is_not_declared_is_counted_and_not_named(groceries: House) -> None:
    groceries.data = groceries.data[:800]
    groceries.data.loc[[3, 5], "basket"] = "whole milk;cigars"
    groceries.write()
    refused = groceries.release()
    golden(refused.words)
    assert "cigars" not in refused.words


def _findings(house: House, rule: str, stage: str) -> list[dict[str, Any]]:
    findings = house.sluice("review", house.id, "--json").json["findings"]
    return [dict(each) for each in findings if each["rule"] == rule and each["stage"] == stage]
