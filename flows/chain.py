"""The chain of a release, from a warehouse table to published records or tables, or a refusal. It needs no Prefect."""

import os
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any

from sluice.ground.verdict import Finding
from tasks.decide import approve, awaits_people, decide, waits_for
from tasks.flow_run import name_run, stop_waiting, suspend, tag_runs, waits_already
from tasks.ingest import ingest, is_sound, known_release, open_documents, validate
from tasks.publish import publish
from tasks.record_steps import check, evaluate, mask
from tasks.release.decisions.notices import tell, tell_quietly
from tasks.release.documented_release import Release
from tasks.release.editions.current_edition import editions_of
from tasks.release.locks import alone_with_data, alone_with_release
from tasks.release.outcome import Outcome
from tasks.release.product import AnyProduct
from tasks.release.records.record_product import Records
from tasks.release.release_documents import deployed_definition
from tasks.release.stored_dossier import Reported
from tasks.release.tables.table_product import Tables
from tasks.report import report
from tasks.settle import settle
from tasks.step import quietly
from tasks.table_audit import audit
from tasks.table_protection import protect, tabulate


def release(definition: str, release_id: str | None = None, rehearse: bool = False) -> Outcome:
    """source -> ingest -> validate -> records or tables -> report -> decide -> approve -> publish.

    definition : path of the release definition
    release_id : go on with this release, where an earlier run left it; the source is not read again
    rehearse   : judge and report, but ask nobody and publish nothing
    """
    by_a_worker = "PREFECT__FLOW_RUN_ID" in os.environ  # then it is the server that names the definition
    product = open_documents(str(deployed_definition(definition)) if by_a_worker else definition, rehearse)
    known, other = known_release(product, release_id), None
    with nullcontext() if known and not known.needs_judgement else alone_with_data(product):
        release = known or ingest(product)
        name_run(release)
        if release.needs_judgement:
            release.begin_again()
            findings = validate(release)
            judge = CHAINS[type(product)] if is_sound(findings) else report
            decide(release, judge(release, findings), rehearse)
    if not rehearse:
        with alone_with_release(release):
            while not (approved := approve(release)) and awaits_people(release):
                tag_runs(product.workspace, [release.id])
                tell(product.workspace)  # before: a worker ends the process of a run that is suspended
                if (other := waits_already(release)) or not suspend(release, waits_for(release)):
                    break  # where nothing can be suspended, the last approval starts a new run
            if approved:
                publish(release)
            settle(product)
            stop_waiting(release)
    tag_runs(product.workspace, {release.id, *editions_of(product.workspace, product.definition.name)})
    return Outcome.of(release, other)


def records(release: Release[Records], findings: list[Finding]) -> Reported:
    """check -> mask -> check -> evaluate -> report."""
    findings += check(release)
    masked = mask(release)
    findings += check(release, masked)
    return report(release, findings, masked, evaluate(release, masked))


def tables(release: Release[Tables], findings: list[Finding]) -> Reported:
    """tabulate -> protect -> audit -> report."""
    cells = tabulate(release)
    protected = protect(release, cells)
    return report(release, findings, protected, audit(release, cells, protected))


Judge = Callable[[Release[Any], list[Finding]], Reported]
CHAINS: Mapping[type[AnyProduct], Judge] = {
    Records: records,
    Tables: tables,
}


_quietly = quietly("release", release)


def release_quietly(definition: str, release_id: str | None = None, rehearse: bool = False) -> Outcome:
    """Run `release`, whose failures say nothing of the data, and tell people what came of it, whatever that is."""
    try:
        return _quietly(definition, release_id, rehearse)
    finally:
        tell_quietly()
