"""`sluice.assess`: a masked DataFrame held to a policy, as a release would be."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import pandas as pd

from policies.policy import Policy, load_policy
from schemas.contract import Contract
from sluice.ground.verdict import Verdict
from sluice.report.dossier import Dossier, RecordsView
from sluice.report.report_page import render
from tasks.workbench.arguments import Seed, document
from tasks.workbench.assess import assess_compared, refuse_unjudgeable, shipped_policy
from tasks.workbench.compared import compare
from tasks.workbench.findings import Judgement
from tasks.workbench.notebook.mask import Masked
from tasks.workbench.records import Columns, ContractGiven
from tasks.workbench.result import Figure

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Assessment(Judgement):
    """What a policy says of a masked file. Nothing is released by it.

    dossier : all of it, as the report of a release shows it; `report()` is that page
    """

    rules_broken: Annotated[int, Figure("findings", "that decide and fail")]
    to_be_decided: Annotated[int, Figure("findings", "that a person must decide")]
    not_measured: Annotated[int, Figure("findings", "that could not be measured; they block")]
    records_original: Annotated[int, Figure("records", "of the original")]
    records_masked: Annotated[int, Figure("records", "of the masked file")]
    policy: str
    dossier: Dossier

    @property
    def says(self) -> str:
        if self.verdict is Verdict.PASS:
            return f"The masked file meets the policy '{self.policy}'. Nobody approved it."
        return self.gravest.says

    def report(self) -> str:
        """The report as an HTML page of its own."""
        return render(self.dossier)


def assess(
    original: pd.DataFrame,
    masked: pd.DataFrame | Masked,
    *,
    policy: Policy | Path | str | None = None,
    holdout: pd.DataFrame | None = None,
    paired: bool = False,
    contract: ContractGiven | None = None,
    quasi_identifiers: Iterable[str] | None = None,
    sensitive: Iterable[str] | None = None,
    weight: str | None = None,
    household: str | None = None,
    kinds: Mapping[str, str] | None = None,
    seed: Seed = None,
) -> Assessment:
    """Hold a masked file to a policy: its rules, the reference standard, attacks and limits on information loss.

    original : the records behind the masked file
    masked   : what anybody made of them, or what `sluice.mask` returned
    policy   : a Policy or the path of its YAML file; the shipped one for public-use files when not given
    holdout  : other people of the same population, who are in neither file
    paired   : row i of `masked` is the person of row i of the original; some attacks need to know
    contract : what the columns are; without one, their kinds are inferred, and the roles are those that are named
    seed     : a whole number, a numpy Generator, or none: some attacks draw records
    raises   : TypeError, DataError, DocumentError; before a record is looked at where a rule of the policy that decides
               cannot be judged by what was given
    """
    held_to = _policy(policy)
    columns = Columns(contract, quasi_identifiers, sensitive, weight, household, kinds)

    def refuse(understood: Contract, paired: bool) -> None:
        refuse_unjudgeable(held_to, understood, holdout is not None, paired, "argument")

    found = compare(
        original,
        masked,
        columns,
        holdout=holdout,
        paired=paired,
        minimum_cell=held_to.minimum_cell,
        seed=seed,
        refuse=refuse,
    )
    hashes = {"original": _sha256(found.files.original), "masked": _sha256(found.files.masked)}
    dossier = assess_compared(found.files, found.contract, held_to, found.on_columns, "frame", hashes, plan=found.plan)
    deciding = [finding.verdict for finding in dossier.findings if finding.binding and not finding.waiver]
    return Assessment(
        verdict=dossier.verdict,
        findings=dossier.findings,
        curves=dossier.view.curves if isinstance(dossier.view, RecordsView) else (),
        rules_broken=deciding.count(Verdict.FAIL),
        to_be_decided=deciding.count(Verdict.REVIEW),
        not_measured=deciding.count(Verdict.UNKNOWN),
        records_original=len(found.files.original),
        records_masked=len(found.files.masked),
        policy=held_to.name,
        dossier=dossier,
    )


_ALLOWED = "a Policy or the path of its YAML file"


def _policy(policy: object) -> Policy:
    if policy is None:
        return shipped_policy()
    if isinstance(policy, Policy):
        return policy
    if isinstance(policy, str | Path):
        return load_policy(document(policy, "policy", _ALLOWED))
    raise TypeError(f"policy must be {_ALLOWED}; got {type(policy).__name__}.")


def _sha256(frame: pd.DataFrame) -> str:
    return hashlib.sha256(frame.to_csv(index=False).encode()).hexdigest()
