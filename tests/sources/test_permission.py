"""Where a release may be published into a database is the operator's to say, and never where its sources are read."""

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest
import sqlalchemy as sa

from sluice.ground.errors import DocumentError, SluiceError
from sluice.sources.permission import permitted_file, permitted_schema, schemas_of_sources
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


HOUSE = {"url": "postgresql://r@host/house", "schemas": ["survey"]}
ONE_SERVER = {"url": "postgresql://reader@localhost/house"}
OPEN_DATA = {"url": "postgresql://writer@localhost/house", "schemas": ["open_data", "apart"]}


def of_one_account(reads: str, writes: str) -> tuple[dict[str, Any], dict[str, Any], str]:
    """Whoever gets hold of an account that reads sources, or a mistake here, would change what is released next."""
    secrets = {"secrets": ["PW", "WHOLE"]}
    return {"url": reads, "schemas": ["s"], **secrets}, {"url": writes, "secrets": ["PW"]}, "main"


def by_the_name(server: str) -> tuple[dict[str, Any], dict[str, Any], str]:
    """The account that reads is known by every name of its server."""
    publishing = {"url": f"postgresql://reader@{server}/open", "schemas": ["open_data"]}
    return ONE_SERVER | {"schemas": ["survey"]}, publishing, "open_data"


REFUSED: dict[str, tuple[dict[str, Any] | None, dict[str, Any], str]] = {  # what is read, where is published, into what
    "another schema": (HOUSE, {}, "survey"),
    "the account that reads": of_one_account("postgresql://u@host/house", "postgresql://u@host/open"),
    "by another driver": of_one_account("postgresql+psycopg://u@host/house", "postgresql://u@host/house"),
    "by a secret": of_one_account("postgresql://u:${PW}@host/house", "postgresql://u:${PW}@host/house"),
    "by an address that is a secret": of_one_account("${WHOLE}", "postgresql://u@host/house"),
    "a file that is read": ({"url": "duckdb:///{root}/link.duckdb", "schemas": ["main"]}, {}, "main"),
    "a file in the workspace": (None, {"url": "duckdb:///{root}/home/x.duckdb"}, "main"),
    "a file that is nowhere": (None, {"url": "duckdb:////nowhere/x.duckdb"}, "main"),
    "a database of which nobody tried what it keeps": (None, {"url": "oracle://w@host/?service_name=x"}, "main"),
    "a secret that a withdrawal could not get": (
        None, {"url": "postgresql://w:${block:pw}@host/x", "secrets": ["block:pw"]}, "main"
    ),
    # By whatever account: it would own the schema, and so could put another table in the place of a source.
    "a schema that is read": (ONE_SERVER | {"schemas": ["open_data"]}, OPEN_DATA, "open_data"),
    "a schema of a table that is read": (ONE_SERVER | {"tables": ["open_data.people"]}, OPEN_DATA, "open_data"),
    **{f"the account by {name}": by_the_name(name) for name in ("127.0.0.1:5432", "localhost", "LOCALHOST.", "[::1]")},
}  # fmt: skip


@pytest.mark.parametrize("which", REFUSED)
def test_nothing_is_published_elsewhere_nor_where_sources_are_read(
    operator: Operator, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, which: str
) -> None:
    monkeypatch.setenv("PW", SECRET)
    monkeypatch.setenv("WHOLE", f"postgresql://u:{SECRET}@host/house")
    duckdb.connect(operator.home / "x.duckdb").close()
    (tmp_path / "link.duckdb").symlink_to(operator.public)
    reading, publishing, into = REFUSED[which]

    def placed(each: dict[str, Any]) -> dict[str, Any]:
        return each | {"url": each["url"].replace("{root}", str(tmp_path))} if "url" in each else each

    operator.lets(placed(reading) if reading else None, **placed(publishing))
    golden.words(operator.refuses(into=into))
    if "apart" in publishing.get("schemas", ()):
        assert permitted_schema("open", "apart")


def test_another_connection_and_a_file_that_others_write_are_refused(operator: Operator) -> None:
    operator.lets(HOUSE)
    golden.words(operator.refuses("warehouse"))
    operator.lets()
    operator.public.chmod(0o666)
    golden.words(operator.refuses())


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


def test_a_file_that_the_projects_own_connections_list_names_the_export(operator: Operator, tmp_path: Path) -> None:
    """A drafted connections.yaml counts only where the operator puts it, which nobody guesses."""
    releases, data = tmp_path / "project" / "releases", tmp_path / "data"
    releases.mkdir(parents=True)
    data.mkdir()
    (data / "people.csv").write_text("age\n1\n")
    drafted = tmp_path / "project" / "connections.yaml"
    for listed, named in (("elsewhere", False), ("data", True)):
        drafted.write_text(json.dumps({"connections": {}, "files": [str(tmp_path / listed)]}))
        with pytest.raises(DocumentError) as raised:
            permitted_file(releases, "../../data/people.csv", "source.path")
        assert (f"export SLUICE_CONNECTIONS={drafted}" in str(raised.value)) is named
    golden.words(str(raised.value))
