"""Losses of numbers and of categories by the measures of the literature, as tables of the report."""

from collections.abc import Sequence
from typing import Any

from sluice.report.wording import figure, percent
from sluice.utility.categorical.categorical_view import CategoricalView
from sluice.utility.continuous.continuous_view import ContinuousView
from sluice.utility.quantiles import QuantilesView
from sluice.utility.recoding.recoding_summary import RecodingView
from sluice.utility.utility_view import UnweightedFigure

_MATRICES = {
    "values": "Values (X)",
    "covariances": "Covariances (V)",
    "correlations": "Correlations (R)",
    "loadings": "Variables with factors (RF)",
    "communalities": "Communalities (C)",
    "coefficients": "Factor score coefficients (F)",
}
_PROBABILITIES = ("quantiles", "means", "variances", "covariances", "correlations")
_VARIATIONS = ("values", "means", "variances", "covariances", "correlations")


def weighed_table(found: Sequence[UnweightedFigure]) -> list[tuple[str, str, str]]:
    """Each measure with its figure by the weights of the records, and that of the records themselves."""
    rows = []
    for each in found:
        written = percent if each.percent else figure
        rows.append((each.name.replace("_", " "), written(each.weighted), written(each.unweighted)))
    return rows


def numbers_table(found: ContinuousView | None) -> dict[str, Any] | None:
    """Six comparisons, probabilistic losses and mean variations; None of a file without numbers."""
    if found is None:
        return None
    comparisons = [(says, getattr(found.comparisons, name)) for name, says in _MATRICES.items()]
    return {
        "comparisons": [
            (says, figure(one.mean_square_error), figure(one.mean_absolute_error), figure(one.mean_variation))
            for says, one in comparisons
        ],
        "probabilities": _named(found.probabilities, _PROBABILITIES),
        "variations": _named(found.variations, _VARIATIONS),
        "eigenvalues": figure(found.eigenvalues),
        "names": ", ".join(found.names),
        "removed": ", ".join(found.removed),
    }


def _named(parts: object, names: tuple[str, ...]) -> str:
    return ", ".join(f"{name} {figure(getattr(parts, name))}" for name in names)


def categories_table(found: CategoricalView | None) -> dict[str, Any] | None:
    """Each categorical variable, the most bits that are left open first; None of a file without any."""
    if found is None or not found.variables:
        return None
    ordered = sorted(found.variables, key=lambda one: -(one.ebil if one.ebil is not None else -1.0))
    return {
        "rows": [
            (one.name, figure(one.distance), figure(one.entropy), figure(one.ebil), figure(one.pril)) for one in ordered
        ],
        "ctbil": None if found.ctbil is None else percent(found.ctbil),
        "order": found.order,
        "counted": found.counted,
        "tables": found.tables,
    }


def recoding_table(found: RecodingView | None) -> dict[str, Any] | None:
    """Each variable's losses by grouping, suppression and removal, and the classes of records that are alike."""
    if found is None:
        return None
    classes = ""
    if found.classes is not None and found.average_class is not None:
        known, alike = ", ".join(found.keys), figure(found.average_class)
        classes = f"By {known} a record is alike with {alike} on average, itself included"
        classes += (
            "." if found.average_class_before is None else f"; before, with {figure(found.average_class_before)}."
        )
    return {
        "rows": [
            (one.name, percent(one.certainty), percent(one.distortion), percent(one.entropy), _precision(one.precision))
            for one in found.variables
        ],
        "classes": classes,
        "discernibility": None if found.discernibility is None else percent(found.discernibility),
        "misclassified": [
            (one.variable, percent(one.before) if one.before is not None else "–", percent(one.after))
            for one in found.misclassified
        ],
    }


def _precision(value: float | None) -> str:
    return "–" if value is None else percent(value)


def quantiles_table(found: QuantilesView | None) -> dict[str, Any] | None:
    """How far the quantiles of each number moved, what moved most first, and what became of its inequality."""
    if found is None:
        return None

    def both(pair: tuple[float, float] | None) -> str:
        return "–" if pair is None else f"{figure(pair[0])} → {figure(pair[1])}"

    return {
        "heads": [f"{100 * probability:g} %" for probability in found.probabilities],
        "rows": [
            (one.name, [figure(change) for change in one.changes], figure(one.mean), both(one.gini), both(one.ratio))
            for one in found.variables
        ],
    }
