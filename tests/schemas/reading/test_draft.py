"""The draft of a contract: good guesses, no rare category and no extreme in it, and no role that nobody chose."""

from datetime import date, timedelta
from pathlib import Path

import pandas as pd
import pytest
import yaml

from schemas.checks.frame_check import check_frame
from schemas.contract import load_contract
from schemas.reading.draft import draft_contract
from sluice.errors import DocumentError
from sluice.sources.sources import CsvSource, ParquetSource
from sluice.verdict import Verdict
from tests.schemas.typed import type_source


@pytest.fixture
def people(tmp_path: Path) -> CsvSource:
    n = 200
    frame = pd.DataFrame(
        {
            "id": [f"P-{i:05d}" for i in range(n)],
            "age": [17 + i % 61 for i in range(n)],
            "income": [round(1234.56 + 17.3 * i, 2) for i in range(n)],
            "level": [1 + i % 4 for i in range(n)],
            "sex": ["f" if i % 2 else "m" for i in range(n)],
            "town": ["Ulm" if i % 3 else "Bonn" for i in range(n - 1)] + ["Tinyville"],
            "seen": [str(date(2020, 3, 1) + timedelta(days=i)) for i in range(n)],
            "smokes": [("yes", "no", "?")[i % 3] for i in range(n)],
        }
    )
    frame.to_csv(tmp_path / "people.csv", index=False)
    return CsvSource(path=str(tmp_path / "people.csv"))


def test_kinds_ranges_and_categories_are_guessed(people: CsvSource) -> None:
    drafted = {variable["name"]: variable for variable in yaml.safe_load(draft_contract(people, "people"))["variables"]}
    kinds = {name: variable["kind"] for name, variable in drafted.items()}
    assert kinds == {
        "id": "text",
        "age": "integer",
        "income": "continuous",
        "level": "integer",
        "sex": "binary",
        "town": "nominal",
        "seen": "date",
        "smokes": "binary",
    }
    assert 'if these are codes: categories: ["1", "2", "3", "4"]' in draft_contract(people, "people")
    assert (drafted["age"]["minimum"], drafted["age"]["maximum"]) == (10, 80)
    assert (drafted["income"]["minimum"], drafted["income"]["maximum"]) == (1000, 5000)
    assert (drafted["seen"]["minimum"], drafted["seen"]["maximum"]) == ("2020-01-01", "2020-12-31")
    assert drafted["smokes"]["missing_codes"] == ["?"]
    assert drafted["smokes"]["nullable"] is True


def test_no_rare_category_no_extreme_and_no_identifier_is_written(people: CsvSource) -> None:
    text = draft_contract(people, "people")
    for confidential in ("Tinyville", "P-00", "1234.56", "4677.26", "17", "77", "2020-03-01", "2020-09-16"):
        assert confidential not in text
    assert "rarer categories are in the data and not listed here" in text


def test_an_extreme_on_a_round_number_is_not_written_either(tmp_path: Path) -> None:
    path = tmp_path / "round.csv"
    pd.DataFrame({"x": [200 + 10 * (i % 21) for i in range(100)], "d": ["2020-01-01", "2021-12-31"] * 50}).to_csv(
        path, index=False
    )
    x, d = yaml.safe_load(draft_contract(CsvSource(path=str(path)), "round"))["variables"]
    assert (x["minimum"], x["maximum"]) == (100, 500)
    assert d["minimum"] == "2019-01-01"
    assert d["maximum"] == "2022-12-31"


def test_it_does_not_load_until_every_role_is_chosen(people: CsvSource, tmp_path: Path) -> None:
    path = tmp_path / "people.yaml"
    path.write_text(draft_contract(people, "people"), encoding="utf-8")
    with pytest.raises(
        DocumentError, match=r"no role is chosen yet for id, age, income, level, .*identifier, quasi_id"
    ):
        load_contract(path)


def test_completed_it_loads_and_the_data_keep_to_it(people: CsvSource, tmp_path: Path) -> None:
    path = tmp_path / "people.yaml"
    completed = draft_contract(people, "people").replace("role: #", "role: other #")
    completed = completed.replace("      # rarer", "      - Tinyville\n      # rarer")
    path.write_text(completed, encoding="utf-8")
    contract = load_contract(path)
    frame, _ = type_source(people.batches(list(contract.by_name)), contract, lambda name, text: text)
    assert [finding.verdict for finding in check_frame(frame, contract)] == [Verdict.PASS]


def test_names_and_categories_are_quoted_for_yaml(tmp_path: Path) -> None:
    path = tmp_path / "odd.parquet"
    pd.DataFrame({"a: #b": ["- x", 'y"z', "no"] * 20, "n": [None] * 60, "few": [None] * 59 + [5.0]}).to_parquet(path)
    odd, none, few = yaml.safe_load(draft_contract(ParquetSource(path=str(path)), "a: b"))["variables"]
    assert odd["name"] == "a: #b"
    assert odd["categories"] == ["- x", "no", 'y"z']
    assert none["kind"] == "nominal"
    assert "minimum" not in few  # one value makes no range
