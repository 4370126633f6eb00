"""Which tables of a database may be read, by the names that its own rules take for the same."""

import string
from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict, Field

from sluice.ground.errors import DataError

# The schema of a name without one. PostgreSQL's sessions are told to look in none, so it is written with each table.
DEFAULT_SCHEMA = {"duckdb": "main", "postgresql": "public", "sqlite": "main"}
_ANY_CASE = ("duckdb", "sqlite")  # 'Fair', "FAIR" and fair are one table; of letters beyond ASCII, none
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


class ReadableTables(BaseModel):
    """Schemas that may be read whole, and tables or views. A view that may be read shows what it selects."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schemas: tuple[str, ...] = Field(default=(), description="schemas whose tables and views may all be read")
    tables: tuple[str, ...] = Field(default=(), description="tables or views that may be read: schema.table")

    def permits(self, schema: str, table: str, backend: str) -> bool:
        """Whether a table may be read; its name and its schema's as the database knows them, '' if it has none."""
        schema = schema or DEFAULT_SCHEMA.get(backend, "")
        schemas = {_key(each, backend) for each in self.schemas}
        return _key(schema, backend) in schemas or (_key(schema, backend), _key(table, backend)) in {
            (_key(own or DEFAULT_SCHEMA.get(backend, ""), backend), _key(name, backend))
            for own, _, name in (each.rpartition(".") for each in self.tables)
        }

    def refuse_others(self, names: Iterable[tuple[str, str]], backend: str) -> None:
        """Raise DataError for the first of these (schema, table) that may not be read."""
        for schema, table in names:
            if not self.permits(schema, table, backend):
                title = f"{schema}.{table}" if schema else table
                raise DataError(
                    f"the source's connection does not let '{title}' be read; it lists "
                    f"{', '.join([*(f'schema {each}' for each in self.schemas), *self.tables])}. "
                    "The operator can add it to the connection."
                )


def folded(name: str, quoted: bool, backend: str) -> str:
    """An identifier of a query as the database reads it: PostgreSQL writes what is not quoted in small letters."""
    return name.translate(_LOWER) if backend == "postgresql" and not quoted else name


def same_name(one: str, other: str, backend: str) -> bool:
    """Whether two identifiers, as the database reads them, are one."""
    return _key(one, backend) == _key(other, backend)


def _key(name: str, backend: str) -> str:
    return name.translate(_LOWER) if backend in _ANY_CASE else name
