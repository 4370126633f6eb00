"""What the report shows of propensity scores: how well records can be told apart, by tables and by all variables."""

from collections.abc import Collection
from math import isnan

import numpy as np
from pydantic import Field

from sluice.ground.arrays import FloatArray
from sluice.ground.document_parts import FrozenModel
from sluice.ground.sentence import Sentences
from sluice.utility.comparison import Comparison
from sluice.utility.marginals import MarginalLosses
from sluice.utility.measured import Found, figure
from sluice.utility.propensity import Propensity
from sluice.utility.propensity import propensity as fitted
from sluice.utility.utility_measure import Family, Figure, Measure, Occasion

_SAYS = Sentences(
    "propensity",
    not_measured="How well records can be told apart is not measured: no released variable can be compared",
    not_known="How well records can be told apart is not known: a file has no records",
    told_apart="By the distributions of the variables, original and masked records can be told apart {times:.3g} "
    "times as well as those of a file drawn from the original (S_pMSE of a logistic regression)",
    left_out="; {removed:,} removed {are} left out",
)

PROPENSITY = Measure(
    "propensity",
    "S_pMSE of a logistic regression on all released variables; 1 is chance",
    "How well records can be told apart",
    "The distributions of single variables moved: recode to more groups, suppress less, and use methods that keep "
    "distributions, such as rank_swapping or PRAM by an invariant matrix.",
)

WORST = 10
_STEPS = 20  # of the curve: about so many groups of equally many records


class TablePropensity(FrozenModel):
    """S_pMSE of the table of these variables; None where too few records differ to be told."""

    variables: tuple[str, ...]
    standardised: float | None


class TablePropensities(FrozenModel):
    """S_pMSE of the tables of released variables: 0 for equal tables, 1 for chance, higher is worse."""

    names: tuple[str, ...] = Field(description="released variables, in the order of rows and columns")
    pairs: tuple[tuple[float | None, ...], ...] = Field(description="a row each; None: itself, or too few to be told")
    mean: float = Field(description="of all pairs")
    worst_pairs: tuple[TablePropensity, ...] = ()
    worst_triples: tuple[TablePropensity, ...] = ()
    triples: int = Field(default=0, description="triples that were counted")
    triples_of: int = Field(default=0, description="triples that there are")


class PropensityCurve(FrozenModel):
    """Records of both files in groups of rising score; every count is at least the minimum cell."""

    scores: tuple[float, ...] = Field(description="mean score of a group")
    original: tuple[int, ...]
    masked: tuple[int, ...]


class PropensityView(FrozenModel):
    """The scores of a logistic regression on the bins of all released variables."""

    pmse: float
    standardised: float = Field(description="S_pMSE: 1 is a file drawn from the original with replacement")
    parameters: int
    masked_share: float = Field(description="the score of every record where the files cannot be told apart")
    left_out: tuple[str, ...] = Field(default=(), description="variables that were removed")
    curve: PropensityCurve | None = None


def table_propensities(
    pairs: MarginalLosses,
    triples: MarginalLosses,
    moved: tuple[MarginalLosses, MarginalLosses],
    released: Collection[str],
    records: int,
    minimum_cell: int,
) -> TablePropensities | None:
    """The tables of released variables; None where there are none.

    pairs, triples : S_pMSE of the tables of two and of three variables
    moved          : of the same tables, the share of the records that would have to change cell
    records        : of the smaller of the two files
    """
    names = tuple(name for name in pairs.names if name in released)
    among = pairs.among(names)
    if not len(among.losses) or isnan(among.mean):
        return None

    def told(found: MarginalLosses, by: MarginalLosses) -> dict[tuple[str, ...], float | None]:
        """By the table's variables; a difference that few records make is not told."""
        inside = np.isin(found.tables, [found.names.index(name) for name in names]).all(axis=1)
        few = (by.losses > 0) & (by.losses * records < minimum_cell)
        return {
            tuple(found.names[at] for at in table): None if hide else round(float(value), 2)
            for table, value, hide in zip(
                found.tables[inside].tolist(), found.losses[inside], few[inside].tolist(), strict=True
            )
        }

    two, three = told(pairs, moved[0]), told(triples, moved[1])
    return TablePropensities(
        names=names,
        pairs=tuple(tuple(two.get((one, other), two.get((other, one))) for other in names) for one in names),
        mean=round(among.mean, 2),
        worst_pairs=_worst(two),
        worst_triples=_worst(three),
        triples=len(three),
        triples_of=triples.among(names).of,
    )


def _worst(told: dict[tuple[str, ...], float | None]) -> tuple[TablePropensity, ...]:
    known = sorted(((value, names) for names, value in told.items() if value is not None), key=lambda pair: -pair[0])
    return tuple(TablePropensity(variables=names, standardised=value) for value, names in known[:WORST])


def propensity_view(found: Propensity, left_out: Collection[str], minimum_cell: int) -> PropensityView | None:
    """The figures, and the curve where both files have enough records in at least two groups; None if unknown."""
    if isnan(found.pmse):
        return None
    n, m = len(found.original), len(found.masked)
    return PropensityView(
        pmse=found.pmse,
        standardised=found.standardised,
        parameters=found.parameters,
        masked_share=m / (n + m),
        left_out=tuple(left_out),
        curve=propensity_curve(found.original, found.masked, minimum_cell),
    )


def propensity_curve(original: FloatArray, masked: FloatArray, minimum_cell: int) -> PropensityCurve | None:
    """Records of both files by score, in about 20 groups of equally many.

    original, masked : shape (n,) and (m,), the scores
    minimum_cell     : neighbouring groups are united until each has so many records of both files
    returns          : None where fewer than two groups are left
    """
    if not len(original) or not len(masked):
        return None
    both = np.concatenate([original, masked])
    edges = np.unique(np.quantile(both, np.arange(1, _STEPS) / _STEPS))
    groups = [np.searchsorted(edges, scores, "right") for scores in (original, masked)]
    counts = np.array([np.bincount(group, minlength=len(edges) + 1) for group in groups])
    sums = np.bincount(np.concatenate(groups), both, len(edges) + 1)
    united: list[list[float]] = []
    for before, after, total in zip(*counts.tolist(), sums.tolist(), strict=True):
        if united and min(united[-1][:2]) < minimum_cell:
            united[-1] = [one + more for one, more in zip(united[-1], (before, after, total), strict=True)]
        elif before + after:
            united.append([before, after, total])
    if len(united) > 1 and min(united[-1][:2]) < minimum_cell:
        last = united.pop()
        united[-1] = [one + more for one, more in zip(united[-1], last, strict=True)]
    if len(united) < 2:
        return None
    return PropensityCurve(
        scores=tuple(round(total / (before + after), 3) for before, after, total in united),
        original=tuple(int(before) for before, _, _ in united),
        masked=tuple(int(after) for _, after, _ in united),
    )


def propensity(files: Comparison) -> Found:
    """S_pMSE of a logistic regression on the bins of all released variables."""
    bins = [each for each in files.common_bins if each.name in files.kept]
    removed = [each.name for each in files.common_bins if each.name not in files.kept]
    few = files.of_few if files.only_of_few else ()
    # Nobody escapes the limit by removing every variable
    occasion = Occasion(
        len(files.common_bins), _SAYS.not_measured(), _SAYS.not_known(), len(bins), _SAYS.not_measured(), few=few
    )
    if unmeasured := PROPENSITY.unmeasured(files, occasion):
        return Found({"propensity": unmeasured})
    found = fitted(bins)
    says = _SAYS.told_apart(times=figure(found.standardised))
    if removed:
        says += _SAYS.left_out(removed=len(removed), are="variable is" if len(removed) == 1 else "variables are")
    measured = PROPENSITY.measured(files, occasion, Figure(found.standardised, says, len(bins)))
    view = propensity_view(found, removed, files.minimum_cell)
    return Found({"propensity": measured}, {} if few or view is None else {"propensity": view})


OF_RECORDS = Family(propensity, (PROPENSITY,), weighs=False)
