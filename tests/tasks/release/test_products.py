"""The definition decides what is released: tables when it has tables, else records; each with its own documents."""

from pathlib import Path
from typing import Any

import pytest

from sluice.ground.errors import DocumentError
from tasks.release.products import TO_DRAFT, load_product
from tasks.release.records.record_definition import RecordsDefinition
from tasks.release.records.record_product import Records
from tasks.release.tables.table_product import Tables
from tests.flows.house import House
from tests.flows.tables_house import TablesHouse
from tests.golden import golden


def test_the_definition_chooses(tmp_path: Path) -> None:
    records, tables = House(tmp_path / "records"), TablesHouse(tmp_path / "tables")
    assert type(load_product(records.file, records.workspace())) is Records
    assert type(load_product(tables.file, tables.workspace())) is Tables


@pytest.mark.parametrize(
    "change",
    [
        {"plan": [{"method": "removal", "columns": ["household", "towns"]}]},
        {"plan": [{"method": "removal", "columns": ["household"]}], "tables": []},
        {"target": "../home/vault"},
        {"contract": "nowhere.yaml"},
    ],
)
def test_documents_that_do_not_fit_are_refused_by_field(tmp_path: Path, change: dict[str, Any]) -> None:
    house = House(tmp_path / "house")
    house.definition |= change
    house.write()
    with pytest.raises(DocumentError) as refused:
        load_product(house.file, house.workspace())
    golden(refused.value)


@pytest.mark.parametrize(
    "change",
    [
        {"policy": "public-use-file.yaml"},
        {"source": {"connection": "warehouse", "table": "a b"}},
        {"source": {"type": "csv", "path": ["a.csv", "b.csv"]}},
        {"source": "people", "contract": None},
    ],
)
def test_a_plan_that_is_to_be_drafted_is_answered_with_the_command(tmp_path: Path, change: dict[str, Any]) -> None:
    house = House(tmp_path / "house")
    house.definition |= {"plan": "draft", **change}
    house.write()
    golden.refused(DocumentError, load_product, house.file, house.workspace())


def test_the_schema_takes_steps_or_a_word() -> None:
    steps, word = RecordsDefinition.model_json_schema()["properties"]["plan"]["anyOf"]
    assert (steps["minItems"], word) == (1, {"const": TO_DRAFT})


def test_the_name_of_each_records_person_is_not_released(tmp_path: Path) -> None:
    house = House(tmp_path / "house")
    (household,) = (each for each in house.contract["variables"] if each["name"] == "household")
    household["role"] = "person"
    house.write()
    load_product(house.file, house.workspace())  # the plan takes it out
    house.definition["plan"] = [{"method": "removal", "columns": ["town"]}]
    house.write()
    golden.refused(DocumentError, load_product, house.file, house.workspace())


def test_a_copy_whose_package_does_not_take_a_name_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    house = House(tmp_path / "house")
    house.variable("sex")["name"] = "sex-at-birth"
    house.write()
    before = load_product(house.file, house.workspace()).hashes["plan"]
    house.definition["copies"] = []  # says nothing, and changes nothing
    house.write()
    assert load_product(house.file, house.workspace()).hashes["plan"] == before
    house.definition["copies"] = ["stata"]
    house.write()
    golden.refused(DocumentError, load_product, house.file, house.workspace())
    house.definition["copies"] = ["spss", "spss"]
    house.write()
    golden.refused(DocumentError, load_product, house.file, house.workspace())


def test_what_is_hashed_does_not_depend_on_where_the_documents_lie(tmp_path: Path) -> None:
    here, there = House(tmp_path / "here"), House(tmp_path / "there")
    assert load_product(here.file, here.workspace()).hashes == load_product(there.file, there.workspace()).hashes
    there.policy["version"] = 2
    there.write()
    assert (
        load_product(here.file, here.workspace()).hashes["policy"]
        != (load_product(there.file, there.workspace()).hashes["policy"])
    )
