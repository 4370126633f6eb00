"""Decide and approve: whether a release waits for people or is blocked, and whether they approved exactly these bytes.

This is the one place where the ledger comes to say so. Approval asks the ledger, nobody else.
"""

from policies.standing import REFUSALS
from sluice.custody.states import State
from sluice.ground.verdict import Verdict, codes_of
from sluice.ground.visible_text import in_markdown
from sluice.report.dossier import Dossier
from sluice.report.headline import headline, in_sentences, reasons
from tasks.flow_run import in_a_run
from tasks.release.decisions.open_findings import left_open, open_codes, settle_findings
from tasks.release.decisions.series_approval import standing
from tasks.release.decisions.under_review import UnderReview, report_place, subject
from tasks.release.editions.current_edition import close_overtaken, overtaken
from tasks.release.product import AnyRelease
from tasks.release.stored_dossier import Reported
from tasks.step import step


@step
def decide(release: AnyRelease, reported: Reported, rehearse: bool = False) -> None:
    """Record the verdict, with its reasons and their codes, what was reported, and what follows from it.

    Only a file that meets its policy waits for review; without one there is nothing that anybody could approve. Where
    the worst that was found needs a decision, people are asked for that first. A rehearsal stops at `evaluated`, or
    leaves a note where nothing was masked.
    """
    dossier, kept = reported.dossier, reported.kept
    why = reasons(dossier)
    body = {
        "verdict": dossier.verdict.name,
        "says": headline(dossier),
        "further_reasons": in_sentences(dossier),
        "codes": codes_of(why),
        **kept,
    }
    masked = "data" in dossier.hashes
    undecided = open_codes(why) if dossier.verdict is Verdict.REVIEW else {}
    if masked:
        release.record(
            State.EVALUATED,
            **body,
            subject={**dossier.hashes, **kept},
            **({"open": undecided} if undecided else {}),
        )
    if not rehearse:
        follows = {Verdict.PASS: State.PENDING_REVIEW} | ({Verdict.REVIEW: State.NEEDS_DECISION} if undecided else {})
        release.record(follows.get(dossier.verdict, State.BLOCKED) if masked else State.BLOCKED, **body)
    elif not masked:
        release.record("note", **body)
    _show_in_prefect(dossier, report_place(release.product.workspace, release.id))


def _show_in_prefect(dossier: Dossier, place: str) -> None:
    """The verdict as an artifact of the run: which rules keep the release back, by name, and where the report is.

    No figure and no scope: they are of the confidential data, and whoever reads Prefect's pages need not be one who
    may read the report.
    """
    if not in_a_run():
        return
    from prefect.artifacts import create_markdown_artifact

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


@step
def approve(release: AnyRelease) -> bool:
    """True when the release may be published now. Moves it to `approved`, or back to `pending_review`, as it stands.

    One of which an acceptance holds no more goes back to `needs_decision`. One whose data are older than those of a
    published edition of the same period closes.
    """
    state, workspace = release.state, release.product.workspace
    if state is State.PUBLISHING:
        return True  # it was approved when publication began; what is on the shelf must be finished
    if state is State.NEEDS_DECISION:
        if newer := overtaken(release):
            close_overtaken(workspace, *newer)
            return False
        state = settle_findings(workspace, release.id)  # by a decision whose author's process ended before
    if state not in (State.PENDING_REVIEW, State.APPROVED):
        return False
    if newer := overtaken(release):
        close_overtaken(workspace, *newer)
        return False
    if left := left_open(UnderReview.of(workspace, release.id)):
        codes = ", ".join(dict.fromkeys(left.values()))
        release.record(State.NEEDS_DECISION, says=f"What was accepted holds no more, and needs a decision: {codes}.")
        return False
    now = standing(release)
    if now.complete and state is State.PENDING_REVIEW:
        release.record(State.APPROVED, subject=subject(release).digest(), says=now.says)
    if now.outcome in REFUSALS.values():
        release.record(now.outcome, says=now.says)  # by the last decision, whose author's process ended before
    elif not now.complete and state is State.APPROVED:
        release.record(State.PENDING_REVIEW, says=now.says)  # expired or voided since
    return now.complete


@step
def awaits_people(release: AnyRelease) -> bool:
    return release.state in (State.PENDING_REVIEW, State.NEEDS_DECISION)


def waits_for(release: AnyRelease) -> str:
    """Which people a release waits for, in a few words: no figure, as more people see runs than reports."""
    if release.state is State.NEEDS_DECISION:
        left = left_open(UnderReview.of(release.product.workspace, release.id))
        return f"a decision on {', '.join(dict.fromkeys(left.values()))}"
    return standing(release).waits_for
