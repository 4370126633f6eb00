"""Number measures: what the numbers of a file lost, one by one and together, removed and recoded ones included."""

from functools import cached_property
from math import isfinite, isnan, nan

import numpy as np

from sluice.ground.sentence import Saying, Sentence, Sentences
from sluice.ground.variables import Role
from sluice.utility.comparison import Comparison
from sluice.utility.continuous.matrix_comparisons import (
    ContinuousView,
    ProbabilityParts,
    VariationParts,
    matrix_comparisons,
)
from sluice.utility.continuous.mean_variations import MeanVariations, il1s, mean_variations
from sluice.utility.continuous.moments import PairwiseMoments, moment_differences, pairwise_moments
from sluice.utility.continuous.principal_components import eigenvalue_shift
from sluice.utility.continuous.probabilistic_information_loss import probabilistic_information_loss
from sluice.utility.continuous.released_numbers import Numbers, ReleasedNumbers
from sluice.utility.measured import Found, Measured, figure, written_percent
from sluice.utility.utility_measure import Family, Figure, Measure, Occasion, ShareMeasure

_MIDDLE = "in the middle case, over {variables:,} numeric variables"
_MOMENTS = Sentences(
    "moments",
    lost="{what} are lost: of the original's {numbers:,} numbers the file has {has} to compare",
    not_compared="{what} are not compared: the file has {has} to compare",
    too_few="{what} could not be compared: the two files have too few numeric variables or values in common",
    moved_deviations=f"{{what}} moved by {{moved:.3g}} standard deviations {_MIDDLE}",
    moved_share=f"{{what}} moved by {{moved:percent}} {_MIDDLE}",
    moved=f"{{what}} moved by {{moved:.3g}} {_MIDDLE}",
    others=". Without these: ",
)
_IL1S = Sentences(
    "il1s",
    lost="Single values are lost: of the original's {numbers:,} numbers the file has none",
    no_number="How far single values moved is not measured: the file has no number to compare",
    not_known="How far single values moved is not known: {why}",
    nothing_in_common="How far single values moved is not known: the two files have no numeric value in common",
    moved="A value moved by {value:.3g} on average (IL1s: in standard deviations, divided by the root of 2)",
)
_CONTINUOUS = Sentences(
    "continuous",
    no_numbers="Numbers are not compared: the original has none",
    no_records="The loss of the numbers is unknown: a file has no records",
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
    moved="{share:Percent} of the variance of the standardised numbers is no longer on the principal component that "
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

MEAN = Measure(
    "mean",
    "median shift of a mean, in standard deviations",
    "How far averages moved",
    "Averages moved: use a method that keeps them (microaggregation, corrected noise), and check top-coding, "
    "whose lumped values should be replaced by their mean.",
)
VARIANCE = Measure(
    "variance",
    "median relative change of a variance",
    "How far variances moved",
    "Variances moved: use corrected noise or restore_variance of the microaggregation, or smaller groups.",
    written=written_percent,
)
CORRELATION = Measure(
    "correlation",
    "median change of a correlation",
    "How far correlations moved",
    "Correlations were weakened: mask correlated variables together (microaggregation of a group, "
    "spectral_swapping, ipso) instead of each by itself.",
    largest=2.0,
)
RANK_CORRELATION = Measure(
    "rank_correlation",
    "median change of a rank correlation",
    "How far rank correlations moved",
    "Ranks no longer go together: swap over a smaller window, or use data_shuffling, which keeps rank correlations.",
    largest=2.0,
)
IL1S = Measure(
    "il1s",
    "mean change of a value, in sqrt(2) standard deviations",
    "How far single values moved",
    "Single values moved far: lower the noise, window or group size of the variables that moved most, and see "
    "whether the risk rules still hold.",
)
APIL = ShareMeasure(
    "apil",
    "mean probability that a moment or quantile is not that of a sample of the original (aPIL)",
    "The probabilistic information loss",
    "Statistics of the numbers are further off than a sample's: see which part is largest in the report (means, "
    "variances, covariances, correlations, quantiles), and release removed or recoded numbers in more detail.",
)
EIGENVALUES = ShareMeasure(
    "eigenvalues",
    "share of the numbers' variance that is no longer on the principal component that held it",
    "How far principal components moved",
    "The numbers no longer vary together as before: mask correlated variables together (spectral_swapping, "
    "microaggregation of a group), and remove none that carries much of the others.",
)
MEAN_VARIATIONS = Measure(
    "mean_variations",
    "mean relative change of values, moments and correlations (IL1 to IL5), 1 for 100 %",
    "How far values changed in proportion to themselves",
    "Values changed much in proportion to themselves: lower the noise, window or group size where values are "
    "small, and recode fewer numbers.",
    written=written_percent,
)


def moments(files: Comparison) -> Found:
    """Means, variances, correlations and rank correlations of the numbers, and how far single values moved.

    Groups of numbers count by the mean of the values that they may stand for. Removed ones, and those suppressed in
    every record, are left out, but of a file that has none of the original's numbers left, or one where there were
    several to go together, the figures are lost: infinitely far off. A weight, which says for how many a record stands,
    is none of the numbers.
    """
    numbers = files.released_numbers
    of_people = {name for name in numbers.names if files.variables[name].role is not Role.WEIGHT}
    kept = [
        place
        for place, name in enumerate(numbers.names)
        if name in of_people and name not in numbers.removed and _left(numbers, place)
    ]
    names = [numbers.names[place] for place in kept]
    original, masked = numbers.original[:, kept], numbers.masked[:, kept]
    there_were = len(of_people)
    found = moment_differences(original, masked, files.weights)
    few = files.of_few & {*names}
    of_many = [place for place, name in enumerate(names) if name not in few]
    others = moment_differences(original[:, of_many], masked[:, of_many], files.weights) if few else found
    enough = min(len(files.original), len(files.masked)) >= files.minimum_cell

    def judged(measure: Measure, value: float, what: str, moved: Sentence, of: int = 1) -> Measured:
        has = "one number" if names else "no number"
        occasion = Occasion(
            of=len(files.released) if there_were >= of else 0,
            left=len(names) >= of,
            not_compared=_MOMENTS.not_compared(what=what, has=has),
            no_records=_MOMENTS.too_few(what=what),
            lost=_MOMENTS.lost(what=what, numbers=there_were, has=has),
            few=few,
        )
        says = moved(what=what, moved=figure(value), variables=len(names))
        says = _MOMENTS.too_few(what=what) if isnan(value) else says
        judgement = measure.judge(files, occasion, lambda: Figure(value, says, len(names)))
        beside = getattr(others, measure.name)  # one number of few people hides no figure of the others
        if not few or not enough or not judgement.tells_of_few or not isfinite(beside) or len(of_many) < of:
            return judgement
        told = moved(what=what, moved=figure(beside), variables=len(of_many))
        return judgement._replace(says=judgement.says + _MOMENTS.others() + told)

    return Found(
        {
            "mean": judged(MEAN, found.mean, "Averages", _MOMENTS.moved_deviations),
            "variance": judged(VARIANCE, found.variance, "Variances", _MOMENTS.moved_share),
            "correlation": judged(CORRELATION, found.correlation, "Correlations", _MOMENTS.moved, of=2),
            "rank_correlation": judged(
                RANK_CORRELATION, found.rank_correlation, "Rank correlations", _MOMENTS.moved, of=2
            ),
            "il1s": _il1s(files, original, masked, there_were, few),
        }
    )


def _left(numbers: ReleasedNumbers, place: int) -> bool:
    """Whether a value of the number is released, where there are records and the original has any."""
    masked, original = numbers.masked[:, place], numbers.original[:, place]
    return not len(masked) or bool((~np.isnan(masked)).any()) or bool(np.isnan(original).all())


def _il1s(files: Comparison, original: Numbers, masked: Numbers, there_were: int, few: frozenset[str]) -> Measured:
    names, paired = original.shape[1], files.paired and len(original) == len(masked)
    why = "the two files have different numbers of records" if files.paired else "nobody said whose each row is"
    not_known = _IL1S.nothing_in_common() if paired else _IL1S.not_known(why=why)

    def found() -> Figure:
        value = il1s(original, masked, files.weights[0]) if paired else nan
        return Figure(value, not_known) if isnan(value) else Figure(value, _IL1S.moved(value=figure(value)), names)

    occasion = Occasion(
        of=len(files.released) if there_were else 0,
        left=names,
        not_compared=_IL1S.no_number(),
        no_records=not_known,
        lost=_IL1S.lost(numbers=there_were),
        few=few,
    )
    return IL1S.judge(files, occasion, found)


class _Numbers:
    """The numbers of the original but weights, in both files; a removed one has no value in the masked one."""

    def __init__(self, files: Comparison) -> None:
        numbers = files.released_numbers
        kept = [place for place, name in enumerate(numbers.names) if files.variables[name].role is not Role.WEIGHT]
        self.names = tuple(numbers.names[place] for place in kept)
        self.removed = tuple(name for name in numbers.removed if name in self.names)
        self.original, self.masked = numbers.original[:, kept], numbers.masked[:, kept]
        self.weights = files.weights
        self.paired = files.paired and len(self.original) == len(self.masked)

    @cached_property
    def moments(self) -> tuple[PairwiseMoments, PairwiseMoments]:
        return pairwise_moments(self.original, self.weights[0]), pairwise_moments(self.masked, self.weights[1])

    @cached_property
    def variations(self) -> MeanVariations:
        return mean_variations(
            self.original, self.masked, paired_records=self.paired, weights=self.weights, moments=self.moments
        )


def loss_of_numbers(files: Comparison) -> float:
    """The mean of IL1 to IL5, 1 for 100 %; NaN where it is not known."""
    of = _Numbers(files)
    if not of.names or not len(of.original) or not len(of.masked):
        return nan
    return of.variations.loss


def continuous(files: Comparison) -> Found:
    """Probabilistic information loss, eigenvalues and mean variations of all numbers of the original but weights.

    A group is read as the mean of the values that it may stand for; a removed variable has lost all its statistics.
    """
    of = _Numbers(files)
    names, removed, original, masked = of.names, of.removed, of.original, of.masked
    occasion = Occasion(
        of=len(names),
        not_compared=_CONTINUOUS.no_numbers(),
        no_records=_CONTINUOUS.no_records(),
        few=files.of_few & {*names},
    )
    measured = {each.name: each.unmeasured(files, occasion) for each in ALL_NUMBERS.measures}
    if none := {name: each for name, each in measured.items() if each is not None}:
        return Found(none)
    probabilities = probabilistic_information_loss(original, masked, weights=of.weights, moments=of.moments)
    shift = eigenvalue_shift(of.moments[0].correlation, of.moments[1].correlation)
    variations = of.variations
    lost = _CONTINUOUS.removed(removed=len(removed), numbers=len(names)) if removed else ()

    def judged(measure: Measure, value: float, says: Saying, of: int, not_compared: Saying = ()) -> Measured:
        return measure.judge(
            files,
            occasion._replace(of=of, not_compared=not_compared),
            lambda: Figure(value, says, 0 if isnan(value) else len(names) - len(removed)),
        )

    average, loss = probabilities.average, variations.loss
    of_apil = _APIL.average(share=figure(average)) + lost + _CONTINUOUS.close()
    of_variations = _MEAN_VARIATIONS.changed(share=figure(loss)) + lost + _CONTINUOUS.close()
    if not of.paired:
        of_variations = _MEAN_VARIATIONS.unpaired()
    elif isnan(loss):
        of_variations = _MEAN_VARIATIONS.too_few_values()
    found = Found(
        {
            "apil": judged(APIL, average, _APIL.not_known() if isnan(average) else of_apil, len(names)),
            "eigenvalues": judged(
                EIGENVALUES,
                shift,
                _EIGENVALUES.moved(share=figure(shift)) + lost,
                0 if isnan(shift) else len(names),
                _EIGENVALUES.no_variance(),
            ),
            "mean_variations": judged(
                MEAN_VARIATIONS,
                loss,
                of_variations,
                len(names) if len(names) > 1 else 0,
                _MEAN_VARIATIONS.one_number() if of.paired else of_variations,
            ),
        }
    )
    if occasion.few or min(len(original), len(masked)) < files.minimum_cell:
        return found
    view = ContinuousView(
        names=names,
        removed=removed,
        comparisons=matrix_comparisons(
            original, masked, paired_records=of.paired, in_deviations=True, weights=of.weights, moments=of.moments
        ),
        eigenvalues=None if isnan(shift) else shift,
        probabilities=ProbabilityParts.of(probabilities),
        variations=VariationParts.of(variations),
    )
    return Found(found.measured, {"continuous": view})


MOMENTS = Family(moments, (MEAN, VARIANCE, CORRELATION, RANK_CORRELATION, IL1S))
ALL_NUMBERS = Family(continuous, (APIL, EIGENVALUES, MEAN_VARIATIONS))
