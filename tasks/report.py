"""Report: the page that people judge by, and the record of what was judged."""

from prefect.artifacts import create_markdown_artifact, create_table_artifact
from prefect.context import TaskRunContext

from sluice.custody.durable import replace
from sluice.custody.states import State
from sluice.report.dossier import Dossier
from sluice.report.headline import FURTHER_REASONS, headline, reasons
from sluice.report.report import render
from sluice.verdict import Verdict
from tasks.release.approval import report_path
from tasks.release.product import AnyRelease
from tasks.step import step


@step
def report(release: AnyRelease, dossier: Dossier, rehearse: bool = False) -> None:
    """Write the report, keep it and the dossier in the vault, and record the verdict in the ledger.

    A rehearsal stops at `evaluated`; otherwise the release is now blocked or waits for review.
    """
    page = render(dossier).encode()
    vault = release.vault
    kept = {
        "report": vault.keep_bytes(page, ".html"),
        "dossier": vault.keep_bytes(dossier.model_dump_json().encode(), ".json"),
    }
    replace(report_path(release), page, 0o600)
    says, worst = headline(dossier), reasons(dossier)
    body = {
        "verdict": dossier.verdict.name,
        "says": says,
        "further_reasons": [finding.says for finding in worst[1 : 1 + FURTHER_REASONS]],
        **kept,
    }
    masked = "data" in dossier.hashes  # without a masked file there is nothing that anybody could approve
    if masked:
        release.record(State.EVALUATED, **body, subject=dict(dossier.hashes) | kept)
    if not rehearse:
        passed = masked and dossier.verdict is Verdict.PASS
        release.record(State.PENDING_REVIEW if passed else State.BLOCKED, **body)
    elif not masked:
        release.record("note", **body)
    _show_in_prefect(dossier, says)


def _show_in_prefect(dossier: Dossier, says: str) -> None:
    """The verdict table and the summary, as artifacts of the run: aggregates, as in the report."""
    if TaskRunContext.get() is None:
        return
    create_table_artifact(
        key=f"verdict-{dossier.name}",
        description=f"{dossier.release}: {dossier.verdict.name}",
        table=[
            {
                "stage": finding.stage,
                "rule": finding.rule,
                "scope": finding.scope,
                "verdict": finding.verdict.name,
                "decides": finding.binding,
                "observed": finding.observed,
                "limit": finding.limit,
            }
            for finding in dossier.findings
        ],
    )
    summary = f"**{dossier.title}** ({dossier.release})\n\n{says}"
    create_markdown_artifact(key=f"summary-{dossier.name}", markdown=summary)
