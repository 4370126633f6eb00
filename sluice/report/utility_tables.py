"""Utility tables: the figures that hold for the whole file, in words, and losses of numbers and of categories."""

from collections.abc import Mapping, Sequence
from typing import Any

from sluice.ground.variables import NAMES
from sluice.report.dossier import Dossier, RecordsView
from sluice.report.wording import figure, percent
from sluice.risk.linkage.linkage_score import Figure, ScoreView
from sluice.utility.continuous.matrix_comparisons import ContinuousView
from sluice.utility.marginal_summary import MarginalSummary
from sluice.utility.quantiles import QuantilesView
from sluice.utility.recoding.recoding_measures import RecodingView
from sluice.utility.subsample_equivalent import SubsampleEquivalent
from sluice.utility.utility_view import CategoricalView, UnweightedFigure, UtilityView
from sluice.utility.variable_summary import VariableSummary

SIZES = {2: "pairs", 3: "triples"}

_MOST_TIMES = 10  # the original figure: of what was near nought nobody reads how many times it moved
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
            (says, figure(one.mean_square_error), figure(one.mean_absolute_error), _variation(one.mean_variation))
            for says, one in comparisons
        ],
        "probabilities": _named(found.probabilities, _PROBABILITIES),
        "variations": ", ".join(f"{name} {_variation(getattr(found.variations, name))}" for name in _VARIATIONS),
        "eigenvalues": figure(found.eigenvalues),
        "names": ", ".join(found.names),
        "removed": ", ".join(found.removed),
    }


def _variation(value: float | None) -> str:
    """A relative change; of what was near nought before, only that it is beyond reading."""
    return f"over {_MOST_TIMES}" if value is not None and value > _MOST_TIMES else figure(value)


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
        classes = f"Groups of records that are alike by {known} hold {alike} on average"
        classes += "." if found.average_class_before is None else f"; before, {figure(found.average_class_before)}."
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


def overall_figures(dossier: Dossier, view: RecordsView, shown: UtilityView) -> list[dict[str, str]]:
    """The figures that hold for the whole file: what is measured, the figure, the sample as good as it, in words."""
    rows = []
    if view.records_released:
        kept = view.records_released / dossier.records_original if dossier.records_original else 0.0
        says = f"{view.records_released:,} of {dossier.records_original:,} records are in the file."
        rows.append(_row("Records", percent(kept), says))
    told = [summary for summary in view.variables if summary.role not in NAMES]
    gone = [summary.name for summary in told if summary.kind_after is None]
    alike = [summary.name for summary in told if _is_one_value(summary)]
    if told:
        says = f"Not released: {', '.join(gone)}." if gone else "Every variable that describes is in the file."
        if alike:
            says += f" Released, with one value for everybody: {', '.join(alike)}."
        rows.append(_row("Variables", f"{len(told) - len(gone) - len(alike)} of {len(told)}", says))
    if shown.marginals is not None:
        for summary in (shown.marginals.pairs, shown.marginals.triples):
            if summary is not None:
                rows.append(_marginals(summary))
    if shown.recoding is not None:
        rows += _recoding(shown.recoding, len(gone))
    if shown.table_propensity is not None:
        says = "How well two variables tell original and masked records apart, of released variables: 1 is chance."
        rows.append(_row("S_pMSE of pairs, mean", figure(shown.table_propensity.mean), says))
    if shown.propensity is not None:
        says = (
            "How well all released variables tell them apart, by a logistic regression on "
            f"{shown.propensity.parameters:,} bins: 1 is chance."
        )
        rows.append(_row("S_pMSE of all", figure(shown.propensity.standardised), says))
    if shown.score is not None:
        rows.append(_score(shown.score))
    return rows


def _is_one_value(summary: VariableSummary) -> bool:
    """Whether a variable of several values was released with one for everybody, which tells no more than removal."""
    if summary.kind_after is None:
        return False
    if summary.kind_after.is_numeric:
        return bool(summary.deviation_before) and summary.deviation_after == 0
    return bool(summary.entropy_before) and summary.entropy_after == 0


_PARTS: Mapping[Figure, str] = {
    "rsld": "linked by the window of rank swapping (RSLD)",
    "dld": "linked by distance (DLD)",
    "pld": "linked by agreement (PLD)",
    "id": "of the values in a narrow interval (ID)",
}


def _score(found: ScoreView) -> dict[str, str]:
    parts = ", ".join(
        f"{percent(found.parts[name])} {_PARTS[name]}, weight {figure(weight)}"
        for name, weight in found.weights.items()
    )
    low, high = (percent(end) for end in found.interval)
    says = (
        f"The mean of an information loss (IL1 to IL5) of {percent(found.information_loss)} and a disclosure risk (DR) "
        f"of {percent(found.disclosure_risk)} ({low} to {high}) by whoever knows {', '.join(found.names)}: {parts}. "
        f"{found.linked:,} of {found.records:,} records were linked."
    )
    return _row("Score", percent(found.score), says)


def _recoding(found: RecodingView, gone: int) -> list[dict[str, str]]:
    says = (
        "Share of the values that groups, suppression and removal leave in doubt (NCP), mean of all variables. Of a "
        "removed variable all but the values that were missing before: these leave nothing in doubt."
    )
    rows = [_row("Values in doubt", percent(found.certainty), says)]
    if found.queries is not None:
        low, high = (percent(end) for end in found.queries.interval)
        says = (
            f"Median relative error of {found.queries.asked:,} random counts over ranges of {found.queries.dimensions} "
            f"variables; 95 % interval {low} to {high}."
        )
        if gone:
            says += " A question about a variable that was not released finds nobody, which is an error of 100 %."
            if found.queries_released is not None:
                says += f" Among released variables alone {percent(found.queries_released.median)}."
        rows.append(_row("Random counts", percent(found.queries.median), says))
    return rows


def _row(measure: str, value: str, says: str, equivalent: str = "") -> dict[str, str]:
    return {"measure": measure, "figure": value, "equivalent": equivalent, "says": says}


def _marginals(summary: MarginalSummary) -> dict[str, str]:
    says = (
        f"So many records would have to change cell in a table of {summary.size} variables, on average over "
        f"{_counted(summary)}: 0 is no loss. NIST's k-marginal score is {1000 * (1 - summary.mean):.0f} of 1,000."
    )
    if summary.interval is not None:
        says += f" 95 % interval {percent(summary.interval[0])} to {percent(summary.interval[1])}."
    if summary.removed and summary.mean_released is not None:
        says += f" Among released variables alone {percent(summary.mean_released)}."
    name = f"Tables of {SIZES.get(summary.size, str(summary.size))}"
    return _row(name, percent(summary.mean), says, equivalent_in_words(summary.equivalent))


def _counted(summary: MarginalSummary) -> str:
    if summary.counted == summary.of:
        return f"all {summary.of:,}"
    return f"{summary.counted:,} of {summary.of:,}, drawn at random"


def equivalent_in_words(found: SubsampleEquivalent | None) -> str:
    """As good as a random sample of so much of the original, with its interval."""
    if found is None:
        return ""
    if found.at_most:
        return f"less than {percent(found.share).removeprefix('under ')} ({found.draws} draws)"
    low, high = (percent(end) for end in found.interval)
    return f"{percent(found.share)} ({low} to {high}; {found.draws} draws)"
