"""What was recorded of a release: for reviewers and for auditors years later, whatever became of its documents."""

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from policies.approvals import Subject
from policies.decision_table import DECISION
from policies.standing import told
from sluice.custody.ledger import recorded_entries
from sluice.custody.ledger_entry import Entry, last
from sluice.custody.states import State, state_of
from sluice.custody.workspace import Workspace
from sluice.ground.errors import SluiceError
from tasks.release.decisions.under_review import UnderReview

if TYPE_CHECKING:
    from sluice.report.dossier import Dossier

_ASKED = (State.EVALUATED, State.BLOCKED, State.NEEDS_DECISION, State.PENDING_REVIEW)
_SUFFIX = {"data": ".parquet", "csv": ".csv", "report": ".html", "stata": ".dta", "spss": ".sav"}  # all others: JSON


@dataclass(frozen=True)
class History:
    """The ledger's entries of one release, and the files of the vault that they name by their SHA-256."""

    release: str
    state: State | None
    entries: Sequence[Entry]  # what was decided is not told before all have decided
    dossier: "Dossier | None"  # of the last judgement; None before the first, and where nobody asked for it
    subject: Subject | None  # what approvals are given to; None while nothing is masked
    files: dict[str, Path]  # those that the vault holds: the SHA-256 is the name, and sha256sum checks it
    title: str = ""  # as judged last; empty before that

    @property
    def settled(self) -> str:
        """How it stands, in a sentence, where nobody is asked for anything any more; empty where somebody is."""
        return f"It {self.state.stands}." if self.state is not None and self.state not in _ASKED else ""


def history(workspace: Workspace, release_id: str, with_dossier: bool = True) -> History:
    """All that is known of a release. Raises SluiceError for an id of which nothing is recorded.

    with_dossier : what was measured, too, which needs the libraries that measure
    """
    entries = recorded_entries(workspace.ledger, release_id)
    received, evaluated = last(entries, State.RECEIVED), last(entries, State.EVALUATED)
    evaluation = next((entry for entry in reversed(entries) if "dossier" in entry.body), None)
    subject = Subject(**evaluated.body["subject"]) if evaluated else None

    named = subject.model_dump(exclude_none=True) if subject else {}
    named |= {name: evaluation.body[name] for name in ("report", "dossier")} if evaluation else {}
    # Last: what approvals are given to has a salted hash of the plan, by which the vault does not know it.
    named |= {name: received.body[name] for name in ("contract", "policy", "plan")} if received else {}
    files: dict[str, Path] = {}
    for name, sha256 in named.items():
        for suffix in (_SUFFIX.get(name, ".json"), ".json"):  # of tables, the data is the list of their files
            with suppress(SluiceError):  # the vault does not hold it
                files.setdefault(name, workspace.vault.path(sha256, suffix))
    dossier = None
    if with_dossier:
        from tasks.release.stored_dossier import kept_dossier

        dossier = kept_dossier(workspace, entries)
    kept = evaluation and workspace.vault.verify(evaluation.body["dossier"], ".json")
    return History(
        release=release_id,
        state=state_of(entry.event for entry in entries),
        entries=blind(workspace, release_id, entries),
        dossier=dossier,
        subject=subject,
        files=files,
        title=json.loads(kept.read_bytes())["title"] if kept else "",
    )


def blind(workspace: Workspace, release_id: str, entries: Sequence[Entry]) -> list[Entry]:
    """The entries; while a review goes on, without what was decided: who decides next must not know it."""
    if state_of(entry.event for entry in entries) is not State.PENDING_REVIEW:
        return [*entries]
    if UnderReview.of(workspace, release_id).standing().revealed:
        return [*entries]
    return [
        replace(entry, body={"says": told(entry.body["decision"], revealed=False), "identity": None})
        if entry.event == DECISION
        else entry
        for entry in entries
    ]
