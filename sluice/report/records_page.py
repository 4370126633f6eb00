"""The report on masked records: the reference standard's curves and the variables, before and after masking."""

from collections.abc import Mapping, Sequence

from sluice.generalization.levels_found import KeyLevel, LevelsFound
from sluice.ground.errors import SluiceError
from sluice.ground.verdict import Verdict
from sluice.report.dossier import Dossier, RecordsView
from sluice.report.records_plots import MOST_BARS, curve_svg, distribution_svg, ladder_svg
from sluice.report.small_counts import refuse_small_counts, safe_counts, share
from sluice.report.utility_page import in_tables, utility_context
from sluice.report.wording import VERDICT_WORDS, InTables, caption, figure
from sluice.report.worth import CRITERION
from sluice.risk.reference.reference_attack import Curve
from sluice.utility.variable_summary import VariableSummary

STAGES = {
    "contract": ("The data against their contract", "Whether the data are what their owner says they are."),
    "original": (
        "Before masking",
        "What the risk was before masking. Reported, so that the effect of the masking can be seen.",
    ),
    "masked": ("The masked file", "What the masked file reveals by itself."),
    "reference": (
        "The masked file compared with the reference standard",
        "Whether the masked file says more about the people in it than records of other people would.",
    ),
    "attack": (
        "The masked file under attack",
        "What intruders who know original records, or parts of them, achieve with the masked file, and without it.",
    ),
    "utility": ("What the masked file is still good for", f"How much of the information is left. {CRITERION}"),
    "pipeline": ("The run itself", "Whether every step of the evaluation was carried out."),
}

_MEASURES = {
    "distance": "How far each original record lies from the nearest record of the file. Near means exposed.",
    "ambiguity": "How hard the nearest record is to tell from the next nearest ones: 1 means they are equally near, "
    "0 that one stands out.",
    "uncertainty": "How much the records nearest to an original differ among themselves. "
    "Little difference means that the intruder can be sure of the values.",
}


def context(dossier: Dossier, view: RecordsView) -> dict[str, object]:
    """What `records.html.j2` needs besides the dossier.

    Raises SluiceError when a count lies below `dossier.minimum_cell`, or a sequence has a wrong length.
    """
    for summary in view.variables:
        refuse_small_counts(summary, dossier.minimum_cell)
    for curve in view.curves:
        _refuse_uneven(curve)
    sizes = dossier.records_original, view.records_released
    tables = in_tables(view.utility)
    return utility_context(dossier, view) | {
        "curves": [_curve_view(curve) for curve in view.curves],
        "variables": [
            _variable_view(summary, dossier.minimum_cell, *sizes, f"variable-{number}", tables.get(summary.name))
            for number, summary in enumerate(_worst_first(view.variables, tables))
            if summary.kind_after is not None
        ],
        "levels": [_levels_view(found, f"levels-{number}") for number, found in enumerate(view.levels)],
        "not_released": [summary for summary in view.variables if summary.kind_after is None],
    }


def _levels_view(found: LevelsFound, name: str) -> dict[str, object]:
    """What a search of levels found, in sentences."""
    if found.excess == 0:
        best = f"Of {found.choices:,} choices none loses less and satisfies the rules that were searched under."
    elif found.excess is None:
        best = f"{found.checked:,} of {found.choices:,} choices were looked at; what others lose at least is not known."
    else:
        best = (
            f"The search was ended after {found.checked:,} of {found.choices:,} choices; none that satisfies the rules "
            f"can be better by more than {100 * found.excess:.2g} %."
        )
    what = "were left to a later step" if found.left else "were suppressed"
    suppressed = f"fewer records than may be told {what}"
    if found.suppressed is not None:
        suppressed = f"{found.suppressed:,} of {found.records:,} records {what}"
    refined = ""
    if found.before is not None:
        refined = (
            f" With the same levels for all records it would be {found.before:.4g}; groups that satisfy the rules at "
            "finer levels, too, were given at these."
        )
    left = f" Left to the judgement of the file: {', '.join(found.unsearched)}." if found.unsearched else ""
    chosen = ", ".join(f"{key.name} level {key.level} of {key.highest}" for key in found.keys)
    small = f"What was made small is {found.objective}: {found.value:.4g}.{refined}"
    return {
        "found": found,
        "says": f"{small} {best} Beside that, {suppressed}.{left}",
        "why": [(key, _level(key), _why(key)) for key in found.keys],
        "svg": ladder_svg(found.keys, f"Levels that were chosen: {chosen}.", name),
    }


def _level(key: KeyLevel) -> str:
    """The level that was chosen, and for how many of the records it is finer."""
    says = f"{key.level} of {key.highest}"
    finer = sum(key.shares[: key.level - key.lowest])
    return f"{says}, finer for {100 * finer:.2g} % of the records" if finer > 0 else says


def _why(key: KeyLevel) -> str:
    """Why a variable is no finer."""
    if key.finer is None:
        return "It is the finest that was allowed." if key.level == key.lowest else ""
    if not key.finer.breaks:
        return "Finer, more records would have to be suppressed, so that more is lost."
    records = "few records" if key.finer.records is None else f"{key.finer.records:,} records"
    says = f"Finer, {records} would be in groups that break {key.finer.breaks[0]}"
    if key.finer.group_records is None:
        return f"{says}."
    group = ", ".join(f"{name} {value}" for name, value in key.finer.group.items())
    return f"{says}, the {key.finer.group_records:,} with {group} among them."


def _refuse_uneven(curve: Curve) -> None:
    if not len(curve.grid) == len(curve.masked) == len(curve.reference):
        raise SluiceError(
            f"the curves of '{curve.measure}' must have one share for each of {len(curve.grid)} grid values; "
            f"got {len(curve.masked)} and {len(curve.reference)}. Were they made on one grid?"
        )


def _curve_view(curve: Curve) -> dict[str, object]:
    excess = "The masked curve is nowhere above the reference"
    if curve.statistic > 0:
        excess = f"The masked curve rises at most {curve.statistic:.3f} above the reference, at {figure(curve.at)}"
    chance = "p < 0.001" if curve.p_value < 0.001 else f"p = {curve.p_value:.3f}"
    margin = f"the margin of {figure(curve.margin)}"
    says = {
        Verdict.PASS: f"{excess}. That is within {margin}.",
        Verdict.REVIEW: f"{excess}. That is more than {margin}, but chance could explain it ({chance}): "
        "this needs a decision.",
        Verdict.FAIL: f"{excess}. That is more than {margin}, and more than chance explains ({chance}).",
        Verdict.UNKNOWN: "The measure could not be judged." + (f" {excess}." if curve.statistic > 0 else ""),
    }[curve.verdict]
    word = VERDICT_WORDS[curve.verdict].word
    description = f"Cumulative curves of prediction {curve.measure}, masked file and reference. {says} Verdict: {word}."
    return {
        "curve": curve,
        "svg": curve_svg(curve, f"prediction {curve.measure}", description) if curve.grid else None,
        "meaning": _MEASURES.get(curve.measure, ""),
        "says": says,
    }


def _worst_first(summaries: Sequence[VariableSummary], tables: Mapping[str, InTables]) -> list[VariableSummary]:
    """Those whose tables with the others lost most, then those of which that is not known, in their order."""
    last = len(summaries)
    return sorted(summaries, key=lambda summary: tables[summary.name].place if summary.name in tables else last)


def _variable_view(
    summary: VariableSummary, smallest: int, original: int, released: int, name: str, tables: InTables | None
) -> dict[str, object]:
    original = original if summary.records_before is None else summary.records_before
    view: dict[str, object] = {"summary": summary, "svg": None, "rows": [], "omitted": 0}
    view["caption"] = caption(summary, [], original, released, tables)
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
    view["caption"] = caption(summary, rows, original, released, tables)
    return view
