"""The contract on a typed frame, through Great Expectations' pandas engine."""

import logging
import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import schemas.checks.expectations_run
from schemas.checks.expectations import clauses_of, great_expectations, suite
from schemas.checks.expectations_run import check_batch
from schemas.checks.frame_check import check_frame
from schemas.checks.profile import compared, profile
from schemas.contract import Contract
from sluice.ground.errors import DataError
from sluice.ground.verdict import Finding, Verdict, decide
from tests.golden import golden
from tests.report.pages import holds_together, loads_nothing

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
CANARY = "Zebedee Quillfeather"
CANARY_NUMBER = 987654321

DOCUMENT: dict[str, Any] = {
    "dataset": "clinic",
    "version": 1,
    "record_key": ["patient", "visit"],
    "rows": {"minimum": 5, "maximum": 100},
    "freshness": {"column": "seen", "max_age_days": 10},
    "drift": {"max_distance": 0.25},
    "variables": [
        {"name": "patient", "kind": "integer", "role": "identifier", "minimum": 1},
        {"name": "phone", "kind": "text", "role": "identifier"},
        {"name": "visit", "kind": "integer", "nullable": True},
        {"name": "age", "kind": "integer", "minimum": 0, "maximum": 120, "nullable": True, "max_missing_share": 0.42},
        {"name": "weight", "kind": "continuous", "minimum": 0.5},
        {"name": "grade", "kind": "ordinal", "categories": ["low", "mid", "high"]},
        {"name": "note", "kind": "text", "nullable": True},
        {"name": "seen", "kind": "date", "maximum": "2026-11-20"},
    ],
}
CONTRACT = Contract.model_validate(DOCUMENT)


def good(n: int = 50) -> pd.DataFrame:
    """A typed frame; 42 % of the ages are missing, which is just allowed, and the newest record is just fresh."""
    i = np.arange(n)
    return pd.DataFrame(
        {
            "patient": pd.Series([f"#{k // 2}" for k in i], dtype="str"),
            "visit": pd.array(i % 2, dtype="Int64"),
            "age": pd.array([pd.NA if k < 0.42 * n else 20 + k for k in i], dtype="Int64"),
            "weight": 60.0 + i,
            "grade": pd.Categorical.from_codes(i % 3, ["low", "mid", "high"], ordered=True),
            "note": pd.Series([None if k % 2 else "text" for k in i], dtype="str"),
            "seen": pd.Series(pd.to_datetime("2026-11-10 12:00") - pd.to_timedelta(i, unit="D")).astype(
                "datetime64[us]"
            ),
        }
    )


def bad() -> pd.DataFrame:
    """A fault for every clause."""
    frame = good(120)
    frame.loc[50:60, "age"] = pd.NA
    frame.loc[70, "age"] = 150
    frame.loc[71, "weight"] = -float(CANARY_NUMBER)
    frame["grade"] = frame["grade"].astype(object)
    frame.loc[frame.index > 40, "grade"] = "high"
    frame.loc[72, "grade"] = CANARY
    frame["grade"] = frame["grade"].astype("category")
    frame.loc[[73, 74], "patient"] = CANARY
    frame.loc[[73, 74], "visit"] = pd.NA
    frame["seen"] = frame["seen"] - pd.Timedelta(minutes=1)
    frame.loc[75, "seen"] = pd.NaT
    return frame


def failed(findings: list[Finding], verdict: Verdict = Verdict.FAIL) -> set[tuple[str, str]]:
    return {(finding.rule, finding.scope) for finding in findings if finding.verdict is verdict}


@pytest.fixture(scope="module")
def on_bad(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Finding], Path]:
    docs = tmp_path_factory.mktemp("docs")
    before = profile(good(), compared(CONTRACT))
    return check_batch(CONTRACT, bad(), profile=before, docs=docs, now=NOW), docs


def test_good_batch_passes_at_the_limits() -> None:
    frame = good()
    findings = check_batch(CONTRACT, frame, profile=profile(frame, compared(CONTRACT)), now=NOW)
    assert [finding for finding in findings if finding.verdict is not Verdict.PASS] == []
    assert decide(findings) is Verdict.PASS
    assert {finding.rule: finding.completed for finding in findings} == {
        "columns": 7,
        "row_count": 1,
        "missing_share": 5,
        "range": 3,
        "categories": 1,
        "unique": 1,
        "freshness": 1,
        "drift": 4,
    }


def test_every_clause_fails_for_its_own_reason(on_bad: tuple[list[Finding], Path]) -> None:
    findings, _ = on_bad
    assert failed(findings) == {
        ("row_count", ""),
        ("missing_share", "age"),
        ("missing_share", "seen"),
        ("range", "age"),
        ("range", "weight"),
        ("categories", "grade"),
        ("unique", "patient, visit"),
        ("freshness", "seen"),
        ("drift", "age"),
        ("drift", "weight"),
        ("drift", "grade"),
        ("drift", "seen"),
    }
    assert failed(findings, Verdict.UNKNOWN) == set()
    limits = {(finding.rule, finding.scope): finding.limit for finding in findings if finding.verdict is Verdict.FAIL}
    assert limits["missing_share", "age"] == 0.42
    assert limits["range", "weight"] == 0.5
    assert limits["freshness", "seen"] == 10
    assert all(finding.stage == "contract" for finding in findings)


def test_no_value_in_findings_or_docs(on_bad: tuple[list[Finding], Path]) -> None:
    findings, docs = on_bad
    pages = [path.read_text(encoding="utf-8", errors="ignore") for path in docs.rglob("*") if path.is_file()]
    assert list(docs.glob("validations/**/*.html"))
    for text in (*pages, *(finding.model_dump_json() for finding in findings)):
        assert CANARY not in text
        assert str(CANARY_NUMBER) not in text


def test_data_docs_say_what_failed_and_load_nothing(on_bad: tuple[list[Finding], Path]) -> None:
    _, docs = on_bad
    index = (docs / "index.html").read_text(encoding="utf-8")
    assert "Verdict: <strong>FAIL</strong>" in index
    assert "no two records share the record key (patient, visit)" in index
    assert "The distribution of &#x27;grade&#x27; has moved" in index
    assert "<td>does not hold</td><td>range</td><td>every value of &#x27;age&#x27; is at least 0 and" in index
    assert "<td>holds</td><td>missing_share</td><td>no record lacks &#x27;weight&#x27;</td>" in index
    [page] = docs.glob("validations/**/*.html")
    assert page.relative_to(docs).as_posix() in index
    assert "Failed" in page.read_text(encoding="utf-8")
    golden(re.findall(r"[^<>]*5 to 100[^<>]*", (docs / "expectations/contract.html").read_text()))
    holds_together(index)
    loads_nothing(index, r"[/\w.-]+\.html$")
    for file in (*docs.rglob("*.html"), *docs.rglob("*.css")):
        assert not re.search(r"(?:src=|href=|url\()[\"']?https?:", file.read_text(encoding="utf-8"))


def test_the_canary_would_be_found_in_any_other_result_format() -> None:
    """The reason for BOOLEAN_ONLY: with Great Expectations' default the value stands in the result."""
    gx = great_expectations()
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    batch = context.data_sources.add_pandas("p").add_dataframe_asset("b").add_batch_definition_whole_dataframe("b")
    frame = pd.DataFrame({"grade": ["low", CANARY]})
    expectation = gx.expectations.ExpectColumnValuesToBeInSet(column="grade", value_set=["low"])
    result = batch.get_batch({"dataframe": frame}).validate(expectation)
    assert CANARY in str(result)


def test_any_order_and_any_index_give_the_same_findings(on_bad: tuple[list[Finding], Path]) -> None:
    before = profile(good(), compared(CONTRACT))
    shuffled = bad().sample(frac=1, random_state=1).set_axis([7] * 120, axis=0)
    assert check_batch(CONTRACT, shuffled, profile=before, now=NOW) == on_bad[0]


def test_one_record_too_many_breaks_each_limit() -> None:
    """A missing age more, a minute later and the 51st key twice: what passed at its limit fails."""
    frame = good()
    frame.loc[30, "age"] = pd.NA
    frame.loc[30, "visit"] = frame.loc[31, "visit"]
    findings = check_batch(CONTRACT, frame, now=NOW + timedelta(minutes=1))
    assert failed(findings) == {("missing_share", "age"), ("unique", "patient, visit"), ("freshness", "seen")}


def test_empty_batch_and_missing_date_do_not_pass() -> None:
    findings = check_batch(CONTRACT, good().iloc[:0], profile=profile(good(), compared(CONTRACT)), now=NOW)
    assert ("row_count", "") in failed(findings)
    assert ("freshness", "seen") in failed(findings) | failed(findings, Verdict.UNKNOWN)
    assert ("drift", "age") in failed(findings, Verdict.UNKNOWN)


def test_column_that_is_not_there_fails() -> None:
    findings = check_batch(CONTRACT, good().drop(columns=["seen", "patient"]), now=NOW)
    assert failed(findings) == {("columns", "seen"), ("columns", "patient")}
    assert failed(findings, Verdict.UNKNOWN) == {("freshness", "seen"), ("unique", "patient, visit")}


def test_exception_inside_great_expectations_is_unknown(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A single metric that fails, its text quoting a value: that clause is unknown, the others are known."""
    original = schemas.checks.expectations_run.canonical_frame

    class Odd:
        def __ge__(self, _: object) -> bool:
            raise ValueError(CANARY)

        __le__ = __gt__ = __lt__ = __ge__

    def spoilt(contract: Contract, frame: pd.DataFrame) -> pd.DataFrame:
        return original(contract, frame).assign(weight=[Odd()] * len(frame))

    monkeypatch.setattr(schemas.checks.expectations_run, "canonical_frame", spoilt)
    with caplog.at_level(logging.DEBUG):
        findings = check_batch(CONTRACT, good(), docs=tmp_path, now=NOW)
    assert failed(findings) == set()
    assert failed(findings, Verdict.UNKNOWN) == {("range", "weight")}
    assert decide(findings) is Verdict.UNKNOWN
    pages = [page.read_text(encoding="utf-8") for page in tmp_path.rglob("*.html")]
    golden(sorted({*re.findall(r"[^<>]*nothing about the data[^<>]*", "".join(pages))}))
    assert not [text for text in (*pages, caplog.text, *map(str, findings)) if CANARY in text]


def test_great_expectations_that_does_not_run_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise RuntimeError(CANARY)

    monkeypatch.setattr(schemas.checks.expectations_run, "suite", broken)
    findings = check_batch(CONTRACT, good(), now=NOW)
    asked = clauses_of(CONTRACT, CONTRACT.staged, NOW)
    assert failed(findings, Verdict.UNKNOWN) == {(clause.rule, clause.scope) for clause in asked}
    assert not [finding for finding in findings if CANARY in finding.says]


def test_docs_that_cannot_be_written_are_reported_and_decide_nothing(tmp_path: Path) -> None:
    occupied = tmp_path / "docs"
    occupied.write_text("a file, not a folder")
    findings = check_batch(CONTRACT, good(), docs=occupied, now=NOW)
    assert failed(findings, Verdict.UNKNOWN) == {("data_docs", "")}
    assert decide(findings) is Verdict.PASS


def test_frame_that_is_not_typed_is_refused() -> None:
    with golden.raises(DataError):
        check_batch(CONTRACT, good().astype({"weight": "str"}), now=NOW)


def test_suite_names_each_clause_and_the_version() -> None:
    asked = clauses_of(CONTRACT, CONTRACT.staged, NOW)
    built = suite(CONTRACT.dataset, CONTRACT.version, asked)
    assert [each.meta["clause"] for each in built.expectations] == list(range(len(asked)))
    golden(built.expectations[0].notes)
    assert "version 1" in built.notes
    # An identifier that is kept is a hash, and none other is kept.
    assert not [clause for clause in asked if clause.rule == "range" and clause.scope in ("patient", "phone")]


def test_the_last_day_counts_to_its_end_in_both_checks() -> None:
    """A maximum without a time is a whole day, for the expectations as for the check of every record."""
    [bound] = [
        clause.arguments["max_value"]
        for clause in clauses_of(CONTRACT, CONTRACT.staged, NOW)
        if (clause.rule, clause.scope) == ("range", "seen")
    ]
    late, later = pd.Timestamp("2026-11-20 23:59:59"), pd.Timestamp("2026-11-21")
    assert late <= bound < later
    for moment, breach in ((late, False), (later, True)):
        frame = good()
        frame.loc[0, "seen"] = moment
        rules = {(finding.rule, finding.scope) for finding in check_frame(frame, CONTRACT)}
        assert (("contract.maximum", "seen") in rules) == breach


KEPT = """
import gc
import pandas as pd
from tests.schemas.checks.test_expectations import CONTRACT, NOW, check_batch, good

def check():
    frame = good(97)
    return len(check_batch(CONTRACT, frame, now=NOW))

print(check())
gc.collect()
print(sum(isinstance(each, pd.DataFrame) and len(each) == 97 for each in gc.get_objects()))
"""


@pytest.mark.servers
def test_the_library_keeps_no_record_once_they_are_checked() -> None:
    """Not by its project, and not by the frames of the errors that it meets and keeps while it is imported."""
    root = Path(__file__).resolve().parents[3]
    done = subprocess.run([sys.executable, "-c", KEPT], cwd=root, capture_output=True, text=True, check=True)
    findings, kept = map(int, done.stdout.split()[-2:])
    assert findings > 3
    assert kept == 0


STOOD_IN = """
import sys
from schemas.checks.expectations import great_expectations
gx = great_expectations()
heavy = [name for name in ("scipy.stats", "altair") if name in sys.modules]
another = gx.expectations.ExpectColumnSumToBeBetween(column="a", min_value=1)
heavy += [] if another.expectation_type == "expect_column_sum_to_be_between" else [another]
import scipy.stats
from great_expectations.expectations.core import expect_column_kl_divergence_to_be_less_than as divergence
print(heavy, scipy.stats.entropy is divergence.stats.entropy, divergence.alt.Chart.__name__)
"""


@pytest.mark.servers
def test_what_no_check_uses_is_loaded_when_it_is_used() -> None:
    root = Path(__file__).resolve().parents[3]
    done = subprocess.run([sys.executable, "-c", STOOD_IN], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[] True Chart"
