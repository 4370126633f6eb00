"""Analyses of users as the page shows them: models, predictions, clusterings, queries, subgroups, impossible values."""

from collections.abc import Mapping, Sequence
from typing import Any

from sluice.report.utility_plots import bars_svg, intervals_svg
from sluice.report.wording import figure, percent
from sluice.utility.analyses.clusterings import ComparedClustering
from sluice.utility.analyses.impossible_records import BrokenRules
from sluice.utility.analyses.models import ComparedCoefficient, ComparedModel, Turn
from sluice.utility.analyses.predictions import ComparedPrediction
from sluice.utility.analyses.query_comparison import ComparedQuery
from sluice.utility.marginal_summary import TableLoss
from sluice.utility.subgroup_tables import SubgroupsView
from sluice.utility.subgroups import ChangedSubgroups
from sluice.utility.utility_measures import SUBGROUPS
from sluice.utility.utility_view import UtilityView

_MOST_DRAWN = 14
_MOST_SUBGROUPS = 5
_OTHER_REFERENCE = "against other reference categories, so not comparable"
_TURNS: Mapping[Turn, str] = {"sign": "opposite sign", "lost": "clear effect lost", "made": "clear effect made"}


def predictions_context(found: Sequence[ComparedPrediction]) -> list[dict[str, Any]]:
    """Each prediction with the scores of those who learned from the original, from the masked file, and who guess."""
    return [
        {
            "name": each.name,
            "target": each.target,
            "says": each.says or f"{each.predicted:,} people were predicted from whom no model had learned.",
            "rows": [
                (
                    one.learner.replace("_", " "),
                    figure(one.original),
                    figure(one.masked),
                    figure(one.guess),
                    _with_interval(one.ratio, one.low, one.high),
                )
                for one in each.learners
            ],
            "by": each.by,
            "subgroups": [
                (
                    f"{within.subgroup}, {one.learner.replace('_', ' ')}",
                    figure(within.original),
                    figure(within.masked),
                    "–" if within.ratio is None else figure(within.ratio),
                )
                for one in each.learners
                for within in one.subgroups
            ],
        }
        for each in found
    ]


def clusterings_context(found: Sequence[ComparedClustering]) -> list[dict[str, Any]]:
    """Each clustering with how far the masked file's clusters agree with the original's, and the method with itself."""
    return [
        {
            "name": each.name,
            "says": each.says,
            "what": f"{each.method.replace('_', ' ')}, {each.clusters} clusters by {', '.join(each.variables)}",
            "left_out": ", ".join(each.left_out),
            "rows": [
                (
                    one.index.replace("_", " "),
                    figure(one.itself),
                    figure(one.masked),
                    _with_interval(one.loss, one.low, one.high),
                )
                for one in each.indices
            ],
        }
        for each in found
    ]


def queries_context(found: Sequence[ComparedQuery]) -> list[dict[str, Any]]:
    """Each of the users' own questions with how far its figures differ, and the groups that differ most."""
    return [
        {
            "name": each.name,
            "says": each.says
            or f"The answers differ by {told(each.difference)} on average, as a share of the larger of the two.",
            "figures": [(one.figure, told(one.difference)) for one in each.figures],
            "groups": [(", ".join(one.group) or "all records", told(one.difference)) for one in each.groups],
        }
        for each in found
    ]


def tables_context(found: Sequence[TableLoss]) -> list[tuple[str, str]]:
    """Each drafted table with the share of its records in another cell."""
    return [(" × ".join(each.variables), percent(each.loss)) for each in found]


def told(value: float | None) -> str:
    """A share in percent; where too few records stand behind it, that."""
    return "too few to tell" if value is None else percent(value)


def _with_interval(value: float | None, low: float | None, high: float | None) -> str:
    if value is None:
        return "–"
    return figure(value) if low is None or high is None else f"{figure(value)} ({figure(low)} to {figure(high)})"


def subgroups_context(found: SubgroupsView | None) -> dict[str, Any] | None:
    """The subgroups whose own distributions lost most; None where none was compared."""
    if found is None or not found.worst:
        return None
    rows = [(f"{one.variable}: {one.category}", one.loss) for one in found.worst]
    description = f"The {len(rows)} subgroups of {found.compared:,} that lost most; the figures follow below."
    return {
        "svg": bars_svg(rows, description),
        "rows": rows,
        "says": (
            f"Worst: {rows[0][0]}, whose own distributions of the other variables lie {percent(rows[0][1])} from the "
            f"original’s on average; the median of {found.compared:,} subgroups of at least {found.least:,} records is "
            f"{percent(found.median)}."
        ),
    }


def changed_subgroups_context(shown: UtilityView) -> list[dict[str, Any]]:
    """A table for each measure of which the worst subgroups can be shown."""
    parts = ((each.caption, getattr(shown, each.view)) for each in SUBGROUPS)
    return [
        {
            "title": caption.title,
            "unit": caption.unit,
            "says": f"Of {found.compared:,} subgroups; {caption.says}",
            "rows": [
                (f"{one.variable}: {one.category}", "lost" if one.change is None else f"{one.change:.2f}")
                for one in found.worst
            ],
        }
        for caption, found in parts
        if isinstance(found, ChangedSubgroups) and found.worst
    ]


def rules_broken(found: BrokenRules | None) -> Sequence[dict[str, str]]:
    """Each rule of the contract across fields, and who breaks it."""
    if found is None:
        return ()

    return [
        {
            "rule": rule.rule,
            "says": rule.says,
            "before": told(rule.before),
            "after": rule.unchecked or told(rule.after),
            "newly": "–" if rule.unchecked else told(rule.newly),
        }
        for rule in found.rules
    ]


def models_context(models: Sequence[ComparedModel]) -> list[dict[str, Any]]:
    """Each model with a drawing of the coefficients that agree least, a twin in text, and sentences."""
    return [_model(model) for model in models]


def _model(model: ComparedModel) -> dict[str, Any]:
    # Where nothing was recoded, the recoded original is the original, and one drawing says it.
    recoded = model.recoded if model.recoded != model.coefficients else ()
    return {
        "model": model,
        "svg": _drawn(model.coefficients, f"the model {model.name}", "original"),
        "says": _says(model, len(model.coefficients[:_MOST_DRAWN])),
        "rows": _rows(model.coefficients),
        "recoded_svg": _drawn(recoded, f"the model {model.name} on the file’s own categories", "recoded original"),
        "recoded_rows": _rows(recoded),
        "subgroups": [(each.subgroup, percent(each.overlap), each.lost) for each in model.subgroups[:_MOST_SUBGROUPS]],
        "more_subgroups": max(0, len(model.subgroups) - _MOST_SUBGROUPS),
    }


def _drawn(coefficients: Sequence[ComparedCoefficient], of: str, above: str) -> str | None:
    # Those that are lost have nothing to compare; they stand last, and all of them in the table.
    drawn = sorted(coefficients, key=lambda one: one.after is None)[:_MOST_DRAWN]
    rows = [(one.term, _interval(one, "before"), _interval(one, "after")) for one in drawn]
    description = f"Coefficients of {of} with 95 % intervals, the {above}’s above the masked file’s."
    return intervals_svg(rows, f"{description} The figures follow below.") if rows else None


def _rows(coefficients: Sequence[ComparedCoefficient]) -> list[tuple[str, str, str, str, str]]:
    return [
        (
            one.term,
            _in_words(one, "before"),
            _in_words(one, "after") or (_OTHER_REFERENCE if one.other_reference else "not in the masked file"),
            percent(one.overlap),
            figure(one.difference),
        )
        for one in coefficients
    ]


def _interval(one: ComparedCoefficient, which: str) -> tuple[float, float, float] | None:
    ends = tuple(getattr(one, f"{which}{end}") for end in ("_low", "", "_high"))
    return None if None in ends else ends


def _in_words(one: ComparedCoefficient, which: str) -> str:
    ends = _interval(one, which)
    return "" if ends is None else f"{figure(ends[1])} ({figure(ends[0])} to {figure(ends[2])})"


def _says(model: ComparedModel, drawn: int) -> str:
    if model.says:
        return model.says
    told = ["Drafted from the roles of variables, as no analysis is named."] if model.drafted else []
    if model.turned:
        named = "; ".join(f"{one.term} ({_TURNS[one.turned]})" for one in model.turned if one.turned)
        told.append(f"Read otherwise than in the original: {named}.")
    if model.overlap is not None:
        told.append(f"The confidence intervals overlap by {percent(model.overlap)} on average; 100 % is no loss.")
    if model.recoded_overlap is not None and model.recoded_overlap != model.overlap:
        told.append(f"With the original recoded as the file is, they overlap by {percent(model.recoded_overlap)}.")
    if model.difference is not None:
        told.append(f"The estimates differ by {figure(model.difference)} standard errors in the mean.")
    if model.lost:
        told.append(f"{_coefficients(model.lost)} cannot be had from the masked file.")
    if others := [one.term for one in model.coefficients if one.other_reference]:
        told.append(f"Of them the file has, against other reference categories: {', '.join(others)}.")
    if model.hidden:
        told.append(f"{_coefficients(model.hidden)} rest on too few records to be shown.")
    if len(model.coefficients) > drawn:
        told.append(f"Drawn: {drawn}, those that agree least first, and then those that are lost.")
    return " ".join(told)


def _coefficients(number: int) -> str:
    return f"{number} coefficient{'s' if number != 1 else ''}"
