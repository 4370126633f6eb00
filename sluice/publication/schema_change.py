"""Schema change: editions as tables of a database, and views that show the current ones, all of it or nothing.

A table holds what a published Parquet file holds and is read back before anybody can see it. In DuckDB, SQLite and
PostgreSQL the whole change is one transaction. In MySQL and MariaDB, where each statement about a table commits by
itself, a table is filled under another name and renamed, and a view is replaced in one statement, in this order: so a
change that breaks off leaves a table that nobody looks at, and is finished when it is asked for again.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import sqlalchemy as sa
from pydantic import BaseModel, ConfigDict, Field

from sluice.ground.databases import MYSQL, database_url
from sluice.ground.errors import DataError
from sluice.publication.public_schema import BATCH, PublicSchema, digest, records_of, writing_engine

_DRAFT = "_draft"  # the ending of a table that is not whole yet


class SchemaChange(BaseModel):
    """What is to hold of a schema, whatever holds of it now."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    url: str = Field(repr=False, description="of the database, with its secrets")
    into: str = Field(description="the schema; of MySQL the database")
    tables: dict[str, Path] = Field(default={}, description="tables that hold what these Parquet files hold")
    views: dict[str, str | None] = Field(default={}, description="views, and the table that each shows; None: no view")
    own_tables: tuple[str, ...] = Field(default=(), description="a view of one of these is ours, and may be replaced")
    own_names: tuple[str, ...] = Field(default=(), description="names of views that no one else's may bear")
    gone: tuple[str, ...] = Field(default=(), description="tables that are not to be there")
    sources: tuple[str, ...] = Field(default=(), description="schemas that sources are read from: not by this account")


def carry_out(change: SchemaChange, fault_hook: Callable[[str], None] | None = None, *, rehearse: bool = False) -> None:
    """Make the change, and read back what was written. What holds already is left as it is.

    fault_hook : called with the name of each step when it is done; lets a test stop there
    rehearse   : do it, and take it back, so that it is known whether it can be done; nobody else sees any of it
    raises     : DataError, which names the table or view: for a table with other content or of another account, a view
                 that is not ours, a view on a table that is not there, an account that sees sources, and whatever the
                 database refuses
    cost       : two passes over the files, and one over each table
    """

    def work(connection: sa.Connection) -> None:
        _Work(connection, change, fault_hook or (lambda step: None), rehearse).do()
        if rehearse:
            connection.get_transaction().rollback()  # type: ignore[union-attr]

    _connected(change, work, "publish into")


def differences(change: SchemaChange) -> list[str]:
    """How a schema differs from what a change would make of it, in words. Nothing is written.

    raises : DataError where the database cannot be asked
    cost   : one pass over the files, and one over each table
    """
    found: list[str] = []
    _connected(change, lambda connection: found.extend(_differences(PublicSchema(connection, change.into), change)),
               "look into", reads_only=True)  # fmt: skip
    return found


def _connected(
    change: SchemaChange, work: Callable[[sa.Connection], None], what: str, *, reads_only: bool = False
) -> None:
    try:
        engine = writing_engine(database_url(change.url), reads_only=reads_only)
        try:
            with engine.connect() as connection, connection.begin():
                work(connection)
        finally:
            engine.dispose()
    except sa.exc.SQLAlchemyError as error:  # its text can hold records and the address
        kind = type(getattr(error, "orig", None) or error).__name__
    else:
        return
    raise DataError(f"the database refuses to {what} schema '{change.into}' ({kind}).")


def _differences(found: PublicSchema, change: SchemaChange) -> Iterator[str]:
    for name, path in change.tables.items():
        title = f"'{change.into}.{name}'"
        if found.kind_of(name) != "table":
            yield f"{title} is missing; it is written again by: sluice catalogue"
            continue
        with pq.ParquetFile(path) as file:
            table = found.table(name, file.schema_arrow)
            wanted = digest(record for batch in file.iter_batches(BATCH) for record in records_of(batch))
            same = found.columns_of(name) == file.schema_arrow.names and found.digest_of(table) == wanted
        if not same or found.is_of_another(name):
            yield (
                f"{title} is not what was published: drop it, and it is written again by: sluice catalogue"
                if not same
                else f"{title} belongs to another account, which could change it"
            )
    for view, wanted_table in change.views.items():
        if wanted_table and found.kind_of(wanted_table) != "table":
            if wanted_table not in change.tables:  # else that was said
                yield f"'{change.into}.{wanted_table}' is missing, which '{view}' should show"
            continue
        title, kind = f"'{change.into}.{view}'", found.kind_of(view)
        shows = found.shown_by(view) if kind == "view" else None
        if wanted_table and (shows != wanted_table or found.columns_of(view) != found.columns_of(wanted_table)):
            yield f"{title} does not show {wanted_table}, which is current; it is made anew by: sluice catalogue"
        elif wanted_table is None and shows in change.own_tables:
            yield f"{title} is there, and no edition is current; it is removed by: sluice catalogue"
    for name in change.gone:
        if found.kind_of(name) == "table":
            yield f"'{change.into}.{name}' is of a release that was withdrawn, and is there again: drop it"


class _Work:
    """One change in its transaction."""

    def __init__(
        self, connection: sa.Connection, change: SchemaChange, reached: Callable[[str], None], rehearse: bool
    ) -> None:
        self.found = PublicSchema(connection, change.into)
        self.connection, self.change, self.reached, self.rehearse = connection, change, reached, rehearse
        self.by_statements = self.found.backend in MYSQL

    def do(self) -> None:
        for schema in self.change.sources:
            if self.found.visible_in(schema):
                raise DataError(
                    f"the account that publishes may use tables of '{schema}', which releases are read from; whoever "
                    "writes there could change what is released. Take that from it"
                )
        for name in (*self.change.own_names, *(view for view, table in self.change.views.items() if table)):
            self.refuse_other(name)
        for name, path in self.change.tables.items():
            self.write(name, path)
            self.reached(f"{name} written")
        if self.rehearse and self.by_statements:  # which could not be taken back
            return
        for view, table in self.change.views.items():
            self.show(view, table)
            self.reached(f"{view} swapped")
        for name in self.change.gone:
            if self.found.kind_of(name) == "table":
                self.drop("TABLE", name)

    def write(self, name: str, path: Path) -> None:
        found = self.found
        with pq.ParquetFile(path) as file:
            wanted = digest(record for batch in file.iter_batches(BATCH) for record in records_of(batch))
            table = found.table(name, file.schema_arrow)
            if kind := found.kind_of(name):
                if kind != "table" or found.is_of_another(name) or not self.holds(table, wanted):
                    raise DataError(
                        f"'{self.change.into}.{name}' exists with other content, or is another account's. It was left "
                        "as it is; a release that was published is never overwritten."
                    )
                return
            unseen = self.rehearse and self.by_statements
            draft = found.table(name + _DRAFT, file.schema_arrow, temporary=unseen)
            if kind := found.kind_of(draft.name):
                if kind != "table" or not self.by_statements:
                    raise DataError(f"'{self.change.into}.{draft.name}' exists and is not Sluice's. Rename it.")
                if not unseen:
                    draft.drop(self.connection, checkfirst=False)
            draft.create(self.connection, checkfirst=False)
            for batch in file.iter_batches(BATCH):
                self.insert(draft, batch)
        self.reached(f"{draft.name} filled")
        if not self.holds(draft, wanted):
            raise DataError(f"'{self.change.into}.{name}' does not hold what was written; the database changed values")
        if unseen:
            self.run(f"DROP TEMPORARY TABLE {found.quoted(draft.name)}")
        elif self.by_statements:
            self.run(f"RENAME TABLE {found.quoted(draft.name)} TO {found.quoted(name)}")
        else:
            self.run(f"ALTER TABLE {found.quoted(draft.name)} RENAME TO {found.plain(name)}")

    def holds(self, table: sa.Table, wanted: tuple[int, int]) -> bool:
        return self.found.columns_of(table.name) == table.columns.keys() and self.found.digest_of(table) == wanted

    def insert(self, table: sa.Table, batch: pa.RecordBatch) -> None:
        """PostgreSQL and DuckDB have ways of their own, tens of times as fast."""
        columns, name = ", ".join(map(self.found.plain, table.columns.keys())), self.found.quoted(table.name)
        if self.found.backend == "postgresql":
            cursor: Any = self.connection.connection.cursor()
            copied = f"COPY {name} ({columns}) FROM STDIN".replace("%%", "%")  # doubled for statements with parameters
            with cursor, cursor.copy(copied) as copy:
                for record in records_of(batch):
                    copy.write_row(record)
        elif self.found.backend == "duckdb":
            self.connection.exec_driver_sql("register", ("sluice_batch", pa.table(batch)))
            self.run(f"INSERT INTO {name} ({columns}) SELECT * FROM sluice_batch")
        else:
            names = table.columns.keys()
            rows = [dict(zip(names, record, strict=True)) for record in records_of(batch)]
            self.connection.execute(table.insert(), rows)

    def show(self, view: str, table: str | None) -> None:
        """Let a view show a table, or be gone."""
        quoted, kind = self.found.quoted(view), self.found.kind_of(view)
        if table is None:
            if kind and self.is_ours(view, kind):
                self.drop("VIEW", view)
            return
        if self.found.kind_of(table) != "table":
            raise DataError(f"'{self.change.into}.{table}' is not there, so '{view}' cannot show it")
        self.refuse_other(view)  # once more: while tables were written somebody may have made it
        made = f"VIEW {quoted} AS SELECT * FROM {self.found.quoted(table)}"
        if kind and self.found.backend == "postgresql":
            try:  # it keeps who may read it, and what else looks at it
                with self.connection.begin_nested():
                    self.run(f"CREATE OR REPLACE {made}")
                return
            except sa.exc.ProgrammingError:  # other columns: no view can be replaced by such
                self.drop("VIEW", view)
        if kind and self.found.backend == "sqlite":
            self.drop("VIEW", view)
        self.run(f"CREATE {'OR REPLACE ' if self.found.backend in ('duckdb', *MYSQL) else ''}{made}")

    def is_ours(self, view: str, kind: str) -> bool:
        return kind == "view" and self.found.shown_by(view) in self.change.own_tables

    def refuse_other(self, view: str) -> None:
        kind = self.found.kind_of(view)
        if kind is None or self.is_ours(view, kind):
            return
        raise DataError(
            f"'{self.change.into}.{view}' exists and is not a view made by editions of this definition; it was left as "
            "it is. Rename it, or publish into another schema."
        )

    def drop(self, kind: str, name: str) -> None:
        """In PostgreSQL with the views that look at it: else any reader, by a view of their own, could keep a withdrawn
        table there, and a view from being swapped."""
        with_views = " CASCADE" if self.found.backend == "postgresql" else ""
        self.run(f"DROP {kind} {self.found.quoted(name)}{with_views}")

    def run(self, statement: str) -> None:
        self.connection.exec_driver_sql(statement)
