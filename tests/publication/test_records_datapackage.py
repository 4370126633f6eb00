"""The Data Package descriptor, against the rules of the standard's version 2.

`test_frictionless` asks frictionless, which knows the standard's version 1 with its names, types, hashes, byte counts
and constraints; it does not check `categories`.
"""

import json
import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from sluice.publication.datapackage import PublishedFile
from sluice.publication.records_datapackage import records_datapackage
from sluice.reading.visible_text import unseen
from sluice.variables import Kind, Role, Variable

CSV = PublishedFile(path="data.csv", sha256="a" * 64, bytes=120, rows=10)
PARQUET = PublishedFile(path="Data (1).parquet", sha256="b" * 64, bytes=90, rows=10)
REPORT = PublishedFile(path="report.html", sha256="c" * 64, bytes=7)

VARIABLES = {
    variable.name: variable
    for variable in (
        Variable(name="age", kind=Kind.INTEGER, unit="years", description="Age", minimum=16.0, maximum=90.0),
        Variable(name="income", kind=Kind.CONTINUOUS, unit="EUR", minimum=0, nullable=True),
        Variable(name="school", kind=Kind.ORDINAL, categories=("1", "2", "3"), labels={"1": "none", "2": "some"}),
        Variable(name="region", kind=Kind.NOMINAL, categories=("N", "S"), nullable=True),
        Variable(name="work", kind=Kind.BINARY, categories=("no", "yes")),
        Variable(name="born", kind=Kind.DATE, minimum="1900-01-01", maximum="2020-12-31"),
        Variable(name="household", kind=Kind.TEXT, role=Role.HOUSEHOLD),
        Variable(name="job", kind=Kind.NOMINAL),
    )
}
DONE = {"income": ["Noise was added.", "The largest values were replaced."], "name": ["It was removed."]}


def build() -> dict[str, object]:
    return records_datapackage("Fair 2026", "Fair", "fair", VARIABLES, DONE, [CSV, PARQUET, REPORT], "A test")


def fields() -> dict[str, dict[str, object]]:
    package = json.loads(json.dumps(build(), allow_nan=False))
    return {field["name"]: field for field in package["resources"][0]["schema"]["fields"]}


def test_the_package_has_what_the_standard_requires() -> None:
    package = json.loads(json.dumps(build(), allow_nan=False))
    assert package["$schema"] == "https://datapackage.org/profiles/2.0/datapackage.json"
    assert package["name"] == "fair-2026"
    assert (package["title"], package["description"], package["sluice:dataset"]) == ("Fair", "A test", "fair")
    names = [resource["name"] for resource in package["resources"]]
    assert names == ["data.csv", "data-1-.parquet", "report.html"]
    assert all(re.fullmatch(r"[a-z0-9._-]+", name) for name in [package["name"], *names])
    csv, parquet, report = package["resources"]
    assert csv == {
        "name": "data.csv",
        "path": "data.csv",
        "format": "csv",
        "mediatype": "text/csv",
        "encoding": "utf-8",
        "bytes": 120,
        "hash": f"sha256:{'a' * 64}",
        "type": "table",
        "rows": 10,
        "schema": csv["schema"],
    }
    assert "bytes" not in parquet  # frictionless takes it for wrong
    described = [[{k: v for k, v in f.items() if k != "missingValues"} for f in each["schema"]["fields"]]
                 for each in (csv, parquet)]  # fmt: skip
    assert described[0] == described[1]
    assert parquet["mediatype"] == "application/vnd.apache.parquet"
    assert "encoding" not in parquet
    assert not {"schema", "type", "rows"} & set(report)


def test_fields_keep_the_order_of_the_columns_and_the_missing_value_is_the_empty_text() -> None:
    schema = build()["resources"][0]["schema"]  # type: ignore[index]
    assert [field["name"] for field in schema["fields"]] == list(VARIABLES)
    assert schema["missingValues"] == [""]


def test_each_kind_has_its_type_and_constraints() -> None:
    by_name = fields()
    types = {name: field["type"] for name, field in by_name.items()}
    assert types == {
        "age": "integer",
        "income": "number",
        "school": "string",
        "region": "string",
        "work": "string",
        "born": "date",
        "household": "string",
        "job": "string",
    }
    assert by_name["age"]["constraints"] == {"required": True, "minimum": 16, "maximum": 90}
    assert isinstance(by_name["age"]["constraints"]["minimum"], int)  # type: ignore[index]
    assert by_name["age"]["unit"] == "years"
    assert by_name["age"]["description"] == "Age"
    assert by_name["income"]["constraints"] == {"minimum": 0}
    assert by_name["born"]["constraints"] == {"required": True, "minimum": "1900-01-01", "maximum": "2020-12-31"}
    assert by_name["region"]["constraints"] == {"enum": ["N", "S"]}
    assert by_name["household"] == {"name": "household", "type": "string", "constraints": {"required": True}}


def test_categories_follow_the_table_schema() -> None:
    """Table Schema 2, 'categories': values, or objects with `value` and, where there is one, a unique `label`."""
    by_name = fields()
    assert by_name["school"]["categories"] == [
        {"value": "1", "label": "none"},
        {"value": "2", "label": "some"},
        {"value": "3"},
    ]
    assert by_name["school"]["categoriesOrdered"] is True
    assert by_name["region"]["categories"] == ["N", "S"]
    assert by_name["region"]["categoriesOrdered"] is False
    assert "categories" not in by_name["job"]
    assert "categoriesOrdered" not in by_name["job"]


def test_a_label_that_two_categories_share_is_made_unique() -> None:
    variable = Variable(
        name="x", kind=Kind.NOMINAL, categories=("1", "2", "9"), labels={"1": "other", "2": "other", "9": "none"}
    )
    package = records_datapackage("x", "x", "x", {"x": variable}, {}, [CSV])
    labels = [entry["label"] for entry in package["resources"][0]["schema"]["fields"][0]["categories"]]
    assert labels == ["other (1)", "other (2)", "none"]


def test_what_was_done_stands_beside_the_variable_or_apart_when_it_was_removed() -> None:
    package = build()
    assert fields()["income"]["sluice:maskedBy"] == DONE["income"]
    assert "sluice:maskedBy" not in fields()["age"]
    assert package["sluice:notReleased"] == [{"name": "name", "sluice:maskedBy": ["It was removed."]}]
    untouched = records_datapackage("x", "x", "x", VARIABLES, {}, [CSV])
    assert "sluice:notReleased" not in untouched
    assert "description" not in untouched


def test_a_bound_at_infinity_is_no_bound() -> None:
    variable = Variable(name="x", kind=Kind.CONTINUOUS, minimum=-math.inf, maximum=1.5)
    package = records_datapackage("x", "x", "x", {"x": variable}, {}, [CSV])
    assert package["resources"][0]["schema"]["fields"][0]["constraints"] == {"required": True, "maximum": 1.5}


CATEGORIES = st.text(min_size=1, max_size=6).filter(lambda text: not unseen(text, one_line=True))


@given(st.lists(CATEGORIES, min_size=1, max_size=6, unique=True), st.booleans())
def test_any_categories_give_unique_values_and_labels(values: list[str], labelled: bool) -> None:
    labels = {value: value[0] for value in values} if labelled else {}
    variable = Variable(name="x", kind=Kind.ORDINAL, categories=tuple(values), labels=labels)
    field = records_datapackage("x", "x", "x", {"x": variable}, {}, [CSV])["resources"][0]["schema"]["fields"][0]
    assert field["constraints"]["enum"] == values
    if labelled:
        assert [entry["value"] for entry in field["categories"]] == values
        assert len({entry["label"] for entry in field["categories"]}) == len(values)
    else:
        assert field["categories"] == values


@pytest.mark.parametrize("wrong", [{"sha256": "short"}, {"bytes": -1}, {"rows": -1}, {"path": ""}, {"vault": "/x"}])
def test_a_file_that_is_no_published_file_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        PublishedFile.model_validate({"path": "data.csv", "sha256": "a" * 64, "bytes": 1, **wrong})
