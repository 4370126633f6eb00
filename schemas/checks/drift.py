"""The drift of a batch from the last published release, as findings; the counting may be left to the database."""

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import sqlalchemy as sa

from schemas.checks.batch_sql import in_days
from schemas.checks.profile import Distribution, Profile, compared, distance
from schemas.checks.source_session import SourceSession
from schemas.contract import Contract
from sluice.variables import Kind, Variable, Variables
from sluice.verdict import Finding, Verdict

Counts = Callable[[Variable, Distribution], Sequence[int]]
"""From a variable and the cells of its old distribution to the records of the batch in each cell."""


def drift_findings(contract: Contract, present: Variables, profile: Profile | None, counts: Counts) -> list[Finding]:
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
        if name not in present:
            continue  # reported among the columns
        if cells is None:
            says = f"The last release had no '{name}': there is nothing to compare with yet."
            findings.append(finding(Verdict.PASS, says, scope=name, binding=False))
            continue
        moved = float("nan")
        if cells.fits(variable):
            with suppress(sa.exc.SQLAlchemyError):
                moved = distance(cells.counts, counts(variable, cells))
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


def sql_counts(session: SourceSession, canonical: sa.Select[Any]) -> Counts:
    """Records in each cell of an old distribution, counted by the database: one scan a variable."""

    def counts(variable: Variable, cells: Distribution) -> list[int]:
        column = canonical.with_only_columns(canonical.selected_columns[variable.name]).subquery("batch")
        value = column.c[variable.name]
        last = len(cells.counts) - 1
        if cells.labels is not None:
            branches = [(value == label, cell) for cell, label in enumerate(cells.labels)]
        else:
            number = in_days(value, session.dialect) if variable.kind is Kind.DATE else value
            branches = [(number <= edge, cell) for cell, edge in enumerate(cells.edges or ())]
        cell = sa.case((value.is_(None), last), *branches, else_=last - 1).label("cell")
        with session.engine.connect() as connection:
            rows = connection.execute(sa.select(cell, sa.func.count()).group_by(cell))
            found: dict[int, int] = {row[0]: row[1] for row in rows}
        return [found.get(position, 0) for position in range(last + 1)]

    return counts
