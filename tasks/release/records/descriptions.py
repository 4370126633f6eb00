"""The files that describe a published file of records: for programs, people, archives, catalogues and citations."""

from collections.abc import Sequence
from datetime import datetime

from sluice.publication.codebook import Codebook, codebook_page, codebook_variables, ddi_codebook
from sluice.publication.datapackage import as_json, records_datapackage
from sluice.publication.discovery_metadata import citation_file, croissant
from sluice.publication.manifest import PublishedFile
from sluice.report.dossier import Dossier
from tasks.release.records.record_variables import RecordsRelease, described_variables, original_variables


def described(
    release: RecordsRelease, dossier: Dossier, files: Sequence[PublishedFile], at: datetime
) -> dict[str, bytes]:
    """Name -> content. The same arguments give the same bytes.

    at   : when the publication began
    cost : one pass over the released file
    """
    documents = release.product
    definition, variables = documents.definition, described_variables(documents)
    done = {
        name: [step.describe() for step in definition.plan if step.concerns(name)]
        for name in original_variables(release)
    }
    to_all = [step.correction() for step in definition.plan if not step.columns]
    allow_for = {name: [step.correction() for step in definition.plan if name in step.columns] for name in variables}
    parquet = next(file.sha256 for file in files if file.path.endswith(".parquet"))
    book = Codebook(
        release=release.id,
        title=dossier.title,
        dataset=dossier.dataset,
        description=documents.contract.description,
        published=at.isoformat(),
        software=f"Sluice {dossier.versions['sluice']}",
        records=dossier.view.records_released,
        files=tuple(file.path for file in files),
        variables=codebook_variables(release.vault.verify(parquet, ".parquet"), variables, done, allow_for),
        publisher=definition.publisher,
        doi=definition.doi,
        license=definition.license,
        not_released={name: sentences for name, sentences in done.items() if name not in variables},
        parameters=dossier.view.parameters,
        allow_for=tuple(to_all),
    )
    package = records_datapackage(
        definition.name,
        dossier.title,
        dossier.dataset,
        variables,
        done,
        files,
        documents.contract.description,
        dossier.view.parameters,
        with_time=[each.variable.name for each in book.variables if each.with_time],
        escaped=documents.policy.formula_cells == "escape",
        license_=definition.license,
    )
    return {
        "datapackage.json": as_json(package),
        "codebook.html": codebook_page(book),
        "codebook.xml": ddi_codebook(book),
        "croissant.json": croissant(book, files),
        "CITATION.cff": citation_file(book),
    }
