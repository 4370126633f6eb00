"""Score: a limit on the mean of information loss and disclosure risk, by which masking methods are often compared.

Source: Torra (2013), "Rank swapping: Example II" and "Average of 1-7 variables": DR = RSLD/3 + DLD/6 + PLD/6 + ID/3
gives the scores of Torra's table. Without rank swapping in the plan nobody knows a window, and DR is that of the
example: DLD/4 + PLD/4 + ID/2. IL is the mean of IL1 to IL5, by which the table's losses on EIA are reproduced.
"""

from collections.abc import Mapping
from math import isfinite, nan

from policies.rules.ranked_rules import LinkageScore, MeasuredRisk
from sluice.ground.sentence import Sentence
from sluice.masking.plan import ByStratum
from sluice.masking.swapping.rank_swapping import RankSwapping
from sluice.risk.linkage.linkage_score import Figure as Part
from sluice.risk.linkage.linkage_score import ScoreView, disclosure_risk, linkage_score
from sluice.utility.cell_changes import coarse_share
from sluice.utility.comparison import Comparison
from sluice.utility.continuous.number_measures import loss_of_numbers
from sluice.utility.measured import Found, written_percent
from sluice.utility.utility_measure import Family, Figure, Measure, Occasion

_NOT_KNOWN = Sentence("score.not_known", "The score is not known: {why}")

_LINKED = 1_000  # original records; the interval of their shares is at most 6.2 points wide
_WORDS: Mapping[Part, str] = {
    "rsld": "{rsld:percent} linked by the window of rank swapping",
    "dld": "{dld:percent} by distance",
    "pld": "{pld:percent} by agreement",
    "id": "{id:percent} of the values in a narrow interval",
}
_SCORE: Mapping[tuple[str, ...], Sentence] = {
    parts: Sentence(
        f"score.{'_'.join(parts)}",
        "The score is {score:percent}: an information loss of {loss:percent} and a disclosure risk of {risk:percent} ("
        + ", ".join(_WORDS[part] for part in parts)
        + "; {records:,} of {of:,} records linked)",
    )
    for parts in (("id", "dld", "pld"), ("id", "rsld", "dld", "pld"))
}


SCORE = Measure(
    "score",
    "mean of information loss and disclosure risk, 1 for 100 %; measured where it has a limit",
    "The score",
    "Loss and risk together are too high: see in the report which of the parts weighs most, and mask more gently "
    "where it is the loss, over longer distances where it is linkage.",
    written=written_percent,
    where_asked=True,
)


def score(files: Comparison, loss: float) -> Found:
    """The score of a file whose rows are paired, with its parts.

    loss : IL, the mean of IL1 to IL5, 1 for 100 %; NaN when not known
    """
    if not files.paired or len(files.original) != len(files.masked):
        return _without(files, "nobody said whose each row is")
    if not isfinite(loss):
        return _without(files, "the information loss of the numbers is not known")
    window = _window(files)
    rule = LinkageScore(limit=1, weighting="table" if window else "generic", window=window, records=_LINKED)
    found = rule.measure(files)
    if found is None:
        why = "no quasi-identifier or sensitive variable was released as a number or in ordered categories"
        return _without(files, why)
    view = _view(found, rule, loss, files)
    told = {"loss": loss, "score": view.score, "risk": view.disclosure_risk, "of": view.records, "records": view.linked}
    says = _SCORE[tuple(view.parts)](**told, **view.parts)
    few = files.of_few & {*files.released_numbers.names}
    occasion = Occasion(view.records, (), (), few=few)
    measured = SCORE.measured(files, occasion, Figure(view.score, says, view.linked, ", ".join(found.names)))
    return Found({"score": measured}, {} if few else {"score": view})


def _without(files: Comparison, why: str) -> Found:
    says = _NOT_KNOWN(why=why)
    return Found({"score": SCORE.measured(files, Occasion(0, says, says), Figure(nan, says))})


def _view(found: MeasuredRisk, rule: LinkageScore, loss: float, files: Comparison) -> ScoreView:
    """Made of the rounded parts, so that their sum tells no more than they do."""
    parts: dict[Part, float] = {
        name: coarse_share(part.value, part.completed, files.minimum_cell) for name, part in found.parts.items()
    }
    risk = disclosure_risk(rule.weighting, **parts)
    off = risk - found.risk.value
    low, high = found.risk.interval or (found.risk.value, found.risk.value)
    return ScoreView(
        score=linkage_score(loss, risk),
        information_loss=loss,
        disclosure_risk=risk,
        interval=(max(0.0, low + off), min(1.0, high + off)),
        weighting=rule.weighting,
        parts=parts,
        names=found.names,
        linked=min(part.completed for name, part in found.parts.items() if name != "id"),
        records=len(files.original),
    )


def _window(files: Comparison) -> float | None:
    """The widest window of rank swapping, which an intruder who knows the method knows; None where there was none."""
    steps = [done.step if isinstance(done, ByStratum) else done for done in files.carried_out or ()]
    windows = [
        step.window for step in steps if isinstance(step, RankSwapping) and step.variant == "plain" and step.window
    ]
    return max(windows, default=None)


SCORES = Family(lambda files: score(files, loss_of_numbers(files)), (SCORE,))
