"""Versions of the ledger and the vault: one from before versions is upgraded, one of a later Sluice is refused."""

import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.config import Config
from alembic.script import ScriptDirectory

from sluice.custody import ledger_schema
from sluice.custody.ledger import Ledger
from sluice.custody.ledger_database import ROWS, LedgerDatabase
from sluice.custody.ledger_schema import BEFORE_VERSIONS, VERSION, VERSION_TABLE
from sluice.custody.workspace import Workspace
from sluice.ground.databases import database_url
from sluice.ground.errors import SluiceError
from tests.conftest import LedgerRoles
from tests.custody.ledgers import KEY, LIFE, attack
from tests.golden import golden

# A workspace as the last Sluice without versions wrote it; the vault's secret was the bytes 0 to 31.
BEFORE = Path(__file__).parents[1] / "before_versions"


@pytest.fixture
def old_home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    for folder in ("", "vault", "vault/seeds", "vault/objects", "vault/scratch"):
        (home / folder).mkdir(mode=0o700)
    (home / "vault" / "secret").write_bytes(KEY)
    shutil.copy(BEFORE / "anchor", home / "vault" / "anchor")
    with closing(sqlite3.connect(home / "ledger.db")) as database:
        database.executescript((BEFORE / "ledger.sql").read_text())
    for file in home.rglob("*"):
        file.chmod(0o700 if file.is_dir() else 0o600)
    return home


def test_the_version_is_that_of_the_latest_migration() -> None:
    configuration = Config()
    configuration.set_main_option("script_location", str(Path(ledger_schema.__file__).parent))
    configuration.set_main_option("path_separator", "os")
    assert ScriptDirectory.from_config(configuration).get_heads() == [VERSION]
    assert BEFORE_VERSIONS < VERSION


def test_a_workspace_from_before_versions_is_upgraded(old_home: Path) -> None:
    with golden.raises(SluiceError):
        Workspace.open(old_home)
    assert LedgerDatabase(f"sqlite:///{old_home}/ledger.db").upgrade() == BEFORE_VERSIONS
    workspace = Workspace.open(old_home)
    assert workspace.ledger.verify() == []
    assert [entry.event for entry in workspace.ledger.entries("fair-1")] == LIFE
    assert (old_home / "vault" / "format").read_text() == "1\n"
    workspace.ledger.append("fair-1", "note", "amara", {})
    assert workspace.ledger.verify() == []
    assert LedgerDatabase(f"sqlite:///{old_home}/ledger.db").upgrade() == VERSION  # done again, it is no harm


def test_a_trigger_that_was_taken_away_is_put_back(old_home: Path) -> None:
    url = f"sqlite:///{old_home}/ledger.db"
    attack(url, "DROP TRIGGER sluice_ledger_delete")
    LedgerDatabase(url).upgrade()
    with pytest.raises(sa.exc.DatabaseError, match="append-only"):
        attack(url, "DELETE FROM sluice_ledger")


@pytest.mark.smoke
@pytest.mark.servers
def test_in_postgresql_the_keeper_upgrades_and_the_writer_only_looks(
    ledger_in_postgresql: LedgerRoles, tmp_path: Path
) -> None:
    roles = ledger_in_postgresql
    ledger = Ledger(roles.writer, KEY, tmp_path / "anchor")
    for event in LIFE:
        ledger.append("fair-1", event, "amara", {})
    attack(roles.superuser, f"DROP TABLE {VERSION_TABLE}")
    with golden.raises(SluiceError):
        Ledger(roles.writer, KEY, tmp_path / "anchor")
    with golden.raises(SluiceError):
        LedgerDatabase(roles.writer).upgrade()
    assert LedgerDatabase(roles.owner).upgrade() == BEFORE_VERSIONS
    upgraded = Ledger(roles.writer, KEY, tmp_path / "anchor")
    assert upgraded.weaknesses == ()
    assert upgraded.verify() == []
    upgraded.append("fair-1", "note", "amara", {})
    for statement in (f"UPDATE {VERSION_TABLE} SET version_num = '9'", f"DROP TABLE {VERSION_TABLE}"):
        with pytest.raises(sa.exc.DatabaseError, match=r"permission denied|must be owner"):
            attack(roles.writer, statement, role=None)


def test_a_ledger_of_a_later_version_is_refused(lived: Ledger, url: str, tmp_path: Path) -> None:
    attack(url, f"UPDATE {VERSION_TABLE} SET version_num = '0999'")
    for refused in (lambda: Ledger(url, KEY, tmp_path / "anchor"), lambda: LedgerDatabase(url).upgrade()):
        with golden.raises(SluiceError):
            refused()


def test_nothing_is_upgraded_where_there_is_no_ledger(tmp_path: Path) -> None:
    with golden.raises(SluiceError):
        LedgerDatabase(f"sqlite:///{tmp_path}/ledger.db").upgrade()


def test_the_migrations_make_the_table_that_is_read(lived: Ledger, url: str) -> None:
    engine = sa.create_engine(database_url(url))
    made = {column["name"]: column for column in sa.inspect(engine).get_columns("sluice_ledger")}
    engine.dispose()
    assert [*made] == [column.name for column in ROWS.columns]
    assert not any(column["nullable"] for column in made.values())
    kinds = {name: re.sub(r"\(.*", "", str(column["type"])) for name, column in made.items()}
    assert kinds == {column.name: str(column.type) for column in ROWS.columns}
