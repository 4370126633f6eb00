"""What a definition of tables takes from its contract."""

from pathlib import Path
from typing import Any

import pytest

from schemas.contract import Contract, load_contract
from sluice.ground.errors import DataError
from tasks.release.tables.definition import TablesDefinition
from tasks.release.tables.feasibility_checks import dimension_of, measure_of
from tasks.release.tables.specification import TableDimension, TableMeasure
from tests.golden import golden

FAIR = Path(__file__).resolve().parents[4] / "schemas" / "fair_survey.yaml"


@pytest.fixture(scope="module")
def fair() -> Contract:
    return load_contract(FAIR)


def test_the_contracts_hierarchy_serves_where_the_definition_names_none(fair: Contract) -> None:
    found = dimension_of(TableDimension(variable="occupation", total="All"), fair)
    sums = {found.codes[group]: {found.codes[part] for part in parts} for group, parts in found.sums}
    assert sums == {
        "All": {"student or manual", "clerical or skilled", "managerial or professional"},
        "student or manual": {"1", "2"},
        "clerical or skilled": {"3", "4"},
        "managerial or professional": {"5", "6"},
    }
    assert found.codes[0] == "All"


def test_without_a_hierarchy_the_categories_add_up_to_a_total(fair: Contract) -> None:
    found = dimension_of(TableDimension(variable="rate_marriage"), fair)
    assert found.codes == ("Total", "1", "2", "3", "4", "5")
    assert found.sums == ((0, (1, 2, 3, 4, 5)),)


def test_a_file_goes_before_the_contract(fair: Contract) -> None:
    rows = (("T", ""), *((str(code), "T") for code in range(1, 7)))
    assert dimension_of(TableDimension(variable="occupation", hierarchy=rows), fair).codes[0] == "T"


def test_a_variable_without_either_is_refused(fair: Contract) -> None:
    free = fair.by_name["occupation"].model_copy(update={"hierarchy": None, "categories": None, "labels": {}})
    bare = fair.model_copy(update={"variables": (free,)})
    golden.refused(DataError, dimension_of, TableDimension(variable="occupation"), bare)


def definition(**measure: Any) -> TablesDefinition:
    return TablesDefinition.model_construct(measure=TableMeasure(**measure))


def test_records_are_known_again_by_their_key(fair: Contract) -> None:
    assert measure_of(definition(), fair).contributor == "respondent"
    assert measure_of(definition(), fair).hashed
    keyless = fair.model_copy(update={"record_key": ()})
    assert measure_of(definition(), keyless).contributor is None
    assert measure_of(definition(contributor="firm"), fair).contributor == "firm"
