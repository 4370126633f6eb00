"""A trial: one plan applied to the records at hand with a seed of its own, and judged as a release would be.

What costs little is asked first: the policy's rules on the masked file, then the loss, then the limits on utility, then
the reference standard and the attacks. A trial stops at the first that says no, and keeps how far from its limit the
figure was.

Several processes try plans beside each other; each holds the records once.
"""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from math import inf, isfinite, nan
from multiprocessing import active_children, get_context
from signal import SIG_IGN, SIGINT, signal
from time import process_time
from typing import Literal

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict, Field

from policies.formula_cells import formula_cells
from policies.waivers import apply_waivers
from sluice.ground.errors import PlanError, SluiceError
from sluice.ground.parallel_jobs import end_with_parent
from sluice.ground.sentence import Sentence, as_fields
from sluice.ground.variables import Variables
from sluice.ground.verdict import Finding, Verdict
from sluice.masking.masking_step import MaskingStep
from sluice.masking.moved_blocks import moved_blocks
from sluice.masking.plan import ByStratum, apply_plan, apply_recodings
from sluice.masking.recoding.generalization import Generalization
from sluice.sources.permission import permitted_file
from sluice.utility.analyses.asked_analyses import Analyses
from sluice.utility.comparison import Comparison
from tasks.release.crashed_measures import findings_of
from tasks.release.records.record_definition import RecordsDefinition
from tasks.release.records.record_findings import check_masked, risk_findings
from tasks.release.records.record_variables import variables_after
from tasks.tuning.plan_loss import loss_of, pair_distances
from tasks.tuning.records_at_hand import RecordsAtHand
from tasks.tuning.regressions_kept import AnalysesLoss, analyses_loss
from tasks.tuning.space import LossWeights

_THERE: list[tuple[RecordsAtHand, RecordsAtHand | None]] = []

_NONE_SET = Sentence("utility.none_set", "No limit is set.")

STAGES = ("plan", "rules", "utility", "attacks", "all records")  # in the order in which they are asked
_NO_LIMIT = (Finding(rule="utility", verdict=Verdict.PASS, stage="utility", binding=False, **as_fields(_NONE_SET())),)
End = Literal["passes", "fails", "dearer", "refused"]


class Miss(BaseModel):
    """A finding that let a plan fall: aggregates, as in a report."""

    model_config = ConfigDict(frozen=True)

    rule: str
    stage: str
    verdict: Verdict
    says: str
    observed: float | None = None
    limit: float | None = None
    far: float = Field(description="how far the figure is from its limit, 0 to 1; 1 where nothing could be measured")

    @classmethod
    def of(cls, finding: Finding) -> "Miss":
        return cls(
            rule=finding.rule, stage=finding.stage, verdict=finding.verdict, says=finding.says,
            observed=finding.observed, limit=finding.limit, far=distance_from_limit(finding),
        )  # fmt: skip


class Outcome(BaseModel):
    """How a trial ended.

    end     : passes; fails by a rule; dearer: meets the cheap rules, and was not judged further, as it loses more than
              a plan that passes; refused: cannot be carried out
    loss    : 0 is none; NaN where it was not measured. What dropped variables cost is in it
    margin  : of a plan that passes, how far the nearest figure of attacks and reference is from its limit, 0 to 1: by
              so much another seed may move it. NaN where no such figure was held to a limit
    kept    : variables that the file tells something of, out of `of`; None where nothing was masked
    among   : the distance of the pairs of these variables alone, which is in the loss
    models  : what became of the regressions that were asked for; None where none was, or nothing was masked
    draws   : by how many draws it was judged; fallen: by how many of them it did not pass
    """

    model_config = ConfigDict(frozen=True, ser_json_inf_nan="constants")

    end: End
    loss: float = nan
    margin: float = nan
    kept: int | None = None
    of: int | None = None
    among: float = nan
    models: AnalysesLoss | None = None
    draws: int = 1
    fallen: int = 0
    stage: str = Field(default="", description="where it stopped")
    misses: tuple[Miss, ...] = ()
    reported: tuple[Miss, ...] = Field(default=(), description="findings that decide nothing and did not pass")
    seconds: float = Field(default=0, description="of processor time; of no trial the same twice")

    @property
    def by_draws(self) -> str:
        """By how many of its draws it passed, in words."""
        if self.draws == 1:
            return "1 draw"
        return f"{f'{self.draws - self.fallen} of' if self.fallen else 'each of'} {self.draws} draws"

    @property
    def far(self) -> float:
        """How far the worst figure that let it fall is from its limit; 0 where none did."""
        return max((miss.far for miss in self.misses), default=0.0)

    @property
    def breach(self) -> float:
        """How far from passing, at most 0 for a plan that passes: the earlier it stops, the farther."""
        if self.end == "passes":
            return -self.margin if isfinite(self.margin) else 0.0
        if self.end == "dearer":
            return 0.0
        left = len(STAGES) - 1 - STAGES.index(self.stage) if self.stage in STAGES else len(STAGES) - 1
        return left + max((miss.far for miss in self.misses), default=1.0)


def try_plan(
    definition: RecordsDefinition,
    records: RecordsAtHand,
    seed: Sequence[int],
    weights: LossWeights,
    price: float = 0.0,
    bound: float = inf,
    attacked: bool = True,
    without: frozenset[str] = frozenset(),
    analyses: Analyses | None = None,
) -> Outcome:
    """Mask the records by the definition's plan and judge the file. The same arguments give the same outcome.

    seed     : numbers of the draw: those of masking, of the holdout and of the attacks come from them
    price    : of what the plan drops, added to the loss
    bound    : a file that loses as much or more is not judged by what is dear
    attacked : False: the reference standard and the attacks are not asked; the file passes without them
    without  : rules that decide nothing, and that no search of levels obeys
    analyses : regressions that are made on both files, and decide nothing
    """
    begun = process_time()
    try:
        outcome = _tried(definition, records, seed, weights, price, bound, attacked, without, analyses)
    except SluiceError as error:
        miss = Miss(rule="plan", stage="plan", verdict=Verdict.UNKNOWN, says=_short(error), far=1.0)
        outcome = Outcome(end="refused", stage="plan", misses=(miss,))
    return outcome.model_copy(update={"seconds": process_time() - begun})


def _tried(
    definition: RecordsDefinition, records: RecordsAtHand, seed: Sequence[int], weights: LossWeights,
    price: float, bound: float, attacked: bool, without: frozenset[str], analyses: Analyses | None,
) -> Outcome:  # fmt: skip
    policy = records.policy
    files = files_of_trial(definition, records, seed, without)
    reported: list[Miss] = []

    def against(findings: Iterable[Finding]) -> list[Finding]:
        """Those that say no, waivers counted."""
        waived = apply_waivers(list(findings), policy.waivers, records.release_name, records.today, records.owner)
        reported.extend(Miss.of(each) for each in waived if not each.binding and each.verdict is not Verdict.PASS)
        return [each for each in waived if each.binding and each.rule not in without and not passes(each)]

    def ended(end: End, loss: float, stage: str = "", against: Sequence[Finding] = (), margin: float = nan) -> Outcome:
        return Outcome(
            end=end, loss=loss, margin=margin, kept=apart.kept, of=apart.of, among=apart.among, models=models,
            stage=stage, misses=tuple(map(Miss.of, against)), reported=tuple(reported),
        )  # fmt: skip

    rules = [*check_masked(policy, files, permitted_file), *policy.overlooked(files.released)]
    failing = against([*rules, *formula_cells(files.masked, policy.formula_cells)])
    apart = pair_distances(files, weights.variables)
    models = None if analyses is None else analyses_loss(analyses, files)
    if failing:
        return ended("fails", nan if weights.measures else loss_of(apart.mean, weights) + price, "rules", failing)
    utility = findings_of("utility", "utility", lambda: policy.utility.decide(files, weights.measures) or _NO_LIMIT)
    loss = loss_of(apart.mean, weights, utility) + price
    if failing := against(utility):
        return ended("fails", loss, "utility", failing)
    if loss >= bound:
        return ended("dearer", loss, "utility")
    if not attacked:
        return ended("passes", loss)
    margins: list[float] = []
    for finding in risk_findings(policy, files):
        if failing := against([finding]):
            return ended("fails", loss, "attacks", failing)
        if finding.binding and finding.rule not in without and has_margin(finding):
            margins.append(distance_from_limit(finding))
    return ended("passes", loss, margin=min(margins, default=nan))


def files_of_trial(
    definition: RecordsDefinition, records: RecordsAtHand, seed: Sequence[int], without: frozenset[str] = frozenset()
) -> Comparison:
    """The records masked by the definition's plan, and what they are judged by; seed and without as in `try_plan`.

    A search of levels of which nothing is asked any more is no step: every value stays as it is.

    raises : SluiceError for a plan that cannot be carried out
    """
    policy, variables = records.policy, records.variables
    obeyed = policy.model_copy(update={"rules": tuple(rule for rule in policy.rules if rule.rule not in without)})
    under = definition.under(obeyed).plan
    nothing = without and not obeyed.models(variables)
    plan = tuple(step for step in under if not (nothing and isinstance(step, Generalization) and not step.models))
    of_holdout, of_plan, of_attack = np.random.SeedSequence(list(seed)).spawn(3)
    variables_after(plan, records.declared, definition.name)
    released = variables_after(plan, variables, definition.name)
    original, holdout = records.with_holdout(np.random.default_rng(of_holdout))
    rules = records.contract.record_rules
    masked, carried_out = apply_plan(plan, original, variables, of_plan, rules=rules)
    kept = masked.index.to_numpy(dtype=np.int64)
    people = original.iloc[kept].reset_index(drop=True)
    others = original.drop(index=masked.index).reset_index(drop=True)
    return Comparison(
        original=people,
        recoded=apply_recodings(carried_out, people, variables),
        masked=masked.reset_index(drop=True),
        holdout=holdout,
        recoded_holdout=None if holdout is None else _recoded(carried_out, holdout, variables),
        variables=variables,
        released=released,
        rng=np.random.default_rng(of_attack),
        unit=records.contract.records_are,
        minimum_cell=policy.minimum_cell,
        knowledge=records.contract.knowledge,
        numbers_alone=records.contract.numbers_alone,
        carried_out=carried_out,
        record_rules=rules,
        undeclared=records.contract.undeclared,
        analyses=definition.analyses,
        blocks=tuple(block.among(kept) for block in moved_blocks(plan, original, variables, of_plan, rules=rules)),
        left_out=(others, apply_recodings(carried_out, others, variables)) if len(others) else None,
    )


def _recoded(
    carried_out: Sequence[MaskingStep | ByStratum], holdout: pd.DataFrame, variables: Variables
) -> pd.DataFrame | None:
    """The holdout on the masked file's categories; None where it holds a stratum that the masked file does not."""
    try:
        return apply_recodings(carried_out, holdout, variables)
    except PlanError:
        return None


def passes(finding: Finding) -> bool:
    """Whether a release with this finding alone would go on."""
    return finding.excused or finding.verdict is Verdict.PASS


def has_margin(finding: Finding) -> bool:
    """Whether there is something between the figure and its limit that another seed could use up.

    Where nothing is allowed and nothing was found there is not: the figure is at its limit at its best, too.
    """
    observed, limit = finding.observed, finding.limit
    return observed is not None and limit is not None and not (limit == 0 == observed)


def distance_from_limit(finding: Finding) -> float:
    """How far a figure is from its limit, on either side: 0 at the limit, 1 where there is no figure.

    In units of the limit, d / (1 + d), so that figures of all kinds can be held beside each other; from a limit of 0
    the figure itself, at most 1.
    """
    if finding.verdict is Verdict.UNKNOWN or finding.observed is None or finding.limit is None:
        return 1.0
    apart = abs(finding.observed - finding.limit)
    return float(apart / (apart + abs(finding.limit)) if finding.limit else min(apart, 1.0))


def _short(error: SluiceError) -> str:
    return " ".join(str(error).split())


@contextmanager
def processes(records: RecordsAtHand, workers: int, whole: RecordsAtHand | None = None) -> Iterator[Executor | None]:
    """So many processes that have the records, as `records_there` gives them; None for one, which is this one.

    They get the records through a pipe, and write nothing to a disk. What was not begun when the block ends is
    not done; what was, ends too where the block ends by KeyboardInterrupt.
    """
    if workers < 2:
        yield None
        return
    context = get_context("spawn")
    before = set(active_children())
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_begin, initargs=(records, whole, workers))
    try:
        yield pool
    except KeyboardInterrupt:  # who stops a search does not wait for its trials
        for each in set(active_children()) - before:
            each.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def records_there() -> tuple[RecordsAtHand, RecordsAtHand | None]:
    """In such a process: the records that it holds, and all records where these are a part of them."""
    return _THERE[0]


def _begin(records: RecordsAtHand, whole: RecordsAtHand | None, workers: int) -> None:
    """What a process does before its first trial: keep the records and its share of the threads."""
    import numba

    end_with_parent()
    signal(SIGINT, SIG_IGN)  # the process that has the search stops it
    numba.set_num_threads(max(1, numba.config.NUMBA_NUM_THREADS // workers))
    _THERE[:] = [(records, whole)]
