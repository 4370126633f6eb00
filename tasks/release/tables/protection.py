"""What is asked of the cells of tables, and the search for a pattern of suppressed cells that gives it.

Nothing here knows of a release: cells and rules in, a pattern and its audit out.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from sluice.ground.verdict import Finding
from sluice.tabular.audit.pattern_audit import Audit, audit
from sluice.tabular.audit.proofs import Proof
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Booleans, Cells, Floats, Statuses
from sluice.tabular.rules.sensitivity import Requirements, SensitivityRule, requirements_of
from sluice.tabular.suppression.costs import costs, noisy_costs
from sluice.tabular.suppression.effort import Effort
from sluice.tabular.suppression.manual_status import ManualRequest, ManualRow, apply_manual, waivers_needed
from sluice.tabular.suppression.suppression import Suppression, suppress

Mode = Literal["fast", "optimise"]
Waive = Callable[[Iterable[tuple[str, str]]], tuple[list[Finding], set[tuple[str, str]]]]
"""(rule, cell) that a person wants published -> the findings on them, and those that may be"""


def _no_waivers(needed: Iterable[tuple[str, str]]) -> tuple[list[Finding], set[tuple[str, str]]]:
    return [], set()


@dataclass(frozen=True)
class ProtectionRequest:
    """What protection and audit are both held to.

    rules       : that call cells sensitive; they judge unions of cells, too
    assumptions : what attackers know
    manual      : what rules and people together ask of each cell
    findings    : on the cells that people want published although a rule forbids it
    """

    rules: tuple[SensitivityRule, ...]
    assumptions: Assumptions
    manual: ManualRequest
    findings: tuple[Finding, ...] = ()

    @property
    def requirements(self) -> Requirements:
        return self.manual.requirements

    @classmethod
    def of(
        cls,
        cells: Cells,
        rules: Sequence[SensitivityRule],
        assumptions: Assumptions,
        *,
        rows: Sequence[ManualRow] = (),
        cost: str = "value",
        manual_percent: float = 20,
        waive: Waive = _no_waivers,
    ) -> "ProtectionRequest":
        """Judge all cells by the rules, and apply what people state of single cells.

        rows          : of the a-priori file
        cost          : what suppression keeps small, by name (sluice.tabular.suppression.costs)
        manual_percent: see `SecondarySuppression`
        raises        : DataError where rules and rows contradict each other
        """
        nonnegative = assumptions.nonnegative
        requirements = requirements_of(rules, cells.contributions, nonnegative)
        findings, waived = waive(waivers_needed(cells, requirements, rows))
        manual = apply_manual(
            cells,
            requirements,
            rows,
            costs(cells, cost),
            waived=waived,
            safety_percent=manual_percent,
            nonnegative=nonnegative,
            remarks=[finding.says for finding in findings if finding.rule == "waiver"],
        )
        return cls(tuple(rules), assumptions, manual, tuple(findings))

    def with_secret_costs(self, cells: Cells, secret: str) -> "ProtectionRequest":
        """The same with noise on the costs, which only who has the secret can take out again."""
        cost = noisy_costs(cells, self.manual.cost, secret.encode())
        return replace(self, manual=replace(self.manual, cost=cost))


class SuppressionSearch(Protocol):
    """A search for a pattern in which no sensitive cell can be worked out; see `suppress`."""

    def __call__(
        self,
        cells: Cells,
        requirements: Requirements,
        rules: Sequence[SensitivityRule] = ...,
        assumptions: Assumptions = ...,
        cost: Floats | None = ...,
        forbidden: Booleans | None = ...,
        preferred: Booleans | None = ...,
        suppressed: Booleans | None = ...,
        *,
        workers: int = ...,
        effort: Effort = ...,
    ) -> Suppression: ...


def suppression_search(mode: Mode) -> SuppressionSearch:
    """The fast search, or the one that proves how far from the least possible cost it ends."""
    if mode == "optimise":
        from sluice.tabular.suppression.optimal_suppression import optimise  # takes time to load

        return optimise
    return suppress


def protect_cells(
    cells: Cells,
    request: ProtectionRequest,
    mode: Mode = "fast",
    *,
    suppressed: Booleans | None = None,
    workers: int = 1,
    effort: Effort = Effort(),  # noqa: B008
) -> Suppression:
    """A safe pattern of suppressed cells.

    suppressed : shape (c,), cells that are suppressed in any case
    effort     : a budget of time; without one, the pattern is always the same
    raises     : DataError when what is asked cannot be had
    cost       : see `suppress` and `optimise`
    """
    manual = request.manual
    return suppression_search(mode)(
        cells,
        manual.requirements,
        request.rules,
        request.assumptions,
        cost=manual.cost,
        forbidden=manual.forbidden,
        preferred=manual.preferred,
        suppressed=suppressed,
        workers=workers,
        effort=effort,
    )


def audit_cells(
    cells: Cells, status: Statuses, request: ProtectionRequest, proofs: Sequence[Proof] = (), workers: int = 1
) -> Audit:
    """Play every attack on a pattern, by the requirements alone and by nothing that its maker says of it.

    status : shape (c,), a `Status` each
    proofs : that the search for the pattern found; each is checked, none is believed
    """
    return audit(cells, status, request.requirements, request.rules, request.assumptions, proofs, workers)
