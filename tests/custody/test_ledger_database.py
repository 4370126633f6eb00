"""The database of a ledger: it refuses to change history, finds a release by its index and says what is wrong."""

from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import DatabaseError

from sluice.custody.ledger import Ledger
from sluice.errors import SluiceError
from sluice.sources.database_url import database_url
from tests.custody.ledgers import KEY, LIFE, attack


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE sluice_ledger SET actor = 'x' WHERE seq = 3",
        "DELETE FROM sluice_ledger WHERE seq = 3",
        "DELETE FROM sluice_ledger",
    ],
)
def test_the_database_refuses_to_change_history(lived: Ledger, url: str, statement: str) -> None:
    with pytest.raises(DatabaseError, match="append-only"):
        attack(url, statement)
    assert len(lived.entries()) == len(LIFE)


def test_sqlite_refuses_to_replace_a_row_and_postgresql_to_truncate(lived: Ledger, url: str) -> None:
    replace = "INSERT OR REPLACE INTO sluice_ledger SELECT 3, at, release, event, 'x', body, previous, hash"
    statement = f"{replace} FROM sluice_ledger WHERE seq = 3" if "sqlite" in url else "TRUNCATE sluice_ledger"
    with pytest.raises(DatabaseError, match="append-only"):
        attack(url, statement)
    assert len(lived.entries()) == len(LIFE)


def test_a_release_is_found_by_an_index(lived: Ledger, url: str) -> None:
    engine = sa.create_engine(database_url(url))
    assert ["release"] in [index["column_names"] for index in sa.inspect(engine).get_indexes("sluice_ledger")]
    engine.dispose()


def test_a_read_only_database_can_be_read_and_says_why_it_cannot_be_written(
    lived: Ledger, url: str, tmp_path: Path
) -> None:
    if "sqlite" in url:
        closed = f"sqlite:///file:{tmp_path}/ledger.db?mode=ro&uri=true"
    else:
        closed = f"{url}{'&' if '?' in url else '?'}options=-c%20default_transaction_read_only%3Don"
    ledger = Ledger(closed, KEY, tmp_path / "anchor")
    assert ledger.verify() == []
    with pytest.raises(SluiceError, match="cannot be written: it is read-only"):
        ledger.append("fair-1", "note", "amara", {})


def test_a_database_that_does_not_answer_is_named_without_its_credentials(tmp_path: Path) -> None:
    with pytest.raises(SluiceError) as caught:
        Ledger("postgresql://clerk:hunter2@127.0.0.1:1/ledger?application_name=hush", KEY, tmp_path / "anchor")
    text = str(caught.value)
    assert "the ledger (postgresql 'ledger' on 127.0.0.1) cannot be opened: the database does not answer" in text
    assert not any(secret in text for secret in ("hunter2", "clerk", "hush"))


def test_a_database_that_does_not_exist_is_said(postgresql: str, tmp_path: Path) -> None:
    absent = database_url(postgresql).set(database="Nowhere").render_as_string(hide_password=False)
    with pytest.raises(SluiceError, match=r"'Nowhere'.* opened: the database does not exist; create it first"):
        Ledger(absent, KEY, tmp_path / "anchor")
    attack(postgresql, "DROP ROLE IF EXISTS clerk")
    stranger = database_url(postgresql).set(username="clerk").render_as_string(hide_password=False)
    with pytest.raises(SluiceError, match="cannot be opened: the database does not answer"):  # nothing else is missing
        Ledger(stranger, KEY, tmp_path / "anchor")


def test_a_table_that_went_away_is_said(lived: Ledger, url: str) -> None:
    attack(url, "DROP TABLE sluice_ledger")
    with pytest.raises(SluiceError, match="its table is gone"):
        lived.append("fair-1", "note", "amara", {})


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ("not a url with pa55word", "cannot be read"),
        ("sqlite://", "in memory would be forgotten"),
        ("sqlite:///:memory:", "in memory would be forgotten"),
        ("postgresql://clerk@host:pa55word/db", "cannot be read"),
        (
            "postgresql+psycopg2://clerk:pa55word@host/db",
            r"'postgresql\+psycopg2', which is not here; write postgresql://",
        ),
        ("postgresql+nothing://clerk:pa55word@host/db", r"'postgresql\+nothing', which is not here"),
        ("mysql://clerk:pa55word@host/db", "must be sqlite:///FILE or postgresql://...; got one for mysql"),
    ],
)
def test_a_wrong_url_is_refused(tmp_path: Path, wrong: str, says: str) -> None:
    with pytest.raises(SluiceError, match=says) as caught:
        Ledger(wrong, KEY, tmp_path / "anchor")
    assert "pa55word" not in str(caught.value)
