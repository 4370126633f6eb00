"""The flow for tables: from a warehouse table to published tables whose blanks nobody can fill, or a refusal."""

from flows.environment import prepare

prepare()  # a worker imports this file, and nothing before it

from prefect import flow

from flows.conclude import conclude
from tasks.audit import audit
from tasks.decide import decide
from tasks.ingest import ingest, known_release, open_case
from tasks.outcome import Outcome
from tasks.protect import protect
from tasks.report import report
from tasks.step import quietly
from tasks.tabulate import tabulate
from tasks.validate import is_sound, validate


def release_tables(definition: str, release_id: str | None = None, rehearse: bool = False) -> Outcome:
    """source -> ingest -> validate -> tabulate -> protect -> audit -> decide -> approve -> publish.

    definition : path of the release definition
    release_id : go on with this release, where an earlier run left it; the source is not read again
    rehearse   : judge and report, but ask nobody and publish nothing
    """
    case = open_case(definition)
    release = known_release(case, release_id) or ingest(case)

    if release.needs_judgement:
        findings, protected, audited = validate(release), None, None
        if is_sound(findings):
            tabulated = tabulate(release)
            protected = protect(release, tabulated)
            audited = audit(release, tabulated, protected)
        report(release, decide(release, findings, protected, audited), rehearse)
    return Outcome.of(release) if rehearse else conclude(release)


release_tables_flow = flow(name="release-tables", persist_result=False, log_prints=False)(
    quietly("release_tables", release_tables)
)
