"""Outcome: what a run of the flow says to whoever started it."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict

from sluice.custody.states import State
from sluice.verdict import Verdict
from tasks.case import Release


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
    def of(cls, release: Release) -> "Outcome":
        judged = release.judgement()
        state = release.state
        if state is None:
            raise ValueError(f"nothing is recorded of {release.id}")
        report = release.report_path
        folder = release.case.definition.target / release.id
        return cls(
            release=release.id,
            state=state,
            verdict=Verdict[judged["verdict"]] if judged else None,
            says=judged["says"] if judged else "",
            report=report if report.exists() else None,
            published=folder if state is State.PUBLISHED else None,
            further_reasons=tuple(judged["further_reasons"]) if judged else (),
            approvals=release.standing().says if state in (State.PENDING_REVIEW, State.APPROVED) else None,
        )
