"""The report's utility part: what the file is still good for, overall, for variables together and for analyses.

Figures of all pairs of variables are heat maps, each with its worst pairs named and a twin in text.
"""

from collections.abc import Callable, Mapping, Sequence
from math import log1p
from typing import Any, Literal

from markupsafe import Markup
from pydantic import BaseModel, ConfigDict

from sluice.ground.errors import SluiceError
from sluice.report.analyses_page import (
    changed_subgroups_context,
    clusterings_context,
    models_context,
    predictions_context,
    queries_context,
    rules_broken,
    subgroups_context,
    tables_context,
)
from sluice.report.dossier import Dossier, RecordsView
from sluice.report.utility_plots import MOST_CELLS, Matrix, bars_svg, grid_svg, heat_map_svg, score_curves_svg
from sluice.report.utility_tables import (
    SIZES,
    categories_table,
    numbers_table,
    overall_figures,
    quantiles_table,
    recoding_table,
    weighed_table,
)
from sluice.report.wording import InTables, figure, percent
from sluice.utility.component_plane import ComponentPlane, Shares
from sluice.utility.correlation_summary import CorrelationsView
from sluice.utility.marginal_summary import MarginalsView
from sluice.utility.propensity_summary import PropensityView, TablePropensities
from sluice.utility.utility_view import UtilityView

_NAMED = 3
_CORRELATIONS = {
    "pearson": ("Pearson’s r", "of two numbers"),
    "kendall": ("Kendall’s tau-b", "of the order of two numbers"),
    "cramers_v": ("Cramér’s V", "of two variables on common bins, recoded ones included"),
}
_FAINTEST = 0.1  # a difference of correlations up to which no colour is full
_CHANCE = 1.0  # S_pMSE of a file that was drawn from the original


class PairMap(BaseModel):
    """One heat map as the page shows it."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    title: str
    svg: Markup
    says: str
    rows: tuple[tuple[str, str], ...]  # pair of variables and figure, the worst first


def pair_map(
    title: str,
    names: Sequence[str],
    matrix: Matrix,
    meaning: str,
    key: str,
    *,
    full: float | None = None,
    signed: bool = False,
    strength: Callable[[float], float] = lambda value: value,
    written: Callable[[float], str] = figure,
) -> PairMap | None:
    """A heat map of the pairs; None where no pair has a figure.

    matrix   : symmetric; None on the diagonal, and where a figure is not known or not told
    meaning  : a sentence on what a strong colour means
    key      : unique on the page
    full     : what is drawn in full colour, in the unit of `strength`; the largest when not given
    strength : of a figure, how strongly it is drawn: 0 or more, or signed

    Of more variables than can be read, those are drawn whose worst pair is worst, and the caption says so.
    """
    worst = [max((abs(v) for v in row if v is not None), default=-1.0) for row in matrix]
    drawn = sorted(sorted(range(len(names)), key=lambda at: -worst[at])[:MOST_CELLS])
    told = [
        (value, f"{names[one]} × {names[other]}")
        for place, one in enumerate(drawn)
        for other in drawn[:place]
        if (value := matrix[one][other]) is not None
    ]
    if not told:
        return None
    told.sort(key=lambda pair: -abs(pair[0]))
    cells = [[None if (v := matrix[one][other]) is None else strength(v) for other in drawn] for one in drawn]
    full = full or max(abs(strength(value)) for value, _ in told) or 1.0
    named = "; ".join(f"{pair} {written(value)}" for value, pair in told[:_NAMED])
    left_out = len(names) - len(drawn)
    more = f" {left_out} more variables have smaller figures and are not drawn." if left_out else ""
    description = f"{title} of {len(drawn)} variables. Worst: {named}. The figures follow below."
    return PairMap(
        title=title,
        svg=heat_map_svg([names[at] for at in drawn], cells, description, key, full, signed),
        says=f"Worst: {named}. {meaning}{more}",
        rows=tuple((pair, written(value)) for value, pair in told),
    )


def propensity_map(found: TablePropensities | None) -> PairMap | None:
    """S_pMSE of all pairs of released variables; coloured by its logarithm, for it may be a thousand times chance."""
    if found is None:
        return None
    meaning = (
        f"1 is chance, as of a file drawn from the original; {figure(found.mean)} is the mean of all pairs. The "
        "stronger the colour, the easier the two tell original and masked records apart (logarithmic). Hatched: too "
        "few records differ to be told. Missing and suppressed values count as a category, so that what blanked many "
        "values is easy to tell."
    )
    return pair_map(
        "S_pMSE of pairs",
        found.names,
        found.pairs,
        meaning,
        "map-propensity",
        full=None if any(v and v > _CHANCE for row in found.pairs for v in row) else log1p(10 * _CHANCE),
        strength=log1p,
    )


def correlation_maps(found: CorrelationsView | None) -> list[PairMap]:
    """Differences of correlations, masked less original: warm where it grew, cold where it fell."""
    drawn = []
    for matrices in found.matrices if found else ():
        title, of_what = _CORRELATIONS[matrices.measure]
        differences = [
            [None if one is None or other is None else other - one for one, other in zip(before, after, strict=True)]
            for before, after in zip(matrices.original, matrices.masked, strict=True)
        ]
        for place, row in enumerate(differences):
            row[place] = None
        meaning = (
            f"Masked less original, {of_what}; {figure(matrices.mean)} is the mean absolute difference. Warm: it grew; "
            "cold: it fell."
        )
        if matrices.records is not None and matrices.margin is not None:
            meaning += (
                f" By {matrices.records[0]:,} original and {matrices.records[1]:,} masked records drawn at random: "
                f"each is known to ±{figure(matrices.margin)}."
            )
        largest = max((abs(v) for row in differences for v in row if v is not None), default=0.0)
        made = pair_map(
            f"Change of {title}",
            matrices.names,
            differences,
            meaning,
            f"map-{matrices.measure}",
            full=max(largest, _FAINTEST),
            signed=True,
            written=lambda value: f"{value:+.3f}".replace("-", "−"),
        )
        if made is not None:
            drawn.append(made)
    return drawn


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
        "tables": tables_context(shown.tables or ()),
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
