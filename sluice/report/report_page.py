"""The report: one self-contained HTML file a reviewer reads before deciding on a release.

Nothing is loaded from outside and no script runs; the same dossier gives the same bytes. One template holds what every
release has in common, `records.html.j2` and `tables.html.j2` fill in what their kind adds.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from jinja2 import Environment
from markupsafe import Markup

from sluice.ground.page_templates import page_templates
from sluice.ground.verdict import Finding, Verdict
from sluice.report import records_page, tables_page
from sluice.report.dossier import Dossier, RecordsView, TablesView
from sluice.report.first_screen import first_screen
from sluice.report.first_screen_page import first_screen_html, first_screen_style
from sluice.report.headline import accepted, first_steps, further_reasons, headline, shown, state, waived
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
    groups = _groups(dossier.findings, stages)
    tables_view = dossier.view if isinstance(dossier.view, TablesView) else None
    template = environment().get_template(f"{dossier.view.kind}.html.j2")
    return template.render(
        dossier=dossier,
        css=Markup(files("sluice.report").joinpath("report.css").read_text(encoding="utf-8")),
        first_screen_css=Markup(first_screen_style()),
        first_screen=first_screen_html(first_screen(dossier), tables_view),
        state=VERDICT_WORDS[shown(dossier)],
        headline=headline(dossier),
        decides=state(dossier) is not Verdict.PASS or bool(dossier.unadopted or waived(dossier) or accepted(dossier)),
        further=further_reasons(dossier),
        waived=waived(dossier),
        accepted=accepted(dossier),
        next_steps=first_steps(dossier),
        groups=[group for group in groups if group.stage != _BEFORE],
        before=next((group for group in groups if group.stage == _BEFORE), None),
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


_BEFORE = "original"  # what was found of it has no verdict, and stands last


@dataclass(frozen=True)
class Group:
    """The findings of one stage: those that keep back or are excused, and the rest, which is folded."""

    stage: str
    title: str
    meaning: str
    open: tuple[Finding, ...]
    rest: tuple[Finding, ...]

    @property
    def says(self) -> str:
        """'7 of 8 meet their rule; 2 do not apply.'"""
        deciding = [each for each in (*self.open, *self.rest) if each.binding and each.applies]
        meeting = sum(each.verdict is Verdict.PASS for each in deciding)
        idle = sum(not each.applies for each in self.rest)
        said = [f"{meeting} of {len(deciding)} meet their rule"] if deciding else []
        said += [f"{idle} do{'es' if idle == 1 else ''} not apply"] if idle else []
        return f"{'; '.join(said)}." if said else ""

    @property
    def rest_says(self) -> str:
        """What is folded, in words."""
        meeting = sum(each.binding and each.applies for each in self.rest)
        idle = sum(not each.applies for each in self.rest)
        reported = len(self.rest) - meeting - idle
        said = [f"{meeting} that meet{'s' if meeting == 1 else ''} {'its' if meeting == 1 else 'their'} rule"]
        said = said if meeting else []
        said += [f"{idle} that do{'es' if idle == 1 else ''} not apply"] if idle else []
        said += [f"{reported} reported only"] if reported else []
        return f"{'; '.join(said)}."


def _groups(findings: Iterable[Finding], stages: Mapping[str, tuple[str, str]]) -> list[Group]:
    """Each stage that has any finding; a stage without a title counts among the others."""
    grouped: dict[str, list[Finding]] = {stage: [] for stage in (*stages, "")}
    for finding in findings:
        grouped[finding.stage if finding.stage in stages else ""].append(finding)
    titles = {**stages, "": ("Other findings", "")}
    return [
        Group(stage, *titles[stage], *_parted(members, folded=stage == _BEFORE))
        for stage, members in grouped.items()
        if members
    ]


def _parted(members: list[Finding], folded: bool) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    open_ = [each for each in members if each.binding and each.verdict is not Verdict.PASS and not folded]
    return tuple(open_), tuple(each for each in members if each not in open_)
