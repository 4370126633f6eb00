"""Where a release may be published into a database is the operator's to say, and never where its sources are read."""

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest
import sqlalchemy as sa

from sluice.errors import DataError, DocumentError, SluiceError
from sluice.sources.permitted_schema import permitted_schema, schemas_of_sources
from tests.golden import golden

SECRET = "geheim-4711"


class Operator:
    def __init__(self, root: Path) -> None:
        self.home, self.public = root / "home", root / "public.duckdb"
        self.home.mkdir()
        duckdb.connect(self.public).close()
        self.public.chmod(0o644)

    def lets(self, reading: dict[str, Any] | None = None, **public: Any) -> None:
        file = self.home / "connections.yaml"
        file.touch(mode=0o600)
        open_data = {"url": f"duckdb:///{self.public}", "schemas": ["main"]} | public
        connections = {"warehouse": reading} if reading else {}
        file.write_text(json.dumps({"connections": connections, "publication": {"open": open_data}}))

    def refuses(self, connection: str = "open", into: str = "main") -> str:
        with pytest.raises(SluiceError) as raised:
            permitted_schema(connection, into)
        assert SECRET not in str(raised.value)
        return str(raised.value)


@pytest.fixture
def operator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Operator:
    monkeypatch.setenv("SLUICE_HOME", str(tmp_path / "home"))
    return Operator(tmp_path)


def test_a_listed_schema_is_published_into(operator: Operator, monkeypatch: pytest.MonkeyPatch) -> None:
    operator.lets()
    assert permitted_schema("open", "main") == f"duckdb:///{operator.public}"
    operator.lets(url="postgresql://w:${PW}@host/house", secrets=["PW"])
    monkeypatch.setenv("PW", SECRET)
    assert permitted_schema("open", "main") == f"postgresql+psycopg://w:{SECRET}@host/house"


def test_no_other_connection_or_schema(operator: Operator) -> None:
    operator.lets({"url": "postgresql://r@host/house", "schemas": ["survey"]})
    golden.words(operator.refuses("warehouse"))
    golden.words(operator.refuses(into="survey"))


@pytest.mark.parametrize(
    ("reads", "writes"),
    [
        ("postgresql://u@host/house", "postgresql://u@host/open"),
        ("postgresql+psycopg://u@host/house", "postgresql://u@host/house"),
        ("postgresql://u:${PW}@host/house", "postgresql://u:${PW}@host/house"),
        ("${WHOLE}", "postgresql://u@host/house"),
    ],
)
def test_an_account_that_reads_sources_publishes_nothing(
    operator: Operator, monkeypatch: pytest.MonkeyPatch, reads: str, writes: str
) -> None:
    """Else whoever gets hold of it, or a mistake here, changes what is released next."""
    monkeypatch.setenv("PW", SECRET)
    monkeypatch.setenv("WHOLE", f"postgresql://u:{SECRET}@host/house")
    operator.lets({"url": reads, "secrets": ["PW", "WHOLE"], "schemas": ["s"]}, url=writes, secrets=["PW"])
    golden.words(operator.refuses())


def test_nor_does_a_file_that_is_read(operator: Operator, tmp_path: Path) -> None:
    (tmp_path / "link.duckdb").symlink_to(operator.public)
    operator.lets({"url": f"duckdb:///{tmp_path}/link.duckdb", "schemas": ["main"]})
    golden.words(operator.refuses())


def test_a_file_that_others_write_or_that_lies_in_the_workspace(operator: Operator) -> None:
    operator.lets()
    operator.public.chmod(0o666)
    golden.words(operator.refuses())
    duckdb.connect(operator.home / "x.duckdb").close()
    operator.lets(url=f"duckdb:///{operator.home}/x.duckdb")
    golden.words(operator.refuses())
    operator.lets(url="duckdb:////nowhere/x.duckdb")
    with golden.raises(DataError):
        permitted_schema("open", "main")


def test_a_database_of_which_nobody_tried_what_it_keeps(operator: Operator) -> None:
    operator.lets(url="oracle://w@host/?service_name=x")
    golden.words(operator.refuses())


def test_a_secret_that_a_withdrawal_could_not_get_is_refused(operator: Operator) -> None:
    operator.lets(url="postgresql://w:${block:pw}@host/x", secrets=["block:pw"])
    with golden.raises(DocumentError):
        permitted_schema("open", "main")


@pytest.mark.parametrize(
    ("reading", "publishing", "found"),
    [
        ("postgresql://reader@localhost/house", "postgresql://writer@127.0.0.1:5432/house", ("etl", "survey")),
        ("postgresql://reader@db.internal/house", "postgresql://writer@DB.internal./house", ("etl", "survey")),
        ("postgresql://reader@db.internal/house", "postgresql://writer@db.internal/open", ()),
        ("postgresql://reader@db.internal:5433/house", "postgresql://writer@db.internal/house", ()),
        ("mysql://reader@localhost/house", "mariadb://writer@localhost/open", ("etl", "survey")),
        ("postgresql://reader@one.internal/house", "postgresql://writer@two.internal/house", ()),
    ],
)
def test_schemas_of_sources_are_those_of_the_same_server(
    operator: Operator, reading: str, publishing: str, found: tuple[str, ...]
) -> None:
    operator.lets({"url": reading, "schemas": ["survey"], "tables": ["etl.loads"]})
    assert schemas_of_sources(sa.make_url(publishing)) == found


@pytest.mark.parametrize("read", [{"schemas": ["open_data"]}, {"tables": ["open_data.people"]}])
def test_nothing_is_published_into_a_schema_that_is_read(operator: Operator, read: dict[str, Any]) -> None:
    """By whatever account: it would own the schema, and so could put another table in the place of a source."""
    publishing: dict[str, Any] = {"url": "postgresql://writer@localhost/house", "schemas": ["open_data", "apart"]}
    operator.lets({"url": "postgresql://reader@localhost/house", **read}, **publishing)
    golden.words(operator.refuses(into="open_data"))
    assert permitted_schema("open", "apart")


@pytest.mark.parametrize("publishing", ["127.0.0.1:5432", "localhost", "LOCALHOST.", "[::1]"])
def test_the_account_that_reads_is_known_by_every_name_of_its_server(operator: Operator, publishing: str) -> None:
    reading = {"url": "postgresql://reader@localhost/house", "schemas": ["survey"]}
    operator.lets(reading, url=f"postgresql://reader@{publishing}/open", schemas=["open_data"])
    golden.words(operator.refuses(into="open_data"))
