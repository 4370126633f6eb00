"""The audit believes nothing: neither the pattern, nor its proofs, nor the files that were written."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from sluice.ground.verdict import Finding, Verdict
from sluice.tabular.model.cells import Status
from tasks.release.product import AnyRelease
from tasks.release.tables.published_cells import ProtectedTables, PublishedCells, staged_and_published_cells
from tasks.release.tables.table_findings import TablesEvaluation
from tasks.table_audit import audit
from tasks.table_protection import protect, tabulate
from tests.flows.house import House
from tests.flows.tables_house import TablesHouse

Bring = Callable[[House], AnyRelease]


def finding(evaluation: TablesEvaluation, rule: str) -> Finding:
    (found,) = (finding for finding in evaluation.findings if finding.rule == rule)
    return found


def with_pattern(release: AnyRelease, protected: ProtectedTables, status: np.ndarray) -> ProtectedTables:
    kept = release.vault.keep_bytes(PublishedCells(status).to_bytes(), ".npz")
    return replace(protected, published_cells=kept)


def test_a_safe_pattern_passes_and_rules_are_reported(tables_house: TablesHouse, validated: Bring) -> None:
    release = validated(tables_house)
    staged = tabulate(release)
    found = audit(release, staged, protect(release, staged))
    assert finding(found, "table_audit").verdict is Verdict.PASS
    assert finding(found, "table_files").verdict is Verdict.PASS
    assert finding(found, "earlier_editions").verdict is Verdict.PASS
    assert (finding(found, "p_percent").verdict, finding(found, "p_percent").binding) == (Verdict.FAIL, False)
    assert [table.name for table in found.tables] == ["industry-by-region", "industry-by-size"]


def test_a_pattern_without_secondary_cells_fails_by_attack_and_by_its_files(
    tables_house: TablesHouse, validated: Bring
) -> None:
    release = validated(tables_house)
    staged = tabulate(release)
    protected = protect(release, staged)
    _, _, published = staged_and_published_cells(release)
    status = np.where(published.status == Status.SECONDARY, Status.PUBLISHED, published.status).astype(np.uint8)
    found = audit(release, staged, with_pattern(release, protected, status))
    assert finding(found, "table_audit").verdict is Verdict.FAIL
    assert finding(found, "table_files").verdict is Verdict.FAIL  # they hold another pattern than the one judged


def test_an_attack_that_crashes_is_unknown(
    tables_house: TablesHouse, validated: Bring, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = validated(tables_house)
    staged = tabulate(release)
    protected = protect(release, staged)

    def crash(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("tasks.table_audit.audit_cells", crash)
    assert finding(audit(release, staged, protected), "table_audit").verdict is Verdict.UNKNOWN
