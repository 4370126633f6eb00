"""The schema of a ledger's table: its version, and the migrations from one version to the next.

The version stands in the database itself, in a table of its own. Every start compares it with what this software knows;
only `sluice ledger upgrade`, run as the role that owns the table, changes it. Migrations touch what is around the rows:
a row itself is never rewritten, as its hash would not fit it any more.
"""

from pathlib import Path

import sqlalchemy as sa

VERSION = "0001"  # of the latest migration in `versions`
VERSION_TABLE = "sluice_ledger_schema"
BEFORE_VERSIONS = "0000"  # of a ledger that was made before versions were kept


def version_of(connection: sa.Connection) -> str | None:
    """The version of the ledger in this database; None where there is no ledger. Cost: two or three statements."""
    inspector = sa.inspect(connection)
    if inspector.has_table(VERSION_TABLE):
        found = connection.exec_driver_sql(f"SELECT version_num FROM {VERSION_TABLE}").scalar()
        if found is not None:
            return str(found)
    return BEFORE_VERSIONS if inspector.has_table("sluice_ledger") else None


def migrate(connection: sa.Connection) -> None:
    """Bring the ledger of this database to `VERSION`, making it where there is none, within the open transaction.

    cost : half a second for loading Alembic, once in a process
    """
    from alembic import command  # nobody who only appends needs it
    from alembic.config import Config

    configuration = Config()
    configuration.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    configuration.set_main_option("path_separator", "os")
    configuration.attributes["connection"] = connection
    command.upgrade(configuration, VERSION)
