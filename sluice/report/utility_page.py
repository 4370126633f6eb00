"""The report's utility part: what the file is still good for, overall, for variables together and for analyses."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from sluice.ground.errors import SluiceError
from sluice.report.analyses_page import (
    changed_subgroups_context,
    clusterings_context,
    models_context,
    predictions_context,
    queries_context,
    rules_broken,
    subgroups_context,
)
from sluice.report.dossier import Dossier, RecordsView
from sluice.report.pair_maps import PairMap, correlation_maps, propensity_map
from sluice.report.utility_plots import bars_svg, grid_svg, score_curves_svg
from sluice.report.utility_tables import (
    SIZES,
    categories_table,
    numbers_table,
    overall_figures,
    quantiles_table,
    recoding_table,
    weighed_table,
)
from sluice.report.variable_caption import InTables
from sluice.report.wording import figure, percent
from sluice.utility.component_plane import ComponentPlane, Shares
from sluice.utility.marginal_summary import MarginalsView
from sluice.utility.propensity_summary import PropensityView
from sluice.utility.utility_view import UtilityView

_NOTHING = UtilityView()


def utility_context(dossier: Dossier, view: RecordsView) -> dict[str, object]:
    """What `utility.html.j2` needs besides the dossier.

    raises : SluiceError when a part shows a count below `dossier.minimum_cell`
    """
    shown = view.utility or _NOTHING
    parts: dict[str, object] = {
        "worst_tables": _worst_tables(shown.marginals),
        "pair_maps": _pair_maps(shown),
        "worst_triples": _worst_triples(shown),
        "propensity": _propensity(shown.propensity, dossier.minimum_cell),
        "components": _components(shown.components, dossier.minimum_cell),
    }
    analyses: dict[str, object] = {
        "models": models_context(shown.models or ()),
        "predictions": predictions_context(shown.predictions or ()),
        "clusterings": clusterings_context(shown.clusterings or ()),
        "queries": queries_context(shown.queries or ()),
        "subgroups": subgroups_context(shown.subgroups),
        "changed_subgroups": changed_subgroups_context(shown),
        "rules_broken": rules_broken(shown.impossible_records),
    }
    return (
        parts
        | analyses
        | {
            "overall": overall_figures(dossier, view, shown),
            "has_together": any(parts.values()),
            "recoding": recoding_table(shown.recoding),
            "weighed": weighed_table(shown.unweighted or ()),
            "quantiles": quantiles_table(shown.quantiles),
            "numbers": numbers_table(shown.continuous),
            "categories": categories_table(shown.categorical),
            "has_analyses": any(analyses.values()),
        }
    )


def in_tables(view: UtilityView | None) -> Mapping[str, InTables]:
    """Of each variable, how its tables with the other released ones fared; empty where they were not counted."""
    if view is None or view.marginals is None:
        return {}
    losses = view.marginals.pairs.by_variable
    order = sorted(losses, key=lambda name: -losses[name])
    return {name: InTables(losses[name], place, len(order)) for place, name in enumerate(order)}


def _worst_tables(found: MarginalsView | None) -> list[dict[str, Any]]:
    drawn = []
    for summary in (found.pairs, found.triples) if found else ():
        if summary is None or not summary.worst:
            continue
        rows = [(" × ".join(table.variables), table.loss) for table in summary.worst]
        size = SIZES.get(summary.size, str(summary.size))
        description = f"The {len(rows)} {size} of released variables whose tables lost most; the figures follow below."
        drawn.append(
            {"title": f"{size[0].upper()}{size[1:]} of variables", "svg": bars_svg(rows, description), "rows": rows}
        )
    return drawn


def _pair_maps(shown: UtilityView) -> list[PairMap]:
    """Correlations first, then what tells the files apart."""
    by_propensity = propensity_map(shown.table_propensity)
    return [*correlation_maps(shown.correlations), *([by_propensity] if by_propensity else [])]


def _worst_triples(shown: UtilityView) -> dict[str, Any] | None:
    """The triples of variables that tell the files apart best."""
    found = shown.table_propensity
    if found is None or not found.worst_triples:
        return None
    rows = [(" × ".join(each.variables), figure(each.standardised)) for each in found.worst_triples]
    counted = (
        f"all {found.triples:,}"
        if found.triples == found.triples_of
        else (f"{found.triples:,} of {found.triples_of:,}")
    )
    return {"rows": rows, "counted": counted}


def _propensity(found: PropensityView | None, minimum_cell: int) -> dict[str, Any] | None:
    """The distribution of the scores in both files."""
    if found is None or found.curve is None:
        return None
    curve = found.curve
    if min(*curve.original, *curve.masked) < minimum_cell:
        raise SluiceError(f"groups of propensity scores must hold at least {minimum_cell} records of either file.")
    sums = sum(curve.original), sum(curve.masked)
    rows = [
        (score, before / sums[0], after / sums[1])
        for score, before, after in zip(curve.scores, curve.original, curve.masked, strict=True)
    ]
    apart = max(abs(_running(rows, 1, end) - _running(rows, 2, end)) for end in range(len(rows)))
    says = (
        f"Where no record can be told apart, every score is {found.masked_share:.2f}. The two distributions are at "
        f"most {percent(apart)} apart."
    )
    if found.left_out:
        says += f" Not among the variables, for they were removed: {', '.join(found.left_out)}."
    description = f"Propensity scores of original and masked records in {len(rows)} groups. {says}"
    svg = score_curves_svg(rows, "score: how much a record looks masked", description)
    return {"svg": svg, "says": says, "rows": rows}


def _running(rows: Sequence[tuple[float, float, float]], column: Literal[1, 2], end: int) -> float:
    return sum(row[column] for row in rows[: end + 1])


def _components(plane: ComponentPlane | None, minimum_cell: int) -> dict[str, Any] | None:
    if plane is None:
        return None
    for grid, records in zip((plane.before, plane.after), plane.drawn, strict=True):
        _refuse_small_shares(grid, records, minimum_cell)
    shares = [share for grid in (plane.before, plane.after) for row in grid for share in row if share is not None]
    full = max(shares, default=0.0)
    about = "on the original’s first two principal components"
    before, after = (
        grid_svg(grid, full, f"{which} records {about}; overlap {percent(plane.overlap)}.", colour)
        for grid, which, colour in ((plane.before, "Original", "reference"), (plane.after, "Masked", "masked"))
    )
    return {
        "before": before,
        "after": after,
        "explained": [percent(part) for part in plane.explained],
        "leading": [", ".join(names) for names in plane.leading],
        "overlap": percent(plane.overlap),
        "drawn": plane.drawn,
        "rows": [
            (row, column, plane.before[row][column], plane.after[row][column])
            for row in range(len(plane.before))
            for column in range(len(plane.before[row]))
            if plane.before[row][column] is not None
        ],
    }


def _refuse_small_shares(grid: Shares, records: int, minimum_cell: int) -> None:
    small = sum(share is not None and share * records < minimum_cell - 1e-6 for row in grid for share in row)
    if small:
        raise SluiceError(
            f"cells of the component plane must be None where they hold fewer than {minimum_cell} records; got {small} "
            "such cells. Was it made with another minimum?"
        )
