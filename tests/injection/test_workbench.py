"""Commands outside a release, on files whose every name and category was written by somebody hostile."""

import csv
import json
from pathlib import Path

import pytest
import yaml

from sluice.ground.visible_text import unseen
from tests.flows.house import BLOCKED, DONE, ERROR, House
from tests.injection.corpus import UNSEEN, WRITABLE, Page

NAME, VALUE = WRITABLE[3], WRITABLE[10]
CODES = [text for text in WRITABLE if text != NAME]


@pytest.fixture
def records(house: House) -> Path:
    """A file of records, with names and categories of the corpus."""
    return written(house.root / "records.csv", NAME, VALUE, CODES)


def written(path: Path, name: str, value: str, codes: list[str]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow([name, value])
        for place, code in enumerate(codes):
            rows.writerows([code, 100 + 7 * place + copy] for copy in range(1 + place % 6))
    return path


def test_tables(house: House, records: Path) -> None:
    output = house.root / "cells.csv"
    arguments = ("--hierarchy", NAME, "--value", VALUE, "--rule", "minimum_frequency=3")
    told = house.sluice("protect-table", str(records), *arguments, "-o", str(output))
    assert told.code == DONE, told.words
    with output.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert header[0] == NAME
    assert {row[0] for row in rows} == {*CODES, "Total"}
    audited = house.sluice("audit-table", str(output), "--hierarchy", NAME)
    whole = house.sluice("audit-table", str(output), "--microdata", str(records), *arguments, "--json")
    advised = house.sluice("redesign-table", str(records), *arguments)
    for answer in (told, audited, whole, advised):
        assert answer.code in (DONE, BLOCKED), answer.words
        assert not unseen(answer.out + answer.err)
    assert json.loads(whole.out)["with_records"]
    assert any(f"  {NAME} {code}" in audited.out for code in CODES)


def test_records(house: House, records: Path) -> None:
    plan, masked = house.root / "plan.yaml", house.root / "masked.csv"
    plan.write_text(yaml.safe_dump([{"method": "rank_swapping", "columns": [VALUE], "window": 0.5}]), encoding="utf-8")
    told = house.sluice("mask", str(records), "--plan", str(plan), "-o", str(masked))
    assert told.code == DONE, told.words
    assert VALUE in told.out
    described = json.loads(masked.with_name("masked.csv.datapackage.json").read_bytes())
    assert [field["name"] for field in described["resources"][0]["schema"]["fields"]] == [NAME, VALUE]
    drafted = house.sluice("init", str(records), "-o", "-")
    draft = yaml.safe_load(drafted.out)
    assert [variable["name"] for variable in draft["variables"]] == [NAME, VALUE]
    for variable, role in zip(draft["variables"], ("quasi_identifier", "sensitive"), strict=True):
        variable["role"] = role
    (house.root / "contract.yaml").write_text(yaml.safe_dump(draft), encoding="utf-8")
    report, contract = house.root / "report.html", str(house.root / "contract.yaml")
    told = house.sluice("assess", str(records), str(masked), "--contract", contract, "--report", str(report))
    assert told.code == BLOCKED, told.words
    assert not unseen(told.out + told.err)
    page = Page(report.read_text(encoding="utf-8"))
    assert page.injected == []
    assert NAME in page.text


@pytest.mark.parametrize("text", [text for text in UNSEEN if not set(text) & set("\n\r\x00\x85\u2028\ufeff;")])
def test_a_file_whose_names_are_not_what_they_look_like(house: House, text: str) -> None:
    plan = house.root / "plan.yaml"
    plan.write_text("- {method: removal, columns: [income]}", encoding="utf-8")
    for column, code in ((text, "a"), ("town", text)):
        file = written(house.root / "records.csv", column, "income", [code, "b", "c"])
        for command in (
            ("mask", str(file), "--plan", str(plan), "-o", str(house.root / "masked.csv")),
            (
                "protect-table",
                str(file),
                "--hierarchy",
                column,
                "--rule",
                "minimum_frequency=3",
                "-o",
                str(house.root / "cells.csv"),
            ),
        ):
            told = house.sluice(*command)
            assert told.code == ERROR
            assert not unseen(told.err)
            assert "ValidationError" not in told.err
            assert any(word in told.words for word in ("holds U+", "characters that nobody sees")), told.words
