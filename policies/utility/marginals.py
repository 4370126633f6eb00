"""Marginals: limits on how far the tables of two and three variables lie from the original's."""

from functools import partial
from math import isnan

import numpy as np
from pydantic import BaseModel

from sluice.ground.sentence import Sentences
from sluice.utility.comparison import Comparison
from sluice.utility.marginal_summary import MarginalSummary, MarginalsView, marginal_summary
from sluice.utility.marginals import MarginalLosses, MarginalTables, total_variation
from sluice.utility.measured import Found, Measured, figure, written_number, written_percent
from sluice.utility.propensity_summary import TablePropensities, table_propensities
from sluice.utility.subsample_equivalent import SubsampleEquivalent, subsample_equivalent
from sluice.utility.table_propensity import standardised_table_pmse

_PAIR_PROPENSITY = Sentences(
    "pair_propensity",
    no_pairs="Tables of pairs of variables are not told apart: there are none",
    all_lost="Tables of pairs of variables cannot be told apart, for all are lost: of no pair both were released",
    not_known="How well tables of pairs can be told apart is not known: a file has no records",
    told_apart="By two variables, original and masked records can be told apart {mean:.3g} times as well as those of "
    "a file drawn from the original, on average over {pairs:,} pairs of released variables (S_pMSE)",
)
_MARGINALS = Sentences(
    "marginals",
    not_compared="Tables of {size}s of variables are not compared: the original has {variables} variables to compare",
    not_known="What tables of {size}s of variables lost is not known: a file has no records, or none with a weight",
    moved="In the table of a {size} of variables {share:percent} of the records stand in another cell than the "
    "original has them, on average over {counted:,} of {of:,} {size}s",
    interval=" (95 % interval {low:percent} to {high:percent})",
    released=", {share:percent} among the released variables alone",
    equivalent="; as good as a random sample of {bound}{share:percent} of the original",
)

_TABLES_OF_SUBSAMPLES = 200  # by which the subsample with the same loss is found; drawn where there are more
_LIMITS = {2: "pair_marginals", 3: "triple_marginals"}
_WHAT = {
    "pair_marginals": "What tables of pairs of variables lost",
    "triple_marginals": "What tables of triples of variables lost",
    "pair_propensity": "How well tables of pairs can be told apart",
}
_WORDS = {2: "pair", 3: "triple"}


def marginals(files: Comparison) -> Found:
    """The mean loss of all pairs and of all triples of variables, those of removed variables included; and S_pMSE of
    the pairs of released variables. A variable recoded to one group is a removed one."""
    (pairs, pair_scores), (triples, triple_scores) = _losses(files, 2), _losses(files, 3)
    summaries = {losses.size: _summary(files, losses) for losses in (pairs, triples)}
    measured = {_LIMITS[size]: _measured(files, size, summary) for size, summary in summaries.items()}
    fewer = min(_originals(files), len(files.masked))
    told = table_propensities(pair_scores, triple_scores, (pairs, triples), files.kept, fewer, files.minimum_cell)
    measured["pair_propensity"] = _told_apart(pair_scores.among(files.kept), pair_scores.of, told)
    view: dict[str, BaseModel] = {}
    if (two := summaries[2]) is not None:
        view["marginals"] = MarginalsView(pairs=two, triples=summaries[3])
    if told is not None:
        view["table_propensity"] = told
    if files.only_of_few:  # what changed in a few records is all that any table tells
        return Found({name: each.told(_WHAT[name], files.of_few) for name, each in measured.items()})
    return Found(measured, view)


def _originals(files: Comparison) -> int:
    """Records of the original, those that a sample left out included."""
    return len(files.original) + (0 if files.left_out is None else len(files.left_out[0]))


def _losses(files: Comparison, size: int) -> tuple[MarginalLosses, MarginalLosses]:
    """Total variation, weighted, and S_pMSE, which is of records."""
    n, m = _originals(files), len(files.masked)
    standardised = partial(standardised_table_pmse, original=n, masked=m)
    tables = MarginalTables(files.bins_of_all, size, *files.weights_of_all, files.rng)
    if all(weight is None for weight in files.weights_of_all):
        moved, scores = tables.measured(total_variation, by_frequency=[standardised])
        return moved, scores
    return tables.losses(), tables.unweighted().measured(by_frequency=[standardised])[0]


def _told_apart(scores: MarginalLosses, of: int, told: TablePropensities | None) -> Measured:
    if not of:
        says = _PAIR_PROPENSITY.no_pairs()
        return Measured(float("nan"), says, "", 0, 0, written_number, False)
    if not len(scores.losses):
        says = _PAIR_PROPENSITY.all_lost()
        return Measured(float("inf"), says, "", of, 0, written_number)
    if told is None:
        says = _PAIR_PROPENSITY.not_known()
        return Measured(float("nan"), says, "", of, 0, written_number)
    says = _PAIR_PROPENSITY.told_apart(mean=figure(scores.mean), pairs=len(scores.losses))
    return Measured(scores.mean, says, "", of, len(scores.losses), written_number)


def _summary(files: Comparison, losses: MarginalLosses) -> MarginalSummary | None:
    equivalent, tables = _equivalent(files, losses)
    fewer = min(_originals(files), len(files.masked))
    return marginal_summary(losses, files.kept, fewer, files.minimum_cell, equivalent, tables)


def _equivalent(files: Comparison, losses: MarginalLosses) -> tuple[SubsampleEquivalent | None, int]:
    """Which subsample loses as much in the same tables."""
    if isnan(losses.mean):
        return None, 0
    some = MarginalTables(files.bins_of_all, losses.size, *files.weights_of_all, files.rng, _TABLES_OF_SUBSAMPLES)
    order = {tuple(table): loss for table, loss in zip(losses.tables.tolist(), losses.losses.tolist(), strict=True)}
    known = [order.get(tuple(table)) for table in some.tables.tolist()]
    observed = some.losses().mean if None in known else float(np.mean([loss for loss in known if loss is not None]))
    shares = some.original_shares()
    found = subsample_equivalent(lambda rows: some.mean_loss_of(rows, shares), _originals(files), observed, files.rng)
    return found, len(some.tables)


def _measured(files: Comparison, size: int, summary: MarginalSummary | None) -> Measured:
    variables = len(files.bins_of_all)
    word = _WORDS[size]
    if variables < size:
        says = _MARGINALS.not_compared(size=word, variables=variables)
        return Measured(float("nan"), says, "", 0, 0, written_percent, False)
    if summary is None:
        says = _MARGINALS.not_known(size=word)
        return Measured(float("nan"), says, "", variables, 0, written_percent)
    says = _MARGINALS.moved(size=word, share=figure(summary.mean), counted=summary.counted, of=summary.of)
    if summary.interval is not None:
        says += _MARGINALS.interval(low=figure(summary.interval[0]), high=figure(summary.interval[1]))
    if summary.removed and summary.mean_released is not None:
        says += _MARGINALS.released(share=figure(summary.mean_released))
    if summary.equivalent is not None:
        bound = "less than " if summary.equivalent.at_most else ""
        says += _MARGINALS.equivalent(bound=bound, share=figure(summary.equivalent.share))
    return Measured(summary.mean, says, "", summary.of, summary.counted, written_percent)
