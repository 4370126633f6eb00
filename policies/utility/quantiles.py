"""Quantiles: limits on how far the order statistics and the inequality of numbers moved."""

from collections.abc import Mapping
from math import isnan

import numpy as np

from sluice.ground.sentence import Saying, Sentences
from sluice.ground.variables import Role
from sluice.utility.comparison import Comparison
from sluice.utility.measured import WORST, Found, Measured, figure, written_number
from sluice.utility.quantile_summary import quantiles_view
from sluice.utility.quantiles import QuantileChange, order_statistics, quantile_change

_ARE_LOST = "are lost: of the original's {numbers:,} numbers the file has none"
_QUANTILES = Sentences(
    "quantiles",
    lost=f"Quantiles {_ARE_LOST}",
    not_compared="Quantiles are not compared: the file has no released number with enough values",
    not_known="How far quantiles moved is not known: a number has no value in one of the files",
    moved="The quantiles of a number moved by at most {value:.3g} interquartile ranges on average",
)
_GINI = Sentences(
    "gini",
    lost=f"Figures of inequality {_ARE_LOST}",
    not_compared="Inequality is not compared: no released number is without negative values",
    not_known="How far inequality moved is not known: masking made a number negative, 0 throughout or missing",
    moved="A Gini coefficient moved by at most {value:.3g}",
)


def quantiles(files: Comparison) -> Found:
    """Of the released numbers, the one whose quantiles moved most, and the one whose Gini coefficient did.

    Of a file without any of the original's numbers both are lost: infinitely far off. Weights are no numbers that could
    be lost.
    """
    found = files.released_numbers
    before, after = files.weights
    changes: dict[str, QuantileChange] = {}
    expected = there_were = 0
    for place, name in enumerate(found.names):
        if not files.variables[name].kind.is_numeric:
            continue
        if int(np.count_nonzero(~np.isnan(found.original[:, place]))) < files.minimum_cell:
            continue
        there_were += files.variables[name].role is not Role.WEIGHT
        if name in found.removed:
            continue
        expected += 1
        changes[name] = quantile_change(
            order_statistics(found.original[:, place], before), order_statistics(found.masked[:, place], after)
        )
    if there_were and not expected:
        lost = Measured(float("inf"), _QUANTILES.lost(numbers=there_were), "", there_were, 0, written_number)
        return Found({"quantiles": lost, "gini": lost._replace(says=_GINI.lost(numbers=there_were))})
    few = files.of_few & {*changes}
    view = quantiles_view({name: change for name, change in changes.items() if name not in few})
    measured = {
        "quantiles": _quantiles(changes, expected).told("How far quantiles moved", few),
        "gini": _gini(changes).told("How far inequality moved", few),
    }
    return Found(measured, {} if view is None else {"quantiles": view})


def _quantiles(changes: dict[str, QuantileChange], expected: int) -> Measured:
    if not expected:
        return Measured(float("nan"), _QUANTILES.not_compared(), "", 0, 0, written_number, False)
    known = {name: change.mean for name, change in changes.items() if not isnan(change.mean)}
    if len(known) < expected:
        says = _QUANTILES.not_known()
        return Measured(float("nan"), says, "", expected, len(known), written_number)
    worst = max(known, key=lambda name: known[name])
    says = _QUANTILES.moved(value=figure(known[worst]))
    return _worst(worst, known, says, expected)


def _gini(changes: dict[str, QuantileChange]) -> Measured:
    measurable = {name: change.gini for name, change in changes.items() if not isnan(change.gini[0])}
    if not measurable:
        says = _GINI.not_compared()
        return Measured(float("nan"), says, "", 0, 0, written_number, False)
    known = {name: abs(now - was) for name, (was, now) in measurable.items() if not isnan(now)}
    if len(known) < len(measurable):
        says = _GINI.not_known()
        return Measured(float("nan"), says, "", len(measurable), len(known), written_number)
    worst = max(known, key=lambda name: known[name])
    says = _GINI.moved(value=figure(known[worst]))
    return _worst(worst, known, says, len(measurable))


def _worst(name: str, known: Mapping[str, float], says: Saying, expected: int) -> Measured:
    scope = name if known[name] else ""
    says += WORST(name=name) if scope else ()
    return Measured(known[name], says, scope, expected, len(known), written_number)
