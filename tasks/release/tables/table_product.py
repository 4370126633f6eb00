"""Tables: sums over the records, with cells suppressed or values changed so that nobody's contribution is known."""

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from policies.approvals import Subject
from policies.pruned_publications import RULE as PRUNED_PUBLICATIONS
from sluice.ground.verdict import Finding
from sluice.publication.datapackage import as_json
from sluice.publication.ddi_codebook import ddi_of_tables
from sluice.publication.discovery_metadata import citation_file
from sluice.publication.manifest import PublishedFile
from sluice.publication.readme import tables_readme
from sluice.publication.tables_codebook import tables_page
from sluice.report.dossier import Dossier, TablesView
from tasks.release.decisions.under_review import subject
from tasks.release.product import Product
from tasks.release.tables.definition import TablesDefinition
from tasks.release.tables.feasibility_checks import refuse_unfit_tables
from tasks.release.tables.files_of_records import TablesBesideFiles, compare_with_files
from tasks.release.tables.other_measures import compare_with_other_measures
from tasks.release.tables.protection_method import SecondarySuppression
from tasks.release.tables.published_cells import (
    ProtectedTables,
    TablesRelease,
    by_column,
    measures_of,
    staged_and_published_cells,
)
from tasks.release.tables.table_editions import compare_with_earlier_editions
from tasks.release.tables.table_files import (
    measure_in_words,
    problems_of,
    table_codebook,
    table_descriptor,
    table_structure,
    tables_as_written,
)
from tasks.release.tables.table_findings import TablesEvaluation, of_measure


class Tables(Product[TablesDefinition, ProtectedTables, TablesEvaluation]):
    editions_rules = ("earlier_editions", PRUNED_PUBLICATIONS, "other_measures", "records_and_tables")

    def refuse_unfit(self) -> None:
        refuse_unfit_tables(self.path, self.definition, self.contract, self.policy)

    def warnings(self) -> list[str]:
        return []

    def refuse_unfit_data(self, release: TablesRelease) -> None:
        """A code that no hierarchy has is found when the cells are added up."""

    def plan_in_words(self) -> tuple[str, ...]:
        definition, policy = self.definition, self.policy
        return (
            definition.measure.describe(definition.measures),
            *(rule.describe() for rule in policy.table_rules),
            policy.table_attackers.describe(),
            *(f"Beside this, of {name}: {says}" for name, says in definition.asked_beside(policy)),
            definition.protection.describe(),
            *((definition.form.describe(),) if isinstance(definition.protection, SecondarySuppression) else ()),
        )

    def view(
        self, release: TablesRelease, made: ProtectedTables | None, evaluation: TablesEvaluation | None
    ) -> TablesView:
        measure, unit = measure_in_words(self)
        return TablesView(
            measure=measure,
            unit=unit,
            tables=evaluation.tables if evaluation else (),
            labels={each.name: dict(each.labels) for each in self.contract.variables if each.labels},
        )

    def files(self, subject: Subject) -> dict[str, tuple[str, str]]:
        listed = json.loads(self.workspace.vault.verify(subject.data, ".json").read_bytes())
        return {file: (sha256, Path(file).suffix) for file, sha256 in listed.items()}

    def descriptions(
        self, release: TablesRelease, dossier: Dossier, files: Sequence[PublishedFile], at: datetime
    ) -> dict[str, bytes]:
        staged, cells, published = staged_and_published_cells(release)
        of = {file.path: file.sha256 for file in files}
        measures = by_column(measures_of(release, staged))
        written = tables_as_written(self, measures, lambda file: release.vault.verify(of[file], Path(file).suffix))
        book = table_codebook(self, written, dossier, files, at)
        described = {
            "README.md": tables_readme(book),
            "datapackage.json": as_json(table_descriptor(self, book, files)),
            "codebook.html": tables_page(book),
            "codebook.xml": ddi_of_tables(book),
            "CITATION.cff": citation_file(book),
        }
        if self.definition.form.sdmx_dataflow:
            described["structure.xml"] = table_structure(self, cells, published, release.id, at)
        return described

    def read_back(self, release: TablesRelease, place: Callable[[str], Path]) -> list[str]:
        staged, _, published = staged_and_published_cells(release)
        files = {file: place(file) for file in self.files(subject(release))}
        return problems_of(self, files, by_column(measures_of(release, staged)), published)

    def compare_editions(self, release: TablesRelease) -> list[Finding]:
        staged, _, common = staged_and_published_cells(release)
        found, measures = [], measures_of(release, staged)
        for of in measures:
            request = of.request
            published = of.published(common, request)
            findings = [
                *compare_with_earlier_editions(of.release, of.cells, published, request, workers=1),
                *compare_with_other_measures(of.release, of.cells, published, request, workers=1),
                *compare_with_files(of.release, TablesBesideFiles.of_release(of.release, of.cells, published, request)),
            ]
            found += of_measure(findings, of.name) if len(measures) > 1 else findings
        return found
