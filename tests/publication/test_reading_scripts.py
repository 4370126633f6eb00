"""The scripts of a published folder read every value as it was released."""

import json
import runpy
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from sluice.ground.variables import Kind, Variable
from sluice.publication.codebook import CodebookVariable
from sluice.publication.reading_scripts import SCRIPTS, reading_scripts
from sluice.publication.records_file import read_typed, write_csv
from sluice.publication.spreadsheet_text import escaped_frame
from tests.publication.small_codebook import codebook, records

CODES = ("school", "work")


def folder_of(place: Path, escaped: bool = False) -> Path:
    book = codebook(place)
    frame = read_typed(place / "data.parquet", records()[1])
    write_csv(escaped_frame(frame) if escaped else frame, place / "data.csv")
    for name, script in reading_scripts(book, escaped).items():
        (place / name).write_bytes(script)
    return place


@pytest.mark.parametrize("escaped", [False, True])
def test_python_reads_what_was_written(tmp_path: Path, escaped: bool) -> None:
    folder = folder_of(tmp_path, escaped)
    read = runpy.run_path(str(folder / "read.py"))
    found, wanted = read["records"], read_typed(folder / "data.parquet", records()[1])
    assert list(found) == list(wanted)
    for name in wanted:
        assert found[name].isna().tolist() == wanted[name].isna().tolist(), name
        assert found[name].dropna().astype(str).tolist() == wanted[name].dropna().astype(str).tolist(), name
    assert found["school"].cat.ordered
    assert found["school"].cat.categories.tolist() == ["01", "02"]
    assert read["LABELS"]["school"] == {"01": "none", "02": "some & more"}


@pytest.mark.parametrize(
    ("kind", "listed", "read"),
    [
        (Kind.NOMINAL, ("1", "0", "10", "2", "-9"), ["-9", "0", "1", "2", "10"]),
        (Kind.NOMINAL, ("b", "1", "a"), ["b", "1", "a"]),
        (Kind.ORDINAL, ("2", "1", "0"), ["2", "1", "0"]),
    ],
)
def test_whole_numbers_rise_where_the_contract_gives_no_order(
    tmp_path: Path, kind: Kind, listed: tuple[str, ...], read: list[str]
) -> None:
    variable = CodebookVariable(Variable(name="q", kind=kind, categories=listed), (), 5, 0)
    scripts = reading_scripts(replace(codebook(tmp_path), variables=(variable,)))
    assert f"levels = c({json.dumps(read)[1:-1]})" in scripts["read.R"].decode()
    assert json.dumps({"q": read}, indent=4) in scripts["read.py"].decode()


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
@pytest.mark.servers
@pytest.mark.parametrize("escaped", [False, True])
def test_r_reads_what_was_written(tmp_path: Path, escaped: bool) -> None:
    folder = folder_of(tmp_path, escaped)
    check = (
        'source("read.R"); cat(sapply(records, function(x) sum(is.na(x))), "\\n"); '
        'cat(class(records$school), levels(records$school), labels$school, "\\n"); '
        'cat(records$income[3], as.character(records$born[1]), as.character(records$work), "\\n"); '
        'cat(as.character(records[["region, area"]][3]), class(records$age), records$person[3], "\\n")'
    )
    ran = subprocess.run(["Rscript", "-e", check], cwd=folder, capture_output=True, text=True, check=True)
    lines = ran.stdout.splitlines()
    wanted = read_typed(folder / "data.parquet", records()[1])
    assert lines[0].split() == [str(count) for count in wanted.isna().sum()]
    assert lines[1].strip() == "ordered factor 01 02 none some & more"
    assert lines[2].split() == ["12345679", "1950-01-31", "no", "yes", "no"]
    assert lines[3].startswith('"S" numeric a')


def test_nothing_in_names_or_categories_runs(tmp_path: Path) -> None:
    book = codebook(tmp_path)
    evil = '"); system("id"); (\\"'
    variables = tuple(
        each.__class__(
            each.variable.model_copy(update={"description": f"{evil} `x' $HOME \u2028 \U0001f600"}), (), 0, 0
        )
        for each in book.variables
    )
    made = reading_scripts(codebook(tmp_path, variables=variables))
    assert tuple(made) == SCRIPTS
    compile(made["read.py"], "read.py", "exec")
    assert b'\\"); system(\\"id\\"); (\\\\\\"' in made["read.R"]
    assert b"$HOME" not in made["read.do"].replace(b"\\$HOME", b"")
    made["read.R"].decode("ascii")


def test_in_stata_categories_become_labelled_numbers(tmp_path: Path) -> None:
    do = reading_scripts(codebook(tmp_path))["read.do"].decode()
    assert 'replace x4 = 1 if v4 == `"01"\'' in do
    assert 'label define l4 2 `"02: some & more"\', add' in do
    assert "rename v3 income" in do


def test_without_a_csv_there_is_nothing_to_read(tmp_path: Path) -> None:
    assert reading_scripts(codebook(tmp_path, files=("data.parquet",))) == {}


def test_pandas_would_read_it_otherwise(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    assert pd.read_csv(folder / "data.csv")["school"].tolist() == [1, 2, 1]
