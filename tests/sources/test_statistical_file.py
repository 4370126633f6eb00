"""Files of Stata, SPSS and SAS: codes stay codes, and what the file says of them is described."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyreadstat
import pytest
import yaml

from schemas.contract import load_contract
from schemas.reading.contract_draft import draft_contract
from schemas.reading.typing import SourceTyping
from sluice.ground.errors import DataError
from sluice.ground.remarks import Remark
from sluice.sources.sources import SasSource, SpssSource, StataSource
from tests.golden import golden
from tests.sources.readers import READERS, SECRET, cells, records, refusal


@pytest.fixture
def spss(tmp_path: Path) -> SpssSource:
    """Thirty people; 8 and 90 to 99 are missing, codes are labelled, and one labelled code does not occur."""
    frame = pd.DataFrame(
        {
            "sex": [1, 2, 8] * 10,
            "class": [1, 2, 3] * 10,
            "area": [1, 20, 300] * 10,
            "hours": [40.5, 95, 20] * 10,
            "born": [pd.Timestamp("1980-02-29")] * 30,
            "icd": ["A01", "B20", "XXX"] * 10,
        }
    )
    pyreadstat.write_sav(
        frame, tmp_path / "a.sav",
        column_labels={"sex": "Sex of the person"},
        variable_value_labels={"sex": {1: "man", 2: "woman", 3: "other", 8: "refused"}, "class": {1: "low", 2: "middle",
                               3: "high"}, "hours": {95: "does not know"}},
        missing_ranges={"sex": [8], "hours": [{"lo": 90, "hi": 99}], "icd": ["XXX"]},
        variable_measure={"class": "ordinal"},
        variable_format={"area": "N4", "born": "DATE11"},
    )  # fmt: skip
    return SpssSource(path=str(tmp_path / "a.sav"))


def test_spss_codes_arrive_undamaged(spss: SpssSource) -> None:
    assert cells(spss, "sex", "area", "icd", "born", size=7)[:3] == [
        [1, "0001", "A01", pd.Timestamp("1980-02-29").date()],
        [2, "0020", "B20", pd.Timestamp("1980-02-29").date()],
        [8, "0300", "XXX", pd.Timestamp("1980-02-29").date()],
    ]
    assert len(cells(spss, "sex", size=7)) == 30


def test_what_spss_says(spss: SpssSource) -> None:
    said = spss.described()
    assert said["sex"].label == "Sex of the person"
    assert said["sex"].labels == {"1": "man", "2": "woman", "3": "other", "8": "refused"}
    assert said["sex"].declared_missing == ("8",)
    assert (said["hours"].missing_ranges, len(said["hours"].declared_missing)) == (((90, 99),), 10)
    assert said["icd"].declared_missing == ("XXX",)
    assert said["area"].is_code
    assert said["class"].measure == "ordinal"


def test_the_draft_holds_what_the_file_says_and_the_data_keep_to_it(spss: SpssSource, tmp_path: Path) -> None:
    draft = tmp_path / "people.yaml"
    draft.write_text(draft_contract(spss, "people", spss.described()))
    written = yaml.safe_load(draft.read_text())
    sex, class_, area, hours, born, icd = written["variables"]
    assert (sex["kind"], sex["categories"], sex["missing_codes"]) == ("nominal", ["1", "2", "3"], ["8"])
    assert sex["labels"] == {"1": "man", "2": "woman", "3": "other", "8": "refused"}
    assert (class_["kind"], class_["categories"]) == ("ordinal", ["1", "2", "3"])
    assert (area["kind"], area["categories"]) == ("nominal", ["0001", "0020", "0300"])
    assert (hours["kind"], hours["missing_codes"][5], hours["maximum"]) == ("continuous", "95", 50)
    assert (born["kind"], icd["missing_codes"]) == ("date", ["XXX"])
    typing = SourceTyping(load_contract(draft), lambda _, text: text)
    frame = pd.concat(typing.type_batch(batch) for batch in spss.batches([v["name"] for v in written["variables"]], 7))
    assert set(typing.variables()) == set(frame)
    assert frame.isna().sum().to_dict() == {"sex": 10, "class": 0, "area": 0, "hours": 10, "born": 0, "icd": 10}


def test_a_range_without_an_end_takes_its_codes_from_the_labels(tmp_path: Path) -> None:
    frame = pd.DataFrame({"pay": [1000.0, -8, -9, -1.5]})
    pyreadstat.write_sav(
        frame, tmp_path / "a.sav", missing_ranges={"pay": [{"lo": -1e308 * 1.797, "hi": -1}]},
        variable_value_labels={"pay": {-8: "refused", -9: "not asked"}},
    )  # fmt: skip
    said = SpssSource(path=str(tmp_path / "a.sav")).described()["pay"]
    assert said.missing_ranges[0][1] == -1
    assert [said.is_missing(code) for code in ("-8", "-1.5", "1000")] == [True, True, False]
    assert set(said.declared_missing) == {"-8", "-9"}


def test_stata_s_letters_arrive_as_codes(tmp_path: Path) -> None:
    frame = pd.DataFrame({"age": [30, "a", None, 41], "town": [1, 2, 3, 4]}, dtype=object)
    frame["town"] = frame["town"].astype(int)
    pyreadstat.write_dta(
        frame, tmp_path / "a.dta", missing_user_values={"age": ["a"]}, column_labels={"age": "Age"},
        variable_value_labels={"age": {"a": "refused"}}, variable_format={"town": "%03.0f"},
    )  # fmt: skip
    source = StataSource(path=str(tmp_path / "a.dta"))
    assert cells(source, "age", "town") == [["30", "001"], [".a", "002"], [None, "003"], ["41", "004"]]
    assert cells(source, "age", size=1) == [[30], [".a"], [None], [41]]
    said = source.described()["age"]
    assert (said.label, said.labels, said.is_missing(".a")) == ("Age", {".a": "refused"}, True)
    age = yaml.safe_load(draft_contract(source, "people", source.described()))["variables"][0]
    assert (age["kind"], age["missing_codes"], age["nullable"]) == ("integer", [".a"], True)


def test_sas_transport_and_portable_files(tmp_path: Path) -> None:
    frame = pd.DataFrame({"ID": ["01", "02"], "PAY": [1.5, None], "DAY": [pd.Timestamp("2024-02-29").date()] * 2})
    pyreadstat.write_xport(frame, tmp_path / "a.xpt", column_labels={"PAY": "Pay"}, table_name="A")
    sas = SasSource(path=str(tmp_path / "a.xpt"))
    assert cells(sas, "ID", "PAY", size=1) == [["01", 1.5], ["02", None]]
    assert sas.described()["PAY"].label == "Pay"
    pyreadstat.write_por(frame, tmp_path / "a.por")
    assert cells(SpssSource(path=str(tmp_path / "a.por")), "ID", "PAY") == [["01", 1.5], ["02", None]]


@pytest.mark.parametrize("name", ["stata", "spss"])
def test_a_count_of_records_that_is_not_true(tmp_path: Path, name: str) -> None:
    """In the header, far too large: neither an endless reading nor fewer records than promised."""
    READERS[name].write(records(1000).assign(town=SECRET), tmp_path / "b")
    (tmp_path / "b").write_bytes(lying((tmp_path / "b").read_bytes()))
    golden(refusal(READERS[name].source(tmp_path / "b"), "code", "town"))


def lying(content: bytes) -> bytes:
    if content.startswith(b"$FL2"):
        return content[:80] + (5000).to_bytes(4, "little") + content[84:]
    place = content.index(b"<N>") + 3
    return content[:place] + (2_000_000_000).to_bytes(8, "little") + content[place + 8 :]


def test_texts_of_another_encoding_are_asked_for(tmp_path: Path) -> None:
    pyreadstat.write_sav(pd.DataFrame({"town": ["Zürich", "Bern"]}), tmp_path / "a.sav")
    content = (tmp_path / "a.sav").read_bytes().replace("Zürich".encode(), "Zürich ".encode("cp1252"))
    (tmp_path / "a.sav").write_bytes(content)
    with golden.raises(DataError):
        cells(SpssSource(path=str(tmp_path / "a.sav")), "town")
    source = SpssSource(path=str(tmp_path / "a.sav"), encoding="cp1252")
    assert cells(source, "town") == [["Zürich"], ["Bern"]]


WRITERS = {
    "stata": (pyreadstat.write_dta, StataSource, {"day": 1, "moment": 1000}, {"day": "%td", "moment": "%tc"}),
    "spss": (pyreadstat.write_sav, SpssSource, {"day": 86_400, "moment": 1}, {"day": "DATE11", "moment": "DATETIME20"}),
    "sas": (pyreadstat.write_xport, SasSource, {"day": 1, "moment": 1}, {"day": "DATE9", "moment": "DATETIME20"}),
}  # fmt: skip


@pytest.mark.parametrize("kind", ["day", "moment"])
@pytest.mark.parametrize("program", WRITERS)
def test_a_date_outside_the_calendar_is_missing_and_the_others_are_read_as_before(
    tmp_path: Path, program: str, kind: str
) -> None:
    write, source, units, formats = WRITERS[program]
    unit = units[kind] * (1 if kind == "day" else 86_400)
    days = pd.Series([float(n * unit) for n in range(-30_000, 30_000, 1507)] + [12_345.75 * unit, None])
    if kind == "day":
        days = days.apply(lambda day: float(day // unit * unit))
    file = tmp_path / "a"

    def read(visits: "pd.Series[float]") -> tuple[list[object], tuple[Remark, ...]]:
        frame = pd.DataFrame({"n": np.arange(len(visits), dtype=float), "visit": visits})
        write(frame, file, variable_format={"visit": formats[kind]})
        found = source(path=str(file))
        batches = pd.concat(found.batches(["n", "visit"], 7))
        assert batches["n"].tolist() == list(range(len(visits)))
        return batches["visit"].astype(object).where(batches["visit"].notna(), None).tolist(), found.remarks.all()

    whole, nothing = read(days)
    late, early = 8_000_000.0 * unit, -800_000.0 * unit
    mixed, said = read(pd.concat([days[:9], pd.Series([late]), days[9:], pd.Series([early])], ignore_index=True))
    assert mixed == [*whole[:9], None, *whole[9:], None]
    assert nothing == ()
    assert len(said) == 1
    assert (said[0].code, said[0].column, said[0].count, said[0].first) == ("reading.beyond_calendar", "visit", 2, 10)
    assert read(pd.Series([late] * 3))[0] == [None] * 3


@pytest.mark.parametrize("program", ["spss", "sas"])
def test_a_time_of_more_than_a_day_keeps_its_hours(tmp_path: Path, program: str) -> None:
    write, source, *_ = WRITERS[program]
    seconds = pd.Series([3_600.0, 108_000.0, None, -60.0, 90_061.5, 86_400.0])
    write(pd.DataFrame({"lasted": seconds}), tmp_path / "a", variable_format={"lasted": "TIME8"})
    found = pd.concat(source(path=str(tmp_path / "a")).batches(["lasted"], 2))["lasted"]
    assert found[found.notna()].tolist() == ["01:00:00", "30:00:00", "-00:01:00", "25:01:01.500000", "24:00:00"]


def test_a_format_that_shows_the_time_of_a_day_gives_that(tmp_path: Path) -> None:
    write, source, *_ = WRITERS["sas"]
    write(pd.DataFrame({"at": [1.9e9, 3_600.0]}), tmp_path / "a", variable_format={"at": "TOD8"})
    assert cells(source(path=str(tmp_path / "a")), "at") == [["17:46:40"], ["01:00:00"]]
