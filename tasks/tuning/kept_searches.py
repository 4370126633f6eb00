"""What a plan keeps: variables, their tables of two and three, and how well the records can be told apart.

The loss over all variables says little where many are removed: whatever becomes of the others, it stays near 1. Beside
it stands the loss among the variables that are kept, and among those that two plans both keep.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, nan

import numpy as np

from sluice.ground.errors import SluiceError
from sluice.utility.marginals import MarginalLosses, marginal_losses
from sluice.utility.propensity import propensity
from tasks.release.records.record_definition import RecordsDefinition
from tasks.tuning.records_at_hand import RecordsAtHand
from tasks.tuning.trial import files_of_trial


@dataclass(frozen=True)
class Kept:
    """Of one file. Losses are mean total variation distances, 0 to 1.

    names      : the variables of which more than one value was released
    propensity : S_pMSE of these together; NaN where it is not known, or would tell of a few people
    """

    names: tuple[str, ...]
    of: int
    pairs: MarginalLosses
    triples: MarginalLosses
    propensity: float


@dataclass(frozen=True)
class KeptRow:
    """One figure before and after; NaN where there is none."""

    name: str
    says: str
    before: float
    after: float
    whole: bool = False

    def in_words(self, value: float) -> str:
        """The figure as it is printed."""
        if not isfinite(value):
            return "–"
        return f"{value:.0f}" if self.whole else f"{value:.3f}"


def kept_by(definition: RecordsDefinition, records: RecordsAtHand, seed: Sequence[int]) -> Kept | None:
    """The figures of the file that the plan makes; None for a plan that cannot be carried out.

    seed : numbers of the draw
    cost : one masking, all tables of two and three variables (of more than 5,000 as many are drawn), a regression
    """
    try:
        files = files_of_trial(definition, records, seed)
    except SluiceError:
        return None
    bins, names = files.bins_of_all, files.kept
    pairs, triples = (
        marginal_losses(bins, size, *files.weights_of_all, rng=np.random.default_rng(0)) for size in (2, 3)
    )
    told = [each for each in files.common_bins if each.name in names]
    standardised = propensity(told).standardised if told and not files.only_of_few else nan
    return Kept(names, len(bins), pairs, triples, standardised)


def kept_rows(before: Kept | None, after: Kept) -> list[KeptRow]:
    """Each figure of both; with a plan before, also the losses among the variables that both keep."""
    sets = [(kept.names if kept else ()) for kept in (before, after)]
    both = [name for name in sets[1] if name in sets[0]]

    def losses(size: int, among: str) -> tuple[float, float]:
        found = []
        for kept in (before, after):
            tables = None if kept is None else kept.pairs if size == 2 else kept.triples
            names = {"all": None, "kept": kept.names if kept else (), "both": both}[among]
            found.append(nan if tables is None else tables.mean if names is None else tables.among(names).mean)
        return found[0], found[1]

    rows = [
        KeptRow("variables_kept", f"variables kept, of {after.of}", len(sets[0]) if before else nan, len(sets[1]), True)
    ]
    of_pairs = "loss of pairs of variables"
    rows.append(KeptRow("pair_marginals", f"{of_pairs}, all", *losses(2, "all")))
    rows.append(KeptRow("pair_marginals_kept", f"{of_pairs}, among those kept", *losses(2, "kept")))
    differs = before is not None and set(sets[0]) != set(sets[1])
    if differs:
        says = f"{of_pairs}, among the {len(both)} that both keep"
        rows.append(KeptRow("pair_marginals_both", says, *losses(2, "both")))
    for name, says, among in (
        ("k_marginal", "k-marginal score of triples, all", "all"),
        ("k_marginal_kept", "k-marginal score of triples, among those kept", "kept"),
    ):
        scores = [1000 * (1 - loss) for loss in losses(3, among)]
        rows.append(KeptRow(name, says, scores[0], scores[1], True))
    scores = [nan if kept is None else kept.propensity for kept in (before, after)]
    rows.append(KeptRow("propensity", "S_pMSE of those kept", scores[0], scores[1]))
    return rows
