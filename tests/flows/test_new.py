"""`sluice new` and what its project is good for: a release without an office, deployments, the version."""

from importlib.metadata import version
from pathlib import Path

import pytest
import yaml

from flows.deployments import prefect_yaml
from tests.flows.house import DONE, ERROR, House
from tests.golden import golden

ROOT = Path(__file__).resolve().parents[2]


def test_a_new_project_says_what_comes_next_and_is_deployed_by_module(house: House, tmp_path: Path) -> None:
    project = tmp_path / "panel"
    told = house.sluice("new", str(project))
    assert told.code == DONE, told.words
    golden.words(told.words)
    written = (project / "prefect.yaml").read_text(encoding="utf-8")
    assert written == prefect_yaml(project / "releases", project)
    [deployment] = yaml.safe_load(written)["deployments"]
    assert deployment["entrypoint"] == "flows.release.release_flow"
    assert deployment["parameters"] == {"definition": "releases/example.yaml"}
    assert house.sluice("new", str(project)).code == ERROR


def test_a_policy_that_comes_with_sluice_is_named_before_there_is_an_office(house: House) -> None:
    house.definition["policy"] = "no-such-policy"
    house.write()
    told = house.sluice("check", str(house.file)).refused()
    house.definition["policy"] = "small-file"  # whose rules these data break
    house.write()
    told = house.sluice("check", str(house.file), "--json")
    assert told.json["release"].startswith("people-puf-"), told.words


def test_by_a_shipped_policy_that_nobody_adopted_nothing_is_released(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.definition["policy"] = "small-file"
    house.write()
    told = house.sluice("release", str(house.file)).refused()
    assert f"{ROOT / 'policies' / 'small-file.yaml'}`" in told.words, "it names the file to be adopted"
    assert house.shelf == []


def test_the_version_is_said(house: House) -> None:
    assert house.sluice("--version").out.startswith(f"sluice {version('sluice-sdc')}")
