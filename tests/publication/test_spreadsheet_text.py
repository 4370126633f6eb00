"""Who can bring a text into the data gets it run by the spreadsheet of a user who opens the CSV, unless it is found."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sluice.ground.variables import Kind, Variable
from sluice.publication.datapackage import datapackage
from sluice.publication.published_table_files import read_csv, to_csv
from sluice.publication.records_file import write_csv, write_parquet
from sluice.publication.spreadsheet_text import as_it_was, as_text, escaped_frame, is_formula
from sluice.publication.table_schema import table_schema
from sluice.tabular.model.dimension import Dimension
from tests.publication.data_package import problems
from tests.publication.small_table import small, whole
from tests.publication.test_frictionless import published

TEXTS = st.text(st.sampled_from("=+-@'\"a1; |\t\r\n,\uff1d\uff20\u00a0"), max_size=8) | st.text(max_size=8)


@pytest.mark.parametrize(
    "attack",
    [
        "=1+1",
        "+1",
        "-1+cmd|' /C calc'!A0",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "\n=1",
        "  =1",
        "\u00a0=1",  # a blank that is none to the eye
        "\uff1d1+1",  # a full-width equals sign, which East Asian settings read as one
        "plain;=1+1",  # where the semicolon separates cells
        "A00;@SUM(A1)",
        "x\t=HYPERLINK(1)",
    ],
)
def test_a_formula_is_found_and_shown_as_text(attack: str) -> None:
    assert is_formula(attack)
    for part in as_text(attack).replace("\t", ";").replace("\r", ";").replace("\n", ";").split(";"):
        assert not part.strip().startswith(("=", "+", "-", "@", "\uff1d"))


@pytest.mark.parametrize("plain", ["", "a-b", "1", "a=b", "O'Neill", "5;6", "x, -y", "e@mail"])
def test_plain_texts_stay_as_they_are(plain: str) -> None:
    assert not is_formula(plain)
    assert as_text(plain) == plain


@given(TEXTS)
@example("'=1")
@example("''")
@example("a;'b")
@example(" \r=")  # blanks of two parts before one sign
@example("\t \n =1")
def test_nothing_is_lost_and_nothing_is_run(text: str) -> None:
    assert as_it_was(as_text(text)) == text
    assert not is_formula(as_text(text))


def test_a_file_of_records_is_valid_and_the_parquet_file_has_the_texts(tmp_path: Path) -> None:
    """As '- 50000.', a category of the US census income data."""
    variables = {
        each.name: each
        for each in (
            Variable(
                name="-income", kind=Kind.NOMINAL, categories=("- 50000.", "50000+."), labels={"- 50000.": "=low"}
            ),
            Variable(name="free", kind=Kind.NOMINAL, nullable=True),
            Variable(name="gain", kind=Kind.INTEGER),
        )
    }
    frame = pd.DataFrame(
        {
            "-income": pd.Categorical(["- 50000.", "50000+."], ["- 50000.", "50000+."]),
            "free": pd.Categorical(["=1+1", None]),
            "gain": pd.array([-5, 3], "Int64"),
        }
    )
    write_parquet(frame, tmp_path / "data.parquet", variables)
    write_csv(escaped_frame(frame), tmp_path / "data.csv")
    assert (tmp_path / "data.csv").read_bytes() == b"'-income,free,gain\r\n'- 50000.,'=1+1,-5\r\n50000+.,,3\r\n"
    assert pd.read_parquet(tmp_path / "data.parquet")["free"].tolist()[0] == "=1+1"
    files = [published(tmp_path, name, 2) for name in ("data.csv", "data.parquet")]
    package = datapackage("a", "A", "a", [(table_schema(variables, {}), files)], escaped=True)
    (tmp_path / "datapackage.json").write_text(json.dumps(package), encoding="utf-8")
    assert problems(tmp_path) == []
    in_csv, in_parquet = package["resources"]
    assert in_csv["schema"]["fields"][0]["name"] == "'-income"
    assert in_parquet["schema"]["fields"][0]["name"] == "-income"
    assert "sluice:escaped" in in_csv
    assert "sluice:escaped" not in in_parquet


def test_a_table_comes_back_from_its_escaped_codes(tmp_path: Path) -> None:
    cells, status = small()
    renamed = Dimension.of("-kind", [("Total", ""), ("=x", "Total"), ("'y", "Total")])
    area, _ = cells.dimensions
    changed = replace(cells, dimensions=(area, renamed))
    table = whole(changed, status)
    content = to_csv(table, escaped=True)
    header, *rows = csv.reader(io.StringIO(content.decode(), newline=""))
    assert "'-kind" in header
    assert {row[header.index("'-kind")] for row in rows} == {"Total", "'=x", "''y"}
    assert read_csv(content, "t", changed.dimensions, 0, escaped=True) == read_csv(
        to_csv(table), "t", changed.dimensions, 0
    )
