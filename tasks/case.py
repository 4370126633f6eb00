"""A case: one release definition with all that it names, loaded and cross-checked; and the release it becomes."""

import hashlib
import os
import pwd
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pydantic import TypeAdapter

from policies.approvals import Roster, Standing, Subject, load_roster
from policies.policy import Policy, load_policy
from schemas.contract import Contract, load_contract
from sluice.errors import DocumentError, PlanError, SluiceError
from sluice.masking.step import MaskingStep
from sluice.release.documents import document_sha256
from sluice.release.ledger import Entry
from sluice.release.states import State
from sluice.release.table_file import read_typed
from sluice.release.workspace import Workspace
from sluice.variables import Kind, Role, Variable
from tasks.definition import ReleaseDefinition, load_definition


def account() -> str:
    """The operating-system account of this process: read from the system, not from an environment that can be set."""
    return pwd.getpwuid(os.geteuid()).pw_name


def open_workspace() -> Workspace:
    """The workspace of `SLUICE_HOME` (default ./.sluice), its ledger at `SLUICE_LEDGER_URL` (default SQLite in it)."""
    home = Path(os.environ.get("SLUICE_HOME", ".sluice")).resolve()
    return Workspace.open(home, os.environ.get("SLUICE_LEDGER_URL"))


@dataclass(frozen=True)
class Case:
    """What the documents ask for, before any record was read."""

    path: Path
    written: ReleaseDefinition  # paths as in the file: what is hashed must not depend on where the project lies
    definition: ReleaseDefinition  # paths absolute
    contract: Contract
    policy: Policy
    roster: Roster
    workspace: Workspace

    @classmethod
    def load(cls, path: Path, workspace: Workspace) -> "Case":
        """Read the definition and all that it names. Raises DocumentError when any is wrong or they do not fit."""
        path = path.resolve()
        written = load_definition(path)
        definition = written.at(path.parent)
        case = cls(
            path=path,
            written=written,
            definition=definition,
            contract=load_contract(definition.contract),
            policy=load_policy(definition.policy),
            roster=load_roster(definition.people),
            workspace=workspace,
        )
        case.released({name: v for name, v in case.contract.staged.items() if v.role is not Role.IDENTIFIER})
        return case

    def released(self, variables: Mapping[str, Variable]) -> dict[str, Variable]:
        """The variables after the plan. Raises DocumentError naming the step that does not fit the contract."""
        released = dict(variables)
        for index, step in enumerate(self.definition.plan):
            try:
                released = step.released(released)
            except PlanError as error:
                raise DocumentError(f"{self.path}: plan.{index}: {error}") from None
        if not released:
            raise DocumentError(f"{self.path}: plan: no variable is left to release")
        for name, variable in released.items():
            if variable.kind is Kind.TEXT and variable.role not in (Role.HOUSEHOLD, Role.CONTRIBUTOR):
                raise DocumentError(
                    f"{self.path}: plan: '{name}' is free text, whose risk cannot be measured; "
                    "take it out with a step of method 'removal'"
                )
        return released

    @cached_property
    def document_hashes(self) -> dict[str, str]:
        """SHA-256 of the contract, the policy and the definition (with the plan)."""
        return {
            "contract": document_sha256(self.contract),
            "policy": document_sha256(self.policy),
            "plan": document_sha256(self.written),
        }


@dataclass(frozen=True)
class Staged:
    """A table in the vault, by the SHA-256 of its Parquet file."""

    sha256: str
    rows: int


@dataclass(frozen=True)
class Masked:
    """The masked table in both published forms, as staged in the vault."""

    sha256: str
    csv_sha256: str
    rows: int
    carried_out: tuple[MaskingStep, ...]  # the plan, with the thresholds that were read off the data


@dataclass(frozen=True)
class Seeds:
    """The independent sources of randomness of one release, all children of its one root seed."""

    holdout: np.random.SeedSequence
    plan: np.random.SeedSequence
    order: np.random.SeedSequence
    attack: np.random.SeedSequence


@dataclass(frozen=True)
class Release:
    """One case with one state of its data. The same documents and the same data are always the same release."""

    case: Case
    id: str
    data: Staged  # everything that was ingested
    original: Staged  # what is masked: the data without the holdout
    holdout: Staged | None
    staged_variables: dict[str, Variable]  # with the categories that were found where the contract declares none

    @staticmethod
    def name_for(case: Case, data: Staged) -> str:
        """The id: the definition's name and a digest of all that decides the outcome."""
        parts = [data.sha256, *(case.document_hashes[name] for name in sorted(case.document_hashes))]
        digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()
        return f"{case.definition.name}-{digest[:12]}"

    @classmethod
    def recorded(cls, case: Case, release_id: str) -> "Release":
        """The release as the ledger knows it. Raises SluiceError when the case's documents have changed since."""
        received = last(case.workspace.ledger.entries(release_id), State.RECEIVED)
        if received is None:
            raise SluiceError(f"nothing is recorded of a release '{release_id}'. See: sluice status")
        changed = [name for name, sha256 in case.document_hashes.items() if received.body[name] != sha256]
        if changed:
            raise SluiceError(
                f"the {' and the '.join(changed)} changed since {release_id} was judged, which voids its approvals; "
                f"run it anew: sluice release {case.path}"
            )
        tables = {
            name: Staged(**received.body[name]) if received.body[name] else None
            for name in ("data", "original", "holdout")
        }
        if tables["data"] is None or tables["original"] is None:
            raise SluiceError(f"the ledger's record of {release_id} names no data")
        kept = case.workspace.vault.verify(received.body["variables"], ".json")
        variables = _VARIABLES.validate_json(kept.read_bytes())
        return cls(case, release_id, tables["data"], tables["original"], tables["holdout"], variables)

    @cached_property
    def variables(self) -> dict[str, Variable]:
        """What the plan starts from: the staged variables but the identifiers, which are only keys."""
        return {name: v for name, v in self.staged_variables.items() if v.role is not Role.IDENTIFIER}

    @cached_property
    def released(self) -> dict[str, Variable]:
        """What the plan ends in."""
        return self.case.released(self.variables)

    @property
    def unit(self) -> str:
        """What a record is, in the plural and in the reader's words."""
        return self.case.contract.records_are

    def read(self, table: "Staged | Masked") -> pd.DataFrame:
        """The typed frame of a table of this release: without identifiers, and hashed again before it is read."""
        path = self.case.workspace.vault.verify(table.sha256, ".parquet")
        return read_typed(path, self.released if isinstance(table, Masked) else self.variables)

    def read_staged(self, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """Everything that was ingested, with the keyed hashes of identifiers that are part of the record key."""
        path = self.case.workspace.vault.verify(self.data.sha256, ".parquet")
        return read_typed(path, self.staged_variables, columns)

    def what_was_done(self) -> dict[str, list[str]]:
        """For each variable, a sentence on every step of the plan that touched it."""
        plan = self.case.definition.plan
        return {name: [step.describe() for step in plan if name in step.columns] for name in self.variables}

    @property
    def state(self) -> State | None:
        return self.case.workspace.ledger.state(self.id)

    @property
    def needs_judgement(self) -> bool:
        """Not yet judged, or blocked: judged again from the same seed, a rerun cannot be a second throw of the dice."""
        return self.state in (None, State.RECEIVED, State.VALIDATED, State.MASKED, State.EVALUATED, State.BLOCKED)

    @property
    def report_path(self) -> Path:
        return self.case.workspace.reports / f"{self.id}.html"

    def entries(self) -> list[Entry]:
        return self.case.workspace.ledger.entries(self.id)

    def record(self, event: str, **body: Any) -> Entry:
        """Append an event of this release to the ledger, done by the account of this process."""
        return self.record_as(account(), event, **body)

    def record_as(self, person: str, event: str, **body: Any) -> Entry:
        """Append an event that a person of the roster decided."""
        return self.case.workspace.ledger.append(self.id, event, person, body)

    def seeds(self) -> Seeds:
        return Seeds(*self.case.workspace.vault.seed(self.id).spawn(4))

    def judgement(self) -> dict[str, Any] | None:
        """Verdict, words and hashes of report and dossier, as last recorded; None before the first."""
        return next((entry.body for entry in reversed(self.entries()) if "verdict" in entry.body), None)

    def subject(self) -> Subject:
        """What there is to approve: the hashes of the latest evaluation."""
        judged = last(self.entries(), State.EVALUATED)
        if judged is None:
            raise SluiceError(f"{self.id} has not been judged; run: sluice release {self.case.path}")
        return Subject(**judged.body["subject"])

    def standing(self, now: datetime | None = None) -> Standing:
        """How the approvals of exactly these bytes stand."""
        return self.case.policy.approvals.standing(
            self.entries(),
            self.subject().digest(),
            self.submitters(),
            self.case.roster,
            now or datetime.now(UTC),
        )

    def submitters(self) -> tuple[str, ...]:
        """Who may not approve: the owner of the definition and the account that ran it."""
        received = last(self.entries(), State.RECEIVED)
        return (self.case.definition.owner, *([received.actor] if received else []))


_VARIABLES = TypeAdapter(dict[str, Variable])


def variables_as_json(variables: Mapping[str, Variable]) -> bytes:
    """The variables as they are kept in the vault; the same variables give the same bytes."""
    return _VARIABLES.dump_json(dict(variables))


def last(entries: Sequence[Entry], event: str) -> Entry | None:
    """The latest entry of this event."""
    return next((entry for entry in reversed(entries) if entry.event == event), None)
