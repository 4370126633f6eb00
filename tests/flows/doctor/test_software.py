"""The doctor on software: a wrong setting, a package of another version, and a stranger by the name of one of ours."""

import pytest

from flows.doctor.diagnosis import Condition
from flows.doctor.software import ROOMS, namesakes, packages, settings_in_order, unmet
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


@pytest.mark.parametrize("name", [*ROOMS, "sluice"])
def test_another_distribution_that_brings_a_package_of_our_name_is_named(name: str) -> None:
    found = namesakes({name: ["sluice", "airflow-toys"], "numpy": ["numpy"]})
    assert found.condition is Condition.FAIL
    golden(found.says)
    assert str(name) in found.says
    assert namesakes({name: ["sluice"]}).condition is Condition.OK


def test_a_wrong_setting_is_named_and_its_value_is_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLUICE_WORKERS", "0")
    found = settings_in_order()
    assert found.condition is Condition.FAIL
    golden(found.says)
