"""Dictionaries of every form that agencies hand out say the same of the same columns."""

import json
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from sluice.ground.errors import DataError
from sluice.sources.dictionary_file import dictionary_descriptions, joined
from sluice.sources.dictionary_table import codes_in
from sluice.sources.tabular_source import ColumnDescription
from tasks.project.own_project import own_data
from tests.golden import golden

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
CATEGORIES = "".join(
    f'<Category id="K{at}"><r:Label><r:Content>{label}</r:Content></r:Label></Category>'
    for at, label in enumerate(["male", "female", "low", "high", "No answer"])
)


def _codes(own: str, *codes: tuple[int, int]) -> str:
    """A code list of DDI Lifecycle: the place of each category, and its code."""
    listed = "".join(
        f"<Code><r:CategoryReference><r:ID>K{at}</r:ID></r:CategoryReference><r:Value>{code}</r:Value></Code>"
        for at, code in codes
    )
    return f"<CodeList>{own}{listed}</CodeList>"


LIFECYCLE = f"""<?xml version="1.0"?><i:DDIInstance xmlns:i="ddi:instance:3_3" xmlns:r="ddi:reusable:3_3">
<VariableScheme><Variable><r:URN>urn:ddi:int.example:V1:1</r:URN><VariableName><r:String>SX</r:String></VariableName>
<r:Label><r:Content xml:lang="en">Sex</r:Content><r:Content xml:lang="de">Geschlecht</r:Content></r:Label>
<VariableRepresentation><r:CodeRepresentation><r:CodeListReference><r:Agency>int.example</r:Agency><r:ID>C1</r:ID>
<r:Version>1.0.0</r:Version></r:CodeListReference></r:CodeRepresentation></VariableRepresentation></Variable>
<Variable><r:ID>V2</r:ID><VariableName><r:String>EDU</r:String></VariableName>
<r:Label><r:Content>Schooling</r:Content></r:Label><VariableRepresentation>
<r:CodeRepresentation missingValue="9"><r:CodeListReference><r:URN>urn:ddi:int.example:C2:1</r:URN>
</r:CodeListReference></r:CodeRepresentation></VariableRepresentation></Variable></VariableScheme>
<CategoryScheme>{CATEGORIES}</CategoryScheme>{_codes("<r:ID>C1</r:ID>", (0, 1), (1, 2))}
{_codes("<r:URN>urn:ddi:int.example:C2:1</r:URN>", (2, 1), (3, 2), (4, 9))}</i:DDIInstance>"""
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
FLAT = "Feld;Fragetext;Auspr\u00e4gungen\nSX;Sex;1=male, 2=female\nEDU;Schooling;1 - low, 2 - high, 9 - No answer\n"
RENAMED = "raw,new,question,raw_category,clean_category\nx1,sx,Sex,1,male\n,,,2,female\nx2,edu,Schooling,1,low\n" + (
    ",,,2,high\n,,,9,No answer\n"
)
INSEE = (
    "COD_VAR;LIB_VAR;COD_MOD;LIB_MOD\nSX;Sex;1;male\nSX;Sex;2;female\nEDU;Schooling;1;low\nEDU;Schooling;2;high\n"
    + ("EDU;Schooling;9;No answer\n")
)
TWICE = 'field,values,value labels,definition\nsx,"1,2","1=male, 2=female",Sex\n' + (
    'edu,"1,2,9","1=low, 2=high, 9=No answer",Schooling\n'
)
QUOTED = """capture label variable sx `"Sex"'
capture label variable edu `"Schooling"'
capture label value sx sx
capture label value edu edu
label define sx 1 `"male"', modify
label define sx 2 `"female"', modify
label define edu 1 `"low"', modify
label define edu 2 `"high"', modify
label define edu 9 `"No answer"', modify"""
ASIDE = """variable labels
  sx  "Sex"
  edu "Schooling"
.
* value labels
 sx
    1 "male"
    2 "female"
    /
 edu
    1 "low"
    2 "high"
    9 "No answer"
    /
."""
LABELS_ONLY = """data x;
  label sx = "Sex";
  label edu = "Schooling"; run;
/* proc format; value vx1f 1='male' 2='female'; value vx2f 1='low' 2='high' 3-8='between' 9='No answer' other='none'; */
/* formatted tabulations
proc freq;
format sx vx1f. edu vx2f.; */"""
ACROSS = (
    ";SX;EDU\nFragetext;Sex;Schooling\nTyp;num;num\n"
    "Auspr\u00e4gungen;1=male, 2=female;1 - low, 2 - high, 9 - No answer\n"
)
FORMS = {
    "across.csv": ACROSS,
    "headings.csv": FLAT, "renamed.csv": RENAMED, "insee.csv": INSEE, "twice.csv": TWICE, "quoted.do": QUOTED,
    "aside.sps": ASIDE, "aside.sas": LABELS_ONLY,
    "long.csv": LONG, "wide.csv": WIDE, "schema.json": json.dumps(TABLE_SCHEMA), "mapping.json": json.dumps(MAPPING),
    "ddi.xml": DDI, "lifecycle.xml": LIFECYCLE, "formats.sas": SAS, "labels.sps": SPSS, "labels.do": STATA,
    "pums.csv": PUMS,
}  # fmt: skip
SAID = {
    "sx": ColumnDescription(label="Sex", labels={"1": "male", "2": "female"}),
    "edu": ColumnDescription(
        label="Schooling", labels={"1": "low", "2": "high", "9": "No answer"}, missing_codes=("9",)
    ),
}
DECLARING = (
    "wide.csv",
    "mapping.json",
    "ddi.xml",
    "lifecycle.xml",
    "labels.sps",
)  # others leave it to the label's words


@pytest.mark.parametrize("name", FORMS)
def test_a_dictionary_says_the_same_in_every_form(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(FORMS[name])
    found = dictionary_descriptions(tmp_path / name, ["sx", "edu", "weight"])
    assert found["edu"].guessed_missing == (() if name in DECLARING else ("9",))
    assert {column: said.model_copy(update={"guessed_missing": ()}) for column, said in found.items()} == SAID


def test_a_workbook_is_read_as_the_same_table(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for line in LONG.splitlines():
        book.active.append(line.split(","))
    book.save(tmp_path / "d.xlsx")
    said = dictionary_descriptions(tmp_path / "d.xlsx", ["sx", "edu"])
    assert (said["sx"], said["edu"].missing_codes) == (SAID["sx"], ("9",))


NAMED = {
    "headed": {
        "Variables": "Variable,Label,Code list\nsx,Sex,SEX_CODES\nedu,Schooling,LEVELS",
        "Codes": "List,Code,Label\nSEX_CODES,1,male\n,2,female\nLEVELS,1,low\nLEVELS,2,high\nLEVELS,9,No answer",
    },
    "xlsform": {
        "survey": "type,name,label::English (en)\nstart,begun,\nselect_one sex,sx,Sex\n"
        "select_one level or_other,edu,Schooling",
        "choices": "list_name,name,label::English (en)\nsex,1,male\nsex,2,female\n"
        "level,1,low\nlevel,2,high\nlevel,9,No answer",
    },
    "a sheet each": {
        "Variables": "Name,Description,Codes\nsx,Sex,CL_SEX\nedu,Schooling,CL_EDU",
        "CL_SEX": "Value,Label\n1,male\n2,female",
        "CL_EDU": "1,low\n2,high\n9,No answer",
    },
    "below": {
        "d": "variable,label,value set\nsx,Sex,SEX_CODES\nedu,Schooling,LEVELS\n\nvalue set,code,label\n"
        "SEX_CODES,1,male\nSEX_CODES,2,female\nLEVELS,1,low\nLEVELS,2,high\nLEVELS,9,No answer",
    },
    "titled": {
        "d": "variable,label,codelist\nsx,Sex,SEX_CODES\nedu,Schooling,LEVELS\n\nSEX_CODES\n1,male\n2,female\n\n"
        "LEVELS,,\ncode,label\n1,low\n2,high\n9,No answer",
    },
    "by the variable": {
        "d": "variable,label\nsx,Sex\nedu,Schooling\n\nSX\n1,male\n2,female\n\nEDU\n1,low\n2,high\n9,No answer",
    },
}  # fmt: skip


def _workbook(path: Path, sheets: dict[str, str]) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, text in sheets.items():
        sheet = book.create_sheet(name)
        for line in text.splitlines():
            sheet.append([cell or None for cell in line.split(",")])
    book.save(path)
    return path


@pytest.mark.parametrize("form", NAMED)
def test_code_lists_that_the_variables_name_are_read_wherever_they_stand(tmp_path: Path, form: str) -> None:
    paths = [_workbook(tmp_path / "d.xlsx", NAMED[form])]
    if len(NAMED[form]) == 1:
        (tmp_path / "d.csv").write_text(NAMED[form]["d"])
        paths.append(tmp_path / "d.csv")
    for path in paths:
        said = dictionary_descriptions(path, ["sx", "edu", "weight"])
        assert {name: each.model_copy(update={"guessed_missing": ()}) for name, each in said.items()} == SAID


@pytest.mark.parametrize("key", ["codelists", "value sets", "choices"])
def test_code_lists_of_a_json_are_read_by_their_names(tmp_path: Path, key: str) -> None:
    lists = {"S": {"1": "male", "2": "female"}, "E": [{"code": 1, "label": "low"}, {"code": 2, "label": "high"}]}
    fields = [{"name": "sx", "codelist": "S"}, {"name": "edu", "codelist": "E"}, {"name": "job", "codelist": "ISCO"}]
    (tmp_path / "d.json").write_text(json.dumps({"variables": fields, key: lists}))
    said = dictionary_descriptions(tmp_path / "d.json", ["sx", "edu", "job"])
    assert (said["sx"].labels, said["edu"].labels) == (lists["S"], {"1": "low", "2": "high"})
    assert [each.absent_list for each in said.values()] == ["", "", "ISCO"]


@pytest.mark.parametrize("suffix", ["csv", "do", "sas"])
def test_a_code_list_that_is_named_and_not_there_is_told_by_its_name(tmp_path: Path, suffix: str) -> None:
    text = {
        "csv": "variable,label,code list\nsx,Sex,SEX_CODES\nedu,Schooling,\njob,Job,\n",
        "do": 'label variable sx "Sex"\nlabel values sx SEX_CODES\n',
        "sas": "proc format; value a 1='a'; run;\ndata x; set y; label sx='Sex'; format sx SEX_CODES. edu F8.2;",
    }
    (tmp_path / f"d.{suffix}").write_text(text[suffix])
    said = dictionary_descriptions(tmp_path / f"d.{suffix}", ["sx", "edu"])
    assert (said["sx"].label, said["sx"].absent_list) == ("Sex", "SEX_CODES")
    assert not any(each.absent_list for name, each in said.items() if name != "sx")


def test_who_gives_a_dictionary_reads_which_columns_it_lacks(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("variable,label\nsx,Sex\nedu,Schooling\n")
    for more in (",pay", ",pay,town,job,age,kin"):
        (tmp_path / "people.csv").write_text(f"sx,edu{more}\n" + f"1,2{',3' * more.count(',')}\n" * 2)
        golden(own_data(str(tmp_path / "people.csv"), dictionary=tmp_path / "d.csv").says[-1])


def test_who_gives_a_dictionary_reads_what_it_describes_that_no_column_is_called(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("sx,edu,income_m\n1,2,3\n2,1,3\n")
    lines = ["variable,label", "sx,Sex", *(f"v{each},Other" for each in range(5)), "incom_m,Income"]
    for last in (2, 7, 8):
        (tmp_path / "d.csv").write_text("\n".join(lines[:last]))
        golden(own_data(str(tmp_path / "people.csv"), dictionary=tmp_path / "d.csv").says[-1])


def test_of_several_dictionaries_a_later_one_counts_where_both_speak(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("sx,edu\n1,2\n2,1\n")
    (tmp_path / "a.csv").write_text("variable,label,code,value label\nsx,Sex,1,male\nsx,,2,female\n")
    (tmp_path / "b.json").write_text(json.dumps({"sx": {"label": "Sex at birth"}, "edu": "Schooling"}))
    data = own_data(str(tmp_path / "people.csv"), dictionary=[tmp_path / "a.csv", tmp_path / "b.json"])
    assert {name: (each.label, each.labels) for name, each in data.described.items()} == {
        "sx": ("Sex at birth", {"1": "male", "2": "female"}), "edu": ("Schooling", {}),
    }  # fmt: skip


def test_who_gives_a_dictionary_reads_which_code_lists_it_lacks(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("variable,label,code list\nsx,Sex,SEX_CODES\nedu,Schooling,LEVELS\n")
    (tmp_path / "people.csv").write_text("sx,edu\n1,2\n2,1\n")
    golden(own_data(str(tmp_path / "people.csv"), dictionary=tmp_path / "d.csv").says[-1])


def test_variables_of_one_type_and_a_second_table_of_others_are_no_code_lists(tmp_path: Path) -> None:
    people = "variable,type,label\nsx,numeric,Sex\nedu,numeric,Schooling"
    firms = "variable,type,label\nturnover,numeric,Turnover\nsector,numeric,Sector"
    said = dictionary_descriptions(_workbook(tmp_path / "d.xlsx", {"people": people, "firms": firms}), ["sx", "edu"])
    assert {name: (each.label, each.labels, each.absent_list) for name, each in said.items()} == {
        "sx": ("Sex", {}, ""),
        "edu": ("Schooling", {}, ""),
    }


def test_of_merged_cells_and_several_sheets_all_is_read(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["dataset", "description"])
    book.active.append(["people.csv", "people of the survey"])
    sheet = book.create_sheet("variables")
    for line in LONG.splitlines():
        sheet.append([cell or None for cell in line.split(",")])
    sheet.merge_cells("A2:A3")
    book.save(tmp_path / "d.xlsx")
    said = dictionary_descriptions(tmp_path / "d.xlsx", ["sx", "edu"])
    assert (said["sx"], said["edu"].missing_codes) == (SAID["sx"], ("9",))


def test_a_json_of_texts_labels_and_one_of_codes_says_what_they_mean(tmp_path: Path) -> None:
    (tmp_path / "labels.json").write_text('{"SX": "Sex", "EDU": "Schooling"}')
    assert {
        name: each.label for name, each in dictionary_descriptions(tmp_path / "labels.json", ["sx", "edu"]).items()
    } == {"sx": "Sex", "edu": "Schooling"}
    (tmp_path / "codes.json").write_text(json.dumps({name: said["values"] for name, said in MAPPING.items()}))
    said = dictionary_descriptions(tmp_path / "codes.json", ["sx", "edu"])
    assert {name: each.labels for name, each in said.items()} == {name: each.labels for name, each in SAID.items()}


def test_between_the_named_ends_of_a_scale_a_code_means_itself(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text('item,answers\npain,"1 - Not at all, 2, 3, 4 - Extremely"\n')
    [said] = dictionary_descriptions(tmp_path / "d.csv", ["pain"]).values()
    assert said.labels == {"1": "Not at all", "2": "2", "3": "3", "4": "Extremely"}


def test_ranges_of_missing_codes_hold_of_the_variables_that_are_named_or_of_all(tmp_path: Path) -> None:
    (tmp_path / "d.sps").write_text("variable labels edu 'Schooling'.\nmissing values all (-5 thru -1).\n")
    said = dictionary_descriptions(tmp_path / "d.sps", ["sx", "edu"])
    assert all(each.declared_missing == ("-5", "-4", "-3", "-2", "-1") for each in said.values())
    assert len(said) == 2
    (tmp_path / "d.sps").write_text("VARIABLE LABELS edu 'Schooling'.\nMISSING VALUES edu (lo thru 0, 9).\n")
    [said] = dictionary_descriptions(tmp_path / "d.sps", ["edu"]).values()
    assert said.is_missing("-7")
    assert said.is_missing("9")
    assert not said.is_missing("1")


def test_a_file_that_describes_no_column_is_refused(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text(LONG)
    golden.refused(DataError, dictionary_descriptions, tmp_path / "d.csv", ["income"])
    (tmp_path / "d.xml").write_text('<!DOCTYPE a [<!ENTITY b "c">]><codeBook/>')
    golden.refused(DataError, dictionary_descriptions, tmp_path / "d.xml", ["income"])


@pytest.mark.parametrize("text", ["sx,edu\n1,2\n2,1\n", "of,sx,edu\nfirst,Sex,Schooling\n"])
def test_names_beside_each_other_are_refused_where_nothing_says_what_is_below(tmp_path: Path, text: str) -> None:
    (tmp_path / "d.csv").write_text(text)
    golden.refused(DataError, dictionary_descriptions, tmp_path / "d.csv", ["sx", "edu"])


def test_a_sheet_of_the_data_beside_the_dictionary_is_no_reason_to_refuse_it(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for line in ["sx,edu,by", "1,2,1", *LONG.splitlines()]:
        if line.startswith("Variable"):
            book.create_sheet("codes")
        book.worksheets[-1].append(line.split(","))
    book.save(tmp_path / "d.xlsx")
    assert dictionary_descriptions(tmp_path / "d.xlsx", ["sx", "edu"])["sx"] == SAID["sx"]


def test_a_japanese_dictionary_is_read_and_a_chinese_one_asks_for_its_encoding(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_bytes("変数名,説明\nsx,あなたの性別（ポイント）\nedu,最終学歴をお答えください\n".encode("cp932"))
    assert dictionary_descriptions(path, ["sx", "edu"])["sx"].label == "あなたの性別（ポイント）"
    path.write_bytes("变量,说明\nsx,受访者的性别\nedu,最高学历是什么\n".encode("gb18030"))
    with pytest.raises(DataError):
        dictionary_descriptions(path, ["sx", "edu"])


def test_a_workbook_of_the_old_format_is_named_with_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "d.xls").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
    golden.refused(DataError, dictionary_descriptions, tmp_path / "d.xls", ["income"])


@pytest.mark.parametrize("heading", ["unit", "Units", "Einheit", "unit\u00e9", "Ma\u00dfeinheit"])
def test_a_unit_beside_the_names_is_taken(tmp_path: Path, heading: str) -> None:
    told = tmp_path / "told.csv"
    told.write_text(f"variable,description,{heading}\nage,Age at the interview,years\nsx,Sex of the person,\n")
    found = dictionary_descriptions(told, ["age", "sx"])
    assert {name: (each.label, each.unit) for name, each in found.items()} == {
        "age": ("Age at the interview", "years"), "sx": ("Sex of the person", "")
    }  # fmt: skip


def test_what_the_file_itself_says_stays_where_the_dictionary_says_nothing() -> None:
    own = ColumnDescription(label="S", missing_codes=(".a",), format="F8.2")
    both = joined(own, SAID["edu"])
    assert (both.label, both.format, both.missing_codes) == ("Schooling", "F8.2", (".a", "9"))


def test_what_a_dictionary_guesses_is_no_guess_where_the_file_declares_it() -> None:
    told = SAID["edu"].model_copy(update={"guessed_missing": ("9",)})
    assert joined(ColumnDescription(missing_ranges=((8, 9),)), told).guessed_missing == ()
    assert joined(ColumnDescription(missing_codes=("8",)), told).guessed_missing == ("9",)


def test_a_column_of_meanings_beside_names_of_code_lists_describes_the_variables(tmp_path: Path) -> None:
    """A code that stands once for each variable is none: here the name of its code list, which others name, too."""
    (tmp_path / "d.csv").write_text("Name,Meaning,Code list\nsx,Sex of the person,CL_SEX\nedu,Schooling so far,\n")
    said = dictionary_descriptions(tmp_path / "d.csv", ["sx", "edu"])
    assert {name: (each.label, each.labels) for name, each in said.items()} == {
        "sx": ("Sex of the person", {}),
        "edu": ("Schooling so far", {}),
    }


@pytest.mark.parametrize(
    ("written", "codes"),
    [
        ("1 Head\n2 Spouse\n-1 Not stated", {"1": "Head", "2": "Spouse", "-1": "Not stated"}),
        ("A Urban; B Rural", {"A": "Urban", "B": "Rural"}),
        ("0 to 10; 98 to 99", {}),
        ("10 years; 20 years", {}),
        ("1 person", {}),
    ],
)
def test_a_blank_stands_between_codes_and_meanings_where_there_are_several(written: str, codes: dict[str, str]) -> None:
    assert dict(codes_in(written)) == codes


def dbt(*models: dict[str, Any]) -> dict[str, Any]:
    """A manifest of dbt with these models, each its columns as dbt writes them, and a test, which has none."""
    nodes = {
        f"model.house.{number}": {
            "resource_type": "model",
            "columns": {name: {"name": name, "data_type": None, **said} for name, said in columns.items()},
        }
        for number, columns in enumerate(models)
    }
    version = "https://schemas.getdbt.com/dbt/manifest/v12.json"
    tested = {"test.house.not_null": {"resource_type": "test", "columns": {}, "attached_node": "model.house.0"}}
    return {"metadata": {"dbt_schema_version": version}, "nodes": nodes | tested, "sources": {}, "docs": {}}


def test_a_manifest_of_dbt_says_what_its_model_with_these_columns_says(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    sex = {"description": "Sex", "config": {"meta": {"labels": {"1": "male", "2": "female"}}}}
    schooling = {"description": "Schooling", "meta": {"labels": {"1": "low", "2": "high"}, "missing": ["9"]}}
    path.write_text(json.dumps(dbt({"sx": {"description": "Something else"}}, {"sx": sex, "edu": schooling})))
    found = dictionary_descriptions(path, ["SX", "EDU"])
    assert {name: (each.label, dict(each.labels)) for name, each in found.items()} == {
        "SX": ("Sex", {"1": "male", "2": "female"}),
        "EDU": ("Schooling", {"1": "low", "2": "high"}),
    }
    assert found["EDU"].missing_codes == ("9",)


def test_models_of_dbt_that_contradict_each_other_say_nothing(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps(dbt({"sx": {"description": "Sex"}}, {"sx": {"description": "Saxony"}})))
    assert dictionary_descriptions(path, ["sx"])["sx"].label == ""
    path.write_text(json.dumps(dbt()))
    with pytest.raises(DataError):
        dictionary_descriptions(path, ["sx"])
