"""A read-only session with a database in which a batch lies."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from schemas.checks.batch_sql import Stored
from sluice.errors import DataError
from sluice.sources.database_url import database_url

_SETTINGS = {
    # Dates as ISO text and in UTC, whatever the account's settings are; and no write, whatever its rights are.
    "postgresql": ("SET DateStyle = 'ISO, YMD'", "SET TimeZone = 'UTC'", "SET default_transaction_read_only = on"),
    "sqlite": ("PRAGMA query_only = on",),
}
DIALECTS = tuple(_SETTINGS)
"""Databases that can be read so. All others are checked after staging."""

# By the type's number in PostgreSQL's catalogue, which its drivers give back.
_POSTGRESQL_TYPES = {
    **dict.fromkeys((20, 21, 23, 700, 701, 1700), Stored.NUMBER),  # int8, int2, int4, float4, float8, numeric
    **dict.fromkeys((1082, 1114, 1184), Stored.MOMENT),  # date, timestamp, timestamptz
}

_BATCH = "canonical_batch"


def read_url(url: str | sa.URL) -> sa.URL:
    """A database address. Raises DataError without repeating it: it may hold a password."""
    try:
        return database_url(url)
    except ValueError:
        raise DataError("url must be an address such as postgresql://user@host/database; it cannot be read") from None


class SourceSession(AbstractContextManager["SourceSession"]):
    """Connections to PostgreSQL or SQLite that can only read; all are closed at the end.

    Raises DataError for another database, or when the file of an SQLite database is not there.
    """

    def __init__(self, url: str | sa.URL) -> None:
        self.url = read_url(url)
        self.dialect = self.url.get_backend_name()
        if self.dialect not in DIALECTS:
            raise DataError(
                f"url must be of {' or '.join(DIALECTS)} to be checked at the source; got {self.dialect}. "
                "Stage the batch and check the typed frame with check_batch."
            )
        if self.dialect == "sqlite" and not Path(self.url.database or "").is_file():
            raise DataError("url: there is no such SQLite file. Is its path right, with four slashes if absolute?")
        self.engine = sa.create_engine(self.url, poolclass=sa.NullPool)
        sa.event.listen(self.engine, "connect", self._prepare)
        self._lent: list[sa.Engine] = []

    def __exit__(self, *_: object) -> None:
        for engine in self._lent:
            engine.dispose()
        self.engine.dispose()

    def _prepare(self, connection: Any, _: object) -> None:
        cursor = connection.cursor()
        for setting in _SETTINGS[self.dialect]:
            cursor.execute(setting)
        cursor.close()
        connection.commit()

    def columns(self, source: sa.FromClause) -> dict[str, Stored]:
        """Names of the columns of a table or query, and what is stored in each; no record is read."""
        with self.engine.connect() as connection:
            result = connection.execute(sa.select(sa.text("*")).select_from(source).limit(0))
            columns: Any = result.cursor.description if result.cursor else ()
        if self.dialect == "sqlite":
            return {name: Stored.ANYTHING for name, *_ in columns}
        return {name: _POSTGRESQL_TYPES.get(number, Stored.OTHER) for name, number, *_ in columns}

    def batch(self, context: Any, select: sa.Select[Any]) -> Any:
        """A SELECT as a batch of a Great Expectations context.

        The context gets connections, not the address: it would keep the password, and take a '$' in it for a variable.
        It gets a name, not the SQL, which it would parse anew, take ':word' in it for a parameter, and write into its
        results. The SQL takes the name's place in each statement.
        """
        datasource = context.data_sources.add_sql(
            "source", connection_string=f"{self.url.drivername}://", kwargs={"creator": self._connect}
        )
        asset = datasource.add_query_asset("batch", query=f"SELECT * FROM {_BATCH}")
        sql = str(select.compile(self.engine, compile_kwargs={"literal_binds": True}))

        def spell_out(_: Any, __: Any, statement: str, parameters: Any, *___: Any) -> tuple[str, Any]:
            if statement.startswith("SELECT *"):
                # This asks for the columns' names, but the driver would fetch every record for it.
                statement = f"SELECT * FROM ({statement}) AS names_only LIMIT 0"
            return statement.replace(_BATCH, f"({sql}) AS {_BATCH}"), parameters

        working = datasource.get_execution_engine().engine
        self._lent += [datasource.get_engine(), working]  # the first only tries the connection
        sa.event.listen(working, "before_cursor_execute", spell_out, retval=True)
        return asset.add_batch_definition_whole_table("batch")

    def _connect(self) -> Any:
        pooled = self.engine.raw_connection()
        connection = pooled.dbapi_connection
        pooled.detach()
        return connection
