"""The report: one self-contained HTML file a reviewer reads before deciding on a release.

Nothing is loaded from outside and no script runs; the same dossier gives the same bytes. One template holds what every
release has in common, `records.html.j2` and `tables.html.j2` fill in what their kind adds.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files

from jinja2 import Environment
from markupsafe import Markup

from sluice.ground.page_templates import page_templates
from sluice.ground.verdict import Finding
from sluice.report import records_page, tables_page
from sluice.report.dossier import Dossier, RecordsView, TablesView
from sluice.report.headline import accepted, first_steps, further_reasons, headline, shown, waived
from sluice.report.wording import VERDICT_WORDS, figure, percent, rule_words


def render(dossier: Dossier) -> str:
    """The report as one HTML document. Pure and deterministic.

    raises : SluiceError when a count of records in the dossier lies below `dossier.minimum_cell`, or a sequence has a
             wrong length
    cost   : about 1 ms and 5 kB for each measure and released variable, 10 ms and 20 kB for each map of a table
    """
    match dossier.view:
        case RecordsView() as records:
            stages, page = records_page.STAGES, records_page.context(dossier, records)
        case TablesView() as tables:
            stages, page = tables_page.STAGES, tables_page.context(tables)
    template = environment().get_template(f"{dossier.view.kind}.html.j2")
    return template.render(
        dossier=dossier,
        css=Markup(files("sluice.report").joinpath("report.css").read_text(encoding="utf-8")),
        state=VERDICT_WORDS[shown(dossier)],
        headline=headline(dossier),
        further=further_reasons(dossier),
        waived=waived(dossier),
        accepted=accepted(dossier),
        next_steps=first_steps(dossier),
        groups=_groups(dossier.findings, stages),
        **page,
    )


@cache
def environment() -> Environment:
    """Keeps the compiled templates for the next report of the process."""
    environment = page_templates("sluice.report")
    environment.filters.update(
        figure=figure, percent=percent, rule_words=rule_words, verdict=lambda verdict: VERDICT_WORDS[verdict]
    )
    return environment


def _groups(findings: Iterable[Finding], stages: Mapping[str, tuple[str, str]]) -> list[tuple[str, str, list[Finding]]]:
    """Title, explanation and findings of each stage that has any; a stage without a title counts among the others."""
    grouped: dict[str, list[Finding]] = {stage: [] for stage in (*stages, "")}
    for finding in findings:
        grouped[finding.stage if finding.stage in stages else ""].append(finding)
    titles = {**stages, "": ("Other findings", "")}
    return [(*titles[stage], members) for stage, members in grouped.items() if members]
