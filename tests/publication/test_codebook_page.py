"""The codebook as a page: everything that it says is text, and nothing is loaded."""

import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import pandas as pd

from sluice.ground.variables import Kind, Variable
from sluice.publication.codebook import CodebookVariable, codebook_page
from tests.publication.small_codebook import codebook


def test_it_leads_to_each_variable_and_file(tmp_path: Path) -> None:
    page = codebook_page(codebook(tmp_path)).decode()
    assert len(set(re.findall(r'href="#([^"]*)"', page))) == 12
    assert set(re.findall(r'href="([^"#]+)"', page)) == {"data.csv", "data.parquet"}


def test_without_parameters_and_removed_variables_it_has_no_empty_parts(tmp_path: Path) -> None:
    page = codebook_page(codebook(tmp_path, parameters=(), not_released={}, allow_for=())).decode()
    assert "To correct for" not in page
    assert "Not released" not in page


def test_a_category_that_programs_take_for_missing_is_named_with_how_to_read_it(tmp_path: Path) -> None:
    assert "keep_default_na" not in codebook_page(codebook(tmp_path)).decode()
    book = codebook(tmp_path)
    exercise = CodebookVariable(
        Variable(name="exercise", kind=Kind.NOMINAL), (), 30, 0, counts={"None": 10, "Some": 10, "NA": 10}
    )
    page = unescape(codebook_page(replace(book, variables=(*book.variables, exercise))).decode())
    assert "<code>None</code>, <code>NA</code> are categories" in page
    [pandas_call] = re.findall(r"<code>(read_csv\(.+?\))</code>", page)
    frame = pd.DataFrame({"exercise": ["None", "NA", None, "Some"], "n": [1, 2, 3, 4]})
    frame.to_csv(tmp_path / "data.csv", index=False)
    typed = pandas_call.replace('"data.csv"', "path")
    read = eval(typed, {"read_csv": pd.read_csv, "path": tmp_path / "data.csv"})  # as a reader would type it
    assert read["exercise"].fillna("missing").tolist() == ["None", "NA", "missing", "Some"]


def test_nothing_is_said_of_a_csv_where_there_is_none(tmp_path: Path) -> None:
    exercise = CodebookVariable(Variable(name="exercise", kind=Kind.NOMINAL), (), 10, 0, counts={"None": 10})
    book = replace(codebook(tmp_path), files=("data.parquet",), variables=(exercise,))
    assert "keep_default_na" not in codebook_page(book).decode()
