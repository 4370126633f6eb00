"""Models of users, as the page shows them: coefficients with intervals before and after, and the worst subgroups."""

from collections.abc import Sequence
from typing import Any

from sluice.report.utility_plots import intervals_svg
from sluice.report.wording import figure, percent
from sluice.utility.analyses.models import ComparedCoefficient, ComparedModel

_MOST_DRAWN = 14
_MOST_SUBGROUPS = 5


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
            _in_words(one, "after") or "not in the masked file",
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
    told = []
    if model.overlap is not None:
        told.append(f"The confidence intervals overlap by {percent(model.overlap)} on average; 100 % is no loss.")
    if model.recoded_overlap is not None and model.recoded_overlap != model.overlap:
        told.append(f"With the original recoded as the file is, they overlap by {percent(model.recoded_overlap)}.")
    if model.difference is not None:
        told.append(f"The estimates differ by {figure(model.difference)} standard errors in the mean.")
    if model.lost:
        told.append(f"{_coefficients(model.lost)} cannot be had from the masked file.")
    if model.hidden:
        told.append(f"{_coefficients(model.hidden)} rest on too few records to be shown.")
    if len(model.coefficients) > drawn:
        told.append(f"Drawn: {drawn}, those that agree least first, and then those that are lost.")
    return " ".join(told)


def _coefficients(number: int) -> str:
    return f"{number} coefficient{'s' if number != 1 else ''}"
