"""The database that a ledger lies in: SQLite or PostgreSQL, with a table that refuses to change history.

On PostgreSQL one role owns the table and another one, which Sluice works as, may read and append and nothing else: it
cannot take the trigger away. SQLite knows no roles: whoever can write to the file can do anything to it, and only the
keyed hashes and the anchor tell.
"""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.exc import NoSuchModuleError, SQLAlchemyError

from sluice.custody.ledger_schema import VERSION, VERSION_TABLE, migrate, version_of
from sluice.ground.databases import database_url
from sluice.ground.errors import SluiceError, TransportError
from sluice.ground.log import log
from sluice.transport import is_of_transport, persistently

T = TypeVar("T")

WAIT = 30  # seconds that an append waits for the appends before it

ROWS = sa.Table(  # as the migrations of `ledger_schema` leave it
    "sluice_ledger",
    sa.MetaData(),
    sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("at", sa.Text, nullable=False),
    sa.Column("release", sa.Text, nullable=False, index=True),
    *(sa.Column(name, sa.Text, nullable=False) for name in ("event", "actor", "body")),
    sa.Column("previous", sa.Text, nullable=False, unique=True),
    sa.Column("hash", sa.Text, nullable=False, unique=True),
)

# What a role may do beyond reading and appending. The owner of a schema or a database may drop what is in it.
_MORE = sa.text("""
    SELECT can FROM pg_class AS ledger
    JOIN pg_namespace AS place ON place.oid = ledger.relnamespace
    JOIN pg_database AS house ON house.datname = current_database()
    JOIN pg_roles AS role ON role.rolname = coalesce(:role, current_user)
    LEFT JOIN pg_trigger AS keep ON keep.tgrelid = ledger.oid AND keep.tgname = 'sluice_ledger_keep'
    LEFT JOIN pg_proc AS refuse ON refuse.oid = keep.tgfoid
    CROSS JOIN LATERAL (VALUES
        (1, 'is a superuser', role.rolsuper),
        (2, 'owns the table', pg_has_role(role.oid, ledger.relowner, 'MEMBER')),
        (3, 'owns the function of its trigger', pg_has_role(role.oid, refuse.proowner, 'MEMBER')),
        (4, 'owns the schema', pg_has_role(role.oid, place.nspowner, 'MEMBER')),
        (5, 'owns the database', pg_has_role(role.oid, house.datdba, 'MEMBER')),
        (6, 'may change or remove rows', has_any_column_privilege(role.oid, ledger.oid, 'UPDATE')
            OR has_table_privilege(role.oid, ledger.oid, 'DELETE, TRUNCATE')),
        (7, 'may make triggers', has_table_privilege(role.oid, ledger.oid, 'TRIGGER')),
        (8, 'may make roles', role.rolcreaterole),
        (9, 'may run programs or write files on the server', EXISTS (
            SELECT FROM pg_roles AS mighty
            WHERE mighty.rolname IN ('pg_execute_server_program', 'pg_write_server_files')
            AND pg_has_role(role.oid, mighty.oid, 'MEMBER')))
    ) AS found (rank, can, so)
    WHERE ledger.oid = 'sluice_ledger'::regclass AND so AND (rank = 1 OR NOT role.rolsuper) ORDER BY rank
""")
_KEPT = sa.text(
    "SELECT count(*) FROM pg_trigger WHERE tgrelid = 'sluice_ledger'::regclass"
    " AND tgname = 'sluice_ledger_keep' AND tgenabled IN ('O', 'A')"
)
_LOCKS: Mapping[str, tuple[str, ...]] = {
    "sqlite": ("BEGIN IMMEDIATE",),  # the driver begins nothing by itself
    # an advisory lock, as it also holds while the table does not exist; the number only has to be this ledger's own
    "postgresql": (f"SET LOCAL lock_timeout = '{WAIT}s'", "SELECT pg_advisory_xact_lock(7310846521)"),
}


class LedgerDatabase:
    """Connections to read and to append, and what the database refuses, in words."""

    def __init__(self, url: str) -> None:
        """Connections to the SQLite file or the PostgreSQL database of a URL. Raises SluiceError for any other."""
        self._engine = _engine(url)
        self.place = _place(self._engine.url)
        self.weaknesses: tuple[str, ...] = ()  # what the database does not hold this account back from, in words

    def open(self) -> None:
        """Find the table, see that its schema is the one that is known here, and what else this account may do to it.

        A new SQLite file gets its table here.

        raises : SluiceError when the database cannot be reached, has no table or one of another version
        """
        version = persistently(self._find_version)
        with self._in_words("opened"):
            if version is None and self._engine.dialect.name == "sqlite":
                self._migrate()
                return
            if version is None:
                raise SluiceError(
                    f"{self.place} has no table yet. The role that shall own it makes it: sluice ledger create "
                    "--writer ROLE"
                )
            self._refuse_later_version(version)
            if version != VERSION:
                raise SluiceError(
                    f"{self.place} has schema version {version}, and this Sluice works with {VERSION}. Stop the "
                    "workers, back it up, and let the role that owns it run: sluice ledger upgrade"
                )
            if self._engine.dialect.name == "postgresql":
                self.weaknesses = self.read(self._find_weaknesses)
        for weakness in self.weaknesses:
            log("ledger is weak", logging.WARNING, detail=weakness)

    def create(self, writer: str) -> None:
        """Make the table in PostgreSQL, owned by the role of the URL; from then on another role may read and append.

        Where the table is there already, only the rights are given anew.

        writer : the role that Sluice works as
        raises : SluiceError when the writer could do more than that, or the database refuses
        """
        if self._engine.dialect.name == "sqlite":
            raise SluiceError("a SQLite file knows no roles; it gets its table when Sluice first opens it.")
        with self._in_words("made"):
            self._migrate()
            with self.writing() as connection:
                role = connection.dialect.identifier_preparer.quote_identifier(writer)
                connection.exec_driver_sql(f"REVOKE ALL ON sluice_ledger FROM PUBLIC, {role}")
                connection.exec_driver_sql(f"GRANT SELECT, INSERT ON sluice_ledger TO {role}")
                self.weaknesses = self._find_weaknesses(connection, writer)
        if self.weaknesses:
            raise SluiceError("\n".join(self.weaknesses))

    def version(self) -> str | None:
        """The version of the schema; None where there is no ledger. Raises SluiceError as `reading`."""
        return self.read(version_of)

    def upgrade(self) -> str:
        """Bring the schema of a ledger to the version that is known here; the version that it had before.

        raises : SluiceError when there is no ledger, it is of a later version, or this role does not own it
        """
        before = self.version()
        if before is None:
            raise SluiceError(f"{self.place} has no table, so there is nothing to upgrade.")
        self._refuse_later_version(before)
        with self._in_words("upgraded"):
            self._migrate()
        return before

    def clock(self) -> datetime | None:
        """What the database's own clock says; None of SQLite, which has this machine's."""
        return self.read(self.clock_of)

    def clock_of(self, connection: sa.Connection) -> datetime | None:
        """The same on a connection of this database."""
        if connection.dialect.name == "sqlite":
            return None
        said: datetime = connection.exec_driver_sql("SELECT clock_timestamp()").scalar_one()
        return said.astimezone(UTC)

    def _find_version(self) -> str | None:
        with self._in_words("opened"), self._engine.connect() as connection:
            return version_of(connection)

    def _refuse_later_version(self, version: str) -> None:
        if version > VERSION:
            raise SluiceError(
                f"{self.place} has schema version {version}, of a later Sluice than this, which knows {VERSION} and "
                "would not understand it. Install the later one again."
            )

    def _migrate(self) -> None:
        with self.writing() as connection:
            if version_of(connection) != VERSION:  # asked again, as another process may have been first
                migrate(connection)
                if connection.dialect.name == "postgresql":  # whoever appends must see it, and no more
                    connection.exec_driver_sql(f"REVOKE ALL ON {VERSION_TABLE} FROM PUBLIC")
                    connection.exec_driver_sql(f"GRANT SELECT ON {VERSION_TABLE} TO PUBLIC")

    def _find_weaknesses(self, connection: sa.Connection, role: str | None = None) -> tuple[str, ...]:
        found = [
            f"the role that appends to {self.place} {can}, so that it can change history; see docs/deployment.md"
            for can in connection.execute(_MORE, {"role": role}).scalars()
        ]
        if not connection.execute(_KEPT).scalar():
            found.append(f"the trigger that keeps {self.place} append-only is missing or disabled")
        return tuple(found)

    def read(self, act: Callable[[sa.Connection], T]) -> T:
        """What `act` finds on a connection to read by; on another one where that is lost. Raises as `reading`."""

        def once() -> T:
            with self.reading() as connection:
                return act(connection)

        return persistently(once)

    def write(self, act: Callable[[sa.Connection], T]) -> T:
        """What `act` does in a transaction of its own; in another one where the connection is lost.

        The transaction before may have been committed, only the answer was lost: `act` has to look. It cannot be still
        under way, as it would hold the lock that this one waits for. Raises as `writing`.
        """

        def once() -> T:
            with self.writing() as connection:
                return act(connection)

        return persistently(once)

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
            url, text = self._engine.url, str(error).lower()
            name, user = str(url.database).lower(), str(url.username).lower()
            known = {
                "the database does not exist; create it first": (f'database "{name}" does not exist',),
                "it refuses the user or the password": (
                    "password authentication failed",
                    f'role "{user}" does not exist',
                    "no pg_hba.conf entry",
                ),
                "it is read-only": ("readonly", "read-only"),
                "another process holds it": ("is locked", "lock timeout"),
                "its disk is full": ("disk is full", "no space left"),
                "there is no role of that name": ("undefinedobject",),
                "this role may not": ("permission denied", "must be owner"),
                "its table is gone": ("no such table", 'relation "sluice_ledger" does not exist'),
            }
            why = next((why for why, signs in known.items() if any(sign in text for sign in signs)), None)
            lost = why is None and self._engine.dialect.name != "sqlite" and is_of_transport(error)
            raise (TransportError if lost else SluiceError)(
                f"{self.place} cannot be {verb}: {why or 'the database does not answer'} ({type(error).__name__})."
            ) from None


class _Compiled(dict[Any, Any]):
    """The ledger's few statements, for all that open it. SQLAlchemy asks by the dialect, of which each engine has one
    of its own: by that alone nothing would be found again, and a process that lives long would keep it all."""

    def get(self, key: Any, default: Any = None) -> Any:
        return super().get(_of_driver(key), default)

    def __setitem__(self, key: Any, compiled: Any) -> None:
        super().__setitem__(_of_driver(key), compiled)


def _of_driver(key: tuple[Any, ...]) -> tuple[Any, ...]:
    dialect, *statement = key
    return (dialect.name, dialect.driver, *statement)


_COMPILED = _Compiled()


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
        engine = engine.execution_options(compiled_cache=_COMPILED)
    except (ImportError, NoSuchModuleError):
        raise SluiceError(
            f"the ledger's URL asks for '{parsed.drivername}', which is not here; write {kind}://"
        ) from None
    if kind == "sqlite":
        return engine
    sa.event.listen(engine, "connect", _look_in_public)
    # After waiting for its turn an append must see the row before it, whatever the server's default is.
    return engine.execution_options(isolation_level="READ COMMITTED")


def _look_in_public(connection: Any, _: object) -> None:
    """A role can set its own search path, and lead all its later sessions to another table or function by it."""
    connection.autocommit = True  # else the path would go with the transaction
    connection.execute("SET search_path = public, pg_temp")
    connection.autocommit = False


def _place(url: sa.URL) -> str:
    """The database in words, without user, password or options."""
    where = f" on {url.host}" if url.host else ""
    return f"the ledger ({url.get_backend_name()} '{url.database}'{where})"
