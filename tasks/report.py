"""Report: the page that people judge by, and the record of what was judged."""

from prefect.artifacts import create_markdown_artifact
from prefect.context import TaskRunContext

from sluice.custody.states import State
from sluice.ground.durable import replace
from sluice.ground.verdict import Verdict
from sluice.ground.visible_text import in_markdown
from sluice.report.dossier import Dossier
from sluice.report.headline import FURTHER_REASONS, headline, reasons
from sluice.report.report import render
from tasks.release.approval import report_path, report_place
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
    _show_in_prefect(dossier, report_place(release.product.workspace, release.id))


def _show_in_prefect(dossier: Dossier, place: str) -> None:
    """The verdict as an artifact of the run: which rules keep the release back, by name, and where the report is.

    No figure and no scope: they are of the confidential data, and whoever reads Prefect's pages need not be one who
    may read the report.
    """
    if TaskRunContext.get() is None:
        return
    create_markdown_artifact(
        key=f"verdict-{dossier.name}",
        description=f"{dossier.release}: {dossier.verdict.name}",
        markdown=_in_short(dossier, place),
    )


def _in_short(dossier: Dossier, place: str) -> str:
    kept_back = list(dict.fromkeys((finding.verdict, finding.stage, finding.rule) for finding in reasons(dossier)))
    judged = len({(finding.stage, finding.rule) for finding in dossier.findings if finding.binding})
    rows = [f"| {verdict.name} | {in_markdown(stage)} | {in_markdown(rule)} |" for verdict, stage, rule in kept_back]
    table = ["| verdict | stage | rule |", "|---|---|---|", *rows, ""] if rows else []
    link = f"[the report]({place})" if place.startswith("http") else f"the report: `{place}`"
    return "\n".join(
        [
            f"**{in_markdown(dossier.title)}** ({in_markdown(dossier.release)}): **{dossier.verdict.name}**",
            "",
            f"{judged - len({kept[1:] for kept in kept_back})} of {judged} rules let it pass.",
            "",
            *table,
            f"What was found is in {link}, or on the terminal by `sluice review {dossier.release}`.",
        ]
    )
