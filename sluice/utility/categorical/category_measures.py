"""Category measures: how far categories lie from the original ones, and what released values leave open of them."""

from math import isfinite, isnan, nan
from typing import NamedTuple

import numpy as np

from sluice.ground.arrays import FloatArray
from sluice.ground.divergence import entropy
from sluice.ground.sentence import Sentence, Sentences
from sluice.ground.variables import Kind, Role, Variable
from sluice.masking.noise.pram import MISSING, Pram
from sluice.masking.plan import ByStratum
from sluice.utility.categorical.category_losses import (
    category_distances,
    conditional_entropy,
    contingency_table_loss,
    direct_comparison,
    ebil,
    joint_counts,
    mean_pril,
    original_probabilities,
    pril,
    probabilities_of_counts,
)
from sluice.utility.cell_changes import coarse_share
from sluice.utility.common_bins import CommonBins, common_bins
from sluice.utility.comparison import Comparison
from sluice.utility.measured import Found, figure
from sluice.utility.utility_measure import Family, Figure, Occasion, ShareMeasure
from sluice.utility.utility_view import CategoricalView, CategoryLoss

_NONE = Sentence("categorical.none", "Categories are not compared: the original has no categorical variable")
_CATEGORY_DISTANCE = Sentences(
    "category_distance",
    not_known="How far categories lie from the original ones is not known: {why}",
    distance="A released category lies {share:percent} of the way from the original one to the farthest",
    most=", on average over records and variables (most: {most:percent} of {worst})",
)
_EBIL = Sentences(
    "ebil",
    not_known="The uncertainty of released categories is unknown: {why}",
    left_open="A released category leaves open {share:percent} of the original one's bits",
    most=", on average over {variables} variables (EBIL; most: {ebil:.2f} of {entropy:.2f} bits of {worst}{how})",
)

_MOST = 1_000  # categories of a variable that are compared each by itself; of more, the rarest are one
_ORDER = 2  # of the contingency tables

CATEGORY_DISTANCE = ShareMeasure(
    "category_distance",
    "mean distance of a released category from the original one, 0 to 1, over all variables",
    "How far categories lie from the original ones",
    "Categories lie far from the original ones: use a finer level of the hierarchy for the variable, a higher "
    "retention of pram, or groups of neighbouring categories where they are ordered.",
)
EBIL = ShareMeasure(
    "ebil",
    "share of a variable's bits that its released value leaves open, mean of all variables",
    "What released categories leave open",
    "A released category tells little of the original one: use smaller groups or a higher retention of pram for "
    "the variable, and let another quasi-identifier bear the masking.",
)


class _Loss(NamedTuple):
    """Of one variable; NaN where it could not be computed."""

    distance: float
    entropy: float  # bits of the original
    ebil: float  # bits a record
    pril: float  # bits a record
    by_matrix: bool

    @property
    def left_open(self) -> float:
        """EBIL as a share of the original's bits: 1 where a released value tells nothing."""
        return min(1.0, self.ebil / self.entropy) if self.entropy > 0 else 0.0 * self.ebil


def categorical(files: Comparison) -> Found:
    """Direct comparison and entropy-based loss of each categorical variable, and the tables of one and two of them."""
    named = {
        name: each
        for name, each in files.variables.items()
        if each.kind.is_categorical and each.kind is not Kind.ITEMS and each.role is not Role.WEIGHT
    }
    compared = [each.name for each in files.common_bins if each.name in named]
    losses = {name: _loss(files, named[name]) for name in compared}
    why = _why(files)
    few = files.of_few & {*losses}
    of_distance, of_bits = (
        Occasion(len(compared), _NONE(), says.not_known(why=why), few=few) for says in (_CATEGORY_DISTANCE, _EBIL)
    )
    measured = {
        "category_distance": CATEGORY_DISTANCE.judge(files, of_distance, lambda: _distance(files, losses)),
        "ebil": EBIL.judge(files, of_bits, lambda: _left_open(files, losses)),
    }
    if not compared:
        return Found(measured)
    records = min(len(files.original), len(files.masked))
    if records < max(files.minimum_cell, 1):
        return Found(measured)
    return Found(measured, {"categorical": _view(files, losses, records)})


def _loss(files: Comparison, variable: Variable) -> _Loss:
    name = variable.name
    if not files.paired or len(files.original) != len(files.masked) or not len(files.original):
        return _Loss(nan, nan, nan, nan, False)
    (bins,) = common_bins(files.original, files.recoded, files.masked, {name: variable}, files.released, most=_MOST)
    weight = files.weights[0]
    order = variable.categories if variable.kind is Kind.ORDINAL and "all others" not in bins.labels else None
    distance = direct_comparison(bins, category_distances(bins.labels, order), weight)
    # Categories of few records would be told by how little they leave open: they are left out, as `entropies` does.
    frequent = np.bincount(bins.original, minlength=bins.bins) >= files.minimum_cell
    rows = frequent[bins.original]
    if isnan(distance) or not rows.any():
        return _Loss(distance, nan, nan, nan, False)
    counts = np.bincount(bins.original[rows], None if weight is None else weight[rows], minlength=bins.bins)
    if not counts.sum():
        return _Loss(distance, nan, nan, nan, False)
    bits = entropy(counts.astype(np.float64))
    if name in files.told_of and name not in files.released:  # the probabilities themselves were released
        left = conditional_entropy(bins.spread.T)[bins.masked[rows]]
        taken = pril(bins.spread.T, bins.original[rows], bins.masked[rows])
        weights = None if weight is None else weight[rows]
        return _Loss(distance, bits, float(np.average(left, weights=weights)), _mean_of(taken, weights), True)
    joint = joint_counts(bins, weight)[frequent]
    matrix = _matrix(files, name, bins)
    if matrix is None:
        probabilities = probabilities_of_counts(joint)
    else:
        probabilities = original_probabilities(joint.sum(axis=1), matrix[frequent])
    left_open = ebil(probabilities, joint.sum(axis=0)) / float(joint.sum())
    return _Loss(distance, bits, left_open, mean_pril(probabilities, joint), matrix is not None)


def _mean_of(values: FloatArray, weights: FloatArray | None) -> float:
    """Infinite if one that weighs anything is."""
    weighs = np.ones(len(values)) if weights is None else weights
    return float(np.average(values[weighs > 0], weights=weighs[weighs > 0]))


def _matrix(files: Comparison, name: str, bins: CommonBins) -> FloatArray | None:
    """(bins, codes) P(V' = j | V = i), where one PRAM step by itself made the variable what it is; else None."""
    if files.carried_out is None or name not in files.released:
        return None
    touching = [
        each for each in files.carried_out if name in (each.step if isinstance(each, ByStratum) else each).columns
    ]
    step = touching[0] if len(touching) == 1 else None
    if not isinstance(step, Pram) or step.matrix is None:
        return None
    rows = step.matrix[name]
    released = [str(label) for label in files.masked[name].cat.categories]
    columns = {label: place for place, label in enumerate(released)}
    columns[MISSING] = bins.codes - 1
    matrix = np.zeros((bins.bins, bins.codes))
    matrix[-1, -1] = 1.0  # a missing value that is no category stays missing
    for place, label in enumerate([*bins.labels[:-1], *([MISSING] if MISSING in rows else [])]):
        if label not in rows or any(other not in columns for other in rows[label]):
            return None
        at = place if label != MISSING else bins.bins - 1
        matrix[at] = 0.0
        for other, probability in rows[label].items():
            matrix[at, columns[other]] = probability
    return matrix


def _distance(files: Comparison, losses: dict[str, _Loss]) -> Figure:
    known = {name: loss.distance for name, loss in losses.items() if not isnan(loss.distance)}
    if len(known) < len(losses):
        return Figure(nan, _CATEGORY_DISTANCE.not_known(why=_why(files)), len(known))
    value, worst = float(np.mean(list(known.values()))), max(known, key=lambda name: known[name])
    most = coarse_share(known[worst], len(files.masked), files.minimum_cell)
    says = _CATEGORY_DISTANCE.distance(share=figure(value)) + (
        _CATEGORY_DISTANCE.most(most=figure(most), worst=worst) if value else ()
    )
    return Figure(value, says, len(known))


def _left_open(files: Comparison, losses: dict[str, _Loss]) -> Figure:
    known = {name: loss for name, loss in losses.items() if not isnan(loss.ebil)}
    if not known:
        return Figure(nan, _EBIL.not_known(why=_why(files)))
    worst = max(known, key=lambda name: known[name].left_open)
    loss, value = known[worst], float(np.mean([each.left_open for each in known.values()]))
    says, how = _EBIL.left_open(share=figure(value)), ", by its matrix" if loss.by_matrix else ""
    if value:
        says += _EBIL.most(variables=len(known), ebil=loss.ebil, entropy=loss.entropy, worst=worst, how=how)
    return Figure(value, says, len(known))


def _why(files: Comparison) -> str:
    if not files.paired:
        return "nobody said whose each row is"
    if len(files.original) != len(files.masked):
        return "the two files have different numbers of records"
    return "no category has enough records"


def _view(files: Comparison, losses: dict[str, _Loss], records: int) -> CategoricalView:
    def known(value: float) -> float | None:
        return round(value, 2) if isfinite(value) else None

    tables = contingency_table_loss(
        [each for each in files.common_bins if each.name in losses], _ORDER, *files.weights, rng=files.rng
    )
    return CategoricalView(
        variables=tuple(
            CategoryLoss(name=name, released=True, distance=None, entropy=None, ebil=None, pril=None, matrix=False)
            if name in files.of_few
            else CategoryLoss(
                name=name,
                released=name in files.told_of,
                distance=None if isnan(loss.distance) else coarse_share(loss.distance, records, files.minimum_cell),
                entropy=known(loss.entropy),
                ebil=known(loss.ebil),
                pril=known(loss.pril),
                matrix=loss.by_matrix,
            )
            for name, loss in losses.items()
        ),
        ctbil=None if isnan(tables.normalised) else round(tables.normalised, 4),
        order=_ORDER,
        tables=tables.tables,
        counted=tables.counted,
    )


CATEGORIES = Family(categorical, (CATEGORY_DISTANCE, EBIL))
