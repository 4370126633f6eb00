"""Outcome: what a run of the flow says to whoever started it."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict

from sluice.custody.edition_order import ON_SHELF
from sluice.custody.ledger_entry import last, last_judgement
from sluice.custody.states import State
from sluice.ground.verdict import Verdict
from tasks.release.decisions.series_approval import standing
from tasks.release.decisions.under_review import report_path
from tasks.release.product import AnyRelease
from tasks.release.run_notes import WaitingRun


class Outcome(BaseModel):
    """Where a release stands: names, hashes and sentences, nothing of the data."""

    model_config = ConfigDict(frozen=True)

    release: str
    state: State
    verdict: Verdict | None
    says: str
    report: Path | None
    published: Path | None
    approvals: str | None = None
    waits_for: str = ""  # people, such as '1 of 2, needs data_steward'
    further_reasons: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()  # of the findings that block; none in rows of before they were recorded
    waits_in: WaitingRun | None = None

    @classmethod
    def of(cls, release: AnyRelease, waits_in: WaitingRun | None = None) -> "Outcome":
        """As the ledger has it now.

        waits_in : another run that waits for the release, for which this one ends
        """
        verdict = last_judgement(release.entries())
        state, report = release.state, report_path(release)
        published, approved = last(release.entries(), State.PUBLISHED), last(release.entries(), State.APPROVED)
        if state is None:
            raise ValueError(f"nothing is recorded of {release.id}")
        asked = standing(release) if state in (State.PENDING_REVIEW, State.APPROVED) else None
        approvals = asked.says if asked else None
        if approved and state is State.PUBLISHED:  # of an edition of a series: by whose approval of which other
            approvals = approved.body.get("says")
        if closed := last(release.entries(), State.OVERTAKEN if state is State.OVERTAKEN else State.SUPERSEDED):
            by = f"{closed.body['by']} is the current edition."
            approvals = closed.body.get("says", by) if state in (State.OVERTAKEN, State.SUPERSEDED) else approvals
        return cls(
            release=release.id,
            state=state,
            verdict=Verdict[verdict["verdict"]] if verdict else None,
            says=verdict["says"] if verdict else "",
            report=report if report.exists() else None,
            published=Path(published.body["folder"]) if published and state in ON_SHELF else None,
            further_reasons=tuple(verdict["further_reasons"]) if verdict else (),
            codes=tuple(verdict.get("codes", ())) if verdict else (),
            approvals=approvals,
            waits_for=asked.waits_for if asked else "",
            waits_in=waits_in,
        )

    @property
    def end(self) -> str:
        """The name of the state in which a run ends that brought the release here."""
        if self.waits_in:
            return "AlreadyWaiting"
        match self.state:
            case State.PUBLISHED:
                return "Published"
            case State.SUPERSEDED | State.OVERTAKEN:
                return "Superseded"
            case State.NEEDS_DECISION:
                return "AwaitingDecision"
            case State.PENDING_REVIEW | State.APPROVED | State.PUBLISHING:
                return "AwaitingApproval"
            case State.BLOCKED | State.REJECTED | State.CHANGES_REQUESTED | State.WITHDRAWN:
                return "Blocked"
        return "Checked"  # of a rehearsal

    @property
    def message(self) -> str:
        """What Prefect shows beside that name: no figure, as more people see runs than reports."""
        if self.waits_in:
            where = f": {self.waits_in.link}" if self.waits_in.link else ""
            return f"{self.release} waits for approval in the run {self.waits_in.id}{where}"
        match self.end:
            case "Published" | "Superseded":
                return self.release
            case "AwaitingDecision":
                return f"{self.release} needs a decision: sluice review {self.release}"
            case "AwaitingApproval":
                return self.waits_for or str(self.state)
        verdict = self.verdict.name if self.verdict else "not judged"
        return f"{str(self.state).replace('_', ' ')}: {verdict}; to see why: sluice review {self.release}"
