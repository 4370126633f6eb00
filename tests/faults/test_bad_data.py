"""Bad data on their whole way in: from the source through the typing to the check, refused or found, never quoted.

Each case plants one fault in a sound file. It must end in a DataError or in a finding that is not PASS, which names the
column and never the planted value.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from schemas.checks.frame_check import check_frame
from schemas.contract import Contract
from schemas.reading.typing import SourceTyping
from sluice.ground.errors import DataError
from sluice.ground.verdict import Finding, Verdict, decide
from sluice.publication.records_file import read_typed, write_parquet
from sluice.sources.sources import CsvSource
from tests.golden import golden

CANARY = "canary4711"
CONTRACT = Contract.model_validate(
    {
        "dataset": "people",
        "version": 1,
        "record_key": ["id"],
        "variables": [
            {"name": "id", "kind": "text", "role": "identifier"},
            {"name": "name", "kind": "text", "role": "identifier", "nullable": True},
            {"name": "age", "kind": "integer", "role": "quasi_identifier", "minimum": 0, "maximum": 120},
            {"name": "sex", "kind": "binary", "role": "quasi_identifier", "categories": ["f", "m"]},
            {"name": "income", "kind": "continuous", "role": "sensitive", "nullable": True, "max_missing_share": 0.5},
            {"name": "married", "kind": "date", "nullable": True, "minimum": "1900-01-01"},
        ],
        "rules": [
            {"name": "age_of_marriage", "expression": "is_missing(married) or age >= 16", "says": "Adults marry."}
        ],
    }
)


def sound(n: int = 40) -> list[list[str]]:
    header = ["id", "name", "age", "sex", "income", "married"]
    return [header] + [[f"p{i}", f"Ann {i}", str(20 + i), "fm"[i % 2], f"{i}.5", "2001-02-03"] for i in range(n)]


def ingest(folder: Path, rows: list[list[str]], batch: int = 7) -> list[Finding]:
    """The way of the data into the vault, in small batches so that a fault may stand in any of them."""
    path = folder / "people.csv"
    path.write_text("".join(",".join(row) + "\n" for row in rows), encoding="utf-8")
    source = CsvSource(path=str(path))
    typing = SourceTyping(CONTRACT, lambda name, text: hashlib.sha256(f"{name}{text}".encode()).hexdigest())

    def typed() -> Iterator[pd.DataFrame]:
        for raw in source.batches(list(CONTRACT.by_name), batch):
            yield typing.type_batch(raw)

    write_parquet(typed(), folder / "people.parquet", CONTRACT.staged)
    return check_frame(read_typed(folder / "people.parquet", typing.variables()), CONTRACT)


def test_sound_data_pass_and_no_identifier_is_staged(tmp_path: Path) -> None:
    findings = ingest(tmp_path, sound())
    assert decide(findings) is Verdict.PASS
    staged = (tmp_path / "people.parquet").read_bytes()
    assert b"Ann" not in staged
    assert b"p39" not in staged


def changed(row: int, column: str, value: str) -> list[list[str]]:
    rows = sound()
    rows[row][rows[0].index(column)] = value
    return rows


@pytest.mark.parametrize(
    "rows",
    [
        changed(33, "age", CANARY),
        changed(33, "age", "20.5"),
        changed(33, "income", "inf"),
        changed(33, "income", "1.234,50"),
        changed(33, "sex", CANARY),
        changed(33, "sex", "F"),  # spelled otherwise
        changed(33, "married", "2001-02-30"),
        changed(33, "name", f'"{CANARY}'),
        changed(0, "age", "Age"),
        changed(0, "name", "age"),
        sound()[:1],
    ],
)
def test_what_cannot_be_typed_is_refused(tmp_path: Path, rows: list[list[str]]) -> None:
    with pytest.raises(DataError) as refusal:
        ingest(tmp_path, rows)
    golden(refusal.value)
    assert CANARY not in str(refusal.value)
    assert refusal.value.__context__ is None


def emptied(column: str, rows: int) -> list[list[str]]:
    content = sound()
    for row in content[1 : rows + 1]:
        row[content[0].index(column)] = ""
    return content


@pytest.mark.parametrize(
    ("rows", "column", "check", "count"),
    [
        (changed(33, "age", "121"), "age", "maximum", 1),
        (changed(33, "age", "-1"), "age", "minimum", 2),  # it breaks the rule on marriage, too
        (changed(33, "id", "p1"), "id", "record_key", 2),
        (emptied("age", 3), "age", "missing", 3),
        (emptied("income", 21), "income", "missing_share", 21 / 40),
        (emptied("income", 40), "income", "all_missing", None),
        (changed(33, "married", "1899-12-31"), "married", "minimum", 1),
        (changed(33, "age", "15"), "age_of_marriage", "rule", 1),
    ],
)
def test_what_breaks_the_contract_is_found(
    tmp_path: Path, rows: list[list[str]], column: str, check: str, count: Any
) -> None:
    findings = ingest(tmp_path, rows)
    assert decide(findings) is Verdict.FAIL
    by_check = {(finding.rule, finding.scope): finding.observed for finding in findings}
    assert (f"contract.{check}", column) in by_check
    if check != "minimum" or column != "age":
        assert by_check[f"contract.{check}", column] == count


def test_a_moved_column_is_still_the_column_of_its_name(tmp_path: Path) -> None:
    assert decide(ingest(tmp_path, [row[::-1] for row in sound()])) is Verdict.PASS
