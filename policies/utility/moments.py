"""Moments: limits on how far the numbers of a file moved, together and one by one."""

from collections.abc import Callable
from math import inf, isnan, nan

import numpy as np

from sluice.ground.sentence import Sentence, Sentences
from sluice.ground.variables import Role
from sluice.utility.comparison import Comparison
from sluice.utility.continuous.il1s import il1s
from sluice.utility.continuous.moments import moment_differences
from sluice.utility.continuous.number_columns import Numbers
from sluice.utility.continuous.released_numbers import ReleasedNumbers
from sluice.utility.measured import Found, Measured, figure, written_number, written_percent

_MIDDLE = "in the middle case, over {variables:,} numeric variables"
_MOMENTS = Sentences(
    "moments",
    lost="{what} are lost: of the original's {numbers:,} numbers the file has {has} to compare",
    not_compared="{what} are not compared: the file has {has} to compare",
    too_few="{what} could not be compared: the two files have too few numeric variables or values in common",
    moved_deviations=f"{{what}} moved by {{moved:.3g}} standard deviations {_MIDDLE}",
    moved_share=f"{{what}} moved by {{moved:percent}} {_MIDDLE}",
    moved=f"{{what}} moved by {{moved:.3g}} {_MIDDLE}",
)
_IL1S = Sentences(
    "il1s",
    lost="Single values are lost: of the original's {numbers:,} numbers the file has none",
    no_number="How far single values moved is not measured: the file has no number to compare",
    not_known="How far single values moved is not known: {why}",
    nothing_in_common="How far single values moved is not known: the two files have no numeric value in common",
    moved="A value moved by {value:.3g} on average (IL1s: in standard deviations, divided by the root of 2)",
)

_WHAT = {
    "mean": "How far averages moved",
    "variance": "How far variances moved",
    "correlation": "How far correlations moved",
    "rank_correlation": "How far rank correlations moved",
    "il1s": "How far single values moved",
}


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
    names, original, masked = (
        [numbers.names[place] for place in kept],
        numbers.original[:, kept],
        numbers.masked[:, kept],
    )
    there_were = len(of_people)
    found = moment_differences(original, masked, files.weights)

    def measured(value: float, what: str, written: Callable[[float], str], moved: Sentence, of: int = 1) -> Measured:
        if len(names) < of:
            has = "one number" if names else "no number"
            if there_were >= of:
                says = _MOMENTS.lost(what=what, numbers=there_were, has=has)
                return Measured(inf, says, "", len(files.released), len(names), written)
            says = _MOMENTS.not_compared(what=what, has=has)
        elif isnan(value):
            says = _MOMENTS.too_few(what=what)
        else:
            says = moved(what=what, moved=figure(value), variables=len(names))
        return Measured(value, says, "", len(files.released), len(names), written, len(names) >= of)

    measures = {
        "mean": measured(found.mean, "Averages", written_number, _MOMENTS.moved_deviations),
        "variance": measured(found.variance, "Variances", written_percent, _MOMENTS.moved_share),
        "correlation": measured(found.correlation, "Correlations", written_number, _MOMENTS.moved, of=2),
        "rank_correlation": measured(found.rank_correlation, "Rank correlations", written_number, _MOMENTS.moved, of=2),
    }
    measures["il1s"] = _il1s(files, original, masked, there_were)
    few = files.of_few & {*names}
    return Found({name: measure.told(_WHAT[name], few) for name, measure in measures.items()})


def _left(numbers: ReleasedNumbers, place: int) -> bool:
    """Whether a value of the number is released, where there are records and the original has any."""
    masked, original = numbers.masked[:, place], numbers.original[:, place]
    return not len(masked) or bool((~np.isnan(masked)).any()) or bool(np.isnan(original).all())


def _il1s(files: Comparison, original: Numbers, masked: Numbers, there_were: int) -> Measured:
    names, value = original.shape[1], nan
    if not names and there_were:
        says = _IL1S.lost(numbers=there_were)
        return Measured(inf, says, "", len(files.released), 0, written_number)
    if not names:
        says = _IL1S.no_number()
    elif not files.paired or len(original) != len(masked):
        why = "the two files have different numbers of records" if files.paired else "nobody said whose each row is"
        says = _IL1S.not_known(why=why)
    elif isnan(value := il1s(original, masked, files.weights[0])):
        says = _IL1S.nothing_in_common()
    else:
        says = _IL1S.moved(value=figure(value))
    return Measured(value, says, "", len(files.released), 0 if isnan(value) else names, written_number, bool(names))
