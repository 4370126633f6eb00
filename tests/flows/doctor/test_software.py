"""The doctor on software: a wrong setting, a package of another version, and a stranger by the name of one of ours."""

import sys
from pathlib import Path

import pytest

from flows.doctor.diagnosis import Condition
from flows.doctor.host_machine import ROOMS, namesakes, owners, packages, settings_in_order, unmet
from tests.golden import golden


def test_what_is_missing_or_of_another_version_is_named() -> None:
    versions = {"numpy": "2.4.1", "pandas": "2.2.0"}
    needed = [
        "numpy>=2.4,<3",
        "pandas>=3.0,<4",
        "duckdb>=2",
        "statsmodels>=0.14; extra == 'demo'",
        "x; python_version < '3'",
    ]
    assert unmet(needed, versions.get) == ["pandas is 2.2.0; it must be <4,>=3.0", "duckdb is not installed"]


def test_the_tests_own_environment_is_in_order() -> None:
    assert [found.condition for found in packages()] == [Condition.OK, Condition.OK]


def test_who_brings_a_package_is_told_by_lists_of_names_and_of_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = "flows/deep/a.py,sha256=x,1\ntasks.py,sha256=x,1\nflowsy/a.py,,\nflows.txt,,\nschemas/a.json,,\n"
    for name, file, text in (("toys", "RECORD", record), ("names", "top_level.txt", "flows\npolicies\n")):
        folder = tmp_path / f"{name}-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (folder / file).write_text(text)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    found = {name: sorted(brought) for name, brought in owners(ROOMS).items()}
    assert found == {"flows": ["names", "toys"], "tasks": ["toys"], "schemas": [], "policies": ["names"]}


@pytest.mark.parametrize("name", [*ROOMS, "sluice"])
def test_another_distribution_that_brings_a_package_of_our_name_is_named(name: str) -> None:
    found = namesakes({name: ["sluice-sdc", "airflow-toys"], "numpy": ["numpy"]})
    assert found.condition is Condition.FAIL
    golden(found.says)
    assert str(name) in found.says
    assert namesakes({name: ["sluice-sdc"]}).condition is Condition.OK


def test_a_distribution_called_sluice_is_another_program() -> None:
    found = namesakes({"sluice": ["sluice-sdc"]}, stranger="0.3.1")
    assert found.condition is Condition.FAIL
    golden(found.says)
    golden(found.mend)


def test_a_wrong_setting_is_named_and_its_value_is_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLUICE_WORKERS", "0")
    found = settings_in_order()
    assert found.condition is Condition.FAIL
    golden(found.says)
