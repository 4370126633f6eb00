"""Cells: the shares of a variable's cells that masking changed and suppressed, of the worst variable."""

from math import isnan, nan

from sluice.ground.sentence import Sentences
from sluice.utility.cell_changes import CellChanges, cell_changes
from sluice.utility.comparison import Comparison
from sluice.utility.measured import WORST, Found, Measured, figure
from sluice.utility.utility_measure import Family, Figure, Measure, Occasion, ShareMeasure

_SAYS = Sentences(
    "cells",
    not_all_compared="The share of {done} cells is not known: not every variable could be compared record by record",
    unpaired="The share of {done} cells is not known: nobody said whose each row is",
    at_most="At most {share:percent} of the cells of a variable were {done}",
)

CHANGED_SHARE = ShareMeasure(
    "changed_share",
    "changed cells of the variable changed most",
    "The share of changed cells",
    "Much of one variable was changed: lower its swapping rate or PRAM's share of changes, or spread the masking "
    "over several variables.",
)
SUPPRESSED_SHARE = ShareMeasure(
    "suppressed_share",
    "suppressed cells of the variable with most of them",
    "The share of suppressed cells",
    "Much of one variable was suppressed: recode it more coarsely first, so that fewer of its cells need "
    "suppression, or give it rank 1 of importance.",
)


def cells(files: Comparison) -> Found:
    """The variable with most changed cells, and the one with most suppressed ones.

    A share is told unless the variable that it is of is one of few changes: it tells nothing but a bound of the others.
    """
    recoded, masked = files.recoded, files.masked
    changes: dict[str, CellChanges] = {}
    expected = [
        name for name in files.released if name in files.variables
    ]  # of a new variable no cell was changed or suppressed
    if not files.paired and len(recoded) and len(masked):
        # Without pairs, the missing values that the masked file has beyond the original's.
        changes = {
            name: CellChanges(nan, max(0.0, float(masked[name].isna().mean() - recoded[name].isna().mean())))
            for name in expected
            if name in recoded.columns
        }
    elif len(recoded) == len(masked) > 0:
        changes = {name: cell_changes(recoded[name], masked[name]) for name in expected if name in recoded.columns}

    def judged(measure: Measure, done: str) -> Measured:
        # The worst of some variables is not the worst of all: unless every one was compared, it is not known.
        not_known = Figure(nan, _SAYS.not_all_compared(done=done), len(changes))
        found = _worst(changes, done) if expected and len(changes) == len(expected) else not_known
        occasion = Occasion(len(expected) or 1, not_known.says, not_known.says, few=files.of_few & {found.scope})
        return measure.judge(files, occasion, lambda: found)

    return Found(
        {
            "changed_share": judged(CHANGED_SHARE, "changed"),
            "suppressed_share": judged(SUPPRESSED_SHARE, "suppressed"),
        }
    )


def _worst(changes: dict[str, CellChanges], done: str) -> Figure:
    worst = max(changes, key=lambda name: float(getattr(changes[name], done)))
    value = float(getattr(changes[worst], done))
    if isnan(value):
        return Figure(nan, _SAYS.unpaired(done=done))
    says = _SAYS.at_most(share=figure(value), done=done) + (WORST(name=worst) if value else ())
    return Figure(value, says, len(changes), worst if value else "")


CELLS = Family(cells, (CHANGED_SHARE, SUPPRESSED_SHARE), weighs=False)
