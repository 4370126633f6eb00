"""Running a contract's expectations on the typed frame of a batch.

The frame is what was staged. The source is not asked again: it may have been loaded anew since it was read.

Great Expectations reports booleans only: in every other format it writes offending values into its results. What an
exception says may quote a value too, so it is dropped, and the clause is `UNKNOWN`: an internal error is neither a
fault of the data nor a pass.
"""

import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any

import pandas as pd

from schemas.checks.data_docs import write_index, write_pages
from schemas.checks.expectations import Clause, canonical_frame, clauses_of, great_expectations, suite
from schemas.checks.profile import Profile, drift_findings
from schemas.contract import Contract
from sluice.ground.declaration import Declaration
from sluice.ground.sentence import Sentence, Sentences, as_fields
from sluice.ground.variables import Variables
from sluice.ground.verdict import Finding, Verdict

_NO_COLUMN = Sentence("columns.missing", "The batch has no column '{name}'.")
_SAYS = Sentences(
    "expectations",
    broken="The contract asks that {asks}. In this batch that is not so.",
    not_checked="The contract asks that {asks}. The check itself failed, so nothing is known.",
    hold="{passed} of {number} checks of {about} hold.",
)
_NOT_WRITTEN = Sentence("data_docs.not_written", "The Data Docs could not be written, or not completely.")

_ONE_AT_A_TIME = Lock()  # Great Expectations keeps its project, and logging its levels, in global state

_ABOUT = {
    "columns": "columns that must be there",
    "row_count": "the number of records",
    "missing_share": "missing values",
    "range": "smallest and largest values",
    "categories": "declared categories",
    "unique": "the record key",
    "freshness": "the age of the newest record",
}


EXPECTATIONS_RUN = (
    Declaration(
        "expectations",
        helps="Great Expectations made no check at all: run the contract's checks by themselves and see what stopped "
        "them.",
    ),
    Declaration(
        "data_docs",
        helps="Make the folder of the Data Docs writable; the checks themselves were made.",
        needs="Make the folder of the Data Docs writable; the checks themselves were made.",
    ),
)


def check_batch(
    contract: Contract,
    frame: pd.DataFrame,
    profile: Profile | None = None,
    docs: Path | None = None,
    now: datetime | None = None,
) -> list[Finding]:
    """Check a typed frame, whose columns are `contract.staged`.

    profile : of the last published release, for the drift; None when there is none yet
    docs    : folder for the Data Docs (index.html), without values; not written when None
    now     : for the freshness; the present when None
    returns : failures and unknowns by clause, passes by rule
    raises  : DataError when a column is not typed as the contract says
    """
    values = canonical_frame(contract, frame)
    present = {name: variable for name, variable in contract.staged.items() if name in frame}
    clauses = clauses_of(contract, present, now or datetime.now(UTC))
    outcomes, written = _run(contract, clauses, values, docs)
    findings = _columns(contract.staged, present) + _report(clauses, outcomes)
    findings += drift_findings(contract, frame, profile)
    return _documented(contract, findings, docs, clauses, outcomes, written)


def _run(
    contract: Contract, clauses: list[Clause], values: pd.DataFrame, docs: Path | None
) -> tuple[dict[int, bool | None], bool]:
    """Whether each clause holds of canonical values, by its number; and whether the Data Docs asked for are written.

    None, or no entry, where the check itself failed.
    """
    gx = great_expectations()
    from great_expectations.data_context.data_context.context_factory import project_manager

    with _ONE_AT_A_TIME, _silence():
        try:
            context = gx.get_context(mode="ephemeral")
            context.variables.progress_bars = {"globally": False}
            asset = context.data_sources.add_pandas("staged").add_dataframe_asset("batch")
            data = asset.add_batch_definition_whole_dataframe("batch")
            asked = context.suites.add(suite(contract.dataset, contract.version, clauses))
            validation = gx.ValidationDefinition(name="contract", data=data, suite=asked)
            result = context.validation_definitions.add(validation).run(
                batch_parameters={"dataframe": values}, result_format="BOOLEAN_ONLY"
            )
        except Exception:  # of whatever kind: its text may quote a value, so nothing of it is kept
            return {}, docs is None
        finally:
            project_manager.set_project(None)  # which holds the records, for as long as this process lives
        outcomes = {each.expectation_config.meta["clause"]: _outcome(each) for each in result.results}
        written = docs is None
        if docs is not None:
            with suppress(Exception):  # the False says so
                write_pages(contract, clauses, result, docs)
                written = True
        return outcomes, written


@contextmanager
def _silence() -> Iterator[None]:
    """Great Expectations logs and warns of what it meets, values included; some of its loggers have their own level."""
    logger, nowhere = logging.getLogger("great_expectations"), logging.NullHandler()
    propagated = logger.propagate
    logger.propagate = False
    logger.addHandler(nowhere)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.removeHandler(nowhere)
        logger.propagate = propagated


def _outcome(result: Any) -> bool | None:
    """Success, or None if an exception was raised; it stands in the result itself or under each metric's name."""
    info = result.exception_info or {}
    entries = [info, *(entry for entry in info.values() if isinstance(entry, dict))]
    if any(entry.get("raised_exception") for entry in entries) or not isinstance(result.success, bool):
        return None
    return result.success


def _columns(needed: Variables, present: Variables) -> list[Finding]:
    missing = [name for name in needed if name not in present]
    findings = [
        Finding(
            rule="columns",
            verdict=Verdict.FAIL,
            scope=name,
            stage="contract",
            **as_fields(_NO_COLUMN(name=name)),
        )
        for name in missing
    ]
    return findings + _passes("columns", len(present), len(needed))


def _report(clauses: Sequence[Clause], outcomes: dict[int, bool | None]) -> list[Finding]:
    findings = []
    for number, clause in enumerate(clauses):
        outcome = outcomes.get(number)
        if outcome is True:
            continue
        says = (_SAYS.broken if outcome is False else _SAYS.not_checked)(asks=clause.asks)
        verdict = Verdict.UNKNOWN if outcome is None else Verdict.FAIL
        findings.append(
            Finding(
                rule=clause.rule,
                verdict=verdict,
                scope=clause.scope,
                stage="contract",
                **as_fields(says),
                limit=clause.limit,
            )
        )
    for rule in dict.fromkeys(clause.rule for clause in clauses):
        numbers = [number for number, clause in enumerate(clauses) if clause.rule == rule]
        findings += _passes(rule, sum(outcomes.get(number) is True for number in numbers), len(numbers))
    return findings


def _passes(rule: str, passed: int, number: int) -> list[Finding]:
    if not passed:
        return []
    says = _SAYS.hold(passed=passed, number=number, about=_ABOUT[rule])
    return [
        Finding(
            rule=rule, verdict=Verdict.PASS, stage="contract", **as_fields(says), attempted=number, completed=passed
        )
    ]


def _documented(
    contract: Contract,
    findings: list[Finding],
    docs: Path | None,
    clauses: Sequence[Clause],
    outcomes: dict[int, bool | None],
    written: bool,
) -> list[Finding]:
    """Write the index of the Data Docs; a failure to write is reported, and decides nothing."""
    if docs is not None:
        try:
            write_index(contract, findings, clauses, outcomes, docs)
        except OSError:
            written = False
    if not written:
        says = _NOT_WRITTEN()
        findings.append(
            Finding(rule="data_docs", verdict=Verdict.UNKNOWN, stage="contract", **as_fields(says), binding=False)
        )
    return findings
