"""A trial: one plan applied to the records at hand with a seed of its own, and judged as a release would be.

What costs little is asked first: the policy's rules on the masked file, then the loss, then the limits on utility, then
the reference standard and the attacks. A trial stops at the first that says no, and keeps how far from its limit the
figure was.
"""

from collections.abc import Iterable, Iterator, Sequence
from math import inf, isfinite, nan
from time import process_time
from typing import Literal

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict, Field

from policies.formula_cells import formula_cells
from policies.original_and_masked import OriginalAndMasked
from policies.waivers import apply_waivers
from sluice.errors import PlanError, SluiceError
from sluice.masking.blocks import moved_blocks
from sluice.masking.plan import apply_plan, apply_recodings
from sluice.masking.step import MaskingStep
from sluice.masking.subsets import ByStratum
from sluice.risk.reference.curve import Curve
from sluice.sources.permission import permitted_file
from sluice.variables import Variables
from sluice.verdict import Finding, Verdict
from tasks.release.findings import findings_of
from tasks.release.records.definition import RecordsDefinition
from tasks.release.records.judgement import attack_findings, check_masked, reference_findings
from tasks.release.records.variables import variables_after
from tasks.tuning.loss import loss_of, mean_pair_distance
from tasks.tuning.records_at_hand import RecordsAtHand
from tasks.tuning.space import LossWeights

STAGES = ("plan", "rules", "utility", "attacks", "all records")  # in the order in which they are asked
_NO_LIMIT = (Finding(rule="utility", verdict=Verdict.PASS, stage="utility", says="No limit is set.", binding=False),)
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
              so much another seed may move it
    """

    model_config = ConfigDict(frozen=True, ser_json_inf_nan="constants")

    end: End
    loss: float = nan
    margin: float = nan
    stage: str = Field(default="", description="where it stopped")
    misses: tuple[Miss, ...] = ()
    reported: tuple[Miss, ...] = Field(default=(), description="findings that decide nothing and did not pass")
    seconds: float = Field(default=0, description="of processor time; of no trial the same twice")

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
) -> Outcome:
    """Mask the records by the definition's plan and judge the file. The same arguments give the same outcome.

    seed  : numbers of the draw: those of masking, of the holdout and of the attacks come from them
    price : of what the plan drops, added to the loss
    bound : a file that loses as much or more is not judged by what is dear
    attacked : False: the reference standard and the attacks are not asked; the file passes without them
    """
    begun = process_time()
    try:
        outcome = _tried(definition, records, np.random.SeedSequence(list(seed)), weights, price, bound, attacked)
    except SluiceError as error:
        miss = Miss(rule="plan", stage="plan", verdict=Verdict.UNKNOWN, says=_short(error), far=1.0)
        outcome = Outcome(end="refused", stage="plan", misses=(miss,))
    return outcome.model_copy(update={"seconds": process_time() - begun})


def _tried(
    definition: RecordsDefinition, records: RecordsAtHand, seed: np.random.SeedSequence, weights: LossWeights,
    price: float, bound: float, attacked: bool,
) -> Outcome:  # fmt: skip
    policy = records.policy
    files = _masked(definition.under(policy), records, seed)
    reported: list[Miss] = []

    def against(findings: Iterable[Finding]) -> list[Finding]:
        """Those that say no, waivers counted."""
        waived = apply_waivers(list(findings), policy.waivers, records.release_name, records.today, records.owner)
        reported.extend(Miss.of(each) for each in waived if not each.binding and each.verdict is not Verdict.PASS)
        return [each for each in waived if each.binding and not passes(each)]

    def ended(stage: str, against: Sequence[Finding], loss: float) -> Outcome:
        misses = tuple(map(Miss.of, against))
        return Outcome(end="fails", loss=loss, stage=stage, misses=misses, reported=tuple(reported))

    rules = [*check_masked(policy, files, permitted_file), *policy.overlooked(files.released)]
    failing = against([*rules, *formula_cells(files.masked)])
    distance = mean_pair_distance(files, weights.variables) if weights.marginals else 0.0
    if failing:
        return ended("rules", failing, nan if weights.measures else loss_of(distance, weights) + price)
    utility = findings_of("utility", "utility", lambda: policy.utility.decide(files, weights.measures) or _NO_LIMIT)
    loss = loss_of(distance, weights, utility) + price
    if failing := against(utility):
        return ended("utility", failing, loss)
    if loss >= bound:
        return Outcome(end="dearer", loss=loss, stage="utility", reported=tuple(reported))
    if not attacked:
        return Outcome(end="passes", loss=loss, reported=tuple(reported))
    margins: list[float] = []
    curves: list[Curve] = []
    for finding in _dear(records, files, curves):
        if failing := against([finding]):
            return ended("attacks", failing, loss)
        if finding.binding and finding.observed is not None and finding.limit is not None:
            margins.append(distance_from_limit(finding))
    return Outcome(end="passes", loss=loss, margin=min(margins, default=nan), reported=tuple(reported))


def _masked(definition: RecordsDefinition, records: RecordsAtHand, seed: np.random.SeedSequence) -> OriginalAndMasked:
    plan, policy, variables = definition.plan, records.policy, records.variables
    of_holdout, of_plan, of_attack = seed.spawn(3)
    variables_after(plan, records.declared, definition.name)
    released = variables_after(plan, variables, definition.name)
    original, holdout = records.with_holdout(np.random.default_rng(of_holdout))
    masked, carried_out = apply_plan(plan, original, variables, of_plan)
    kept = masked.index.to_numpy(dtype=np.int64)
    people = original.iloc[kept].reset_index(drop=True)
    others = original.drop(index=masked.index).reset_index(drop=True)
    return OriginalAndMasked(
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
        carried_out=carried_out,
        record_rules=records.contract.record_rules,
        blocks=tuple(block.among(kept) for block in moved_blocks(plan, original, variables, of_plan)),
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


def _dear(records: RecordsAtHand, files: OriginalAndMasked, curves: list[Curve]) -> Iterator[Finding]:
    """What takes long, each measured when it is asked for, as a release has it."""
    yield from reference_findings(records.policy.reference_standard, files, curves, records.policy.attacks)
    yield from attack_findings(records.policy, files)


def passes(finding: Finding) -> bool:
    """Whether a release with this finding alone would go on."""
    excused = finding.waiver is not None and finding.verdict is not Verdict.UNKNOWN
    return excused or finding.verdict is Verdict.PASS


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
