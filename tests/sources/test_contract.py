"""What holds for every reader: the same records come back in batches of any size, and what is broken is refused."""

from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from pydantic import TypeAdapter

from sluice.ground.errors import DataError
from sluice.sources import reader as process
from sluice.sources.permission import permitted_source
from sluice.sources.recognition import recognise
from sluice.sources.separate_reading import read_apart
from sluice.sources.sources import Source
from sluice.sources.tabular_source import TabularSource
from tests.golden import golden
from tests.sources.readers import OF_FILES, READERS, SECRET, as_text, marked, place_of, records, refusal

SUMMARIES = {"figures", "frequencies"}  # of a table that another reader reads: test_table_summary.py
NAMES = list(records())
Made = tuple[str, Any, TabularSource]


def written(name: str, frame: pd.DataFrame, place: Any) -> TabularSource:
    READERS[name].write(frame, place)
    return READERS[name].source(place)


@pytest.fixture(params=marked(*READERS))
def made(request: pytest.FixtureRequest, tmp_path: Path) -> Made:
    """A reader by its name, where its records lie, and the source of them."""
    place = place_of(request.param, request, tmp_path)
    return request.param, place, written(request.param, READERS[request.param].records(), place)


def read(source: TabularSource, *columns: str, size: int = 100) -> pd.DataFrame:
    """All records as text, having come in batches of this size at most, each with an index of its own."""
    batches = list(source.batches(columns, size))
    assert all(0 < len(batch) <= size for batch in batches)
    assert all(list(batch) == list(columns) and batch.index.equals(pd.RangeIndex(len(batch))) for batch in batches)
    return as_text(pd.concat([batch.astype(object) for batch in batches]))


def refused(source: TabularSource, *columns: str) -> str:
    """The sentence, which names the source."""
    says = refusal(source, *columns)
    assert source.title in says
    return says


def test_no_reader_is_without_a_promise(tmp_path: Path) -> None:
    declared = {READERS[name].source(tmp_path / "data").model_dump()["type"] for name in READERS}
    assert declared | SUMMARIES == set(process._MODELS)


def test_values_and_types_come_back(made: Made) -> None:
    name, _, source = made
    reader, columns = READERS[name], NAMES[::-1]
    found = pa.concat_tables(list(source.tables(columns, 100)), promote_options="permissive")
    assert {each.name: str(each.type).removeprefix("large_") for each in found.schema} == reader.types
    expected = as_text(reader.records())
    pd.testing.assert_frame_equal(read(source, *columns), expected[columns])
    for column in NAMES:
        gaps = [cell in (None, "") for cell in found[column].to_pylist()]
        assert gaps == records()[column].isna().tolist(), column


@pytest.mark.parametrize("size", [1, 5, 12])
def test_batches_of_any_size_are_the_whole(made: Made, size: int) -> None:
    _, _, source = made
    pd.testing.assert_frame_equal(read(source, *NAMES, size=size), read(source, *NAMES))
    assert sum(len(batch) for batch in source.batches(["code"], size)) == len(records())


def test_columns_that_nobody_asked_for_are_named_and_those_that_are_not_there_refused(made: Made) -> None:
    _, _, source = made
    assert source.column_names(NAMES) == NAMES
    for absent in ("tonw", "CODE"):
        golden.words(refused(source, "code", "pay", absent))


def test_names_may_be_strange(request: pytest.FixtureRequest, name: str, tmp_path: Path) -> None:
    names = READERS[name].names
    frame = pd.DataFrame({each: [at, at + 1] for at, each in enumerate(names)})
    source = written(name, frame, place_of(name, request, tmp_path))
    assert source.column_names() == names
    pd.testing.assert_frame_equal(read(source, *names[::-1]), as_text(frame[names[::-1]]))


def test_no_record_is_refused(request: pytest.FixtureRequest, name: str, tmp_path: Path) -> None:
    golden(refused(written(name, READERS[name].records(0), place_of(name, request, tmp_path)), "code"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Tests that write other records than those of `made`."""
    if "name" in metafunc.fixturenames:
        metafunc.parametrize("name", marked(*READERS))


def cut(content: bytes) -> bytes:
    """Half of it; of lines, in the first cell of one."""
    half = len(content) // 2
    return content[:half] if b"\0" in content else content[: content.index(b"\n", half) + 3]


KINDS = {
    "empty": lambda content: b"",
    "of another kind": lambda content: b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + content[40:],
    "cut short": cut,
    "damaged": lambda content: content[: len(content) // 3] + bytes(len(content) // 3) + content[-len(content) // 3 :],
}


@pytest.mark.parametrize(
    ("name_of_file", "kind"),
    [(name, kind) for name in OF_FILES for kind in KINDS if READERS[name].notices or kind != "damaged"],
)
def test_what_is_no_whole_file_is_refused(tmp_path: Path, name_of_file: str, kind: str) -> None:
    path = tmp_path / "data"
    source = written(name_of_file, records(600).assign(town=SECRET), path)
    path.write_bytes(KINDS[kind](path.read_bytes()))
    golden.words(refused(source, *NAMES))


@pytest.mark.parametrize(("name_of_file", "part"), [("arrow stream", 8), ("sas transport", 80)])
def test_a_file_that_breaks_off_between_two_of_its_parts_is_not_taken_for_a_shorter_one(
    tmp_path: Path, name_of_file: str, part: int
) -> None:
    source = written(name_of_file, READERS[name_of_file].records().assign(town=SECRET), tmp_path / "data")
    whole = (tmp_path / "data").read_bytes()
    for end in range(len(whole) // 2 // part * part, len(whole), part):
        (tmp_path / "data").write_bytes(whole[:end])
        refused(source, *NAMES)


@pytest.mark.parametrize("name_of_file", OF_FILES)
def test_a_file_that_is_not_there_is_named_with_the_nearest(tmp_path: Path, name_of_file: str) -> None:
    source = written(name_of_file, READERS[name_of_file].records(), tmp_path / "data")
    (tmp_path / "data").rename(tmp_path / "datas")
    with golden.raises(DataError):
        list(source.batches(["code"]))


# -- as it is found by its bytes, and read apart


@pytest.mark.parametrize("name_of_file", OF_FILES)
def test_a_file_is_recognised_by_its_bytes_and_read_the_same(tmp_path: Path, name_of_file: str) -> None:
    source = written(name_of_file, READERS[name_of_file].records(), tmp_path / "data")
    found = recognise(tmp_path / "data", layout=tmp_path / "layout.csv" if name_of_file == "fixed width" else None)
    assert found.written(tmp_path)["path"] == "data"
    assert READERS[name_of_file].source(tmp_path / "data").type in ("sql", found.written(tmp_path)["type"])
    pd.testing.assert_frame_equal(read(found.records, *NAMES), read(source, *NAMES))


@pytest.mark.servers
@pytest.mark.parametrize(
    "name_of_file", [pytest.param(name, marks=pytest.mark.smoke) if name == "csv" else name for name in OF_FILES]
)
def test_a_definition_s_source_is_read_the_same_by_the_process_apart(
    tmp_path: Path, name_of_file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLUICE_HOME", str(tmp_path / "home"))
    here = written(name_of_file, READERS[name_of_file].records(), tmp_path / "data")
    found = recognise(tmp_path / "data", layout=tmp_path / "layout.csv" if name_of_file == "fixed width" else None)
    adapter: TypeAdapter[Source] = TypeAdapter(Source)
    source = permitted_source(adapter.validate_python(found.written(tmp_path)), tmp_path)
    for one, other in zip(here.batches(NAMES, 5), read_apart(source, NAMES, 5), strict=True):
        pd.testing.assert_frame_equal(one, other)
