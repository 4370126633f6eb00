"""Report: the page that people judge by, and the record of what was judged."""

import re
import string

from prefect.artifacts import create_markdown_artifact, create_table_artifact
from prefect.context import TaskRunContext

from sluice.custody.durable import replace
from sluice.custody.states import State
from sluice.reading.visible_text import one_line
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
    summary = f"**{in_markdown(dossier.title)}** ({dossier.release})\n\n{in_markdown(says)}"
    create_markdown_artifact(key=f"summary-{dossier.name}", markdown=summary)


def in_markdown(text: str) -> str:
    """A text that a reader of Markdown shows as it is: no markup, no link and no picture is read in it.

    Source: CommonMark 0.31.2, section 2.4: a backslash takes its meaning from any punctuation of ASCII.
    """
    return re.sub(f"[{re.escape(string.punctuation)}]", r"\\\g<0>", one_line(text))
