"""The drift of a batch from the last published release, as findings."""

import math
from typing import Any

import pandas as pd

from schemas.checks.profile import Profile, compared, count, distance
from schemas.contract import Contract
from sluice.verdict import Finding, Verdict


def drift_findings(contract: Contract, frame: pd.DataFrame, profile: Profile | None) -> list[Finding]:
    """Total variation distance of each compared variable from the last release."""
    if contract.drift is None:
        return []
    limit, variables = contract.drift.max_distance, compared(contract)

    def finding(verdict: Verdict, says: str, **more: Any) -> Finding:
        return Finding(rule="drift", verdict=verdict, stage="contract", says=says, limit=limit, **more)

    if profile is None:
        return [finding(Verdict.PASS, "There is no earlier release to compare with yet.", binding=False)]
    findings, near = [], []
    for name, variable in variables.items():
        cells = profile.distributions.get(name)
        if name not in frame:
            continue  # reported among the columns
        if cells is None:
            says = f"The last release had no '{name}': there is nothing to compare with yet."
            findings.append(finding(Verdict.PASS, says, scope=name, binding=False))
            continue
        fits = cells.fits(variable)
        moved = distance(cells.counts, count(frame[name], cells)) if fits else float("nan")
        if math.isnan(moved):
            says = f"The distribution of '{name}' could not be compared with that of the last release."
            findings.append(finding(Verdict.UNKNOWN, says, scope=name))
        elif moved > limit + 1e-9:
            says = (
                f"The distribution of '{name}' has moved since the last release: {moved:.1%} of the records would have "
                f"to change to restore it; the contract allows {limit:.1%}."
            )
            findings.append(finding(Verdict.FAIL, says, scope=name, observed=moved))
        else:
            near.append(moved)
    if near:
        says = f"The distributions of {len(near)} variables are within {limit:.1%} of the last release."
        findings.append(finding(Verdict.PASS, says, observed=max(near), attempted=len(near), completed=len(near)))
    return findings
