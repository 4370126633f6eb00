"""`make data`: what is downloaded is believed by its SHA-256 alone; without a network it says what to do."""

import gzip
import hashlib
import os
import zipfile
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import duckdb
import pytest
import yaml

from deployments import data
from deployments.data import FILES, ROOT, DataFile, FetchError, provide
from deployments.warehouse import build_warehouse
from tests.golden import golden

pytestmark = pytest.mark.chain

CONTENT = b"39, State-gov, 77516\n"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """The address of a server on this machine, with a file of the right and one of another content."""
    folder = tmp_path / "served"
    folder.mkdir()
    (folder / "right.data").write_bytes(CONTENT)
    (folder / "right.data.gz").write_bytes(gzip.compress(CONTENT))
    (folder / "wrong.data").write_bytes(CONTENT + b"one more\n")
    with zipfile.ZipFile(folder / "right.zip", "w") as archive:
        archive.writestr("adult/adult.data", CONTENT)
    (folder / "broken.zip").write_bytes((folder / "right.zip").read_bytes()[:-9])
    (folder / "broken.data.gz").write_bytes(gzip.compress(CONTENT)[:-4])

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *arguments: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as serving:
        Thread(target=serving.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{serving.server_port}"
        serving.shutdown()


def wanted(url: str) -> DataFile:
    return DataFile("adult.data.gz", url, hashlib.sha256(CONTENT).hexdigest(), "adult/adult.data.gz")


def have(url: str, tmp_path: Path) -> str:
    return provide(wanted(url), tmp_path / "data", tmp_path / "reference")


@pytest.mark.parametrize("name", ["right.data", "right.data.gz", "right.zip#adult/adult.data"])
def test_the_right_content_is_kept_and_not_fetched_again(server: str, tmp_path: Path, name: str) -> None:
    assert "was downloaded" in have(f"{server}/{name}", tmp_path)
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["adult.data.gz"]
    assert gzip.decompress((tmp_path / "data" / "adult.data.gz").read_bytes()) == CONTENT
    assert have("http://127.0.0.1:9/nobody-is-asked", tmp_path) == "is there"


@pytest.mark.parametrize(
    "name", ["wrong.data", "broken.data.gz", "absent.data", "broken.zip#adult/adult.data", "right.zip#adult/other.data"]
)
def test_anything_else_is_refused_and_nothing_is_left_behind(server: str, tmp_path: Path, name: str) -> None:
    golden.refused(FetchError, have, f"{server}/{name}", tmp_path)
    assert list((tmp_path / "data").iterdir()) == []


def test_without_a_network_it_says_what_to_do(tmp_path: Path) -> None:
    golden.refused(FetchError, have, "http://127.0.0.1:9/adult.data", tmp_path)


def test_a_table_of_r_is_asked_for_and_what_r_wrote_is_believed(tmp_path: Path) -> None:
    table = DataFile("census.csv", "write.csv(census, 'census.csv')", hashlib.sha256(CONTENT).hexdigest(), "census.csv")
    golden.refused(FetchError, provide, table, tmp_path / "data", tmp_path / "reference")
    (tmp_path / "census.csv").write_bytes(CONTENT)
    assert str(tmp_path) in provide(table, tmp_path / "data", tmp_path)
    (tmp_path / "data" / "census.csv").unlink()
    (tmp_path / "data" / "census.csv").write_bytes(b"39.0, State-gov, 77516\n")
    assert provide(table, tmp_path / "data", tmp_path) == "is there"


def test_the_reference_data_are_read_where_they_lie(tmp_path: Path) -> None:
    known = tmp_path / "reference" / "adult" / "adult.data.gz"
    known.parent.mkdir(parents=True)
    known.write_bytes(gzip.compress(CONTENT))
    assert str(tmp_path / "reference") in have("http://127.0.0.1:9/nobody-is-asked", tmp_path)
    assert (tmp_path / "data" / "adult.data.gz").resolve() == known
    known.write_bytes(gzip.compress(b"another"))
    golden.refused(FetchError, have, "http://127.0.0.1:9/nobody-is-asked", tmp_path)


def test_the_pinned_content_is_that_of_the_reference_data(reference_data: Path, tmp_path: Path) -> None:
    for file in FILES:
        assert "is that of" in provide(file, tmp_path, reference_data)


def test_every_shipped_definition_has_its_data_from_there() -> None:
    """A file of ./data that is provided, or the table of the warehouse."""
    for path in (ROOT / "deployments" / "releases").glob("*.yaml"):
        source = yaml.safe_load(path.read_text(encoding="utf-8"))["source"]
        if "connection" in source:
            assert source["connection"] == "warehouse"
            assert source["table"] in ("survey.fair", "survey.anes96")
            continue
        paths = [source["path"]] if isinstance(source["path"], str) else source["path"]
        for each in paths:
            place = Path(os.path.normpath(path.parent / each))
            assert place in [ROOT / "data" / file.name for file in FILES]


def test_the_warehouse_has_the_survey(tmp_path: Path) -> None:
    assert build_warehouse(tmp_path / "new" / "warehouse.duckdb") == 6366
    with duckdb.connect(tmp_path / "new" / "warehouse.duckdb", read_only=True) as warehouse:
        assert warehouse.execute("SELECT count(DISTINCT respondent) FROM survey.fair").fetchone() == (6366,)
        assert warehouse.execute("SELECT count(DISTINCT respondent) FROM survey.anes96").fetchone() == (944,)


def test_a_folder_of_reference_data_that_is_named_later_may_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the command says where there is no network."""
    monkeypatch.setattr(data, "FOLDER", tmp_path / "data")
    monkeypatch.setattr(data, "FILES", ())
    for name in ("named of old", "named"):  # of which one begins as the other
        monkeypatch.setattr(data, "REFERENCE_DATA", tmp_path / name)
        assert data.main() == 0
    written = tmp_path / "data" / "connections.yaml"
    assert str(tmp_path / "named") in yaml.safe_load(written.read_text(encoding="utf-8"))["files"]
    written.write_text(f"# of my own\nfiles: [{tmp_path / 'named'}]\n", encoding="utf-8")
    assert data.main() == 0
    assert written.read_text(encoding="utf-8").startswith("# of my own")
