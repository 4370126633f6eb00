"""Dictionaries of every form that agencies hand out say the same of the same columns."""

import json
from pathlib import Path

import openpyxl
import pytest

from sluice.ground.errors import DataError
from sluice.sources.dictionary_file import dictionary_descriptions, joined
from sluice.sources.tabular_source import ColumnDescription

LONG = "Variable,Label,Code,Value label\nSX,Sex,1,male\n,,2,female\nEDU,Schooling,1,low\n,,2,high\n,,9,No answer\n"
WIDE = 'name,description,values,missing\nsx,Sex,1=male; 2=female,\nedu,Schooling,"1=low; 2=high; 9=No answer",9\n'
TABLE_SCHEMA = {
    "fields": [
        {"name": "sx", "title": "Sex", "categories": [{"value": 1, "label": "male"}, {"value": 2, "label": "female"}]},
        {"name": "edu", "title": "Schooling", "labels": {"1": "low", "2": "high", "9": "No answer"}},
    ]
}
MAPPING = {
    "SX": {"label": "Sex", "values": {"1": "male", "2": "female"}},
    "EDU": {"label": "Schooling", "values": {"1": "low", "2": "high", "9": "No answer"}, "missing": [9]},
}
DDI = """<?xml version="1.0"?><codeBook xmlns="ddi:codebook:2_5"><dataDscr>
<var name="SX"><labl>Sex</labl><catgry><catValu>1</catValu><labl>male</labl></catgry>
<catgry><catValu>2</catValu><labl>female</labl></catgry></var>
<var name="EDU"><labl>Schooling</labl><catgry><catValu>1</catValu><labl>low</labl></catgry>
<catgry><catValu>2</catValu><labl>high</labl></catgry>
<catgry missing="Y"><catValu>9</catValu><labl>No answer</labl></catgry></var></dataDscr></codeBook>"""
SAS = """proc format; value sexf 1='male' 2='female'; value eduf 1="low" 2='high' 9='No answer'; run;
data x; set y; label sx='Sex' edu="Schooling"; format sx sexf. edu eduf8.; run;"""
SPSS = """VARIABLE LABELS sx 'Sex' /edu "Schooling".
VALUE LABELS sx 1 'male' 2 'female' /edu 1 'low' 2 "high" 9 'No answer'.
MISSING VALUES edu (9)."""
STATA = """label variable sx "Sex"
la var edu "Schooling"
label define sexl 1 "male" 2 "female"
label define edul 1 "low" 2 "high" ///
    9 "No answer"
label values sx sexl
lab val edu edul"""
PUMS = (
    "NAME,SX,N,1,Sex\nVAL,SX,N,1,1,1,male\nVAL,SX,N,1,2,2,female\n"
    "NAME,EDU,N,1,Schooling\nVAL,EDU,N,1,1,1,low\nVAL,EDU,N,1,2,2,high\nVAL,EDU,N,1,9,9,No answer\n"
)
FORMS = {
    "long.csv": LONG, "wide.csv": WIDE, "schema.json": json.dumps(TABLE_SCHEMA), "mapping.json": json.dumps(MAPPING),
    "ddi.xml": DDI, "formats.sas": SAS, "labels.sps": SPSS, "labels.do": STATA, "pums.csv": PUMS,
}  # fmt: skip
SAID = {
    "sx": ColumnDescription(label="Sex", labels={"1": "male", "2": "female"}),
    "edu": ColumnDescription(
        label="Schooling", labels={"1": "low", "2": "high", "9": "No answer"}, missing_codes=("9",)
    ),
}


@pytest.mark.parametrize("name", FORMS)
def test_a_dictionary_says_the_same_in_every_form(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(FORMS[name])
    assert dictionary_descriptions(tmp_path / name, ["sx", "edu", "weight"]) == SAID


def test_a_workbook_is_read_as_the_same_table(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for line in LONG.splitlines():
        book.active.append(line.split(","))
    book.save(tmp_path / "d.xlsx")
    assert dictionary_descriptions(tmp_path / "d.xlsx", ["sx", "edu"]) == SAID


def test_a_file_that_describes_no_column_is_refused(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text(LONG)
    with pytest.raises(DataError, match="none of the 1 columns"):
        dictionary_descriptions(tmp_path / "d.csv", ["income"])
    (tmp_path / "d.xml").write_text('<!DOCTYPE a [<!ENTITY b "c">]><codeBook/>')
    with pytest.raises(DataError, match="document type"):
        dictionary_descriptions(tmp_path / "d.xml", ["income"])


def test_what_the_file_itself_says_stays_where_the_dictionary_says_nothing() -> None:
    own = ColumnDescription(label="S", missing_codes=(".a",), format="F8.2")
    both = joined(own, SAID["edu"])
    assert (both.label, both.format, both.missing_codes) == ("Schooling", "F8.2", (".a", "9"))
