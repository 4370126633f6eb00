"""What tests of the ledger share: a key, a life, and what an attacker does to the database."""

import sqlalchemy as sa

from sluice.ground.databases import database_url

KEY = bytes(range(32))
LIFE = ["received", "validated", "masked", "evaluated", "pending_review", "approved", "publishing", "published"]


def attack(url: str, *statements: str, role: str | None = "postgres") -> None:
    """What someone with every right in the database, and without the vault's key, can do.

    role : of PostgreSQL, if another than its superuser; None for the URL's own
    """
    address = database_url(url)
    if address.get_backend_name() == "postgresql" and role:
        address = address.set(username=role)
    engine = sa.create_engine(address)
    with engine.begin() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)
    engine.dispose()


def disarm(url: str) -> None:
    if url.startswith("sqlite"):
        attack(url, *(f"DROP TRIGGER sluice_ledger_{event}" for event in ("update", "delete", "insert")))
    else:
        attack(url, "DROP TRIGGER sluice_ledger_keep ON sluice_ledger")
