"""A case: one release definition with all that it names, loaded and cross-checked; and the release it becomes."""

import hashlib
import json
import os
import pwd
from collections.abc import Collection, Mapping, Sequence
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
from schemas.contract import HASHED, Contract, load_contract
from sluice.custody.ledger import Entry
from sluice.custody.states import State
from sluice.custody.workspace import Workspace
from sluice.documents.documents import document_sha256
from sluice.errors import DataError, DocumentError, PlanError, SluiceError
from sluice.masking.step import MaskingStep
from sluice.masking.subsets import ByStratum
from sluice.publication.table_file import read_typed
from sluice.settings import settings
from sluice.variables import GROUPS, Kind, Role, Variable
from tasks.definition import ReleaseDefinition, TablesDefinition, load_definition
from tasks.tables_fit import refuse_unfit_tables

_LOGIN = Path("/proc/self/loginuid")  # Linux: who logged in; sudo and su leave it as it is, and only root can change it


def account() -> str:
    """The operating-system account of whoever runs this process; read from the system, never from the environment.

    Only the vault's owner can open the vault, so people run commands as that account, through sudo: then it is the
    account that they logged in with. Without a login (a service, a container) it is the account of the process.
    """
    try:
        return pwd.getpwuid(int(_LOGIN.read_text())).pw_name
    except (OSError, ValueError, OverflowError, KeyError):  # no such file; nobody logged in, or nobody known here
        return pwd.getpwuid(os.geteuid()).pw_name


def open_workspace() -> Workspace:
    """The workspace of `SLUICE_HOME` (default ./.sluice), its ledger at `SLUICE_LEDGER_URL` (default SQLite in it)."""
    chosen = settings()
    return Workspace.open(chosen.home, chosen.ledger_url)


@dataclass(frozen=True)
class Case:
    """What the documents ask for, before any record was read."""

    path: Path
    # Paths as in the file: what is hashed must not depend on where the project lies.
    written: ReleaseDefinition | TablesDefinition
    definition: ReleaseDefinition | TablesDefinition  # paths absolute
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
        _refuse_misplaced(path, definition, workspace.home)
        case = cls(
            path=path,
            written=written,
            definition=definition,
            contract=load_contract(definition.contract),
            policy=load_policy(definition.policy),
            roster=load_roster(definition.people),
            workspace=workspace,
        )
        if case.is_of_tables:
            refuse_unfit_tables(path, case.definition, case.contract, case.policy)
        else:
            _ = case.described  # refuses a plan that does not fit the contract
        return case

    @property
    def is_of_tables(self) -> bool:
        return isinstance(self.definition, TablesDefinition)

    @cached_property
    def variables(self) -> dict[str, Variable]:
        """What the plan starts from, as the contract declares it."""
        return {name: v for name, v in self.contract.staged.items() if v.role is not Role.IDENTIFIER}

    @cached_property
    def described(self) -> dict[str, Variable]:
        """What the plan ends in, as the documents alone tell it, so that it may be shown to anyone.

        A category that was only found in the data is none of it: masking may have taken it out of the file.
        """
        return self.released(self.variables)

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
            if variable.kind is Kind.TEXT and variable.role not in GROUPS:
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
    carried_out: tuple[MaskingStep | ByStratum, ...]  # the plan, with the thresholds that were read off the data
    sample: str | None = None  # SHA-256 of the list of the original records in it, where the plan took a sample


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
        # Keyed: the id is public, and whoever guesses the data could else see by it that the guess is right.
        digest = case.workspace.vault.pseudonym("release", "\n".join(parts))
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
        variables = variables_from_json(kept.read_bytes())
        return cls(case, release_id, tables["data"], tables["original"], tables["holdout"], variables)

    @cached_property
    def variables(self) -> dict[str, Variable]:
        """What the plan starts from: the staged variables but the identifiers, which are only keys."""
        return {name: v for name, v in self.staged_variables.items() if v.role is not Role.IDENTIFIER}

    @cached_property
    def released(self) -> dict[str, Variable]:
        """What the plan ends in. Raises DataError when categories that were found in the data do not fit the plan."""
        try:
            return self.case.released(self.variables)
        except DocumentError:  # the contract's own variables fit: the text names a category that only the data told
            found = [name for name, v in self.case.variables.items() if v.kind.is_categorical and v.categories is None]
        raise DataError(
            f"the plan of {self.id} does not fit the categories in the data. Declare the categories of "
            f"{', '.join(found)} in the contract, or give 'others' in the plan."
        )

    @property
    def unit(self) -> str:
        """What a record is, in the plural and in the reader's words."""
        return self.case.contract.records_are

    def read(self, table: "Staged | Masked") -> pd.DataFrame:
        """The typed frame of a table of this release: without identifiers, and hashed again before it is read.

        Households and contributors that are released bear names of this release alone: by those of the vault a person
        could be followed through all releases.
        """
        vault = self.case.workspace.vault
        path = vault.verify(table.sha256, ".parquet")
        if isinstance(table, Masked):
            return read_typed(path, self.released)
        frame = read_typed(path, self.variables)
        for name in (name for name, variable in self.released.items() if variable.role in HASHED):
            codes, names = pd.factorize(frame[name])
            own = [vault.pseudonym(f"{name} of {self.id}", text) for text in names]
            frame[name] = pd.Series([*own, np.nan], dtype=frame[name].dtype).take(codes).reset_index(drop=True)
        return frame

    def read_staged(self, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """Everything that was ingested, with the keyed hashes of identifiers that are part of the record key."""
        path = self.case.workspace.vault.verify(self.data.sha256, ".parquet")
        return read_typed(path, self.staged_variables, columns)

    def what_was_done(self) -> dict[str, list[str]]:
        """For each variable, a sentence on every step of the plan that touched it."""
        plan = self.case.definition.plan
        return {name: [step.describe() for step in plan if step.concerns(name)] for name in self.variables}

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

    def record_as(self, person: str, event: str, expect: Collection[State] | None = None, **body: Any) -> Entry:
        """Append an event that a person of the roster decided, if the release is in one of the states expected."""
        return self.case.workspace.ledger.append(self.id, event, person, body, expect)

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

    def files(self) -> dict[str, tuple[str, str]]:
        """The data files that are approved and published: name -> SHA-256 and ending in the vault."""
        subject, name = self.subject(), self.case.definition.name
        if subject.csv is not None:
            return {f"{name}.parquet": (subject.data, ".parquet"), f"{name}.csv": (subject.csv, ".csv")}
        listed = json.loads(self.case.workspace.vault.verify(subject.data, ".json").read_bytes())
        return {file: (sha256, Path(file).suffix) for file, sha256 in listed.items()}

    def verify_subject(self) -> None:
        """Hash again what the approvals are bound to, and the report that people read. Raises when any was altered."""
        subject, vault = self.subject(), self.case.workspace.vault
        for sha256, suffix in (*self.files().values(), (subject.dossier, ".json")):
            vault.verify(sha256, suffix)
        kept = vault.verify(subject.report, ".html")
        page = self.report_path.read_bytes() if self.report_path.is_file() else b""
        if hashlib.sha256(page).hexdigest() != subject.report:
            raise SluiceError(
                f"{self.report_path} is not the report that was made when {self.id} was judged. Put that one back and "
                f"read it: cp {kept} {self.report_path}"
            )

    def standing(self, begun: Entry | None = None) -> Standing:
        """How the approvals of exactly these bytes stand now, or stood when a publication was begun."""
        return self.case.policy.approvals.standing(
            [entry for entry in self.entries() if begun is None or entry.seq < begun.seq],
            self.subject().digest(),
            self.submitters(),
            self.case.roster,
            datetime.fromisoformat(begun.at) if begun else datetime.now(UTC),
        )

    def submitters(self) -> tuple[str, ...]:
        """Who may not approve: the owner of the definition and every account that ran it."""
        ran = (entry.actor for entry in self.entries() if entry.event == State.RECEIVED)
        return tuple(dict.fromkeys((self.case.definition.owner, *ran)))


def _refuse_misplaced(path: Path, definition: ReleaseDefinition, home: Path) -> None:
    """Raise DocumentError when the target is not apart from the workspace, or a document not from where it must be."""
    home = home.resolve()
    if definition.target.is_relative_to(home) or home.is_relative_to(definition.target):
        raise DocumentError(f"{path}: target: must lie apart from the workspace {home}, which holds the vault")
    for field, setting in (("contract", "contracts"), ("policy", "policies"), ("people", "people")):
        place, given = getattr(settings(), setting), getattr(definition, field)
        if place and not given.is_relative_to(place):
            raise DocumentError(
                f"{path}: {field}: here it must come from {place} (SLUICE_{setting.upper()}); got {given}"
            )


_VARIABLES = TypeAdapter(dict[str, Variable])


def variables_as_json(variables: Mapping[str, Variable]) -> bytes:
    """The variables as they are kept in the vault; the same variables give the same bytes."""
    return _VARIABLES.dump_json(dict(variables))


def variables_from_json(content: bytes) -> dict[str, Variable]:
    """The variables that `variables_as_json` wrote."""
    return _VARIABLES.validate_json(content)


def last(entries: Sequence[Entry], event: str) -> Entry | None:
    """The latest entry of this event."""
    return next((entry for entry in reversed(entries) if entry.event == event), None)
