"""schemas.declared_hierarchy: the forms in which a contract writes a hierarchy."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from schemas.contract import Contract, load_contract
from sluice.documents.document_reading import document_sha256
from sluice.generalization.builders import BUILDERS
from sluice.ground.errors import DocumentError
from tests.golden import golden

AGE = {"name": "age", "kind": "integer", "role": "quasi_identifier", "minimum": 0, "maximum": 99}
SCHOOL = {"name": "school", "kind": "ordinal", "role": "other", "categories": ["none", "basic", "high", "degree"]}
PLACE = {"name": "place", "kind": "nominal", "role": "other", "categories": ["0101", "0102", "0210"]}
SEEN = {"name": "seen", "kind": "date", "role": "other", "minimum": "2023-01-01", "maximum": "2024-12-31"}
CLOCK = {"name": "clock", "kind": "nominal", "role": "other"}

WRITTEN: dict[str, tuple[dict[str, Any], str, str, str]] = {  # form: variable, hierarchy, a leaf, its groups
    "rows": (PLACE, "{rows: {0101: [x], 0102: [x], 0210: [y]}}", "0210", "y"),
    "file": (PLACE, "{file: place.csv}", "0102", "01,all"),
    "intervals": (AGE, "{intervals: [5, 10, 20], highest: 80}", "17", "15 to 19,10 to 19,0 to 19,*"),
    "cuts": (AGE, "{cuts: [[18, 40, 65], [18]]}", "50", "40 to 64,18 and over,*"),
    "groups": (SCHOOL, "{groups: [2], names: [[low, high]]}", "basic", "low,*"),
    "ranges": (AGE, "{ranges: [{child: up to 17, adult: 18 and over}]}", "18", "adult,*"),
    "periods": (SEEN, "{periods: [quarter, year]}", "2024-02-29", "2024-Q1,2024,*"),
    "times": (CLOCK, "{times: [60]}", "13:45", "13:00 to 13:59,*"),
    "priority": (SCHOOL, "{priority: [[degree]], others: less}", "none", "less,*"),
    "redaction": (PLACE, "{redaction: right, levels: [2]}", "0101", "01**,*"),
    "prefixes": (PLACE, "{prefixes: [2]}", "0210", "02,*"),
    "parents": (PLACE, '{parents: {"0101": "01", "0102": "01", "0210": "02"}}', "0101", "01,*"),
}


def load(folder: Path, variable: dict[str, Any], hierarchy: str) -> Contract:
    (folder / "place.csv").write_text("code,parent\nall,\n01,all\n02,all\n0101,01\n0102,01\n0210,02\n")
    content = {"dataset": "people", "version": 1, "variables": [{**variable, "hierarchy": "HERE"}]}
    text = yaml.safe_dump(content).replace("HERE", hierarchy.replace("0101:", '"0101":').replace("0102:", '"0102":'))
    path = folder / "contract.yaml"
    path.write_text(text.replace("0210: [", '"0210": ['), encoding="utf-8")
    return load_contract(path)


def test_every_form_is_written_here() -> None:
    assert set(WRITTEN) == {"rows", "file", *BUILDERS}


@pytest.mark.parametrize("form", WRITTEN)
def test_a_contract_holds_the_rows_that_come_of_each_form(tmp_path: Path, form: str) -> None:
    variable, hierarchy, leaf, groups = WRITTEN[form]
    contract = load(tmp_path, variable, hierarchy)
    found = contract.variables[0].hierarchy
    assert found is not None
    assert found.rows[leaf] == tuple(groups.split(","))
    assert Contract.model_validate_json(contract.model_dump_json()) == contract


def test_the_same_rows_are_the_same_contract_however_they_are_written(tmp_path: Path) -> None:
    """An approval is bound to what a hierarchy is: a builder that gives other groups voids it, another spelling not."""
    by_prefix = load(tmp_path, PLACE, "{prefixes: [2]}")
    by_parents = load(tmp_path, PLACE, WRITTEN["parents"][1])
    other = load(tmp_path, PLACE, "{prefixes: [3]}")
    assert document_sha256(by_prefix) == document_sha256(by_parents) != document_sha256(other)


@pytest.mark.parametrize(
    ("variable", "hierarchy"),
    [
        (AGE, "{}"),
        (AGE, "{interval: [5]}"),
        (AGE, "{intervals: [5], cuts: [[5]]}"),
        (AGE, "{intervals: [5, 12]}"),
        (AGE, "{intervals: [5], hihgest: 80}"),
        (AGE, "{intervals: [wide]}"),
        (AGE, "{intervals: 5}"),
        (AGE | {"kind": "continuous"}, "{intervals: [5]}"),
        (AGE | {"maximum": None}, "{intervals: [5]}"),
        (AGE | {"kind": "whole"}, "{intervals: [5]}"),
        (PLACE, "{file: nowhere.csv}"),
        (PLACE, "{file: place.csv, separator: ';'}"),
        (PLACE, "{file: place.csv, level: 1}"),
        (PLACE, "{parents: {a: b}}"),
    ],
)
def test_what_cannot_be_built_is_refused(tmp_path: Path, variable: dict[str, Any], hierarchy: str) -> None:
    with golden.raises(DocumentError):
        load(tmp_path, variable, hierarchy)


def test_the_docs_list_every_form_with_an_example_that_is_read(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "hierarchies.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| [^|]* \| (.*?) \|", page, re.MULTILINE)
    assert [key for key, _ in rows] == ["rows", "file", *BUILDERS]
    for key, examples in rows:
        for example in re.findall(r"`(\{.*?\})`", examples):
            given = yaml.safe_load(example)
            assert next(iter(given)) == key
            if key in BUILDERS:
                BUILDERS[key].model_validate(given)
