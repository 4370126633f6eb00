"""The documents of a release, loaded before any record is read: definition, contract and policy."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from pydantic import BaseModel, ValidationError

from policies.adoption import Kind
from schemas.contract import Contract, load_contract
from sluice.custody.workspace import Workspace
from sluice.documents.document_reading import document_sha256, named_file
from sluice.ground.document_faults import faults
from sluice.ground.errors import DocumentError, did_you_mean
from sluice.ground.verdict import Finding
from sluice.settings import settings
from sluice.sources.permission import permitted_file, permitted_schema
from tasks.release.decisions.office import open_office
from tasks.release.release_definition import Definition

if TYPE_CHECKING:
    from policies.policy import Policy

D_co = TypeVar("D_co", bound=Definition, covariant=True)
D = TypeVar("D", bound=Definition)
L = TypeVar("L")
M = TypeVar("M", bound=BaseModel)


def deployed_definition(named: str) -> Path:
    """Where the definition lies that a deployment names, relative to the project.

    Raises DocumentError for one outside of the project, which the operator owns: whoever controls Prefect's server
    could else name a file that anybody wrote, or a copy whose relative paths lead elsewhere.
    """
    project = settings().project
    place = (project / named).resolve()
    if not place.is_relative_to(project):
        raise DocumentError(f"{place}: a deployment's definition must lie in the project {project} (SLUICE_PROJECT)")
    return place


@dataclass(frozen=True)
class Documents(Generic[D_co]):
    """What the documents ask for, and the workspace in which it is done."""

    path: Path  # of the definition
    written: D_co  # with the paths as in the file: what is hashed must not depend on where the project lies
    definition: D_co  # with absolute paths
    contract: Contract
    policy: "Policy"
    workspace: Workspace

    @cached_property
    def hashes(self) -> dict[str, str]:
        """SHA-256 of the contract, the policy and the definition (with the plan)."""
        return {
            "contract": document_sha256(self.contract),
            "policy": document_sha256(self.policy),
            "plan": document_sha256(self.written),
        }

    def waived(self, findings: Sequence[Finding], day: date) -> list[Finding]:
        """The findings with the waivers of the policy as they hold on a day; see `apply_waivers`."""
        from policies.waivers import apply_waivers

        return apply_waivers(findings, self.policy.waivers, self.definition.name, day, self.definition.owner)


def load_documents(
    kind: "Callable[[Path, D, D, Contract, Policy, Workspace], L]", path: Path, written: D, workspace: Workspace
) -> L:
    """All that a definition names, as `kind`, a class of documents, holds it. Raises DocumentError.

    A contract or policy that is named by a plain name, and not by a file, is the one that the office adopted; a policy
    that it did not adopt is the one that comes with Sluice, by which `check` judges and nothing is released.
    """
    path = path.resolve()
    definition = written.at(path.parent)
    _refuse_misplaced_target(path, definition, workspace.home)
    for field in ("contract", "policy"):  # what is wrong with a file says what stands in it
        named_file(path.parent, str(getattr(written, field)), f"{path}: {field}")
    if to := definition.publish_to:
        permitted_schema(to.connection, to.into)
    contract = _adopted("contract", written.contract, Contract, workspace)
    if contract is None:
        contract = load_contract(definition.contract, permitted_file)

    from policies.policy import Policy, load_policy  # and all rules, which a wrong contract need not wait for

    policy = _adopted("policy", written.policy, Policy, workspace)
    if policy is None:
        policy = load_policy(definition.policy)
    return kind(path, written, definition.under(policy), contract, policy, workspace)


def _adopted(kind: Kind, named: Path, model: type[M], workspace: Workspace) -> M | None:
    """The document that the office adopted under this name; None for the name of a file."""
    name = str(named)
    if "/" in name or named.suffix:
        return None
    office = open_office(workspace)
    names = [each for of, each in office.in_force if of == kind] if office else []
    if office is None or name not in names:
        if kind == "policy":
            from policies.policy import load_policy, shipped_policies

            if shipped := shipped_policies().get(name):
                return cast(M, load_policy(shipped))
        raise DocumentError(
            f"{kind}: no {kind} named '{name}' was adopted.{did_you_mean(name, names)} Adopted: "
            f"{', '.join(names) or 'none'}. Name one of them, or a file such as {name}.yaml"
        )
    kept = workspace.vault.verify(office.in_force[kind, name].adoption.sha256, ".json")
    try:
        return model.model_validate_json(kept.read_bytes())
    except ValidationError as error:  # as where a check of a distribution is used that is not installed here
        says = [str(fault) for fault in faults(error.errors(), model)]
        raise DocumentError(f"{kind} '{name}', as it was adopted, cannot be read here: {'; '.join(says)}") from None


def _refuse_misplaced_target(path: Path, definition: Definition, home: Path) -> None:
    home = home.resolve()
    if definition.target.is_relative_to(home) or home.is_relative_to(definition.target):
        raise DocumentError(f"{path}: target: must lie apart from the workspace {home}, which holds the vault")
