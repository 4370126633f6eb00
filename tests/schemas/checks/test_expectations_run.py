"""The contract as SQL at the source, on SQLite and on a real PostgreSQL."""

import logging
import re
import time
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import sqlalchemy as sa

from schemas.checks.batch_sql import batch_select, relation
from schemas.checks.canonical_values import KEY_COUNT, readable
from schemas.checks.expectations_run import check_batch, check_sql, runs_at_source
from schemas.checks.profile import Profile, compared, profile
from schemas.checks.source_session import SourceSession
from schemas.contract import Contract
from sluice.errors import DataError
from sluice.sources.database_url import database_url
from sluice.verdict import Finding, Verdict, decide
from tests.schemas.typed import type_batch

NOW = datetime(2026, 11, 20, tzinfo=UTC)
CANARY = "Zebedee Quillfeather"
CANARY_NUMBER = 987654321

CONTRACT = Contract.model_validate(
    {
        "dataset": "households",
        "version": 1,
        "record_key": ["person", "wave"],
        "rows": {"minimum": 20, "maximum": 60},
        "freshness": {"column": "seen", "max_age_days": 20},
        "drift": {"max_distance": 0.2},
        "variables": [
            {"name": "person", "kind": "text", "role": "identifier"},
            {"name": "wave", "kind": "nominal", "nullable": True},
            {
                "name": "age",
                "kind": "integer",
                "minimum": 0,
                "maximum": 120,
                "missing_codes": [-9],
                "nullable": True,
                "max_missing_share": 0.1,
            },
            {"name": "income", "kind": "continuous", "minimum": 0},
            {"name": "area", "kind": "nominal", "categories": [1, 2, 3], "missing_codes": [99], "nullable": True},
            {"name": "job", "kind": "nominal", "categories": ["none", "some"]},
            {"name": "seen", "kind": "date", "minimum": "2026-01-01", "maximum": "2026-10-31"},
        ],
    }
)


def good_rows() -> list[dict[str, Any]]:
    """40 records at the limits: 10 % of the ages missing (null and -9), the newest just fresh; areas are doubles."""
    return [
        {
            "person": f"p{i // 2}",
            "wave": str(i % 2),
            "age": None if i == 0 else -9 if i < 4 else 20 + i,
            "income": 1000.0 + 10 * i,
            "area": 99.0 if i == 7 else float(1 + i % 3),
            "job": " some " if i % 2 else "none",
            "seen": date(2026, 10, 1 + i % 31),
        }
        for i in range(40)
    ]


def bad_rows() -> list[dict[str, Any]]:
    """A fault for every clause: too many records, old, missing, unreadable, out of range, doubled keys, moved."""
    rows = [
        {**row, "seen": date(2026, 3, 1), "income": 1e6, "person": f"{row['person']}-{part}"}
        for row in good_rows()
        for part in range(2)
    ]
    for i in range(30):
        rows[i]["age"] = -9
    rows[30]["age"] = 150
    rows[31]["income"] = -float(CANARY_NUMBER)
    rows[32]["area"] = 4.0
    rows[33]["job"] = CANARY
    rows[34]["seen"] = date(2025, 12, 31)
    # The same person twice, the wave missing: the key must still count as a double.
    rows[35].update(person=CANARY, wave=None)
    rows[36].update(person=CANARY, wave=None)
    return rows


FAULTS = {
    ("row_count", ""),
    ("missing_share", "age"),
    ("range", "age"),
    ("range", "income"),
    ("categories", "area"),
    ("categories", "job"),
    ("range", "seen"),
    ("unique", "person, wave"),
    ("freshness", "seen"),
    ("drift", "age"),
    ("drift", "income"),
    ("drift", "seen"),
}


def failed(findings: list[Finding], verdict: Verdict = Verdict.FAIL) -> set[tuple[str, str]]:
    return {(finding.rule, finding.scope) for finding in findings if finding.verdict is verdict}


def typed(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Typed, but for the categories that are wrong: they are put in after the typing, which would refuse them."""
    wrong = {"area": {"4"}, "job": {CANARY}}
    raw = pd.DataFrame(rows)
    raw["area"] = raw["area"].map(lambda code: f"{code:.0f}")
    kept = {name: raw[name].where(raw[name].isin(labels)) for name, labels in wrong.items()}
    for name, labels in wrong.items():
        raw.loc[raw[name].isin(labels), name] = "1" if name == "area" else "none"
    frame = type_batch(raw, CONTRACT, lambda name, text: f"#{text}")
    for name, values in kept.items():
        frame[name] = frame[name].astype(object).where(values.isna(), values).astype("category")
    return frame


@pytest.fixture(scope="session")
def sqlite(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("sqlite") / "source.db"
    path.touch()
    return f"sqlite:///{path}"


@pytest.fixture(scope="session", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def source(request: pytest.FixtureRequest) -> str:
    """Address of a database with the tables good, bad and odd."""
    if request.param == "sqlite":
        url: str = request.getfixturevalue("sqlite")
    else:
        url = request.getfixturevalue("postgresql_server").get_uri()
    engine = sa.create_engine(database_url(url))
    with engine.begin() as connection:
        for name, rows in {"good": good_rows(), "bad": bad_rows()}.items():
            table = sa.Table(
                name,
                sa.MetaData(),
                sa.Column("person", sa.Text),
                sa.Column("wave", sa.Text),
                sa.Column("age", sa.Integer),
                sa.Column("income", sa.Double),
                sa.Column("area", sa.Double),
                sa.Column("job", sa.Text),
                sa.Column("seen", sa.Date),
                sa.Column("not_in_the_contract", sa.Text, default=CANARY),
            )
            table.create(connection)
            connection.execute(table.insert(), rows)
    engine.dispose()
    return url


@pytest.fixture(scope="session")
def last_release() -> Profile:
    return profile(typed(good_rows()), compared(CONTRACT))


@pytest.fixture(scope="session")
def on_bad(source: str, last_release: Profile, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Finding], Path]:
    docs = tmp_path_factory.mktemp("docs")
    return check_sql(CONTRACT, source, table="bad", profile=last_release, docs=docs, now=NOW), docs


@pytest.mark.slow
def test_good_batch_passes(source: str, last_release: Profile) -> None:
    findings = check_sql(CONTRACT, source, query="select * from good; ", profile=last_release, now=NOW)
    assert failed(findings) == failed(findings, Verdict.UNKNOWN) == set()
    assert decide(findings) is Verdict.PASS
    assert {finding.rule: finding.completed for finding in findings} == {
        "columns": 7,
        "row_count": 1,
        "type": 3,
        "missing_share": 5,
        "range": 3,
        "categories": 2,
        "unique": 1,
        "freshness": 1,
        "drift": 5,
    }


def test_every_clause_fails_for_its_own_reason(on_bad: tuple[list[Finding], Path]) -> None:
    findings, _ = on_bad
    assert failed(findings) == FAULTS
    assert failed(findings, Verdict.UNKNOWN) == set()


@pytest.mark.slow
def test_source_and_typed_frame_agree_on_the_drift(on_bad: tuple[list[Finding], Path], last_release: Profile) -> None:
    frame = check_batch(CONTRACT, typed(bad_rows()), profile=last_release, now=NOW)
    moved = [{f.scope: f.observed for f in findings if f.rule == "drift"} for findings in (frame, on_bad[0])]
    assert moved[0] == pytest.approx(moved[1], abs=1e-12)


def test_no_value_in_findings_docs_or_log(on_bad: tuple[list[Finding], Path]) -> None:
    findings, docs = on_bad
    texts = [finding.model_dump_json() for finding in findings]
    texts += [path.read_text(encoding="utf-8", errors="ignore") for path in docs.rglob("*") if path.is_file()]
    assert list(docs.glob("validations/**/*.html"))
    for text in texts:
        assert CANARY not in text
        assert str(CANARY_NUMBER) not in text


def test_data_docs_say_what_failed_and_load_nothing(on_bad: tuple[list[Finding], Path]) -> None:
    _, docs = on_bad
    index = (docs / "index.html").read_text(encoding="utf-8")
    assert "Verdict: <strong>FAIL</strong>" in index
    assert "no two records share the record key (person, wave)" in index
    assert "The distribution of &#x27;income&#x27; has moved" in index
    assert "<td>does not hold</td><td>range</td><td>every value of &#x27;age&#x27; is at least 0 and" in index
    assert "<td>holds</td><td>missing_share</td><td>no record lacks &#x27;income&#x27;</td>" in index
    [page] = docs.glob("validations/**/*.html")
    assert page.relative_to(docs).as_posix() in index
    assert "Failed" in page.read_text(encoding="utf-8")
    assert "The contract asks that the batch has 20 to 60 records." in (docs / "expectations/contract.html").read_text()
    for file in (*docs.rglob("*.html"), *docs.rglob("*.css")):
        assert not re.search(r"(?:src=|href=|url\()[\"']?https?:", file.read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def odd(source: str) -> str:
    """A table of text only, as a careless load leaves it, and with faults of spelling alone."""
    engine = sa.create_engine(database_url(source))
    rows = [
        {"number": "7", "day": "2026-01-31", "code": "3.00"},
        {"number": " +1.5e2 ", "day": "2026-01-31 12:00", "code": " 3"},
        {"number": "-9.0", "day": "2026-01-31T10:30:00.5", "code": "yes"},
        {"number": "n/a", "day": "9999-12-31", "code": "\\N"},
        {"number": "12 apples", "day": "31.1.2026", "code": "50%:x"},
        {"number": "2.5", "day": "", "code": None},
    ]
    with engine.begin() as connection:
        table = sa.table("odd", *(sa.column(name) for name in rows[0]))
        connection.execute(sa.text("create table odd (number text, day text, code text)"))
        connection.execute(table.insert(), rows)
    engine.dispose()
    return source


ODD_QUERY = "select cast(number as text) as number, day, code from odd where code is null or code <> 'a :b%c'"
ODD = Contract.model_validate(
    {
        "dataset": "odd",
        "version": 1,
        "variables": [
            {"name": "number", "kind": "integer", "missing_codes": [-9, "n/a"], "nullable": True},
            {"name": "day", "kind": "date", "missing_codes": ["9999-12-31"], "nullable": True},
            {
                "name": "code",
                "kind": "nominal",
                "categories": [3, True, "50%:x"],
                "missing_codes": ["\\N"],
                "nullable": True,
            },
        ],
    }
)


def test_canonical_values_are_read_values_as_the_typing_does(odd: str) -> None:
    with SourceSession(odd) as session, session.engine.connect() as connection:
        select = batch_select(ODD, relation("odd"), session.columns(relation("odd")), session.dialect)
        frame = pd.DataFrame(connection.execute(select).mappings().all())
    values = frame.astype(object).where(frame.notna(), None)
    assert [None if value is None else float(value) for value in values["number"]] == [7, 150, None, None, None, 2.5]
    assert values[readable("number")].tolist() == [1, 1, None, None, 0, 0]  # 2.5 is a number, but not a whole one
    days = [None if day is None else pd.Timestamp(day).isoformat() for day in values["day"]]
    assert days == ["2026-01-31T00:00:00", "2026-01-31T12:00:00", "2026-01-31T10:30:00.500000", None, None, None]
    assert values[readable("day")].tolist() == [1, 1, 1, None, 0, None]
    assert values["code"].tolist() == ["3", "3", "true", None, "50%:x", None]


def test_unreadable_values_fail_as_such_and_are_not_missing(odd: str) -> None:
    findings = check_sql(ODD, odd, query=f"{ODD_QUERY} -- the end")
    assert failed(findings) == {("type", "number"), ("type", "day")}
    assert failed(findings, Verdict.UNKNOWN) == set()


@pytest.mark.slow
def test_internal_error_is_unknown_and_says_no_value(
    source: str, tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """A number too large for the database's doubles, or a text where a function fails: the database itself stops."""
    broken = {
        "postgresql": f"select '{CANARY}'::text as name, ('1e' || '{CANARY_NUMBER}') as amount",
        "sqlite": f"select '{CANARY}' as name, json_extract('{CANARY} {CANARY_NUMBER}', '$') as amount",
    }[sa.make_url(source).get_backend_name()]
    contract = Contract.model_validate(
        {
            "dataset": "broken",
            "version": 1,
            "variables": [
                {"name": "name", "kind": "text"},
                {"name": "amount", "kind": "continuous", "maximum": 10},
            ],
        }
    )
    with caplog.at_level(logging.DEBUG, logger="root"):
        findings = check_sql(contract, source, query=broken, docs=tmp_path)
    unknown = failed(findings, Verdict.UNKNOWN)
    assert ("range", "amount") in unknown
    assert failed(findings) == set()
    assert decide(findings) is Verdict.UNKNOWN
    assert "Exception" not in "".join(finding.says for finding in findings)
    captured = capfd.readouterr()
    pages = [path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.html")]
    assert any("says nothing about the data" in page for page in pages)
    for text in (caplog.text, captured.out, captured.err, *pages, *(finding.says for finding in findings)):
        assert CANARY not in text
        assert str(CANARY_NUMBER) not in text


def test_no_record_leaves_the_database(source: str, last_release: Profile) -> None:
    """Every statement counts, sums, takes the newest date, or asks for the columns' names alone."""
    statements: list[str] = []

    def listen(_: Any, __: Any, statement: str, parameters: Any, *___: Any) -> None:
        statements.append(f"{' '.join(statement.split())} -- {parameters}")

    sa.event.listen(sa.Engine, "after_cursor_execute", listen)
    try:
        check_sql(CONTRACT, source, table="good", profile=last_release, now=NOW)
    finally:
        sa.event.remove(sa.Engine, "after_cursor_execute", listen)
    batch = [statement for statement in statements if "good" in statement]
    aggregates = r"(?i)select (count|sum|max)\(|.* group by "
    names = r"select \* from .* limit (0|.* -- .*\b0\b)"
    rest = [statement for statement in batch if not re.match(f"{aggregates}|{names}", statement)]
    assert rest == []
    assert len(batch) > 5


def test_session_cannot_write(source: str) -> None:
    with SourceSession(source) as session, session.engine.connect() as connection, pytest.raises(sa.exc.DBAPIError):
        connection.execute(sa.text("delete from good"))


def test_missing_column_fails_and_the_rest_is_checked(source: str) -> None:
    findings = check_sql(CONTRACT, source, query="select person, age, income, area, job, seen from good", now=NOW)
    assert failed(findings) == {("columns", "wave")}
    assert failed(findings, Verdict.UNKNOWN) == {("unique", "person, wave")}


def test_first_release_has_nothing_to_compare_with(source: str) -> None:
    findings = check_sql(CONTRACT, source, table="good", now=NOW)
    [drift] = [finding for finding in findings if finding.rule == "drift"]
    assert (drift.verdict, drift.binding) == (Verdict.PASS, False)


def test_source_that_cannot_be_read_is_unknown(source: str) -> None:
    [finding] = check_sql(CONTRACT, source, table="nowhere")
    assert (finding.rule, finding.verdict) == ("source", Verdict.UNKNOWN)
    assert "nowhere" not in finding.says


def test_refusals(sqlite: str, tmp_path: Path) -> None:
    assert runs_at_source(sqlite)
    assert not runs_at_source("duckdb:///x.duckdb")
    with pytest.raises(DataError, match=r"url must be of postgresql or sqlite .*; got duckdb"):
        check_sql(CONTRACT, "duckdb:///x.duckdb", table="good")
    with pytest.raises(DataError, match="either 'table' or 'query'"):
        check_sql(CONTRACT, sqlite, table="good", query="select 1")
    with pytest.raises(DataError, match="no such SQLite file"):
        check_sql(CONTRACT, f"sqlite:///{tmp_path / 'absent.db'}", table="good")
    assert not (tmp_path / "absent.db").exists()
    with pytest.raises(DataError, match="url must be an address") as refused:
        runs_at_source(f"no address, but {CANARY}")
    assert CANARY not in str(refused.value)


def test_no_connection_is_left(postgresql: str, source: str) -> None:
    check_sql(CONTRACT, source, table="good", now=NOW)
    # each look at the activity is a fresh one
    engine = sa.create_engine(database_url(postgresql), isolation_level="AUTOCOMMIT")
    others = "select count(*) from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()"
    with engine.connect() as connection:
        for _ in range(100):  # the server's process ends a moment after its client has hung up
            left = connection.execute(sa.text(others)).scalar()
            if left == 0:
                break
            time.sleep(0.1)
    engine.dispose()
    assert left == 0


def test_records_that_share_a_key_in_part_missing_are_counted_together(source: str) -> None:
    with SourceSession(source) as session, session.engine.connect() as connection:
        missing = relation(query="select person, wave from bad where wave is null")
        batch = batch_select(CONTRACT, missing, session.columns(missing), session.dialect).subquery()
        assert connection.execute(sa.select(batch.c[KEY_COUNT])).scalars().all() == [2, 2]
