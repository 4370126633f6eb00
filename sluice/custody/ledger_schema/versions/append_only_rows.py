"""The ledger's rows, and the triggers that refuse to change history.

A ledger that was made before versions were kept has the same table: what is there of it is left as it is, and a trigger
that somebody took away is put back.
"""

from collections.abc import Mapping

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

# The database itself refuses to change history. It holds honest programs back; the keyed hashes find the others.
_REFUSE = "'the ledger is append-only'"
_TRIGGERS: Mapping[str, tuple[str, ...]] = {
    "sqlite": (
        "CREATE TRIGGER IF NOT EXISTS sluice_ledger_update BEFORE UPDATE ON sluice_ledger"
        f" BEGIN SELECT RAISE(ABORT, {_REFUSE}); END",
        "CREATE TRIGGER IF NOT EXISTS sluice_ledger_delete BEFORE DELETE ON sluice_ledger"
        f" BEGIN SELECT RAISE(ABORT, {_REFUSE}); END",
        # INSERT OR REPLACE deletes without asking the trigger above
        "CREATE TRIGGER IF NOT EXISTS sluice_ledger_insert BEFORE INSERT ON sluice_ledger"
        " WHEN NEW.seq <= (SELECT coalesce(max(seq), 0) FROM sluice_ledger)"
        f" BEGIN SELECT RAISE(ABORT, {_REFUSE}); END",
    ),
    "postgresql": (
        "CREATE OR REPLACE FUNCTION sluice_ledger_refuse() RETURNS trigger LANGUAGE plpgsql AS"
        f" $$ BEGIN RAISE EXCEPTION {_REFUSE}; END $$",
        "CREATE OR REPLACE TRIGGER sluice_ledger_keep BEFORE UPDATE OR DELETE OR TRUNCATE ON sluice_ledger"
        " FOR EACH STATEMENT EXECUTE FUNCTION sluice_ledger_refuse()",
    ),
}


def upgrade() -> None:
    connection = op.get_bind()
    if not sa.inspect(connection).has_table("sluice_ledger"):
        op.create_table(
            "sluice_ledger",
            sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
            sa.Column("at", sa.Text, nullable=False),
            sa.Column("release", sa.Text, nullable=False, index=True),
            *(sa.Column(name, sa.Text, nullable=False) for name in ("event", "actor", "body")),
            sa.Column("previous", sa.Text, nullable=False, unique=True),
            sa.Column("hash", sa.Text, nullable=False, unique=True),
        )
    for trigger in _TRIGGERS[connection.dialect.name]:
        connection.exec_driver_sql(trigger)
