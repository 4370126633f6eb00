"""Records: a file of people, firms or households, masked by a plan.

Its documents alone tell in part why it must end blocked.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from policies.approvals import Subject
from policies.policy import Policy
from policies.pruned_publications import RULE as PRUNED_PUBLICATIONS
from policies.several_publications import RULES
from schemas.contract import Contract
from sluice.ground.errors import DocumentError
from sluice.ground.extensions import unnamed
from sluice.ground.variables import Role, Variables, with_role
from sluice.ground.verdict import Finding, Verdict, decide
from sluice.masking.plan import ByStratum
from sluice.masking.recoding.generalized_levels import GeneralizedLevels
from sluice.masking.treatments import treatments
from sluice.publication.copies import COPIES
from sluice.utility.analyses.analysis_findings import unfit_analyses
from tasks.release.product import Product
from tasks.release.records.record_definition import RecordsDefinition
from tasks.release.records.record_variables import (
    RecordsDocuments,
    RecordsRelease,
    declared_variables,
    described_variables,
    released_variables,
)

if TYPE_CHECKING:  # what publishes and reports is loaded where that is done: whoever decides need not wait for it
    from sluice.publication.manifest import PublishedFile
    from sluice.report.dossier import Dossier, RecordsView
    from tasks.release.records.record_findings import Evaluation
    from tasks.release.records.stored_masked_file import MaskedFile


class Records(Product[RecordsDefinition, "MaskedFile", "Evaluation"]):
    editions_rules = ("several_publications", *RULES, PRUNED_PUBLICATIONS, "records_and_tables")

    def refuse_unfit(self) -> None:
        described_variables(self)  # refuses a plan that does not fit the contract
        if unknown := unnamed(map(type, self.definition.plan), self.policy.extensions):
            raise DocumentError(
                f"{self.path}: plan: the policy '{self.policy.name}' does not name {unknown[0]} among its extensions, "
                "whose method the plan uses"
            )
        declared = declared_variables(self)
        unmet = unmet_needs(self.policy, self.contract, declared, described_variables(self))
        if unmet := [*unmet, *_too_few_allowed(self.contract, self.policy)]:
            raise DocumentError(
                f"{self.path}: by the policy '{self.policy.name}' no such release can be judged. {'. '.join(unmet)}"
            )
        if self.definition.move_together and not self.contract.record_key:
            raise DocumentError(
                f"{self.path}: move_together needs a record_key in the contract: who was in an earlier edition is told "
                "by it"
            )
        standard = self.policy.reference_standard
        if self.definition.move_together and standard is not None and standard.reference == "holdout":
            raise DocumentError(
                f"{self.path}: move_together cannot be held under a policy with a holdout, which is drawn anew in each "
                "edition: soon nobody would be left in the file"
            )
        for copy in self.definition.copies:
            if unfit := COPIES[copy].unfit(described_variables(self)):
                raise DocumentError(f"{self.path}: copies: {unfit[0]}")
        for what, analyses in (("analyses", self.definition.analyses), ("the policy's utility", self.policy.utility)):
            if unfit := unfit_analyses(analyses, declared):
                raise DocumentError(f"{self.path}: {what}: {unfit[0]}")

    def warnings(self) -> list[str]:
        return document_warnings(self.policy, self.contract, described_variables(self))

    def refuse_unfit_data(self, release: RecordsRelease) -> None:
        released_variables(release)  # refuses categories that the plan has no place for

    def plan_in_words(self) -> tuple[str, ...]:
        return tuple(step.describe() for step in self.definition.plan)

    def view(
        self, release: RecordsRelease, made: "MaskedFile | None", evaluation: "Evaluation | None"
    ) -> "RecordsView":
        from sluice.report.dossier import RecordsView, Treatment

        return RecordsView(
            records_holdout=release.holdout.rows if release.holdout else 0,
            records_released=made.rows if made else 0,
            treatments=tuple(
                Treatment(how=how, variables=variables) for how, variables in treatments(self.definition.plan).items()
            ),
            curves=evaluation.curves if evaluation else (),
            variables=evaluation.variables if evaluation else (),
            utility=evaluation.utility if evaluation else None,
            levels=tuple(
                step.found.reported(self.policy.minimum_cell)
                for step in (made.carried_out if made else ())
                if isinstance(step, GeneralizedLevels) and step.found is not None
            ),
            parameters=tuple(_parameters(self, made)) if made else (),
        )

    def files(self, subject: Subject) -> dict[str, tuple[str, str]]:
        name = self.definition.name
        assert subject.csv is not None
        copies = {name: getattr(subject, name) for name in COPIES}
        return {
            f"{name}.parquet": (subject.data, ".parquet"),
            f"{name}.csv": (subject.csv, ".csv"),
            **{
                f"{name}{COPIES[copy].ending}": (sha256, COPIES[copy].ending)
                for copy, sha256 in copies.items()
                if sha256
            },
        }

    def descriptions(
        self, release: RecordsRelease, dossier: "Dossier", files: "Sequence[PublishedFile]", at: datetime
    ) -> dict[str, bytes]:
        from tasks.release.records.record_descriptions import described

        return described(release, dossier, files, at)

    def read_back(self, release: RecordsRelease, place: Callable[[str], Path]) -> list[str]:
        from schemas.checks.frame_check import check_released  # pandera, which a wrong document need not wait for
        from sluice.publication.records_file import read_typed

        name, released = self.definition.name, released_variables(release)
        parquet, described = place(f"{name}.parquet"), described_variables(self)
        findings = check_released(read_typed(parquet, released), released)
        problems = [] if decide(findings) is Verdict.PASS else [finding.says for finding in findings]
        for each in (COPIES[copy] for copy in self.definition.copies):
            differing = each.differing(parquet, place(f"{name}{each.ending}"), described)
            problems += [f"{variable} of the copy for {each.package} is another" for variable in differing]
        return problems

    def compare_editions(self, release: RecordsRelease) -> list[Finding]:
        from tasks.release.records.record_editions import compare_publications
        from tasks.release.tables.files_of_records import compare_with_tables

        return [*compare_publications(release), *compare_with_tables(release)]

    @property
    def destroys_seed(self) -> bool:
        return self.definition.seed == "destroy"


def _parameters(documents: RecordsDocuments, masked: "MaskedFile") -> Iterator[dict[str, Any]]:
    """What analysts have to correct for. Strata are named by their values only where the public has these anyway."""
    before, after = declared_variables(documents), described_variables(documents)
    for done in masked.carried_out:
        parameters = done.parameters()
        if isinstance(done, ByStratum) and not all(
            name in before and name in after and before[name].categories == after[name].categories is not None
            for name in done.step.strata
        ):
            continue
        if "by_stratum" in parameters:
            parameters = {"by_stratum": [each | _of_declared(each, after) for each in parameters["by_stratum"]]}
        parameters |= _of_declared(parameters, after)
        if parameters:
            yield parameters


def _of_declared(parameters: dict[str, Any], declared: Variables) -> dict[str, Any]:
    """The matrices of variables whose categories are declared: those of others name what only the data hold."""
    if "matrix" not in parameters:
        return {}
    public = {name for name, variable in declared.items() if variable.categories is not None}
    return {"matrix": {name: rows for name, rows in parameters["matrix"].items() if name in public}}


def document_warnings(policy: Policy, contract: Contract, described: Variables) -> list[str]:
    """A sentence for each reason.

    described : the variables after the plan, as the documents alone tell them
    """
    warnings, named = [], f"policy '{policy.name}'"
    if policy.reference_standard is None:
        warnings.append(f"{named} names no reference_standard: this release will be blocked.")
    if not contract.numbers_alone and not with_role(described, Role.QUASI_IDENTIFIER):
        warnings.append(
            "no released variable has the role quasi_identifier, by which people could be recognised. Has none?"
        )
    return warnings


def unmet_needs(policy: Policy, contract: Contract, declared: Variables, described: Variables) -> list[str]:
    """A sentence for each thing without which checks that decide cannot judge the release, whatever its records are.

    declared, described : the variables before the plan and after it; what the plan takes out is not there
    """
    standard = policy.reference_standard
    holdout = standard is not None and standard.reference == "holdout"
    left = {
        name: variable
        for name, variable in declared.items()
        if any(column == name or column.startswith(f"{name}=") for column in described)
    }
    return policy.unmet(
        left, described, holdout=holdout, knowledge=contract.knowledge, paired=True, how="document",
        numbers_alone=contract.numbers_alone,
    )  # fmt: skip


def _too_few_allowed(contract: Contract, policy: Policy) -> list[str]:
    """A sentence where the contract lets no file have as many records as the standard needs."""
    standard, most = policy.reference_standard, contract.rows.maximum
    if standard is None or standard.when_fewer != "unknown" or most is None or most >= standard.minimum_records:
        return []
    return [
        f"The contract allows {most:,} {contract.records_are} at most (rows.maximum), and the reference standard needs "
        f"{standard.minimum_records:,} (minimum_records). Take a policy for small files, such as small-file"
    ]
