"""The release flow: from a warehouse table to a published file, or a refusal."""

from flows.environment import prepare

prepare()  # a worker imports this file, and nothing before it

from prefect import flow

from flows.conclude import conclude
from tasks.check import check
from tasks.decide import decide
from tasks.evaluate import evaluate
from tasks.ingest import ingest, known_release, open_case
from tasks.mask import mask
from tasks.outcome import Outcome
from tasks.report import report
from tasks.step import quietly
from tasks.validate import is_sound, validate


def release(definition: str, release_id: str | None = None, rehearse: bool = False) -> Outcome:
    """source -> ingest -> validate -> check -> mask -> check -> evaluate -> decide -> approve -> publish.

    definition : path of the release definition
    release_id : go on with this release, where an earlier run left it; the source is not read again
    rehearse   : judge and report, but ask nobody and publish nothing
    """
    case = open_case(definition)
    release = known_release(case, release_id) or ingest(case)

    if release.needs_judgement:
        findings, masked, measured = validate(release), None, None
        if is_sound(findings):
            findings += check(release)
            masked = mask(release)
            findings += check(release, masked)
            measured = evaluate(release, masked)
        report(release, decide(release, findings, masked, measured), rehearse)
    return Outcome.of(release) if rehearse else conclude(release)


release_flow = flow(name="release", persist_result=False, log_prints=False)(quietly("release", release))
