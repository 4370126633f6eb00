"""Descriptions: the files that tell data users what a published file of records holds, and how it was masked."""

from collections.abc import Sequence
from datetime import datetime

from sluice.generalization.levels_found import LevelsFound
from sluice.ground.released_values import released_as
from sluice.ground.variables import NAMES, Role, Variables, with_role
from sluice.masking.recoding.generalized_levels import GeneralizedLevels
from sluice.masking.redrawing import correction
from sluice.publication.codebook import Codebook, codebook_page, codebook_variables
from sluice.publication.datapackage import as_json, records_datapackage
from sluice.publication.ddi_codebook import ddi_codebook
from sluice.publication.discovery_metadata import citation_file, croissant
from sluice.publication.manifest import PublishedFile
from sluice.publication.measured_use import MeasuredUse, measured_use
from sluice.publication.reading_scripts import reading_scripts
from sluice.publication.readme import records_readme
from sluice.publication.standard_errors import standard_errors
from sluice.report.dossier import Dossier, RecordsView
from tasks.release.records.record_variables import (
    RecordsDocuments,
    RecordsRelease,
    declared_variables,
    original_variables,
    released_variables,
)


def described(
    release: RecordsRelease, dossier: Dossier, files: Sequence[PublishedFile], at: datetime
) -> dict[str, bytes]:
    """Name -> content. The same arguments give the same bytes.

    at   : when the publication began
    cost : one pass over the released file
    """
    assert isinstance(dossier.view, RecordsView)
    documents = release.product
    definition, variables = documents.definition, _shown_variables(documents, dossier.view.levels)
    done = {
        name: [step.describe() for step in definition.plan if step.concerns(name)]
        for name in original_variables(release)
    }
    to_all = [step.correction() for step in definition.plan if not step.columns]
    to_all += [] if definition.move_together is None else [definition.move_together.correction()]
    rules = documents.contract.record_rules
    allow_for = {
        name: [correction(step, rules) for step in definition.plan if name in step.columns] for name in variables
    }
    parquet = next(file.sha256 for file in files if file.path.endswith(".parquet"))
    not_released = {name: sentences for name, sentences in done.items() if name not in variables}
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
        study=documents.contract.study,
        not_released=not_released,
        parameters=dossier.view.parameters,
        allow_for=tuple(to_all),
        use=_measured(release, dossier),
        errors=_errors(release, variables),
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
    scripts = reading_scripts(book, documents.policy.formula_cells == "escape")
    return {
        "README.md": records_readme(book, dossier.plan, [*scripts]),
        **scripts,
        "datapackage.json": as_json(package),
        "codebook.html": codebook_page(book),
        "codebook.xml": ddi_codebook(book),
        "croissant.json": croissant(book, files),
        "CITATION.cff": citation_file(book),
    }


def _shown_variables(documents: RecordsDocuments, levels: Sequence[LevelsFound]) -> Variables:
    """What the plan ends in, without the categories of levels that a search could have chosen and did not.

    levels : what each search found, in the order of the plan; one that was refined released groups of several levels
    """
    variables: Variables = declared_variables(documents)
    found, chosen = iter(levels), []
    for step in documents.definition.plan:
        if step.method == "generalization" and (one := next(found, None)) and one.before is None:
            at_levels = GeneralizedLevels(
                columns=tuple(key.name for key in one.keys),
                levels={key.name: key.level for key in one.keys},
                allowed={key.name: (key.lowest, key.highest) for key in one.keys},
            )
            chosen.append(at_levels.found_by(one, variables))
        variables = step.released(variables)
    for each in chosen:
        variables = each.only_shown(variables)
    return variables


def _measured(release: RecordsRelease, dossier: Dossier) -> MeasuredUse:
    assert isinstance(dossier.view, RecordsView)
    before, after = original_variables(release), released_variables(release)
    gone = [name for name, each in before.items() if each.role not in NAMES and not released_as(name, before, after)]
    return measured_use(dossier.view.utility, gone)


def _errors(release: RecordsRelease, variables: Variables) -> tuple[str, ...]:
    plan = release.product.definition.plan
    masked = [name for name in variables if any(name in step.columns for step in plan)]
    drawn = [name for name in masked if any(step.draws_from_a_model and name in step.columns for step in plan)]
    before, after = (next(iter(with_role(of, Role.WEIGHT)), None) for of in (original_variables(release), variables))
    return standard_errors(masked, drawn, after, before if after is None else None)
