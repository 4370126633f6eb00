"""Cells: limits on the share of changed and suppressed cells, and on the bits that a variable lost."""

from math import isnan, nan

from sluice.ground.sentence import Sentences
from sluice.ground.variables import NAMES, Kind
from sluice.utility.cell_changes import CellChanges, cell_changes
from sluice.utility.comparison import Comparison
from sluice.utility.entropy import entropies
from sluice.utility.measured import WORST, Found, Measured, figure, written_percent

_CELLS = Sentences(
    "cells",
    not_all_compared="The share of {done} cells is not known: not every variable could be compared record by record",
    unpaired="The share of {done} cells is not known: nobody said whose each row is",
    at_most="At most {share:percent} of the cells of a variable were {done}",
)
_ENTROPY = Sentences(
    "entropy",
    not_known="The loss of entropy is not known: not every variable has values that are frequent enough in both files",
    lost="A variable lost at most {share:percent} of its entropy",
    worst=" ({name}: {before:.2f} bits before, {after:.2f} after)",
)

_DONE = {"changed_share": "changed", "suppressed_share": "suppressed"}


def cells(files: Comparison) -> Found:
    """The variable with most changed cells, the one with most suppressed ones, and the one that lost most bits.

    A share is told unless the variable that it is of is one of few changes: it tells nothing but a bound of the others.
    """
    few = files.of_few
    shares = {
        name: each.told(f"The share of {_DONE[name]} cells", few & {each.scope})
        for name, each in _shares(files).items()
    }
    return Found(shares | {"entropy": _entropy(files).told("What a variable lost of its entropy", few)})


def _shares(files: Comparison) -> dict[str, Measured]:
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

    def measured(which: str, done: str) -> Measured:
        # The worst of some variables is not the worst of all: unless every one was compared, it is not known.
        if not expected or len(changes) < len(expected):
            says = _CELLS.not_all_compared(done=done)
            return Measured(nan, says, "", len(expected), len(changes), written_percent)
        worst = max(changes, key=lambda name: float(getattr(changes[name], which)))
        value = float(getattr(changes[worst], which))
        if isnan(value):
            says = _CELLS.unpaired(done=done)
            return Measured(nan, says, "", len(expected), 0, written_percent)
        says = _CELLS.at_most(share=figure(value), done=done) + (WORST(name=worst) if value else ())
        return Measured(value, says, worst if value else "", len(expected), len(changes), written_percent)

    return {
        "changed_share": measured("changed", "changed"),
        "suppressed_share": measured("suppressed", "suppressed"),
    }


def _entropy(files: Comparison) -> Measured:
    expected = [
        name
        for name, variable in files.released.items()
        if name in files.variables and variable.kind is not Kind.TEXT and variable.role not in NAMES
    ]
    found = {name: entropies(files.original[name], files.masked[name], files.minimum_cell) for name in expected}
    compared = {name: each for name, each in found.items() if not isnan(each.lost)}
    if not expected or len(compared) < len(expected):
        says = _ENTROPY.not_known()
        return Measured(nan, says, "", len(expected), len(compared), written_percent)
    worst = max(compared, key=lambda name: compared[name].lost)
    before, after, value = compared[worst].before, compared[worst].after, compared[worst].lost
    says = _ENTROPY.lost(share=figure(value)) + (
        _ENTROPY.worst(name=worst, before=before, after=after) if value else ()
    )
    return Measured(value, says, worst if value else "", len(expected), len(compared), written_percent)
