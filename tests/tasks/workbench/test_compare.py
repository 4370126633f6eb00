"""Plans, releases and masked files on one page."""

import json
from pathlib import Path

import pandas as pd
import pytest
import yaml

from sluice.custody.workspace import Workspace
from sluice.ground.errors import DataError
from sluice.report.comparison_page import render_comparison
from sluice.report.plan_comparison import compare as put_together
from sluice.report.report_page import render
from sluice.report.risk_utility_map import Plan
from tasks.workbench.compare import Candidates, Original, candidates, compare, refuse_unfit
from tests.flows.house import DONE, ERROR, House
from tests.golden import golden
from tests.report.pages import Page, dossier, finding


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> House:
    """Two definitions, one of which masks little, a masked file and one of tables."""
    house = House(tmp_path_factory.mktemp("compared"))
    house.definition["plan"][3]["window"] = 0.01
    house.definition["plan"][1]["bins"] = list(range(20, 80, 2))
    house.definition["name"] = "people-gentle"
    (house.documents / "gentle.yaml").write_text(yaml.safe_dump(house.definition), encoding="utf-8")
    masked = house.data[["sex", "region", "income"]].assign(income=lambda d: d["income"].round(-4))
    masked.to_csv(house.documents / "masked.csv", index=False)
    return house


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace.open(tmp_path / "home")


def original(house: House) -> Original:
    documents = house.documents
    return Original(documents / "people.csv", documents / "contract.yaml", documents / "policy.yaml", paired=True)


def test_definitions_a_release_and_a_masked_file_stand_on_one_map(house: House, tmp_path: Path) -> None:
    page, svg, documents = tmp_path / "map.html", tmp_path / "map.svg", house.documents
    checked = house.sluice("check", str(house.file), "--json").json["release"]
    of_file = ("--original", documents / "people.csv", "--contract", documents / "contract.yaml")
    told = house.sluice(
        "compare", str(documents / "gentle.yaml"), checked, str(documents / "masked.csv"), *map(str, of_file),
        "--policy", str(documents / "policy.yaml"), "--paired", "--loss", "il1s", "-o", str(page), "--svg", str(svg),
        "--json",
    )  # fmt: skip
    assert told.code == DONE, told.words
    gentle, release, masked = told.json["plans"]
    points = told.json["map"]["points"]
    assert (gentle["name"], release["name"], masked["name"]) == ("people-gentle", checked, "masked.csv")
    assert gentle["verdict"] == "FAIL"
    assert gentle["fails"]
    assert points[0]["loss"] < points[1]["loss"]
    assert gentle["variables"]["town"] == masked["variables"]["age"] == "not released"
    assert svg.read_text(encoding="utf-8").startswith("<svg")
    links = [attributes["href"] for attributes, _ in Page(page.read_text(encoding="utf-8")).all("a")]
    assert len(set(links)) == 3
    assert all(link is not None and (tmp_path / link).resolve().is_file() for link in links)
    assert page.stat().st_mode & 0o777 == 0o600
    # What was checked is not judged again, and the same page comes of it.
    again = house.sluice("compare", str(documents / "gentle.yaml"), checked, "--loss", "il1s", "--json")
    assert json.dumps(again.json["plans"][:2]) == json.dumps(
        [plan | {"report": again.json["plans"][at]["report"]} for at, plan in enumerate(told.json["plans"][:2])]
    )


def test_a_masked_file_needs_what_it_was_made_of(house: House, workspace: Workspace) -> None:
    golden.refused(DataError, candidates, [str(house.documents / "masked.csv")], workspace, None)
    told = house.sluice("compare", "x", "--contract", str(house.documents / "contract.yaml"))
    assert told.code == ERROR
    assert "--original" in told.words


def test_what_is_no_plan_is_refused_by_name(house: House, workspace: Workspace, tmp_path: Path) -> None:
    for given in ("nowhere.yaml", str(tmp_path), "people-puf-123"):
        golden.refused(DataError, candidates, [given], workspace, None)
    golden.refused(DataError, candidates, [str(house.file), str(house.file)], workspace, None)


def test_nothing_that_is_read_is_overwritten(house: House, workspace: Workspace) -> None:
    behind = original(house)
    found = candidates([str(house.documents / "masked.csv")], workspace, behind)
    golden.refused(DataError, refuse_unfit, found, behind, house.documents / "people.csv", None, "il1s")
    with golden.raises(DataError):
        refuse_unfit(found, behind, house.root / "map.html", house.root / "map-masked.csv.html", "il1s")
    golden.refused(DataError, refuse_unfit, found, behind, None, None, "il1")


def test_masked_files_alone_are_compared_without_a_release(house: House, workspace: Workspace, tmp_path: Path) -> None:
    behind = original(house)
    coarse = tmp_path / "coarse.csv"
    pd.read_csv(house.documents / "masked.csv").assign(income=lambda d: d["income"].round(-5)).to_csv(
        coarse, index=False
    )
    found = candidates([str(house.documents / "masked.csv"), str(coarse)], workspace, behind)
    made = compare(found, {}, workspace, behind, loss="il1s")
    fine, rough = made.map.points
    assert fine.loss is not None
    assert rough.loss is not None
    assert fine.loss < rough.loss
    assert made.plans[0].report is None


def test_only_what_an_earlier_comparison_wrote_is_written_anew(workspace: Workspace, tmp_path: Path) -> None:
    """Somebody's notes, a page of theirs, a link to either and the report of another command stay as they are."""
    of = dossier(finding(stage="utility", rule="pair_marginals", observed=0.1))
    none = Candidates((), {}, {"theirs.csv": tmp_path / "theirs.csv"}, {})
    page, drawing, report = tmp_path / "map.html", tmp_path / "map.svg", tmp_path / "map-theirs.csv.html"

    def asked() -> None:
        refuse_unfit(none, None, page, drawing, "pair_marginals")

    asked()
    page.write_text(render_comparison(put_together([Plan("a plan", of)])))
    drawing.write_text('<svg class="plot ru-map" role="img"></svg>')
    report.write_text(render(of))
    asked()
    for file in (page, drawing, report):
        ours = file.read_bytes()
        file.write_text("<!DOCTYPE html>\n<p>notes of a year</p>")
        golden.refused(DataError, asked)
        file.unlink()
        file.symlink_to(tmp_path / "elsewhere.html")
        golden.refused(DataError, asked)
        file.unlink()
        file.write_bytes(ours)
    asked()
