"""Lone copies: people whom nobody resembles, and who stand in the release with values that masking left as they were.

It belongs to the reference standard, and needs to know which released record is whose.
"""

from policies.standard.copies import TWINS, Column, judge_copies
from policies.standard.preconditions import cannot_be_compared
from policies.standard.reference_standard import ReferenceStandard
from sluice.ground.comparable_values import comparable_values, is_missing
from sluice.ground.sentence import Sentence
from sluice.ground.variables import GROUPS
from sluice.ground.verdict import Finding
from sluice.risk.reference.copies import lone_copies
from sluice.risk.spread import COARSE, EXACT, FINE, on_one_grid
from sluice.utility.comparison import Comparison

ASKS = {
    "lone_copies": (
        "Nobody who is alone with values stands in the release with them as they were, beyond what the policy "
        "tolerates."
    ),
}
ADVICE = {
    "lone_copies": (
        "People whom nobody resembles kept their values of the variables named: mask these variables together instead "
        "of one of them strongly, or group them until nobody is alone."
    ),
}
_ALONE = Sentence(
    "lone_copies.found",
    "{share:People_10000} are alone with their values of {names:commas}, and occur in the release with "
    f"them{TWINS}",
)

_MOST = 0.5  # of a variable's values are as they were: it is kept


def judge_lone_copies(standard: ReferenceStandard, files: Comparison) -> Finding:
    """Whether more lone people are copied than chance and the standard's `copies_excess` allow.

    Looked at by all variables, and by those alone of which masking kept most values: else one variable that is
    perturbed beyond recognition would hide that all others are verbatim. Each with numbers as they are, to a hundredth
    of the spread, and to a tenth: else a little noise would make verbatim values look masked.

    files : paired
    cost  : O(n log n) for each variable, six times
    """
    recoded = files.recoded

    def pair(name: str, share: float) -> tuple[Column, Column]:
        return on_one_grid(*comparable_values(recoded[name], files.masked[name]), share)

    names = [n for n, variable in files.released.items() if n in recoded.columns and variable.role not in GROUPS]
    counts = []
    for share in (EXACT, FINE, COARSE):
        kept = [name for name in names if _share_equal(*pair(name, share)) >= _MOST]
        for chosen in (names, kept):
            if chosen:
                pairs = (pair(name, share) for name in chosen)
                counts.append((chosen, lone_copies(pairs, len(recoded), len(files.masked))))
    if not counts:
        return cannot_be_compared("lone_copies")
    worst, count = max(counts, key=lambda each: each[1].excess)
    return judge_copies(standard, "lone_copies", _ALONE, count, 1.0, len(recoded), files.minimum_cell, worst)


def _share_equal(before: Column, after: Column) -> float:
    return float(((before == after) | (is_missing(before) & is_missing(after))).mean())
