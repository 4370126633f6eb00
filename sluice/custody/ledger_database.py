"""The database that a ledger lies in: SQLite or PostgreSQL, with a table that refuses to change history."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import sqlalchemy as sa
from sqlalchemy.exc import NoSuchModuleError, SQLAlchemyError

from sluice.errors import SluiceError
from sluice.sources.database_url import database_url

WAIT = 30  # seconds that an append waits for the appends before it

_metadata = sa.MetaData()
ROWS = sa.Table(
    "sluice_ledger",
    _metadata,
    sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("at", sa.Text, nullable=False),
    sa.Column("release", sa.Text, nullable=False, index=True),
    *(sa.Column(name, sa.Text, nullable=False) for name in ("event", "actor", "body")),
    sa.Column("previous", sa.Text, nullable=False, unique=True),
    sa.Column("hash", sa.Text, nullable=False, unique=True),
)

# The database itself refuses to change history. It holds honest programs back; the keyed hashes find the others.
_REFUSE = "'the ledger is append-only'"
_TRIGGERS: Mapping[str, tuple[str, ...]] = {
    "sqlite": (
        f"CREATE TRIGGER sluice_ledger_update BEFORE UPDATE ON sluice_ledger BEGIN SELECT RAISE(ABORT, {_REFUSE}); END",
        f"CREATE TRIGGER sluice_ledger_delete BEFORE DELETE ON sluice_ledger BEGIN SELECT RAISE(ABORT, {_REFUSE}); END",
        # INSERT OR REPLACE deletes without asking the trigger above
        "CREATE TRIGGER sluice_ledger_insert BEFORE INSERT ON sluice_ledger"
        " WHEN NEW.seq <= (SELECT coalesce(max(seq), 0) FROM sluice_ledger)"
        f" BEGIN SELECT RAISE(ABORT, {_REFUSE}); END",
    ),
    "postgresql": (
        "CREATE OR REPLACE FUNCTION sluice_ledger_refuse() RETURNS trigger LANGUAGE plpgsql AS"
        f" $$ BEGIN RAISE EXCEPTION {_REFUSE}; END $$",
        "CREATE TRIGGER sluice_ledger_keep BEFORE UPDATE OR DELETE OR TRUNCATE ON sluice_ledger"
        " FOR EACH STATEMENT EXECUTE FUNCTION sluice_ledger_refuse()",
    ),
}
_LOCKS: Mapping[str, tuple[str, ...]] = {
    "sqlite": ("BEGIN IMMEDIATE",),  # the driver begins nothing by itself
    # an advisory lock, as it also holds while the table does not exist; the number only has to be this ledger's own
    "postgresql": (f"SET LOCAL lock_timeout = '{WAIT}s'", "SELECT pg_advisory_xact_lock(7310846521)"),
}


class LedgerDatabase:
    """Connections to read and to append, and what the database refuses, in words."""

    def __init__(self, url: str) -> None:
        """Connect and make the table where there is none.

        url    : of SQLAlchemy; a SQLite file or a PostgreSQL database
        raises : SluiceError when the database is of another kind or cannot be reached
        """
        self._engine = _engine(url)
        self.place = _place(self._engine.url)
        with self._in_words("opened"):
            if sa.inspect(self._engine).has_table(ROWS.name):
                return
            with self.writing() as connection:
                if not sa.inspect(connection).has_table(ROWS.name):
                    _metadata.create_all(connection)
                    for trigger in _TRIGGERS[connection.dialect.name]:
                        connection.exec_driver_sql(trigger)

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A connection to read by. Raises SluiceError when the database refuses."""
        with self._in_words("read"), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """A transaction of its own: one append at a time. Raises SluiceError when the database refuses."""
        with self._in_words("written"), self._engine.begin() as connection:
            for statement in _LOCKS[connection.dialect.name]:
                connection.exec_driver_sql(statement)
            yield connection

    @contextmanager
    def _in_words(self, verb: str) -> Iterator[None]:
        """Say what the database refused without its own text, which may hold an address or a name."""
        try:
            yield
        except SQLAlchemyError as error:
            text, name = str(error).lower(), str(self._engine.url.database).lower()
            known = {
                "the database does not exist; create it first": (f'database "{name}" does not exist',),
                "it is read-only": ("readonly", "read-only"),
                "another process holds it": ("is locked", "lock timeout"),
                "its disk is full": ("disk is full", "no space left"),
                "its table is gone": ("no such table", 'relation "sluice_ledger" does not exist'),
            }
            why = next((why for why, signs in known.items() if any(sign in text for sign in signs)), None)
            raise SluiceError(
                f"{self.place} cannot be {verb}: {why or 'the database does not answer'} ({type(error).__name__})."
            ) from None


def _engine(url: str) -> sa.Engine:
    try:
        parsed = database_url(url)
    except ValueError:
        raise SluiceError("the ledger's URL cannot be read; write sqlite:///FILE or postgresql://...") from None
    kind = parsed.get_backend_name()
    if kind not in _LOCKS:
        raise SluiceError(f"the ledger's URL must be sqlite:///FILE or postgresql://...; got one for {kind}.")
    if kind == "sqlite" and parsed.database in (None, "", ":memory:"):
        raise SluiceError("a ledger in memory would be forgotten; name a file: sqlite:///FILE.")
    options = {"isolation_level": None, "timeout": WAIT} if kind == "sqlite" else {"connect_timeout": WAIT}
    # A connection for each use: safe over forks, and a server that was restarted is simply found again.
    try:
        engine = sa.create_engine(parsed, poolclass=sa.NullPool, connect_args=options, hide_parameters=True)
    except (ImportError, NoSuchModuleError):
        raise SluiceError(
            f"the ledger's URL asks for '{parsed.drivername}', which is not here; write {kind}://"
        ) from None
    # After waiting for its turn an append must see the row before it, whatever the server's default is.
    return engine if kind == "sqlite" else engine.execution_options(isolation_level="READ COMMITTED")


def _place(url: sa.URL) -> str:
    """The database in words, without user, password or options."""
    where = f" on {url.host}" if url.host else ""
    return f"the ledger ({url.get_backend_name()} '{url.database}'{where})"
