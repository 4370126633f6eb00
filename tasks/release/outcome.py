"""Outcome: what a run of the flow says to whoever started it."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict

from sluice.custody.states import State
from sluice.verdict import Verdict
from tasks.release.approval import report_path, standing
from tasks.release.product import AnyRelease
from tasks.release.release import last


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
    further_reasons: tuple[str, ...] = ()

    @classmethod
    def of(cls, release: AnyRelease) -> "Outcome":
        verdict = next((entry.body for entry in reversed(release.entries()) if "verdict" in entry.body), None)
        state, report = release.state, report_path(release)
        published, approved = last(release.entries(), State.PUBLISHED), last(release.entries(), State.APPROVED)
        if state is None:
            raise ValueError(f"nothing is recorded of {release.id}")
        approvals = standing(release).says if state in (State.PENDING_REVIEW, State.APPROVED) else None
        if approved and state is State.PUBLISHED:  # of an edition of a series: by whose approval of which other
            approvals = approved.body.get("says")
        return cls(
            release=release.id,
            state=state,
            verdict=Verdict[verdict["verdict"]] if verdict else None,
            says=verdict["says"] if verdict else "",
            report=report if report.exists() else None,
            published=Path(published.body["folder"]) if published and state is State.PUBLISHED else None,
            further_reasons=tuple(verdict["further_reasons"]) if verdict else (),
            approvals=approvals,
        )

    @property
    def end(self) -> str:
        """The name of the state in which a run ends that brought the release here."""
        match self.state:
            case State.PUBLISHED | State.SUPERSEDED:
                return "Published"
            case State.PENDING_REVIEW | State.APPROVED | State.PUBLISHING:
                return "AwaitingApproval"
            case State.BLOCKED | State.REJECTED | State.CHANGES_REQUESTED | State.WITHDRAWN:
                return "Blocked"
        return "Checked"  # of a rehearsal
