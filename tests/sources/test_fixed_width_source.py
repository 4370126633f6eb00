"""Files of fixed width by their layout: the demonstration files of mu-ARGUS, and a CSV of columns."""

from pathlib import Path

import pandas as pd
import pytest
import yaml

from schemas.contract import load_contract
from schemas.reading.contract_draft import draft_contract
from schemas.reading.typing import SourceTyping
from sluice.ground.errors import DataError, DocumentError
from sluice.sources.fixed_width_source import read_layout
from sluice.sources.permission import permitted_source
from sluice.sources.recognition import recognise
from sluice.sources.sources import FixedWidthSource
from tests.golden import golden


@pytest.fixture
def demo(reference_data: Path) -> Path:
    return reference_data / "muargus_demo"


def test_the_two_forms_of_mu_argus_give_the_same_records(demo: Path) -> None:
    """Demodata.asc stands at fixed places, Demofree.asc has commas; the second was written from the first."""
    fixed = recognise(demo / "Demodata.asc", layout=demo / "Demodata.rda")
    free = recognise(demo / "Demofree.asc", layout=demo / "Demofree.rda")
    names = fixed.records.column_names()
    assert set(names) <= set(free.records.column_names())
    one, other = (pd.concat(found.records.batches(names, 900)) for found in (fixed, free))
    assert len(one) == 4000
    pd.testing.assert_frame_equal(one.reset_index(drop=True), other.reset_index(drop=True))
    everything = pd.concat(free.records.batches(free.records.column_names()))
    assert (everything == "0300").any(axis=None)  # no code loses its zeros


def test_what_a_layout_says(demo: Path) -> None:
    said = recognise(demo / "Samhh.asc", layout=demo / "Samhh.rda").described()
    assert said["hhnum"].missing_codes == ("9998", "9999")
    assert {name: column.role for name, column in said.items() if column.role in ("weight", "household")} == {
        "hhnum": "household", "weight": "weight",
    }  # fmt: skip
    assert said["sex"].role == "quasi_identifier"
    assert said["province"].role == ""  # <IDLEVEL> 0
    region = recognise(demo / "Demodata.asc", layout=demo / "Demodata.rda").described()["SEX"]
    assert (region.labels, region.missing_codes) == ({"1": "male", "2": "female"}, ("9",))


def test_its_draft_holds_of_the_records(demo: Path, tmp_path: Path) -> None:
    found = recognise(demo / "Samhh.asc", layout=demo / "Samhh.rda")
    draft = tmp_path / "households.yaml"
    draft.write_text(draft_contract(found.records, "households", found.described()))
    written = yaml.safe_load(draft.read_text())
    typing = SourceTyping(load_contract(draft), lambda _, text: text)
    frame = pd.concat(
        typing.type_batch(raw) for raw in found.records.batches([v["name"] for v in written["variables"]])
    )
    assert set(typing.variables()) == set(frame)
    assert len(frame) == 1000


def test_the_layout_is_asked_for(demo: Path, tmp_path: Path) -> None:
    with golden.raises(DataError):
        recognise(demo / "Demodata.asc")
    with golden.raises(DataError):
        recognise(demo / "Demodata.rda")
    (tmp_path / "a.txt").write_bytes((demo / "Demodata.asc").read_bytes())
    with golden.raises(DataError):
        recognise(tmp_path / "a.txt")


def source(folder: Path, layout: str, records: str | bytes) -> FixedWidthSource:
    (folder / "layout").write_text(layout)
    (folder / "records").write_bytes(records if isinstance(records, bytes) else records.encode())
    return FixedWidthSource(path="records", layout="layout").resolve(folder)


@pytest.mark.parametrize(
    "layout",
    [
        "",
        "name,start,length\nage,1,x\n",
        "age 1 2\nsex 2 1\n",
        "age 1 2\nage 3 1\n",
        "age 0 2\n",
        '<SEPARATOR> ","\nage 2\n',
        "age 1 2\nsex 3 9\n",
        "age 1\n",
        "a\0",
    ],
)
def test_a_layout_that_does_not_fit(tmp_path: Path, layout: str) -> None:
    with pytest.raises(DataError) as raised:
        list(source(tmp_path, layout, "401\n352\n").batches(["age"]))
    golden(raised.value)


def test_a_line_that_breaks_off_is_refused_with_its_number(tmp_path: Path) -> None:
    broken = source(tmp_path, "age 1 2\nsex 3 1\n", "401\n\n352\n29\n")
    batches = broken.batches(["sex", "age"], 2)
    assert next(batches).to_numpy().tolist() == [["1", "40"]]
    with golden.raises(DataError):
        list(batches)
    with golden.raises(DataError):
        list(source(tmp_path, "age 1 2\n", "é1\n".encode("latin-1")).batches(["age"]))


def test_a_code_list_elsewhere_is_not_read(tmp_path: Path) -> None:
    """A layout comes from others, too: it names no file of the house that a label could show."""
    (tmp_path / "in").mkdir()
    (tmp_path / "secret.cdl").write_text("1,geheim-4711\n")
    (tmp_path / "in" / "link.cdl").symlink_to(tmp_path / "secret.cdl")
    for name in ("../secret.cdl", str(tmp_path / "secret.cdl"), "link.cdl", "absent.cdl"):
        (tmp_path / "in" / "a.rda").write_text(f'SEX 1 1 9\n  <CODELIST> "{name}"\n')
        assert read_layout(tmp_path / "in" / "a.rda").described(tmp_path / "in")["SEX"].labels == {}


def test_a_layout_lies_where_files_may_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A definition that names the vault's secret as its layout would learn of it by an error."""
    (tmp_path / "project").mkdir()
    monkeypatch.setenv("SLUICE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path / "project")
    (tmp_path / "secret").write_text("geheim-4711 1 2\n")
    source(tmp_path / "project", "age 1 2\n", "40\n")
    for layout in ("../secret", str(tmp_path / "secret")):
        with golden.raises(DocumentError):
            permitted_source(FixedWidthSource(path="records", layout=layout), tmp_path / "project")
    (tmp_path / "project" / "link").symlink_to(tmp_path / "secret")
    with golden.raises(DocumentError):
        permitted_source(FixedWidthSource(path="records", layout="link"), tmp_path / "project")


@pytest.mark.parametrize(
    "records",
    ["secret 34 1200\nhidden 35 900\n", "secret 34 1200\nsecret 35 900\n", "secret 34 12\nhidden 35 9\nother 9000 1\n"],
)
def test_records_named_as_a_layout_are_not_told(tmp_path: Path, records: str) -> None:
    """Who submits a definition, and must not see the records, names the file of the records as the layout, too."""
    file = tmp_path / "records.txt"
    file.write_text(records)
    with pytest.raises(DataError) as raised:
        list(FixedWidthSource(path=str(file), layout=str(file)).batches(["age", "sex"]))
    assert not any(cell in str(raised.value) for cell in ("secret", "hidden", "34", "35", "1200", "9000"))
