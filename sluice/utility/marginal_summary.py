"""Marginal summary: how far the tables of two and three variables lie from the original's.

The mean loss and how well tables tell the files apart have limits; the report shows the variables and tables that lost
most, and a familiar scale.
"""

from collections.abc import Callable, Collection, Sequence
from functools import partial
from math import isnan, nan

import numpy as np
from pydantic import BaseModel, Field

from sluice.ground.document_parts import FrozenModel
from sluice.ground.sentence import Sentences
from sluice.utility.cell_changes import coarse_share
from sluice.utility.comparison import Comparison
from sluice.utility.marginals import MarginalLosses, MarginalTables, total_variation
from sluice.utility.measured import Found, Measured, figure
from sluice.utility.propensity import standardised_table_pmse
from sluice.utility.propensity_summary import table_propensities
from sluice.utility.subsample_equivalent import SubsampleEquivalent, subsample_equivalent
from sluice.utility.utility_measure import Family, Figure, Measure, Occasion, ShareMeasure

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
    not_known="The loss of tables of {size}s of variables is unknown: a file has no records, or none with a weight",
    moved="In the table of a {size} of variables {share:percent} of the records are in another cell than "
    "in the original, on average over {counted:,} of {of:,} {size}s",
    interval=" (95 % interval {low:percent} to {high:percent})",
    released=", {share:percent} among the released variables alone",
    equivalent="; as good as a random sample of {bound}{share:percent} of the original",
)

WORST = 10
_TABLES_OF_SUBSAMPLES = 200  # by which the subsample with the same loss is found; drawn where there are more

PAIR_MARGINALS = ShareMeasure(
    "pair_marginals",
    "records in another cell of the table of two variables, on average over all pairs",
    "What tables of pairs of variables lost",
    "Tables of two variables moved: see in the report which variables' tables lost most, and mask these less, or "
    "several variables together; a variable that was removed loses every table it is in.",
)
TRIPLE_MARGINALS = ShareMeasure(
    "triple_marginals",
    "records in another cell of the table of three variables, on average over all triples",
    "What tables of triples of variables lost",
    "Tables of three variables moved: what goes together was masked apart. Mask such variables together, or recode "
    "less, and keep variables that were removed.",
)
PAIR_PROPENSITY = Measure(
    "pair_propensity",
    "S_pMSE of the table of two released variables, on average; 1 is chance",
    "How well tables of pairs can be told apart",
    "Pairs of variables have other tables than before: look at the worst pairs in the report, and mask their "
    "variables together, or each less.",
)
_OF_SIZE = {2: (PAIR_MARGINALS, "pair"), 3: (TRIPLE_MARGINALS, "triple")}


class TableLoss(FrozenModel):
    """The loss of the table of these variables: the share of the records that would have to change cell."""

    variables: tuple[str, ...]
    loss: float


class MarginalSummary(FrozenModel):
    """All tables of one size. Losses are shares, 0 to 1, NaN never; higher is worse."""

    size: int = Field(description="variables in a table")
    counted: int = Field(description="tables that were counted")
    of: int = Field(description="tables that there are; where more than were counted, those were drawn")
    mean: float = Field(description="mean loss of a table, tables of removed variables included")
    interval: tuple[float, float] | None = Field(default=None, description="95 %, where tables were drawn")
    mean_released: float | None = Field(default=None, description="the same of tables of released variables alone")
    removed: tuple[str, ...] = Field(default=(), description="variables that were not released")
    by_variable: dict[str, float] = Field(description="mean loss of a variable's tables with released ones")
    largest: dict[str, TableLoss] = Field(
        default_factory=dict, description="of each released variable the table with released ones that lost most"
    )
    worst: tuple[TableLoss, ...] = Field(description="of released variables, the largest loss first")
    equivalent: SubsampleEquivalent | None = None
    equivalent_tables: int = Field(default=0, description="tables by which the subsample equivalent was found")


class MarginalsView(FrozenModel):
    """Marginals of two and of three variables."""

    pairs: MarginalSummary
    triples: MarginalSummary | None = None


def marginal_summary(
    losses: MarginalLosses,
    released: Collection[str],
    records: int,
    minimum_cell: int,
    equivalent: SubsampleEquivalent | None = None,
    equivalent_tables: int = 0,
) -> MarginalSummary | None:
    """The figures of one size of tables; None where there are none.

    released     : names of the released variables
    records      : of the smaller of the two files
    minimum_cell : what would tell of a change of fewer records is rounded to that many
    """
    if not len(losses.losses) or losses.mean != losses.mean:
        return None
    among = losses.among([name for name in losses.names if name in released])

    def coarse(value: float) -> float:
        return coarse_share(value, records, minimum_cell)

    told = _told(among, coarse)
    return MarginalSummary(
        size=losses.size,
        counted=len(losses.losses),
        of=losses.of,
        mean=losses.mean,
        interval=losses.interval,
        mean_released=None if among.mean != among.mean else among.mean,
        removed=tuple(name for name in losses.names if name not in released),
        by_variable={name: coarse(loss) for name, loss in among.by_variable.items() if loss == loss},
        largest={name: table for table in reversed(told) for name in table.variables},
        worst=told[:WORST],
        equivalent=equivalent,
        equivalent_tables=equivalent_tables,
    )


def table_losses(files: Comparison, tables: Sequence[tuple[str, ...]]) -> tuple[TableLoss, ...]:
    """The loss of these tables, of removed variables, too; none where it would tell of a few people.

    cost : O(n + m) a table
    """
    bins = {each.name: each for each in files.bins_of_all}
    fewer = min(_originals(files), len(files.masked))
    if files.only_of_few or files.few_weigh or fewer < files.minimum_cell:
        return ()
    found = []
    for names in tables:
        if all(name in bins for name in names):
            lost = MarginalTables([bins[name] for name in names], len(names), *files.weights_of_all).losses().mean
            if lost == lost:
                found.append(TableLoss(variables=names, loss=coarse_share(lost, fewer, files.minimum_cell)))
    return tuple(found)


def _told(among: MarginalLosses, coarse: Callable[[float], float]) -> tuple[TableLoss, ...]:
    """The largest first, by what is told: in their own order equal figures would tell which loss is the larger one."""
    told = [TableLoss(variables=names, loss=coarse(loss)) for names, loss in among.worst(len(among.losses))]
    return tuple(sorted(told, key=lambda each: (-each.loss, each.variables)))


def marginals(files: Comparison) -> Found:
    """The mean loss of all pairs and of all triples of variables, those of removed variables included; and S_pMSE of
    the pairs of released variables. A variable recoded to one group is a removed one."""
    (pairs, pair_scores), (triples, triple_scores) = _losses(files, 2), _losses(files, 3)
    summaries = {losses.size: _summary(files, losses) for losses in (pairs, triples)}
    few = files.of_few if files.only_of_few else ()  # then these are all that any table tells
    measured = [_judged(files, size, summary, few) for size, summary in summaries.items()]
    fewer = min(_originals(files), len(files.masked))
    told = table_propensities(pair_scores, triple_scores, (pairs, triples), files.kept, fewer, files.minimum_cell)
    among = pair_scores.among(files.kept)
    of_pairs = Occasion(
        pair_scores.of,
        _PAIR_PROPENSITY.no_pairs(),
        _PAIR_PROPENSITY.not_known(),
        len(among.losses),
        _PAIR_PROPENSITY.all_lost(),
        few=few,
    )

    def told_apart() -> Figure:
        if told is None:
            return Figure(nan, _PAIR_PROPENSITY.not_known())
        says = _PAIR_PROPENSITY.told_apart(mean=figure(among.mean), pairs=len(among.losses))
        return Figure(among.mean, says, len(among.losses))

    measured.append(PAIR_PROPENSITY.judge(files, of_pairs, told_apart))
    view: dict[str, BaseModel] = {}
    if (two := summaries[2]) is not None:
        view["marginals"] = MarginalsView(pairs=two, triples=summaries[3])
    if told is not None:
        view["table_propensity"] = told
    return Found(dict(zip(TABLES.names, measured, strict=True)), {} if few else view)


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


def _judged(files: Comparison, size: int, summary: MarginalSummary | None, few: Collection[str]) -> Measured:
    variables = len(files.bins_of_all)
    measure, word = _OF_SIZE[size]
    not_known = _MARGINALS.not_known(size=word)

    def moved() -> Figure:
        if summary is None:
            return Figure(nan, not_known)
        says = _MARGINALS.moved(size=word, share=figure(summary.mean), counted=summary.counted, of=summary.of)
        if summary.interval is not None:
            says += _MARGINALS.interval(low=figure(summary.interval[0]), high=figure(summary.interval[1]))
        if summary.removed and summary.mean_released is not None:
            says += _MARGINALS.released(share=figure(summary.mean_released))
        if summary.equivalent is not None:
            bound = "less than " if summary.equivalent.at_most else ""
            says += _MARGINALS.equivalent(bound=bound, share=figure(summary.equivalent.share))
        return Figure(summary.mean, says, summary.counted)

    of = 0 if variables < size else variables if summary is None else summary.of
    not_compared = _MARGINALS.not_compared(size=word, variables=variables)
    return measure.judge(files, Occasion(of, not_compared, not_known, few=few), moved)


TABLES = Family(marginals, (PAIR_MARGINALS, TRIPLE_MARGINALS, PAIR_PROPENSITY))
