"""The report: one self-contained HTML file a reviewer reads before deciding on a release.

Nothing is loaded from outside and no script runs; the same dossier gives the same bytes.
"""

import math
import re
from collections.abc import Iterable
from importlib.resources import files
from typing import NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from sluice.errors import SluiceError
from sluice.report.dossier import Dossier
from sluice.report.headline import FURTHER_REASONS, headline, next_steps, reasons, state, waived
from sluice.report.report_plots import MOST_BARS, curve_svg, distribution_svg
from sluice.report.small_counts import refuse_small_counts, safe_counts, share
from sluice.risk.reference.curve import Curve
from sluice.utility.variable_summary import VariableSummary
from sluice.verdict import Finding, Verdict

__all__ = ["figure", "headline", "render_report"]

_STAGES = {
    "contract": ("The data against their contract", "Whether the data are what their owner says they are."),
    "original": (
        "Before masking",
        "What the risk was before masking. Reported, so that the effect of the masking can be seen.",
    ),
    "masked": ("The masked file", "What the masked file reveals by itself."),
    "reference": (
        "The masked file beside the reference standard",
        "Whether the masked file says more about the people in it than records of other people would.",
    ),
    "attack": (
        "The masked file under attack",
        "What intruders who know original records, or parts of them, reach with the masked file, and without it.",
    ),
    "utility": ("What the masked file is still good for", "How much of the information is left."),
    "pipeline": ("The run itself", "Whether every step of the evaluation was carried out."),
    "": ("Other findings", ""),
}

_MEASURES = {
    "distance": "How far each original record lies from the nearest record of the file. Near means exposed.",
    "ambiguity": "How hard the nearest record is to tell from the next nearest ones: 1 means they are equally near, "
    "0 that one stands out.",
    "uncertainty": "How much the records nearest to an original differ among themselves. "
    "Little difference means that the intruder can be sure of the values.",
}


class _Word(NamedTuple):
    mark: str  # so that no verdict is told by colour alone
    word: str
    style: str


VERDICT_WORDS = {
    Verdict.PASS: _Word("✓", "meets the rule", "pass"),
    Verdict.REVIEW: _Word("!", "needs a decision", "review"),
    Verdict.FAIL: _Word("✗", "breaks the rule", "fail"),
    Verdict.UNKNOWN: _Word("?", "could not be judged, therefore blocked", "unknown"),
}


def render_report(dossier: Dossier) -> str:
    """The report as one HTML document. Pure and deterministic.

    Raises SluiceError when a count in the dossier lies below `dossier.minimum_cell`, or a sequence has a wrong length.
    Cost: about 50 ms a plot and 20 kB; a plot for each measure and for each released variable.
    """
    for summary in dossier.variables:
        refuse_small_counts(summary, dossier.minimum_cell)
    for curve in dossier.curves:
        _refuse_uneven(curve)
    environment = Environment(
        loader=PackageLoader("sluice.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(figure=figure, rule_words=rule_words, verdict=lambda verdict: VERDICT_WORDS[verdict])
    kept_back = reasons(dossier)
    return environment.get_template("report.html.j2").render(
        dossier=dossier,
        css=Markup(files("sluice.report").joinpath("report.css").read_text(encoding="utf-8")),
        state=VERDICT_WORDS[state(dossier)],
        headline=headline(dossier),
        further=kept_back[1 : 1 + FURTHER_REASONS],
        unsaid=max(0, len(kept_back) - 1 - FURTHER_REASONS),
        waived=waived(dossier),
        next_steps=next_steps(dossier),
        groups=_groups(dossier.findings),
        curves=[_curve_view(curve, f"curve-{number}") for number, curve in enumerate(dossier.curves)],
        variables=[
            _variable_view(summary, dossier, f"variable-{number}")
            for number, summary in enumerate(dossier.variables)
            if summary.kind_after is not None
        ],
        withheld=[summary for summary in dossier.variables if summary.kind_after is None],
    )


def _refuse_uneven(curve: Curve) -> None:
    if not len(curve.grid) == len(curve.masked) == len(curve.reference):
        raise SluiceError(
            f"the curves of '{curve.measure}' must have one share for each of {len(curve.grid)} grid values; "
            f"got {len(curve.masked)} and {len(curve.reference)}. Were they made on one grid?"
        )


def _groups(findings: Iterable[Finding]) -> list[tuple[str, str, list[Finding]]]:
    """Title, explanation and findings of each stage that has any; a stage without a title counts among the others."""
    grouped: dict[str, list[Finding]] = {stage: [] for stage in _STAGES}
    for finding in findings:
        grouped[finding.stage if finding.stage in _STAGES else ""].append(finding)
    return [(*_STAGES[stage], members) for stage, members in grouped.items() if members]


def _curve_view(curve: Curve, name: str) -> dict[str, object]:
    excess = "The masked curve is nowhere above the reference"
    if curve.statistic > 0:
        excess = f"The masked curve rises at most {curve.statistic:.3f} above the reference, at {figure(curve.at)}"
    chance = "p < 0.001" if curve.p_value < 0.001 else f"p = {curve.p_value:.3f}"
    margin = f"the margin of {figure(curve.margin)}"
    says = {
        Verdict.PASS: f"{excess}. That is within {margin}.",
        Verdict.REVIEW: f"{excess}. That is more than {margin}, but chance could explain it ({chance}): "
        "a person must decide.",
        Verdict.FAIL: f"{excess}. That is more than {margin}, and more than chance explains ({chance}).",
        Verdict.UNKNOWN: "The measure could not be judged." + (f" {excess}." if curve.statistic > 0 else ""),
    }[curve.verdict]
    word = VERDICT_WORDS[curve.verdict].word
    description = f"Cumulative curves of prediction {curve.measure}, masked file and reference. {says} Verdict: {word}."
    return {
        "curve": curve,
        "svg": curve_svg(curve, f"prediction {curve.measure}", description, name) if curve.grid else None,
        "meaning": _MEASURES.get(curve.measure, ""),
        "says": says,
    }


def _variable_view(summary: VariableSummary, dossier: Dossier, name: str) -> dict[str, object]:
    view: dict[str, object] = {"summary": summary, "svg": None, "rows": [], "omitted": 0}
    smallest, original, released = dossier.minimum_cell, dossier.records_original, dossier.records_released
    for field, records in (
        ("missing_before", original),
        ("missing_after", released),
        ("changed", released),
        ("suppressed", released),
    ):
        view[field] = share(getattr(summary, field), records, smallest)
    if not summary.bins or not summary.counts_before or not summary.counts_after:
        return view
    before = safe_counts(summary.counts_before, round(original * (1 - summary.missing_before)), smallest)
    after = safe_counts(summary.counts_after, round(released * (1 - (summary.missing_after or 0))), smallest)
    rows = list(zip(summary.bins, before, after, strict=True))
    largest = sorted(range(len(rows)), key=lambda i: -max(rows[i][1] or 0, rows[i][2] or 0))[:MOST_BARS]
    drawn = [rows[i] for i in sorted(largest)]
    description = f"Counts of {summary.name} before and after masking in {len(drawn)} groups; the figures follow below."
    view["svg"] = distribution_svg(drawn, description, name)
    view["rows"], view["omitted"] = rows, len(rows) - len(drawn)
    return view


def figure(value: float | None) -> str:
    """A number for reading: thousands separated, four digits otherwise; a dash where there is none."""
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if float(value).is_integer() or abs(value) >= 1000:
        text = f"{value + 0.0:,.0f}"  # -0.0 is 0
    else:
        text = f"{value:.4g}" if abs(value) >= 1e-4 else f"{value:.1e}"
    return text.replace("-", "−")


def rule_words(rule: str) -> str:
    """'sample_uniques_share' as 'sample uniques share', 'k_anonymity' as 'k-anonymity'."""
    return re.sub(r"\b([a-z]) (?=[a-z]{2})", r"\1-", rule.replace("_", " "))
