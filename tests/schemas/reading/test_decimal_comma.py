"""Numbers with a decimal comma, as German files have them: read where the source says so, else told apart."""

from pathlib import Path

import pytest
import yaml

from schemas.contract import Contract
from schemas.reading.contract_draft import draft_contract
from schemas.reading.typing import SourceTyping
from sluice.ground.errors import DataError
from sluice.sources.sources import CsvSource
from tests.golden import golden

HEADER = '"income";"age";"code"\n'
ROWS = '"58123,5";"41";"1,0"\n"-0,25";"+7";"2,0"\n"12";"";"1,0"\n'
CONTRACT = Contract.model_validate(
    {
        "dataset": "german",
        "version": 1,
        "variables": [
            {"name": "income", "kind": "continuous", "role": "sensitive", "missing_codes": ["-99"]},
            {"name": "age", "kind": "integer", "role": "quasi_identifier", "nullable": True},
            {"name": "code", "kind": "nominal", "role": "other", "categories": ["1", "2"]},
        ],
    }
)


def source(tmp_path: Path, rows: str = ROWS, decimal: str = ",") -> CsvSource:
    path = tmp_path / "german.csv"
    path.write_text(HEADER + rows, encoding="utf-8")
    return CsvSource.model_validate({"path": str(path), "separator": ";", "decimal": decimal})


def typed(source: CsvSource) -> dict[str, list[object]]:
    typing = SourceTyping(CONTRACT, lambda name, text: text, source.decimal_mark)
    frames = [typing.type_batch(raw) for raw in source.batches(list(CONTRACT.staged))]
    typing.variables()
    [frame] = frames
    return {name: frame[name].tolist() for name in ("income", "code")}


def test_commas_are_read_in_numbers_and_in_codes(tmp_path: Path) -> None:
    assert typed(source(tmp_path)) == {"income": [58123.5, -0.25, 12.0], "code": ["1", "2", "1"]}


def test_without_a_word_on_commas_the_error_says_what_to_write(tmp_path: Path) -> None:
    with pytest.raises(DataError) as refused:
        typed(source(tmp_path, decimal="."))
    golden(refused.value)
    assert "58123" not in str(refused.value)


def test_a_point_between_thousands_is_not_taken_for_a_decimal_point(tmp_path: Path) -> None:
    with golden.raises(DataError):
        typed(source(tmp_path, rows='"1.234";"1";"1"\n"1.234,5";"1";"1"\n'))


def test_the_draft_reads_them_too(tmp_path: Path) -> None:
    rows = ROWS.replace('"12";"";', '"13,5";"12";') * 10
    drafted = yaml.safe_load(draft_contract(source(tmp_path, rows), "german"))
    income, _, code = drafted["variables"]
    assert (income["kind"], income["minimum"], income["maximum"]) == ("continuous", -10000, 60000)
    assert code["kind"] == "integer"
    unread = yaml.safe_load(draft_contract(source(tmp_path, rows, decimal="."), "german"))["variables"][0]
    assert unread["kind"] != "continuous"
