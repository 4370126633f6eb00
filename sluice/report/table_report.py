"""The report on a release of tables: one self-contained HTML file a reviewer reads before deciding.

Nothing is loaded from outside and no script runs; the same dossier gives the same bytes.
"""

from collections.abc import Iterable, Sequence
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from sluice.report.dossier import Dossier
from sluice.report.headline import FURTHER_REASONS, headline, reasons, state, waived
from sluice.report.pattern_map import Panel, PatternMap
from sluice.report.report import VERDICT_WORDS, figure, rule_words
from sluice.report.table_dossier import TableSummary
from sluice.report.table_report_plots import key_of, map_svg
from sluice.verdict import Finding, Verdict

_STAGES = {
    "contract": ("The data against their contract", "Whether the data are what their owner says they are."),
    "original": ("Before protection", "Which cells are sensitive, and what they would have told."),
    "masked": ("The protected tables", "What the tables reveal as they are to be published."),
    "attack": ("The protected tables under attack", "What outsiders and contributors can work out, alone or together."),
    "utility": ("What the tables are still good for", "How much of the information is left."),
    "pipeline": ("The run itself", "Whether every step of the evaluation was carried out."),
    "": ("Other findings", ""),
}
_ADVICE = {
    "contract": "Mend the data at the source, or the contract if it is out of date; protection cannot cure this.",
    "original": "Look at the rules and at the table: with fewer or larger categories fewer cells are sensitive.",
    "masked": "Protect the tables again: suppress what the findings name, or give the protection stronger assumptions.",
    "attack": "Protect the tables again: suppress what the audit names, or give the protection stronger assumptions.",
    "utility": "Merge categories so that fewer cells are sensitive, let other cells bear the suppression, or publish "
    "intervals or rounded values.",
    "pipeline": "Find the step that stopped in the run's record, mend its cause and run the release again.",
}
_WIDE, _NARROW = 880, 300  # pixels for the cells of a map that stands alone, and of one of several


def render_table_report(dossier: Dossier) -> str:
    """The report as one HTML document. Pure and deterministic. Cost: some 20 kB and 10 ms a map."""
    environment = Environment(
        loader=PackageLoader("sluice.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        figure=figure, percent=percent, rule_words=rule_words, verdict=lambda verdict: VERDICT_WORDS[verdict]
    )
    kept_back = reasons(dossier)
    return environment.get_template("table_report.html.j2").render(
        dossier=dossier,
        css=Markup(files("sluice.report").joinpath("report.css").read_text(encoding="utf-8")),
        state=VERDICT_WORDS[state(dossier)],
        headline=headline(dossier),
        further=kept_back[1 : 1 + FURTHER_REASONS],
        unsaid=max(0, len(kept_back) - 1 - FURTHER_REASONS),
        waived=waived(dossier),
        next_steps=_next_steps(kept_back),
        groups=_groups(dossier.findings),
        tables=[_table_view(table, f"table-{number}") for number, table in enumerate(dossier.tables)],
    )


def percent(share: float | None) -> str:
    """A share in per cent with one decimal; never 0 or 100 for what is not none or all."""
    if share is None:
        return "not shown"
    if 0 < share < 0.001:
        return "under 0.1 %"
    if 0.999 < share < 1:
        return "over 99.9 %"
    return f"{100 * share:.1f} %"


def _groups(findings: Iterable[Finding]) -> list[tuple[str, str, list[Finding]]]:
    """Title, explanation and findings of each stage that has any; a stage without a title counts among the others."""
    grouped: dict[str, list[Finding]] = {stage: [] for stage in _STAGES}
    for finding in findings:
        grouped[finding.stage if finding.stage in _STAGES else ""].append(finding)
    return [(*_STAGES[stage], members) for stage, members in grouped.items() if members]


def _next_steps(kept_back: Sequence[Finding]) -> list[str]:
    """What the methodologist can do now: a sentence or two for each kind of reason, no sentence twice."""
    if not kept_back:
        return ["Nothing has to be mended in the tables themselves. The approvers read this report, then decide."]
    advice = [
        "Find out why the check could not be completed and evaluate again: what was not measured cannot be excused."
        if finding.verdict is Verdict.UNKNOWN
        else _ADVICE.get(finding.stage, "Read below what the rule found, change the definition and evaluate again.")
        for finding in kept_back[: 1 + FURTHER_REASONS]
    ]
    if any(finding.verdict is Verdict.REVIEW for finding in kept_back):
        advice.append("Where a decision is needed, the owner of the policy may also record a waiver with an end.")
    return list(dict.fromkeys(advice))


def _table_view(table: TableSummary, name: str) -> dict[str, object]:
    return {
        "table": table,
        "id": name,
        "listed": table.cells - table.withheld,
        "maps": [_map_view(table, pattern) for pattern in table.maps],
        "levels": {
            dimension: [level for level in table.levels if level.dimension == dimension and level.cells]
            for dimension in table.dimensions
        },
    }


def _map_view(table: TableSummary, pattern: PatternMap) -> dict[str, object]:
    alone = len(pattern.panels) == 1
    axes = pattern.rows.name + (f" by {pattern.columns.name}" if pattern.columns.name else "")
    others = [name for name in table.dimensions if name not in (pattern.rows.name, pattern.columns.name)]
    if pattern.shares and alone:
        title = "Where the holes are" + (f", over all codes of {' and '.join(others)}" if others else "")
    else:
        title = f"Cell by cell, for each code of {others[0]}" if others else "Cell by cell"
    return {
        "title": title,
        "axes": axes,
        "pattern": pattern,
        "key": key_of(pattern),
        "alone": alone,
        "panels": [
            (
                panel.title,
                map_svg(pattern, panel, _described(table, pattern, panel, axes), _WIDE if alone else _NARROW, alone),
            )
            for panel in pattern.panels
        ],
    }


def _described(table: TableSummary, pattern: PatternMap, panel: Panel, axes: str) -> str:
    counted = "".join(panel.marks)
    words = ", ".join(
        f"{sum(counted.count(mark) for mark in marks)} {word}"
        for word, marks in (
            (("without holes", "a"), ("with holes", "bcdef"), ("all suppressed", "g"), ("empty", "."))
            if pattern.shares
            else (("published", "p"), ("primary", "1"), ("secondary", "2"), ("withheld", "w"), ("empty", "."))
        )
        if sum(counted.count(mark) for mark in marks)
    )
    where = f", {panel.title}" if panel.title else ""
    return f"Map of {axes} in table {table.name}{where}, {len(counted)} places: {words}. The figures are in the text."
