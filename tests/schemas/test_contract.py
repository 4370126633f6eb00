"""The contract: what is refused when it loads, and the three contracts that come with the project, on the real data."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from statsmodels.datasets import fair

import schemas
from flows.json_schemas import json_schema, write_json_schema
from schemas.checks.frame_check import check_frame
from schemas.contract import Contract, load_contract
from sluice.generalization.builders import BUILDERS
from sluice.ground.errors import DocumentError
from sluice.ground.variables import Kind, Role, with_role
from sluice.ground.verdict import Verdict
from sluice.sources.hierarchy_file import read_hierarchy
from sluice.sources.sources import CsvSource
from tests.golden import golden
from tests.schemas.typed import type_batch, type_source

CONTRACTS = Path(schemas.__path__[0])


def document(**changes: Any) -> dict[str, Any]:
    variables: list[dict[str, Any]] = [
        {"name": "id", "kind": "integer", "role": "identifier"},
        {"name": "name", "kind": "text", "role": "identifier"},
        {"name": "home", "kind": "nominal", "role": "household", "categories": ["h1", "h2"]},
        {"name": "age", "kind": "integer", "role": "quasi_identifier", "minimum": 0, "maximum": 120},
        {"name": "level", "kind": "ordinal", "role": "quasi_identifier", "categories": [1, 2, 3]},
        {"name": "weight", "kind": "continuous", "role": "weight"},
        {"name": "seen", "kind": "date", "role": "other"},
    ]
    return {"dataset": "people", "version": 1, "record_key": ["id"], "variables": variables} | changes


def with_variable(name: str, **changes: Any) -> dict[str, Any]:
    content = document()
    content["variables"] = [
        variable | changes if variable["name"] == name else variable for variable in content["variables"]
    ]
    return content


def load(tmp_path: Path, content: dict[str, Any]) -> Contract:
    path = tmp_path / "contract.yaml"
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    return load_contract(path)


def test_staged_variables_hold_no_identifier_but_as_a_key(tmp_path: Path) -> None:
    staged = load(tmp_path, document()).staged
    assert list(staged) == ["id", "home", "age", "level", "weight", "seen"]
    for hashed in ("id", "home"):
        assert staged[hashed].kind is Kind.TEXT
        assert staged[hashed].categories is None
    assert staged["age"].maximum == 120


RULE = {"name": "adult", "expression": "age >= 18", "says": "Adults only."}


@pytest.mark.parametrize(
    "content",
    [
        document(rules=[RULE | {"expression": "aeg > 1"}]),
        document(rules=[RULE | {"expression": "name == 'x'"}]),
        document(rules=[RULE, RULE]),
        document(rows={"minimum": 5, "maximum": 4}),
        document(record_key=["idd"]),
        document(record_key=["id", "id"]),
        document(freshness={"column": "age", "max_age_days": 1}),
        document(knowledge={"register": ["aeg"]}),
        document(knowledge={"register": ["age", "age"]}),
        document(knowledge={"register": ["id"]}),
        document(knowledge={"register": []}),
        document(knowledge={"everything": ["age"]}),
        with_variable("age", harmless={"values": [0], "why": "all were born"}),
        with_variable("seen", role="sensitive", harmless={"why": "nothing"}),
        with_variable("level", role="sensitive", harmless={"values": [4], "why": "nobody minds"}),
        with_variable("age", minimum=121),
        with_variable("age", minimum="young"),
        with_variable("seen", minimum="yesterday"),
        with_variable("weight", kind="text"),
        with_variable("age", role="weight"),
        with_variable("age", max_missing_share=0.1),
        with_variable("level", missing_codes=[3]),
        with_variable("level", labels={4: "four"}),
        with_variable("level", hierarchy={"rows": {1: ["x"], 2: ["x"]}}),
        with_variable("level", rolle="other"),
        document(quasi_identifiers="none"),
        with_variable("age", role="other") | {"quasi_identifiers": "none"},
        with_variable("age", role=None),
    ],
)
def test_a_wrong_contract_is_refused_when_it_loads(tmp_path: Path, content: dict[str, Any]) -> None:
    with pytest.raises(DocumentError) as refusal:
        load(tmp_path, content)
    golden(refusal.value)


def test_who_knows_what_is_kept_by_name(tmp_path: Path) -> None:
    contract = load(tmp_path, document(knowledge={"register": ["age", "seen"], "school": ["level"]}))
    assert contract.knowledge == {"register": ("age", "seen"), "school": ("level",)}


def test_a_date_in_yaml_needs_no_quotes(tmp_path: Path) -> None:
    path = tmp_path / "contract.yaml"
    text = yaml.safe_dump(with_variable("seen", minimum="BOUND")).replace("BOUND", "2020-01-31")
    path.write_text(text, encoding="utf-8")
    assert load_contract(path).by_name["seen"].minimum == "2020-01-31"


def test_a_hierarchy_is_read_from_a_file_beside_the_contract(tmp_path: Path) -> None:
    (tmp_path / "level.csv").write_text("1;low;*\n2;low;*\n3;high;*\n", encoding="utf-8")
    hierarchy = load(tmp_path, with_variable("level", hierarchy={"file": "level.csv"})).by_name["level"].hierarchy
    assert hierarchy is not None
    assert hierarchy.at_level(1) == {"1": "low", "2": "low", "3": "high"}


def test_fair_survey_holds_on_the_data_of_statsmodels() -> None:
    contract = load_contract(CONTRACTS / "fair_survey.yaml")
    data = fair.load_pandas().data
    data.insert(0, "respondent", range(100_001, 100_001 + len(data)))
    frame = type_batch(data, contract, lambda name, text: f"{name}:{text}")
    assert len(frame) == 6366  # statsmodels' description of the data set
    assert frame["respondent"].iloc[0] == "respondent:100001"
    assert [finding.verdict for finding in check_frame(frame, contract)] == [Verdict.PASS]
    # the counts of statsmodels' table, by the codes of its description: 1 very poor ... 5 very good
    counts = frame["rate_marriage"].value_counts(sort=False)
    assert counts.to_dict() == data["rate_marriage"].astype(int).astype(str).value_counts().to_dict()


@pytest.mark.chain
def test_adult_holds_on_the_uci_file(reference_data: Path) -> None:
    """Counts of the missing codes and of complete records: UCI's adult.names and PROVENANCE.md beside the file."""
    contract = load_contract(CONTRACTS / "adult.yaml")
    source = CsvSource(path=str(reference_data / "adult" / "adult.data.gz"), header=False)
    frame, _ = type_source(source.batches(list(contract.by_name), size=10_000), contract, lambda name, text: text)
    assert [finding.verdict for finding in check_frame(frame, contract)] == [Verdict.PASS]
    assert len(frame) == 32_561
    missing = frame.isna().sum()
    assert missing[missing > 0].to_dict() == {"workclass": 1836, "occupation": 1843, "native_country": 583}
    assert int(frame.notna().all(axis=1).sum()) == 30_162


def test_hierarchies_of_adult_hold_all_that_arx_has_leaves_for(reference_data: Path) -> None:
    """Ours have other levels, but for those of the countries; the values are the same."""
    contract = load_contract(CONTRACTS / "adult.yaml")
    folder = reference_data / "adult" / "hierarchies_arx"
    for name in ("workclass", "education", "marital-status", "occupation", "native-country", "race"):
        theirs = read_hierarchy(folder / f"adult_hierarchy_{name}.csv")
        ours = contract.by_name[name.replace("-", "_")].hierarchy
        assert ours is not None
        assert set(ours.rows) == set(theirs.rows)
        assert name != "native-country" or ours == theirs


@pytest.mark.exhaustive
def test_census_income_holds_on_both_files(reference_data: Path) -> None:
    """Records and missing states of residence (708 in the training file): PROVENANCE.md beside the files."""
    contract = load_contract(CONTRACTS / "census_income.yaml")
    paths = [
        str(reference_data / "kdd_census_income" / f"census_income_1994_1995_{part}.csv.gz")
        for part in ("train", "test")
    ]
    source = CsvSource(path=paths, header=False)
    frame, variables = type_source(source.batches(list(contract.by_name)), contract, lambda name, text: text)
    assert [finding.verdict for finding in check_frame(frame, contract)] == [Verdict.PASS]
    assert frame.shape == (299_285, 42)
    assert int(frame["state_of_previous_residence"].iloc[:199_523].isna().sum()) == 708
    assert int((frame["hispanic_origin"] == "NA").sum()) == 1279  # an answer, not a missing value
    assert with_role(variables, Role.WEIGHT) == ["instance_weight"]

    # five records of the real data contradict themselves: a rule that says so fails, with their number and no more
    rule = {
        "name": "native_born",
        "expression": "citizenship != 'Native- Born in the United States' or country_of_birth_self == 'United-States'",
        "says": "Who is native born was born in the United States",
    }
    stricter = Contract.model_validate(contract.model_dump() | {"rules": [rule]})
    (finding,) = check_frame(frame, stricter)
    assert (finding.verdict, finding.observed, finding.scope) == (Verdict.FAIL, 5, "native_born")


def test_the_json_schema_is_up_to_date(tmp_path: Path) -> None:
    write_json_schema(Contract, tmp_path / "now.json")
    committed = (CONTRACTS / "contract.schema.json").read_bytes()
    assert (tmp_path / "now.json").read_bytes() == committed, "write it again: write_json_schema(Contract, path)"


def test_the_json_schema_allows_every_form_of_a_hierarchy() -> None:
    forms = json_schema(Contract)["$defs"]["Hierarchy"]["anyOf"]
    assert [form["required"] for form in forms] == [["rows"], ["file"], *([key] for key in BUILDERS)]


def test_a_contract_says_that_there_are_measured_numbers_alone(tmp_path: Path) -> None:
    amounts = [{"name": name, "kind": "continuous", "role": "sensitive"} for name in ("assets", "sales")]
    firm = [
        {"name": "firm", "kind": "text", "role": "contributor"},
        {"name": "town", "kind": "text", "role": "identifier"},
    ]
    firms = load(tmp_path, document(variables=[*firm, *amounts], record_key=["firm"], quasi_identifiers="none"))
    assert firms.numbers_alone
    plain = load(tmp_path, document(variables=[*firm, *amounts], record_key=["firm"]))
    assert not plain.numbers_alone
    assert "quasi_identifiers" not in plain.model_dump()  # its digest stays what it was
