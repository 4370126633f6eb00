"""The database of a ledger: it refuses to change history, finds a release by its index and says what is wrong."""

from pathlib import Path

import pytest
import sqlalchemy as sa

from sluice.custody import ledger_database
from sluice.custody.ledger import Ledger
from sluice.custody.ledger_database import LedgerDatabase
from sluice.custody.states import State
from sluice.ground.databases import database_url
from sluice.ground.errors import SluiceError
from tests.conftest import LedgerRoles
from tests.custody.ledgers import KEY, LIFE, attack
from tests.golden import golden


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE sluice_ledger SET actor = 'x' WHERE seq = 3",
        "DELETE FROM sluice_ledger WHERE seq = 3",
        "DELETE FROM sluice_ledger",
    ],
)
def test_the_database_refuses_to_change_history(lived: Ledger, url: str, statement: str) -> None:
    with pytest.raises(sa.exc.DatabaseError, match="append-only"):
        attack(url, statement)
    assert len(lived.entries()) == len(LIFE)


def test_sqlite_refuses_to_replace_a_row_and_postgresql_to_truncate(lived: Ledger, url: str) -> None:
    replace = "INSERT OR REPLACE INTO sluice_ledger SELECT 3, at, release, event, 'x', body, previous, hash"
    statement = f"{replace} FROM sluice_ledger WHERE seq = 3" if "sqlite" in url else "TRUNCATE sluice_ledger"
    with pytest.raises(sa.exc.DatabaseError, match="append-only"):
        attack(url, statement)
    assert len(lived.entries()) == len(LIFE)


CHANGES = [
    "UPDATE sluice_ledger SET actor = 'x' WHERE seq = 3",
    "DELETE FROM sluice_ledger",
    "TRUNCATE sluice_ledger",
    "INSERT INTO sluice_ledger SELECT * FROM sluice_ledger WHERE seq = 3 ON CONFLICT (seq) DO UPDATE SET actor = 'x'",
    "SELECT * FROM sluice_ledger FOR UPDATE",
    "ALTER TABLE sluice_ledger DISABLE TRIGGER ALL",
    "ALTER TABLE sluice_ledger DISABLE TRIGGER sluice_ledger_keep",
    "DROP TRIGGER sluice_ledger_keep ON sluice_ledger",
    "CREATE TRIGGER more BEFORE INSERT ON sluice_ledger EXECUTE FUNCTION sluice_ledger_refuse()",
    "CREATE RULE more AS ON INSERT TO sluice_ledger DO INSTEAD NOTHING",
    "CREATE OR REPLACE FUNCTION sluice_ledger_refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
    "DROP FUNCTION sluice_ledger_refuse() CASCADE",
    "ALTER TABLE sluice_ledger RENAME TO aside",
    "ALTER TABLE sluice_ledger ADD COLUMN more text",
    "ALTER TABLE sluice_ledger OWNER TO CURRENT_USER",
    "ALTER TABLE sluice_ledger ENABLE ROW LEVEL SECURITY",
    "DROP TABLE sluice_ledger",
    "DROP INDEX sluice_ledger_hash_key",
    "DROP SCHEMA public CASCADE",
    "ALTER SCHEMA public RENAME TO aside",
    "CREATE SCHEMA evil",
    "SET session_replication_role = replica",
    "COPY sluice_ledger TO PROGRAM 'cat'",
]


@pytest.mark.parametrize("statement", CHANGES)
def test_the_role_that_appends_can_do_nothing_else(
    ledger_in_postgresql: LedgerRoles, tmp_path: Path, statement: str
) -> None:
    url = ledger_in_postgresql.writer
    ledger = Ledger(url, KEY, tmp_path / "anchor")
    for event in LIFE:
        ledger.append("fair-1", event, "amara", {})
    assert ledger.weaknesses == ()
    with pytest.raises(sa.exc.DatabaseError, match=r"permission denied|must be owner"):
        attack(url, statement, role=None)
    assert ledger.verify() == []


def test_the_owner_meets_the_trigger_first_and_the_hashes_then(
    ledger_in_postgresql: LedgerRoles, tmp_path: Path
) -> None:
    """The trigger holds the owner back until it is taken away; what was done then is found."""
    owner = ledger_in_postgresql.owner
    ledger = Ledger(ledger_in_postgresql.writer, KEY, tmp_path / "anchor")
    ledger.append("fair-1", "received", "amara", {})
    for statement in ("UPDATE sluice_ledger SET actor = 'x'", "DELETE FROM sluice_ledger", "TRUNCATE sluice_ledger"):
        with pytest.raises(sa.exc.DatabaseError, match="append-only"):
            attack(owner, statement, role=None)
    attack(owner, "ALTER TABLE sluice_ledger DISABLE TRIGGER ALL", "UPDATE sluice_ledger SET actor = 'x'", role=None)
    golden(ledger.verify())
    [weakness] = Ledger(ledger_in_postgresql.writer, KEY, tmp_path / "anchor").weaknesses
    golden(weakness)


@pytest.mark.parametrize(
    ("given", "can"),
    [
        ("ALTER TABLE sluice_ledger OWNER TO {writer}", "owns the table"),
        ("GRANT {owner} TO {writer}", "owns the table"),
        ("ALTER FUNCTION sluice_ledger_refuse() OWNER TO {writer}", "owns the function of its trigger"),
        ("ALTER SCHEMA public OWNER TO {writer}", "owns the schema"),
        ("ALTER DATABASE {database} OWNER TO {writer}", "owns the database"),
        ("GRANT UPDATE ON sluice_ledger TO {writer}", "may change or remove rows"),
        ("GRANT UPDATE (actor) ON sluice_ledger TO {writer}", "may change or remove rows"),
        ("GRANT DELETE ON sluice_ledger TO PUBLIC", "may change or remove rows"),
        ("GRANT TRUNCATE ON sluice_ledger TO {writer}", "may change or remove rows"),
        ("GRANT pg_write_all_data TO {writer}", "may change or remove rows"),
        ("GRANT TRIGGER ON sluice_ledger TO {writer}", "may make triggers"),
        ("ALTER ROLE {writer} CREATEROLE", "may make roles"),
        ("ALTER ROLE {writer} SUPERUSER", "is a superuser"),
        ("GRANT pg_execute_server_program TO {writer}", "may run programs or write files on the server"),
    ],
)
def test_a_role_that_may_do_more_is_warned_of(
    ledger_in_postgresql: LedgerRoles, tmp_path: Path, caplog: pytest.LogCaptureFixture, given: str, can: str
) -> None:
    roles = ledger_in_postgresql
    names = {"writer": database_url(roles.writer).username, "owner": database_url(roles.owner).username}
    attack(roles.superuser, given.format(database=database_url(roles.owner).database, **names))
    with caplog.at_level("WARNING", "sluice"):
        found = Ledger(roles.writer, KEY, tmp_path / "anchor").weaknesses
    assert any(f" {can}, so that it can change history" in weakness for weakness in found)
    assert [record.levelname for record in caplog.records] == ["WARNING"] * len(found)


def test_a_search_path_of_the_role_leads_nowhere_else(ledger_in_postgresql: LedgerRoles, tmp_path: Path) -> None:
    """A role may set its own search path: with a table and functions in a schema of its own, it would be believed."""
    roles = ledger_in_postgresql
    writer = database_url(roles.writer).username
    attack(
        roles.superuser,
        f"CREATE SCHEMA {writer} AUTHORIZATION {writer}",
        f"CREATE TABLE {writer}.sluice_ledger (LIKE sluice_ledger)",
        f"CREATE FUNCTION {writer}.max(bigint) RETURNS bigint LANGUAGE sql AS 'SELECT 0::bigint'",
        f"GRANT ALL ON {writer}.sluice_ledger TO {writer}",
    )
    attack(roles.writer, f"ALTER ROLE {writer} SET search_path = {writer}, pg_catalog", role=None)
    ledger = Ledger(roles.writer, KEY, tmp_path / "anchor")
    ledger.append("fair-1", "received", "amara", {})
    assert ledger.verify() == []
    engine = sa.create_engine(database_url(roles.superuser))
    with engine.connect() as connection:
        counts = [
            connection.exec_driver_sql(f"SELECT count(*) FROM {schema}.sluice_ledger").scalar()
            for schema in ("public", writer)
        ]
    engine.dispose()
    assert counts == [1, 0]


def test_the_role_that_appends_must_be_another_than_the_owner(
    ledger_in_postgresql: LedgerRoles, tmp_path: Path
) -> None:
    roles = ledger_in_postgresql
    with golden.raises(SluiceError):
        LedgerDatabase(roles.owner).create(str(database_url(roles.owner).username))
    with golden.raises(SluiceError):
        LedgerDatabase(roles.owner).create("nobody; DROP TABLE sluice_ledger")
    with golden.raises(SluiceError):
        LedgerDatabase(f"sqlite:///{tmp_path}/ledger.db").create("sluice")
    LedgerDatabase(roles.owner).create(str(database_url(roles.writer).username))  # done again, it is no harm
    assert Ledger(roles.writer, KEY, tmp_path / "anchor").weaknesses == ()


def test_a_database_without_a_table_is_not_given_one_by_the_way(postgresql: str, tmp_path: Path) -> None:
    with golden.raises(SluiceError):
        Ledger(postgresql, KEY, tmp_path / "anchor")
    assert not (tmp_path / "anchor").exists()


def test_a_release_is_found_by_an_index(lived: Ledger, url: str) -> None:
    engine = sa.create_engine(database_url(url))
    assert ["release"] in [index["column_names"] for index in sa.inspect(engine).get_indexes("sluice_ledger")]
    engine.dispose()


def test_its_statements_are_compiled_once_for_all_who_open_it(tmp_path: Path) -> None:
    """A process that lives long opens it for each request: it would hold ever more of them."""

    def compiled_after(release: str) -> set[object]:
        ledger = Ledger(f"sqlite:///{tmp_path / 'ledger.db'}", KEY, tmp_path / "anchor")
        ledger.append(release, State.RECEIVED, "somebody", {})
        assert len(ledger.entries(release)) == 1
        return {*map(id, ledger_database._COMPILED.values())}

    compiled_after("first")  # its table is made
    assert compiled_after("second") == compiled_after("third")


def test_a_read_only_database_can_be_read_and_says_why_it_cannot_be_written(
    lived: Ledger, url: str, tmp_path: Path
) -> None:
    if "sqlite" in url:
        closed = f"sqlite:///file:{tmp_path}/ledger.db?mode=ro&uri=true"
    else:
        closed = f"{url}{'&' if '?' in url else '?'}options=-c%20default_transaction_read_only%3Don"
    ledger = Ledger(closed, KEY, tmp_path / "anchor")
    assert ledger.verify() == []
    with golden.raises(SluiceError):
        ledger.append("fair-1", "note", "amara", {})


def test_a_database_that_does_not_answer_is_named_without_its_credentials(tmp_path: Path) -> None:
    with golden.raises(SluiceError) as caught:
        Ledger("postgresql://clerk:hunter2@127.0.0.1:1/ledger?application_name=hush", KEY, tmp_path / "anchor")
    assert not any(secret in str(caught.value) for secret in ("hunter2", "clerk", "hush"))


def test_a_database_that_does_not_exist_is_said(postgresql: str, tmp_path: Path) -> None:
    absent = database_url(postgresql).set(database="Nowhere").render_as_string(hide_password=False)
    with golden.raises(SluiceError):
        Ledger(absent, KEY, tmp_path / "anchor")
    stranger = database_url(postgresql).set(username="stranger").render_as_string(hide_password=False)
    with golden.raises(SluiceError):
        Ledger(stranger, KEY, tmp_path / "anchor")


def test_a_table_that_went_away_is_said(lived: Ledger, url: str) -> None:
    attack(url, "DROP TABLE sluice_ledger")
    with golden.raises(SluiceError):
        lived.append("fair-1", "note", "amara", {})


@pytest.mark.parametrize(
    "wrong",
    [
        "not a url with pa55word",
        "sqlite://",
        "sqlite:///:memory:",
        "postgresql://clerk@host:pa55word/db",
        "postgresql+psycopg2://clerk:pa55word@host/db",
        "postgresql+nothing://clerk:pa55word@host/db",
        "mysql://clerk:pa55word@host/db",
    ],
)
def test_a_wrong_url_is_refused(tmp_path: Path, wrong: str) -> None:
    with golden.raises(SluiceError) as caught:
        Ledger(wrong, KEY, tmp_path / "anchor")
    assert "pa55word" not in str(caught.value)
