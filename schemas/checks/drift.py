"""The drift of a batch from the last published release, as findings."""

import math
from typing import Any

import pandas as pd

from schemas.checks.profile import Profile, compared, count, distance
from schemas.contract import Contract
from sluice.ground.sentence import Saying, Sentences, as_fields
from sluice.ground.verdict import Finding, Verdict

_SAYS = Sentences(
    "drift",
    first="There is no earlier release to compare with yet.",
    new_variable="The last release had no '{name}': there is nothing to compare with yet.",
    not_compared="The distribution of '{name}' could not be compared with that of the last release.",
    moved="The distribution of '{name}' has moved since the last release: {share:.1%} of the records would have to "
    "change to restore it; the contract allows {limit:.1%}.",
    within="The distributions of {variables} variables are within {limit:.1%} of the last release.",
)


def drift_findings(contract: Contract, frame: pd.DataFrame, profile: Profile | None) -> list[Finding]:
    """Total variation distance of each compared variable from the last release."""
    if contract.drift is None:
        return []
    limit, variables = contract.drift.max_distance, compared(contract)

    def finding(verdict: Verdict, says: Saying, **more: Any) -> Finding:
        return Finding(rule="drift", verdict=verdict, stage="contract", limit=limit, **as_fields(says), **more)

    if profile is None:
        return [finding(Verdict.PASS, _SAYS.first(), binding=False)]
    findings, near = [], []
    for name, variable in variables.items():
        cells = profile.distributions.get(name)
        if name not in frame:
            continue  # reported among the columns
        if cells is None:
            says = _SAYS.new_variable(name=name)
            findings.append(finding(Verdict.PASS, says, scope=name, binding=False))
            continue
        fits = cells.fits(variable)
        moved = distance(cells.counts, count(frame[name], cells)) if fits else float("nan")
        if math.isnan(moved):
            says = _SAYS.not_compared(name=name)
            findings.append(finding(Verdict.UNKNOWN, says, scope=name))
        elif moved > limit + 1e-9:
            says = _SAYS.moved(name=name, share=moved, limit=limit)
            findings.append(finding(Verdict.FAIL, says, scope=name, observed=moved))
        else:
            near.append(moved)
    if near:
        says = _SAYS.within(variables=len(near), limit=limit)
        findings.append(finding(Verdict.PASS, says, observed=max(near), attempted=len(near), completed=len(near)))
    return findings
