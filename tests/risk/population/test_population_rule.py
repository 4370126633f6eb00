"""The list of the population that a rule looks into."""

import hashlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

from sluice.ground.errors import DataError
from sluice.ground.variables import Kind, Variable
from sluice.ground.verdict import Verdict
from sluice.risk.population.k_map import KMap
from tests.golden import golden
from tests.risk.population.weighted_survey import QUASI, SURVEY, VARIABLES, one


def test_a_list_of_one_row_a_person_and_a_relative_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "people.csv").write_text("sex,age\n" + "f,30\n" * 3, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert one(KMap(k=3, population="people.csv"), SURVEY.head(2)).verdict is Verdict.PASS


def test_no_list_is_read_where_nobody_says_which_may_be(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("sex,age\n" + "f,30\n" * 3, encoding="utf-8")
    golden.refused(DataError, KMap(k=3, population=str(path)).find, SURVEY.head(2), VARIABLES, "masked")


def test_dates_and_texts_in_a_list(tmp_path: Path) -> None:
    variables = {
        "born": Variable(name="born", kind=Kind.DATE, role=QUASI),
        "town": Variable(name="town", kind=Kind.TEXT, role=QUASI),
    }
    frame = pd.DataFrame(
        {"born": np.array(["2001-05-17", "NaT"], "datetime64[us]"), "town": pd.array(["x", None], dtype="str")}
    )
    path = tmp_path / "people.csv"
    path.write_text("town,born\nx,2001-05-17\nx,2001-05-17\n,\n,\n", encoding="utf-8")
    assert one(KMap(k=2, population=str(path)), frame, variables).observed == 2


def test_a_list_that_the_policy_names_by_its_hash_is_that_one_or_none(tmp_path: Path) -> None:
    """Who cannot change the policy, and can write to the list, puts people into it."""
    path = tmp_path / "people.csv"
    path.write_text("sex,age\n" + "f,30\n" * 3, encoding="utf-8")
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    rule = KMap(k=9, population=str(path), population_sha256=sha256)
    assert one(rule, SURVEY.head(2)).observed == 3
    path.write_text("sex,age\n" + "f,30\n" * 9, encoding="utf-8")
    assert one(KMap(k=9, population=str(path)), SURVEY.head(2)).verdict is Verdict.PASS
    golden.refused(DataError, one, rule, SURVEY.head(2))
    golden.refused(ValidationError, KMap, k=9, population=str(path), population_sha256="abc")


def test_a_list_is_read_by_no_compiled_parser_beside_the_vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As no other file is that lies outside of it; quotes, blank lines and a byte order mark are read all the same."""
    for parser in (pd.read_csv, pd.read_table, pd.read_fwf):
        monkeypatch.setattr(pd, parser.__name__, None)
    path = tmp_path / "people.csv"
    path.write_text('\ufeffnote,"sex",age\r\n"a, ""b""\nc",f,30\r\n\r\n,"f", 30\n', encoding="utf-8")
    assert one(KMap(k=2, population=str(path)), SURVEY.head(2)).observed == 2


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "sex,aeg\nf,30\n",
        "sex,age\nf,thirty\n",
        "sex,age,count\nf,30,-1\n",
        "sex,age,count\nf,30,\n",
        "sex,age\nf,30,1\n",
        'sex,age\n"f"x,30\n',
    ],
)
def test_a_list_that_cannot_be_used_is_an_error(tmp_path: Path, text: str | None) -> None:
    path = tmp_path / "population.csv"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with golden.raises(DataError) as error:
        one(KMap(k=2, population=str(path)))
    assert "thirty" not in str(error.value)
