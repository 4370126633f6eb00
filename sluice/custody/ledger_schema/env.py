"""What Alembic runs to reach the database: the connection, and so the transaction, of `migrate`."""

from alembic import context

from sluice.custody.ledger_schema import VERSION_TABLE

context.configure(connection=context.config.attributes["connection"], version_table=VERSION_TABLE)
context.run_migrations()
