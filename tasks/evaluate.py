"""Evaluate: disclosure risk by the reference standard and by attacks, and what masking cost the data's user."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from policies.original_and_masked import OriginalAndMasked
from policies.policy import Policy
from policies.standard.judgement import judge_reference_standard
from policies.standard.lone_copies import judge_lone_copies
from policies.standard.reidentification import judge_reidentification
from sluice.errors import PlanError
from sluice.masking.plan import apply_recodings
from sluice.masking.step import MaskingStep
from sluice.masking.subsets import ByStratum
from sluice.risk.reference.curve import Curve
from sluice.utility.variable_summary import VariableSummary, summarise
from sluice.variables import Variables
from sluice.verdict import Finding, Verdict
from tasks.case import Masked, Release
from tasks.judged import judged
from tasks.mask import kept_rows, row_order
from tasks.step import step


@dataclass(frozen=True)
class Measured:
    """Aggregates only: they travel between tasks and into the report."""

    findings: tuple[Finding, ...]
    curves: tuple[Curve, ...]
    variables: tuple[VariableSummary, ...]


@step
def evaluate(release: Release, masked: Masked) -> Measured:
    kept = kept_rows(release, masked)  # who was left out of a sample has opted out: the risk is that of the others
    original = release.read(release.original).iloc[kept].reset_index(drop=True)
    published = release.read(masked)
    holdout = release.read(release.holdout) if release.holdout else None
    recoded_holdout = None if holdout is None else _recoded(masked.carried_out, holdout, release.variables)
    files = OriginalAndMasked(
        original=original,
        recoded=apply_recodings(masked.carried_out, original, release.variables),
        # Record by record with the original again: place i of the file holds the original record order[i].
        masked=published.iloc[np.argsort(row_order(release, kept))].reset_index(drop=True),
        holdout=holdout,
        recoded_holdout=recoded_holdout,
        variables=release.variables,
        released=release.released,
        rng=np.random.default_rng(release.seeds().attack),
        unit=release.unit,
        minimum_cell=release.case.policy.minimum_cell,
    )
    # The case's variables hold no category that only the data told: the report names those that are common.
    return measure(release.case.policy, files, release.case.variables, release.case.described)


def measure(policy: Policy, files: OriginalAndMasked, declared: Variables, described: Variables) -> Measured:
    """Everything that the policy asks of a masked file beside its original.

    declared, described : the variables before and after masking as far as the documents alone tell them
    """
    curves: list[Curve] = []
    standard = policy.reference_standard

    def against_reference() -> list[Finding]:
        if standard is None:
            says = "The policy names no reference standard, so nobody knows whether the file is safe for its people."
            return [Finding(rule="reference_standard", verdict=Verdict.UNKNOWN, stage="reference", says=says)]
        findings, found = judge_reference_standard(standard, files)
        curves.extend(found)
        return findings

    findings = [*judged("reference_standard", "reference", against_reference)]
    if standard is not None and files.paired:
        findings += judged("lone_copies", "reference", lambda: [judge_lone_copies(standard, files)])
        findings += judged("reidentification", "reference", lambda: [judge_reidentification(standard, files)])
    for rule in policy.attacks:
        findings += judged(rule.rule, "attack", lambda rule=rule: rule.find(files))
    findings += judged("utility", "utility", lambda: policy.utility.find(files))
    summaries = summarise(files.original, files.recoded, files.masked, declared, described, files.minimum_cell)
    return Measured(tuple(findings), tuple(curves), tuple(summaries))


def _recoded(
    carried_out: Sequence[MaskingStep | ByStratum], holdout: pd.DataFrame, variables: Variables
) -> pd.DataFrame | None:
    """The holdout on the masked file's categories; None where it holds a stratum that the masked file does not."""
    try:
        return apply_recodings(carried_out, holdout, variables)
    except PlanError:
        return None
