"""Entropy: how many bits the values of a variable hold, before and after masking.

Source: Yamazoe and Omote (2021), section 5.2, "Basic analysis". Differs from it: numbers are counted in intervals, and
bins of few records are left out, so that the figure tells no small count.
"""

from math import isnan, nan
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sluice.ground.arrays import FloatArray
from sluice.ground.comparable_values import plain_values
from sluice.ground.divergence import entropy, interval_edges
from sluice.ground.released_values import DistinctValues, is_number
from sluice.ground.sentence import Sentences
from sluice.ground.variables import NAMES, Kind
from sluice.utility.comparison import Comparison
from sluice.utility.measured import Found, figure
from sluice.utility.record_weights import UNWEIGHTED, Weights, relative_weight
from sluice.utility.utility_measure import Family, Figure, Occasion, ShareMeasure

_SAYS = Sentences(
    "entropy",
    not_known="The loss of entropy is not known: not every variable has values that are frequent enough in both files",
    lost="A variable lost at most {share:percent} of its entropy",
    worst=" ({name}: {before:.2f} bits before, {after:.2f} after)",
)

ENTROPY = ShareMeasure(
    "entropy",
    "share of its bits that a variable lost at most",
    "What a variable lost of its entropy",
    "A variable lost its diversity: recode it to more categories than now, or suppress fewer of its values, and "
    "let another quasi-identifier bear the recoding.",
)

_INTERVALS = 20  # of a number or date, of about equal shares of the original; fewer where records are few


class Entropies(NamedTuple):
    """Bits of one variable; NaN where no bin has enough records."""

    before: float
    after: float

    @property
    def lost(self) -> float:
        """Share of the bits that is lost: 0 for none or where masking added some, 1 for a variable left constant."""
        lost = 1 - self.after / self.before if self.before else 0 * self.after
        return 0.0 if lost < 0 else lost


def loss_of_entropy(files: Comparison) -> Found:
    """The variable that lost most of its bits."""
    expected = [
        name
        for name, variable in files.released.items()
        if name in files.variables and variable.kind is not Kind.TEXT and variable.role not in NAMES
    ]
    occasion = Occasion(len(expected) or 1, (), _SAYS.not_known(), few=files.of_few)

    def found() -> Figure:
        each = {
            name: entropies(files.original[name], files.masked[name], files.minimum_cell, files.weights)
            for name in expected
        }
        known = {name: bits for name, bits in each.items() if not isnan(bits.lost)}
        if not expected or len(known) < len(expected):
            return Figure(nan, _SAYS.not_known(), len(known))
        worst = max(known, key=lambda name: known[name].lost)
        before, after, value = known[worst].before, known[worst].after, known[worst].lost
        says = _SAYS.lost(share=figure(value))
        says += _SAYS.worst(name=worst, before=before, after=after) if value else ()
        return Figure(value, says, len(known), worst if value else "")

    return Found({"entropy": ENTROPY.judge(files, occasion, found)})


def entropies(
    original: "pd.Series[Any]", masked: "pd.Series[Any]", minimum_cell: int, weights: Weights = UNWEIGHTED
) -> Entropies:
    """Entropy of a variable in the original and in the masked file, of the values that are present.

    original, masked : typed columns, of any lengths. Numbers and dates of both are counted in intervals of the
                       original, categories each by themselves, so that a recoding to fewer of them loses bits
    minimum_cell     : bins of fewer records are left out
    weights          : of the records of both files; intervals and what is left out go by records
    raises           : DataError for weights that do not fit
    cost             : O(n log n)
    """
    edges = np.zeros(0)
    if is_number(original) and (present := _present(original)).size:
        edges = interval_edges(present, int(np.clip(len(present) // minimum_cell, 1, _INTERVALS)))
    return Entropies(_bits(original, edges, minimum_cell, weights[0]), _bits(masked, edges, minimum_cell, weights[1]))


def _present(column: "pd.Series[Any]") -> FloatArray:
    values = plain_values(column)
    return np.asarray(values[~np.isnan(values)])


def _bits(column: "pd.Series[Any]", edges: FloatArray, minimum_cell: int, weight: FloatArray | None) -> float:
    if is_number(column):
        codes = np.searchsorted(edges, _present(column), "right")
        present = ~np.isnan(plain_values(column))
    else:
        every = DistinctValues.of(column)
        present = every.codes < len(every.distinct)
        codes = every.codes[present].astype(np.int64)
    counts = np.bincount(codes)
    frequent = counts >= max(minimum_cell, 1)
    relative = relative_weight(weight, len(column))
    weighed = counts if relative is None else np.bincount(codes, relative[present])
    held: FloatArray = weighed[frequent].astype(np.float64)
    held = np.sort(held[held > 0])[::-1]
    return entropy(held) if len(held) else float("nan")


BITS = Family(loss_of_entropy, (ENTROPY,))
