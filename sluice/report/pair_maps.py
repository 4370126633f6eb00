"""Pair maps: figures of all pairs of variables as heat maps, each with its worst pairs named and a twin in text."""

from collections.abc import Callable, Sequence
from math import log1p

from markupsafe import Markup
from pydantic import BaseModel, ConfigDict

from sluice.report.utility_plots import MOST_CELLS, Matrix, heat_map_svg
from sluice.report.wording import figure
from sluice.utility.correlation_summary import CorrelationsView
from sluice.utility.propensity_summary import TablePropensities

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
