"""A release whose every text was written by somebody hostile: wherever it is shown, it is text."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from sluice.ground.visible_text import unseen
from tests.flows.house import DONE, WAITING, House
from tests.injection.corpus import WRITABLE, Page

ALL = " ¦ ".join(WRITABLE)
INCOME, REGION = f"income {WRITABLE[1]}", f"region {WRITABLE[4]}"
NORTH, SOUTH, OWNER = f"north {WRITABLE[3]}", f"={WRITABLE[10]}", f"emil {WRITABLE[0]}"


def hostile(house: House) -> None:
    """Write the corpus wherever a person may write."""
    house.data = house.data.rename(columns={"income": INCOME, "region": REGION})
    house.data[REGION] = house.data[REGION].map({"north": NORTH, "south": SOUTH})
    house.data["town"] = house.data["town"] + WRITABLE[11]
    house.contract |= {"dataset": ALL, "version": ALL, "description": ALL, "records_are": f"people {WRITABLE[2]}"}
    house.variable("income").update(name=INCOME, unit=WRITABLE[13], description=ALL)
    house.variable("region").update(
        name=REGION, categories=[NORTH, SOUTH], labels={NORTH: ALL, SOUTH: WRITABLE[6]}, description=ALL
    )
    house.contract["rules"] = [{"name": WRITABLE[8], "expression": "age >= 18", "says": ALL}]
    house.policy |= {"name": ALL, "version": WRITABLE[9], "description": ALL}
    house.policy["rules"][1]["columns"] = [INCOME]
    house.policy["waivers"] = [
        {
            "rule": "k_anonymity",
            "scope": ALL,
            "reason": ALL,
            "owner": "amara",  # one of those who adopt the policy
            "granted": "2026-01-01",
            "expires": "2026-12-31",
        }
    ]
    house.people["people"][OWNER] = house.people["people"].pop("emil")
    house.definition |= {"title": ALL, "owner": OWNER}
    for step in house.definition["plan"]:
        step["columns"] = [INCOME if name == "income" else name for name in step["columns"]]


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> House:
    house = House(tmp_path_factory.mktemp("hostile") / "house")
    hostile(house)
    house.write()
    told = [house.release()]
    assert told[0].code == WAITING, told[0].words
    told += [house.sluice("review", house.id), house.sluice("review", house.id, "--json")]
    told += [house.sluice("approve", house.id, "--as", who, "--comment", ALL) for who in ("amara", "jonas")]
    assert told[-1].code == DONE, told[-1].words
    told += [house.sluice("status"), house.sluice("ledger", "show", house.id), house.sluice("ledger", "verify")]
    house.told = told  # type: ignore[attr-defined]
    return house


def pages(house: House) -> Iterator[Path]:
    yield from (house.home / "reports").glob("*.html")
    yield from (house.home / "data_docs").rglob("*.html")


def test_no_page_holds_an_element_of_anybodys_and_each_shows_their_words(published: House) -> None:
    found = list(pages(published))
    assert len(found) == 4
    for file in found:
        page = Page(file.read_text(encoding="utf-8"))
        assert page.injected == [], file
        assert not page.elements & {"script", "iframe", "object", "img", "form"}, file
        assert INCOME in page.text, file
    report = Page(found[0].read_text(encoding="utf-8"))
    assert ALL in report.text
    assert WRITABLE[6] in report.text  # the label of a category


def test_a_terminal_shows_them_as_they_are(published: House) -> None:
    for told in published.told:  # type: ignore[attr-defined]
        assert not unseen(told.out + told.err)
    shown = "".join(told.out for told in published.told)  # type: ignore[attr-defined]
    assert ALL in re.sub(r"\s+", " ", shown)


def test_published_documents_hold_the_same_texts(published: House) -> None:
    folder = published.target / published.id
    manifest = json.loads((folder / "manifest.json").read_bytes())
    package = json.loads((folder / "datapackage.json").read_bytes())
    assert (manifest["title"], package["title"], manifest["dataset"]) == (ALL, ALL, ALL)
    fields = {field["name"]: field for field in package["resources"][0]["schema"]["fields"]}
    assert fields[INCOME]["description"] == ALL
    assert pd.read_csv(folder / f"{published.definition['name']}.csv").columns.tolist() == list(fields)
