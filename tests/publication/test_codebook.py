"""Codebooks tell of the released file what its readers can count themselves."""

import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import pandas as pd

from sluice.ground.variables import Kind, Variable
from sluice.publication.codebook import CodebookVariable, codebook_page, codebook_variables
from sluice.publication.records_file import write_parquet
from tests.golden import golden
from tests.publication.small_codebook import codebook
from tests.report.pages import Page


def by_name(folder: Path) -> dict[str, CodebookVariable]:
    return {each.variable.name: each for each in codebook(folder).variables}


def test_figures_are_those_of_the_file(tmp_path: Path) -> None:
    found = by_name(tmp_path)
    age, children, income = found["age"], found["children"], found["income"]
    assert (age.valid, age.missing, age.lowest, age.highest, age.mean) == (3, 0, 16, 90, 136 / 3)
    assert isinstance(age.lowest, int)
    assert (children.valid, children.missing, children.lowest, children.highest) == (2, 1, 0, 2)
    assert income.highest == 12345678.9
    assert found["school"].counts == {"01": 2, "02": 1}
    assert found["region, area"].counts == {"N;1": 1, '"S"': 1, "W": 0}
    assert found["region, area"].missing == 1


def test_dates_have_a_time_of_day_only_where_one_has(tmp_path: Path) -> None:
    found = by_name(tmp_path)
    assert (found["born"].lowest, found["born"].highest, found["born"].with_time) == ("1950-01-31", "2001-12-01", False)
    assert found["seen"].lowest == "2026-01-31T10:00:00"
    assert found["seen"].with_time


def test_texts_and_sets_have_no_values_in_it(tmp_path: Path) -> None:
    for name in ("person", "diagnoses"):
        each = by_name(tmp_path)[name]
        assert (each.counts, each.lowest, each.mean) == (None, None, None)
        assert each.valid == 3 - each.missing


def test_a_variable_of_very_many_categories_has_no_list(tmp_path: Path) -> None:
    variables = {"code": Variable(name="code", kind=Kind.NOMINAL)}
    frame = pd.DataFrame({"code": pd.Categorical([f"c{number}" for number in range(2001)])})
    write_parquet(frame, tmp_path / "codes.parquet", variables)
    (code,) = codebook_variables(tmp_path / "codes.parquet", variables, {})
    assert (code.counts, code.valid) == (None, 2001)


def test_a_variable_without_any_value(tmp_path: Path) -> None:
    variables = {name: Variable(name=name, kind=kind, nullable=True) for name, kind in
                 (("n", Kind.CONTINUOUS), ("d", Kind.DATE), ("i", Kind.INTEGER))}  # fmt: skip
    frame = pd.DataFrame({"n": [float("nan")], "d": pd.to_datetime([None]), "i": pd.array([None], "Int64")})
    write_parquet(frame, tmp_path / "empty.parquet", variables)
    for each in codebook_variables(tmp_path / "empty.parquet", variables, {}):
        assert (each.valid, each.missing, each.lowest, each.mean) == (0, 1, None, None)


# The codebook as a page: everything that it says is text, and nothing is loaded.


def test_it_leads_to_each_variable_and_file(tmp_path: Path) -> None:
    page = codebook_page(codebook(tmp_path)).decode()
    assert len(set(re.findall(r'href="#([^"]*)"', page))) == 12
    assert set(re.findall(r'href="([^"#]+)"', page)) == {"data.csv", "data.parquet"}


def test_without_parameters_and_removed_variables_it_has_no_empty_parts(tmp_path: Path) -> None:
    full = Page(codebook_page(codebook(tmp_path)).decode()).texts("h2")
    page = codebook_page(codebook(tmp_path, parameters=(), not_released={}, allow_for=())).decode()
    golden([heading for heading in full if heading not in Page(page).texts("h2")])


def test_a_category_that_programs_take_for_missing_is_named_with_how_to_read_it(tmp_path: Path) -> None:
    assert "keep_default_na" not in codebook_page(codebook(tmp_path)).decode()
    book = codebook(tmp_path)
    exercise = CodebookVariable(
        Variable(name="exercise", kind=Kind.NOMINAL), (), 30, 0, counts={"None": 10, "Some": 10, "NA": 10}
    )
    page = unescape(codebook_page(replace(book, variables=(*book.variables, exercise))).decode())
    golden.where("None, NA", "\n".join(Page(codebook_page(replace(book, variables=(exercise,))).decode()).lines))
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
