"""Decide: all findings to one verdict, and the dossier that people will be shown."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from policies.advice import with_advice
from policies.waivers import apply_waivers
from sluice.custody.states import State
from sluice.masking.subsets import ByStratum
from sluice.report.dossier import Dossier, RecordsView, TablesView
from sluice.variables import Variables
from sluice.verdict import Finding
from sluice.verdict import decide as verdict_of
from tasks.audit import Audited
from tasks.case import Masked, Release, last
from tasks.protect import Protected
from tasks.release.records.judgement import Evaluation
from tasks.release.versions import versions
from tasks.step import step


@step
def decide(
    release: Release,
    findings: Sequence[Finding],
    masked: Masked | Protected | None = None,
    measured: Evaluation | Audited | None = None,
) -> Dossier:
    """The dossier. Without masked data (they did not meet their contract) its findings are all there is."""
    case, now = release.case, datetime.now(UTC)
    found = [*findings, *(measured.findings if measured else ())]
    waived = with_advice(
        apply_waivers(found, case.policy.waivers, case.definition.name, now.date(), case.definition.owner)
    )
    hashes = dict(case.document_hashes)
    if masked:
        hashes["data"] = masked.sha256
    if case.is_of_tables:
        plan, view = _tables(release, measured)
    else:
        plan, view = tuple(masking.describe() for masking in case.definition.plan), _records(release, masked, measured)
        if masked:
            hashes["csv"] = masked.csv_sha256
    return Dossier(
        release=release.id,
        name=case.definition.name,
        title=case.definition.title,
        dataset=case.contract.dataset,
        contract_version=case.contract.version,
        policy=case.policy.name,
        policy_version=case.policy.version,
        submitter=case.definition.owner,
        evaluated_at=now.isoformat(timespec="seconds"),
        verdict=verdict_of(waived),
        findings=tuple(waived),
        plan=plan,
        approvals_needed=case.policy.approvals.describe(),
        records_original=release.original.rows,
        earlier_attempts=_earlier_attempts(release),
        minimum_cell=case.policy.minimum_cell,
        hashes=hashes,
        versions=versions(),
        view=view,
    )


def _records(release: Release, masked: Masked | None, measured: Evaluation | None) -> RecordsView:
    return RecordsView(
        records_holdout=release.holdout.rows if release.holdout else 0,
        records_released=masked.rows if masked else 0,
        curves=measured.curves if measured else (),
        variables=measured.variables if measured else (),
        parameters=tuple(_parameters(release, masked)) if masked else (),
    )


def _tables(release: Release, audited: Audited | None) -> tuple[tuple[str, ...], TablesView]:
    """What was made of the data, by which rules, and what the audit found."""
    definition, policy = release.case.definition, release.case.policy
    measure = definition.measure
    plan = (
        measure.describe(),
        *(rule.describe() for rule in policy.table_rules),
        policy.table_attackers.describe(),
        definition.protection.describe(),
    )
    return plan, TablesView(
        measure=measure.variable or "number of records",
        unit=release.case.contract.by_name[measure.variable].unit if measure.variable else None,
        tables=audited.tables if audited else (),
    )


def _parameters(release: Release, masked: Masked) -> Iterator[dict[str, Any]]:
    """What analysts have to correct for. Strata are named by their values only where the public has these anyway."""
    before, after = release.case.variables, release.case.described
    for done in masked.carried_out:
        told = done.parameters()
        if isinstance(done, ByStratum) and not all(
            name in before and name in after and before[name].categories == after[name].categories is not None
            for name in done.step.strata
        ):
            continue
        if "by_stratum" in told:
            told = {"by_stratum": [each | _of_declared(each, after) for each in told["by_stratum"]]}
        told |= _of_declared(told, after)
        if told:
            yield told


def _of_declared(told: dict[str, Any], declared: Variables) -> dict[str, Any]:
    """The matrices of variables whose categories are declared: those of others name what only the data tell."""
    if "matrix" not in told:
        return {}
    public = {name for name, variable in declared.items() if variable.categories is not None}
    return {"matrix": {name: rows for name, rows in told["matrix"].items() if name in public}}


def _earlier_attempts(release: Release) -> int:
    """How many other releases of the same data were judged before: trying until it passes must be seen."""
    ledger = release.case.workspace.ledger
    others = [entries for other, entries in ledger.histories().items() if other != release.id]
    return sum(
        last(entries, State.EVALUATED) is not None
        and (received := last(entries, State.RECEIVED)) is not None
        and received.body["data"]["sha256"] == release.data.sha256
        for entries in others
    )
