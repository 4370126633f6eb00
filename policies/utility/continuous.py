"""Continuous: limits on what the numbers of a file lost together, removed and recoded ones included."""

from math import isnan, nan

from sluice.ground.sentence import Saying, Sentences
from sluice.ground.variables import Role
from sluice.utility.comparison import Comparison
from sluice.utility.continuous.continuous_view import ContinuousView, ProbabilityParts, VariationParts
from sluice.utility.continuous.matrix_comparisons import matrix_comparisons
from sluice.utility.continuous.mean_variations import MeanVariations, mean_variations
from sluice.utility.continuous.pairwise_moments import pairwise_moments
from sluice.utility.continuous.principal_components import eigenvalue_shift
from sluice.utility.continuous.probabilistic_information_loss import (
    ProbabilisticInformationLoss,
    probabilistic_information_loss,
)
from sluice.utility.measured import Found, Measured, figure, written_percent

_CONTINUOUS = Sentences(
    "continuous",
    no_numbers="Numbers are not compared: the original has none",
    no_records="What the numbers lost is not known: a file has no records",
    removed=", {removed} removed of {numbers} numbers among them",
    close=")",
)
_APIL = Sentences(
    "apil",
    not_known="The probabilistic information loss is not known: the original's numbers have no values",
    average="With a probability of {share:percent} on average a mean, variance, covariance, correlation or quantile "
    "is not what a sample of the original would show (aPIL",
)
_EIGENVALUES = Sentences(
    "eigenvalues",
    no_variance="Principal components are not compared: no number of the original varies",
    moved="{share:percent} of the variance of the standardised numbers is no longer on the principal component that "
    "held it",
)
_MEAN_VARIATIONS = Sentences(
    "mean_variations",
    unpaired="How far values changed in proportion to themselves is not known: rows of the files are not pairs",
    one_number="Mean variations are not compared: the original has one number, and so no covariances",
    too_few_values="How far values changed in proportion to themselves is not known: too few values or none that vary",
    changed="Values, means, variances, covariances and correlations changed by {share:percent} of themselves on "
    "average (IL1 to IL5",
)

_WHAT = {
    "apil": "The probabilistic information loss",
    "eigenvalues": "How far principal components moved",
    "mean_variations": "How far values changed in proportion to themselves",
}


def continuous(files: Comparison) -> Found:
    """Probabilistic information loss, eigenvalues and mean variations of all numbers of the original but weights.

    A group is read as the mean of the values that it may stand for; a removed variable has lost all its statistics.
    """
    numbers = files.released_numbers
    kept = [place for place, name in enumerate(numbers.names) if files.variables[name].role is not Role.WEIGHT]
    names = tuple(numbers.names[place] for place in kept)
    removed = tuple(name for name in numbers.removed if name in names)
    if not names:
        says = _CONTINUOUS.no_numbers()
        return Found(dict.fromkeys(_WHAT, Measured(nan, says, "", 0, 0, written_percent, False)))
    if not len(numbers.original) or not len(numbers.masked):
        says = _CONTINUOUS.no_records()
        return Found(dict.fromkeys(_WHAT, Measured(nan, says, "", len(names), 0, written_percent)))
    original, masked = numbers.original[:, kept], numbers.masked[:, kept]
    weights = files.weights
    moments = pairwise_moments(original, weights[0]), pairwise_moments(masked, weights[1])
    aligned = files.paired and len(original) == len(masked)
    probabilities = probabilistic_information_loss(original, masked, weights=weights, moments=moments)
    shift = eigenvalue_shift(moments[0].correlation, moments[1].correlation)
    variations = mean_variations(original, masked, paired_records=aligned, weights=weights, moments=moments)
    lost = _CONTINUOUS.removed(removed=len(removed), numbers=len(names)) if removed else ()
    measured = {
        "apil": _apil(probabilities, len(names), len(removed), lost),
        "eigenvalues": _eigenvalues(shift, len(names), len(removed), lost),
        "mean_variations": _mean_variations(variations, aligned, len(names), len(removed), lost),
    }
    if few := files.of_few & {*names}:
        return Found({name: measure.told(_WHAT[name], few) for name, measure in measured.items()})
    if min(len(original), len(masked)) < files.minimum_cell:
        return Found(measured)
    view = ContinuousView(
        names=names,
        removed=removed,
        comparisons=matrix_comparisons(
            original, masked, paired_records=aligned, in_deviations=True, weights=weights, moments=moments
        ),
        eigenvalues=None if isnan(shift) else shift,
        probabilities=ProbabilityParts.of(probabilities),
        variations=VariationParts.of(variations),
    )
    return Found(measured, {"continuous": view})


def _apil(loss: ProbabilisticInformationLoss, names: int, removed: int, lost: Saying) -> Measured:
    value = loss.average
    says = _APIL.not_known() if isnan(value) else _APIL.average(share=figure(value)) + lost + _CONTINUOUS.close()
    return Measured(value, says, "", names, 0 if isnan(value) else names - removed, written_percent)


def _eigenvalues(shift: float, names: int, removed: int, lost: Saying) -> Measured:
    says = _EIGENVALUES.no_variance() if isnan(shift) else _EIGENVALUES.moved(share=figure(shift)) + lost
    return Measured(shift, says, "", names, 0 if isnan(shift) else names - removed, written_percent, not isnan(shift))


def _mean_variations(variations: MeanVariations, aligned: bool, names: int, removed: int, lost: Saying) -> Measured:
    value = variations.loss
    if not aligned:
        says = _MEAN_VARIATIONS.unpaired()
    elif names < 2:
        says = _MEAN_VARIATIONS.one_number()
    elif isnan(value):
        says = _MEAN_VARIATIONS.too_few_values()
    else:
        says = _MEAN_VARIATIONS.changed(share=figure(value)) + lost + _CONTINUOUS.close()
    completed = 0 if isnan(value) else names - removed
    return Measured(value, says, "", names, completed, written_percent, names >= 2)
