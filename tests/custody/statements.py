"""What is sent to databases while a test runs."""

from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa


@contextmanager
def statements_to_ledgers() -> Iterator[list[str]]:
    """Those that read or write a ledger's rows, as they happen."""
    sent: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if "sluice_ledger" in statement and "PRAGMA" not in statement:
            sent.append(statement)

    sa.event.listen(sa.Engine, "before_cursor_execute", note)
    try:
        yield sent
    finally:
        sa.event.remove(sa.Engine, "before_cursor_execute", note)
