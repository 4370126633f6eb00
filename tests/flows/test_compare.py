"""`sluice compare` on real data: what is known to lose more lies further right, what tells more lies higher."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from deployments.data import FILES
from deployments.warehouse import build_warehouse, write_connections
from tests.flows.test_real_data import sluice
from tests.report.pages import Page

pytestmark = pytest.mark.longest  # tests/tasks/workbench/test_compare.py shows the same of small files

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ROOT / "deployments" / "releases"

Steps = list[dict[str, Any]]


def written(path: Path, definition: dict[str, Any], plan: Steps) -> str:
    """A shipped definition with another plan, its documents where they are."""
    documents = {name: str((SHIPPED / definition[name]).resolve()) for name in ("contract", "policy")}
    changed = definition | documents | {"name": path.stem, "plan": plan, "target": str(path.parent / "published")}
    path.write_text(yaml.safe_dump(changed, sort_keys=False), encoding="utf-8")
    return str(path)


def shipped(name: str) -> dict[str, Any]:
    definition: dict[str, Any] = yaml.safe_load((SHIPPED / name).read_text(encoding="utf-8"))
    return {key: value for key, value in definition.items() if key not in ("schedule", "trigger", "analyses")}


def compared(home: Path, page: Path, *plans: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The points of the map, and the whole comparison."""
    found = sluice(home, "compare", *plans, "-o", str(page))
    return found["map"]["points"], found


def test_the_fair_survey(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As shipped, with two quasi-identifiers less, and with nothing but light noise."""
    build_warehouse(tmp_path / "warehouse.duckdb")
    write_connections(tmp_path / "connections.yaml", tmp_path / "warehouse.duckdb", [tmp_path])
    monkeypatch.setenv("SLUICE_CONNECTIONS", str(tmp_path / "connections.yaml"))
    definition = shipped("fair-survey.yaml")
    plan: Steps = definition["plan"]
    gone = ["occupation", "occupation_husb", "religious"]
    kept = (step | {"columns": [name for name in step["columns"] if name not in gone]} for step in plan[1:])
    less = [{"method": "removal", "columns": gone}, *(step for step in kept if step["columns"])]
    light: Steps = [{"method": "rank_swapping", "columns": ["affairs"], "window": 0.01}]
    files = [
        written(tmp_path / f"{name}.yaml", definition, steps)
        for name, steps in (("as-shipped", plan), ("fewer", less), ("light", light))
    ]
    page = tmp_path / "map.html"
    (as_shipped, fewer, light_point), found = compared(tmp_path / "home", page, *files)
    assert light_point["loss"] < as_shipped["loss"] < fewer["loss"]
    assert as_shipped["verdict"] == "PASS"
    assert as_shipped["risk"] <= 1
    assert light_point["verdict"] == "FAIL"
    assert light_point["risk"] is None or light_point["risk"] > 1
    assert as_shipped["on_front"]
    assert light_point["on_front"] is (not light_point["unknown"])
    assert 0.3 < as_shipped["loss"] < 0.8  # one variable of nine is gone, and the others are in groups
    assert found["map"]["no_masking"]["risk"] is None or found["map"]["no_masking"]["risk"] > 1
    assert found["plans"][1]["variables"]["religious"] == "not released"
    links = {attributes["href"] for attributes, _ in Page(page.read_text(encoding="utf-8")).all("a")}
    assert len(links) == 3


def test_adult(reference_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As shipped, and with nothing but swapped hours: the one is safe, the other keeps nearly everything."""
    write_connections(tmp_path / "connections.yaml", tmp_path / "none.duckdb", [reference_data, tmp_path])
    monkeypatch.setenv("SLUICE_CONNECTIONS", str(tmp_path / "connections.yaml"))
    definition = shipped("adult.yaml")
    name = Path(definition["source"]["path"]).name
    definition["source"]["path"] = str(reference_data / next(file.reference for file in FILES if file.name == name))
    swapped: Steps = [{"method": "removal", "columns": ["fnlwgt"]}, definition["plan"][-1]]
    files = [
        written(tmp_path / "as-shipped.yaml", definition, definition["plan"]),
        written(tmp_path / "swapped.yaml", definition, swapped),
    ]
    (as_shipped, light), found = compared(tmp_path / "home", tmp_path / "map.html", *files)
    assert as_shipped["verdict"] == "PASS"
    assert light["verdict"] == "FAIL"
    assert light["loss"] < 0.25 < 0.6 < as_shipped["loss"]  # five of fifteen variables are gone
    assert found["plans"][1]["variables"]["native_country"] == "all bits"
    assert found["plans"][0]["variables"]["native_country"] == "not released"
