"""The documents of a release, loaded before any record is read: definition, contract, policy and roster."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Generic, Literal, TypeVar

from policies.approvals import Roster, load_roster
from policies.policy import Policy, load_policy
from schemas.contract import Contract, load_contract
from sluice.custody.workspace import Workspace
from sluice.documents.documents import document_sha256
from sluice.errors import DocumentError
from sluice.settings import settings
from tasks.release.definition import Definition

D_co = TypeVar("D_co", bound=Definition, covariant=True)
D = TypeVar("D", bound=Definition)
L = TypeVar("L")


def open_workspace() -> Workspace:
    """The workspace of `SLUICE_HOME` (default ./.sluice), its ledger at `SLUICE_LEDGER_URL` (default SQLite in it)."""
    chosen = settings()
    return Workspace.open(chosen.home, chosen.ledger_url)


@dataclass(frozen=True)
class Documents(Generic[D_co]):
    """What the documents ask for, and the workspace in which it is done."""

    path: Path  # of the definition
    written: D_co  # with the paths as in the file: what is hashed must not depend on where the project lies
    definition: D_co  # with absolute paths
    contract: Contract
    policy: Policy
    roster: Roster
    workspace: Workspace

    @cached_property
    def hashes(self) -> dict[str, str]:
        """SHA-256 of the contract, the policy and the definition (with the plan)."""
        return {
            "contract": document_sha256(self.contract),
            "policy": document_sha256(self.policy),
            "plan": document_sha256(self.written),
        }


def load_documents(
    kind: Callable[[Path, D, D, Contract, Policy, Roster, Workspace], L], path: Path, written: D, workspace: Workspace
) -> L:
    """All that a definition names, as `kind`, a class of documents, holds it. Raises DocumentError."""
    path = path.resolve()
    definition = written.at(path.parent)
    _refuse_misplaced_target(path, definition, workspace.home)
    refuse_misplaced(path, "contract", definition.contract)
    refuse_misplaced(path, "policy", definition.policy)
    refuse_misplaced(path, "people", definition.people)
    return kind(
        path,
        written,
        definition,
        load_contract(definition.contract),
        load_policy(definition.policy),
        load_roster(definition.people),
        workspace,
    )


def _refuse_misplaced_target(path: Path, definition: Definition, home: Path) -> None:
    home = home.resolve()
    if definition.target.is_relative_to(home) or home.is_relative_to(definition.target):
        raise DocumentError(f"{path}: target: must lie apart from the workspace {home}, which holds the vault")


def refuse_misplaced(path: Path, field: Literal["contract", "policy", "people"], given: Path) -> None:
    """Raise DocumentError when a document that the definition at `path` names is not from where it must be."""
    setting = {"contract": "contracts", "policy": "policies", "people": "people"}[field]
    place = getattr(settings(), setting)
    if place and not given.is_relative_to(place):
        raise DocumentError(f"{path}: {field}: here it must come from {place} (SLUICE_{setting.upper()}); got {given}")
