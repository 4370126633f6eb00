"""What the documents alone tell before a run: it must end blocked, or wait for people who are not there."""

from pathlib import Path
from typing import Any

import pytest

from flows.cli.releases import document_warnings
from sluice.custody.workspace import Workspace
from sluice.ground.errors import DocumentError
from tasks.release.products import load_product
from tests.flows.house import House
from tests.golden import golden


def warnings_of(house: House) -> str:
    house.write()
    house.adopt()
    return " ".join(document_warnings(load_product(house.file, Workspace.open(house.home))))


@pytest.fixture
def sound(tmp_path: Path) -> House:
    return House(tmp_path / "house")


def test_where_a_set_is_missing_those_of_the_contract_are_named(sound: House) -> None:
    sound.policy["reference_standard"] = {"intruders": [{"knows": "register"}]}
    golden.refused(DocumentError, warnings_of, sound)
    sound.contract["knowledge"] = {"office": ["age"]}
    golden.refused(DocumentError, warnings_of, sound)


def test_sound_documents_need_no_word(sound: House) -> None:
    assert warnings_of(sound) == ""


@pytest.mark.parametrize(
    "change",
    [
        {"reference_standard": None},
        {"approvals": {"count": 1, "roles": ["data_stewart"]}},
        {"approvals": {"count": 4}},
        {"approvals": {"count": 2, "roles": ["data_steward"] * 2}},
    ],
)
def test_a_policy_that_cannot_be_met(sound: House, change: dict[str, Any]) -> None:
    sound.policy |= change
    golden(warnings_of(sound))


@pytest.mark.parametrize(
    ("change", "role"),
    [
        ({"rules": [{"rule": "p_percent", "p": 10}]}, None),
        (
            {"rules": [{"rule": "t_closeness", "t": 0.3}, {"rule": "household_risk", "highest_at_most": 0.5}]},
            "sensitive",
        ),
        ({"attacks": [{"rule": "membership", "limit": 0.1}, {"rule": "singling_out", "limit": 0.1}]}, None),
    ],
)
def test_a_policy_by_which_no_such_release_can_be_judged_is_refused(
    sound: House, change: dict[str, Any], role: str | None
) -> None:
    for variable in sound.contract["variables"]:
        if variable["role"] == role:
            variable["role"] = "other"
    sound.policy |= change
    golden.refused(DocumentError, warnings_of, sound)


def test_a_check_that_does_not_decide_refuses_nothing(sound: House) -> None:
    sound.policy["attacks"] = [{"rule": "membership", "limit": 0.1, "binding": False}]
    assert warnings_of(sound) == ""


def test_the_owner_fills_no_role(sound: House) -> None:
    sound.people["people"]["jonas"]["roles"] = ["owner"]  # emil is a data steward, too, and submits
    golden.where("data_steward", warnings_of(sound))


def test_a_rule_on_sensitive_variables_where_none_is_released(sound: House) -> None:
    sound.policy["rules"] = [{"rule": "l_diversity", "l": 2}]
    assert warnings_of(sound) == ""
    sound.variable("income")["role"] = "other"  # the other one, the town, is removed
    golden.refused(DocumentError, warnings_of, sound)
    sound.policy["rules"] = [{"rule": "l_diversity", "l": 2, "columns": ["income"]}]
    assert warnings_of(sound) == ""


def test_a_contract_of_fewer_records_than_the_standard_needs(sound: House) -> None:
    sound.policy["reference_standard"] |= {"minimum_records": 500}
    sound.contract["rows"] = {"maximum": 500}
    assert warnings_of(sound) == ""
    sound.contract["rows"] = {"maximum": 499}
    golden.refused(DocumentError, warnings_of, sound)
    sound.policy["reference_standard"] |= {"when_fewer": "judge"}
    assert warnings_of(sound) == ""


def test_a_contract_without_quasi_identifiers(sound: House) -> None:
    for variable in sound.contract["variables"]:
        if variable["role"] == "quasi_identifier":
            variable["role"] = "other"
    sound.policy["rules"] = [{"rule": "k_anonymity", "k": 2, "columns": ["sex"]}]
    golden.where("quasi_identifier", warnings_of(sound))
