"""Evaluate: disclosure risk against the reference standard, and what the masking cost the data's user."""

from dataclasses import dataclass

import numpy as np

from policies.lone_copies import judge_lone_copies
from sluice.masking.plan import apply_recodings
from sluice.risk.curve import Curve
from sluice.utility.variable_summary import VariableSummary, summarise
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
    policy = release.case.policy
    kept = kept_rows(release, masked)  # who was left out of a sample has opted out: the risk is that of the others
    original = release.read(release.original).iloc[kept].reset_index(drop=True)
    published = release.read(masked)
    holdout = release.read(release.holdout) if release.holdout else None
    recoded = apply_recodings(masked.carried_out, original, release.variables)
    # Record by record with the original again: place i of the file holds the original record order[i].
    aligned = published.iloc[np.argsort(row_order(release, kept))].reset_index(drop=True)

    curves: list[Curve] = []

    def against_reference() -> list[Finding]:
        if policy.reference_standard is None:
            says = "The policy names no reference standard, so nobody knows whether the file is safe for its people."
            return [Finding(rule="reference_standard", verdict=Verdict.UNKNOWN, stage="reference", says=says)]
        findings, found = policy.reference_standard.judge(
            original,
            recoded,
            published,
            holdout,
            release.variables,
            release.released,
            np.random.default_rng(release.seeds().attack),
            policy.minimum_cell,
        )
        curves.extend(found)
        standard, released = policy.reference_standard, release.released
        return [*findings, judge_lone_copies(standard, recoded, aligned, released, policy.minimum_cell)]

    def utility() -> list[Finding]:
        return policy.utility.find(original, recoded, aligned, release.variables, release.released)

    findings = [
        *judged("reference_standard", "reference", against_reference),
        *judged("utility", "utility", utility),
    ]
    case = (
        release.case
    )  # its variables hold no category that only the data told: the report names those that are common
    summaries = summarise(original, recoded, aligned, case.variables, case.described, policy.minimum_cell)
    return Measured(tuple(findings), tuple(curves), tuple(summaries))
