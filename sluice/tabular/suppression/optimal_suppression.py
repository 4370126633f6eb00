"""Secondary suppression close to the least possible cost, with a proven bound on what any safe pattern must cost.

Source: Fischetti and Salazar-González (2001): binary x_i, whether cell i is suppressed, of least cost, such that the
attackers' problems leave each sensitive cell as far in doubt as required. It is solved by cuts (`capacity_cuts.py`)
that are added in rounds, first to the linear relaxation, then, while the gap is too wide, to the problem in whole
numbers. Differs from it: HiGHS takes no cuts during its search, so that it searches anew in each round.

Each solution guides the fast search (`suppression.py`), which meets every condition, those too that no cut states, and
proves its pattern safe: what the solution suppresses is offered to it cheaply. A solution that is itself a pattern and
lacks no cut is where it starts, and where it ends if that is safe.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from scipy.sparse import csr_array

from sluice.ground.errors import DataError
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Booleans, Cells, Floats, Status
from sluice.tabular.model.linear_solver import is_optimal, solver_of
from sluice.tabular.rules.intruders import intruders
from sluice.tabular.rules.sensitivity import Requirements, SensitivityRule
from sluice.tabular.suppression.capacity_cuts import CapacityCuts, Cut, Demand, bridgeless_cuts, union_cuts
from sluice.tabular.suppression.costs import checked_weights, value
from sluice.tabular.suppression.effort import Effort
from sluice.tabular.suppression.suppression import Suppression, suppress
from sluice.tabular.suppression.targets import Target, targets_of
from sluice.tabular.suppression.unknown_cells import unknown_cells

_ROUNDS = 50  # of the relaxation; it takes five to ten
_WHOLE_ROUNDS = 30
_SHORT = 1e-3  # what a cut must miss, of 1, in the relaxation
_LEFT = 0.02  # of its cost, where the solution suppresses a cell wholly
_SLACK = 1e-9  # taken off the solver's bound, for its rounding
_FIRST, _GUIDED = 0.3, 0.5  # of the time that is left, for the first pattern and for each one that a solution guides


def optimise(
    cells: Cells,
    requirements: Requirements,
    rules: Sequence[SensitivityRule] = (),
    assumptions: Assumptions = Assumptions(),  # noqa: B008
    cost: Floats | None = None,
    forbidden: Booleans | None = None,
    preferred: Booleans | None = None,
    suppressed: Booleans | None = None,
    incumbent: Suppression | None = None,
    gap: float = 0.01,
    workers: int = 1,
    effort: Effort = Effort(),  # noqa: B008
) -> Suppression:
    """A safe pattern as `suppress` makes, and a `bound`: no safe pattern costs less.

    incumbent : a safe pattern for the same request, to be beaten
    gap       : 0 to 1; enough is done when the pattern costs at most bound / (1 - gap)
    effort    : a budget of time; within it or not, there is a safe pattern and a bound in the end: without time, the
                cost of what is suppressed in every pattern. Without a budget, the outcome is always the same
    returns   : the cheapest pattern found, safe as that of `suppress`. `bound` counts the sensitive cells too, and
                preferred cells as free. It is for the intervals of anybody and of contributors who know cells wholly;
                of unions it knows those of the parts of one sum. What own parts, whole numbers, and the knowledge of
                which cells are sensitive ask beyond that may make every safe pattern dearer
    raises    : DataError as `suppress`; for a gap out of bounds
    cost      : for 1,000 cells some seconds; for 10,000 some minutes, most of them for the last percents

    The other parameters are those of `suppress`.
    """
    if not 0 <= gap < 1:
        raise DataError(f"gap must be at least 0 and below 1; got {gap:g}. Is it in percent? Use {gap / 100:g}.")
    cost = value(cells) if cost is None else checked_weights(cells, cost, "cost")
    counted = np.where(cells.published, cost if preferred is None else np.where(preferred, 0.0, cost), 0.0)

    def safe(guided: Floats, begun: Booleans | None, share: float = _GUIDED) -> Suppression:
        some = effort.part(share).unseen()
        return suppress(
            cells, requirements, rules, assumptions, guided, forbidden, preferred, begun, workers=workers, effort=some
        )

    best = safe(cost, suppressed, _FIRST)
    first = best.first
    if incumbent is not None:
        best = _cheaper(best, incumbent, counted)
    problem = _Problem(cells, requirements, rules, assumptions, counted, forbidden, suppressed, effort)
    problem.incumbent = cost_of(best, counted)
    for x, complete in problem.solutions(gap):
        if effort.spent:
            break
        chosen = np.append(x, 0.0)[problem.unknowns.of_cell]
        best = _cheaper(best, safe(cost * np.maximum(_LEFT, 1 - chosen), suppressed), counted)
        if complete:
            hidden = (chosen > 0) if suppressed is None else (chosen > 0) | suppressed
            best = _cheaper(best, safe(cost, hidden), counted)
        problem.incumbent = cost_of(best, counted)
        if problem.gap <= gap:
            break
    return Suppression(best.status, best.certificates, problem.bound, first, effort.spent)


def cost_of(pattern: Suppression, cost: Floats) -> float:
    """What a pattern costs, the sensitive cells too; withheld marginals cost nothing."""
    return float(cost[(pattern.status == Status.PRIMARY) | (pattern.status == Status.SECONDARY)].sum())


def _cheaper(one: Suppression, other: Suppression, cost: Floats) -> Suppression:
    return other if cost_of(other, cost) < cost_of(one, cost) else one


class _Problem:
    """Which unknowns to suppress: a linear problem that grows by cuts, and what it has proven.

    bound     : proven; cost of what is suppressed whatever the pattern, at least
    incumbent : cost of the best pattern known
    """

    def __init__(
        self,
        cells: Cells,
        requirements: Requirements,
        rules: Sequence[SensitivityRule],
        assumptions: Assumptions,
        cost: Floats,
        forbidden: Booleans | None,
        suppressed: Booleans | None,
        effort: Effort,
    ) -> None:
        nothing = np.zeros(len(cells), dtype=bool)
        anybody = intruders(cells, requirements, rules, assumptions)[0]
        self.unknowns = unknowns = unknown_cells(cells, anybody.lower, anybody.upper)
        given = requirements.sensitive | (nothing if suppressed is None else suppressed)
        fixed = unknowns.any(given | ~cells.published)
        self._cost = unknowns.sum(cost)
        self._constant = float(cost[given & (unknowns.of_cell < 0)].sum())
        self.bound = self._constant + float(self._cost[fixed].sum())
        self.incumbent = np.inf
        self._effort = effort
        self._least = fixed.astype(np.float64)
        self._most = np.where(unknowns.any(nothing if forbidden is None else forbidden), 0.0, 1.0)
        self._scale = max(float(self._cost.max(initial=0)), 1e-9) if self.bound <= 0 else self.bound
        self._solver = solver_of(
            csr_array((0, len(unknowns))), np.zeros(0), np.zeros(0), self._cost / self._scale, presolve="off"
        )
        self._all = np.arange(len(unknowns), dtype=np.int32)
        self._solver.changeColsBounds(len(unknowns), self._all, self._least, self._most)
        targets = targets_of(cells, unknowns, [anybody], rules, assumptions.nonnegative)
        self._cuts = CapacityCuts(cells.to_contributors, unknowns, _demands(targets), assumptions.coalition, effort)
        self._add(bridgeless_cuts(unknowns, fixed))
        self._cells, self._fixed, self._union_rules = cells, fixed, rules if assumptions.unions else ()
        self._add(self._union_cuts(fixed))

    @property
    def gap(self) -> float:
        """How much the incumbent may cost too much, relative to its cost."""
        return 1 - self.bound / self.incumbent if self.incumbent > 0 else 0.0

    def solutions(self, gap: float) -> Iterator[tuple[Floats, bool]]:
        """Solutions, of the linear relaxation first, and whether each is a pattern that lacks no cut.

        `bound` grows on the way.
        """
        x = self._relaxation()
        if x is None:
            return
        yield x, False
        for done in range(_WHOLE_ROUNDS):
            self._effort.tell("prove", _ROUNDS + done, _ROUNDS + _WHOLE_ROUNDS)
            x = self._whole(gap / 4)
            if x is None:
                return
            cuts = [*self._cuts.violated(x, 1e-6, whole=True), *self._union_cuts(x > 0)]
            self._add(cuts)
            yield x, not cuts and not self._effort.spent  # out of time, the search for cuts was cut short
            if not cuts:
                return

    def _union_cuts(self, pattern: Booleans) -> list[Cut]:
        if not self._union_rules:
            return []
        return list(union_cuts(self._cells, self.unknowns, self._union_rules, pattern, self._fixed))

    def _relaxation(self) -> Floats | None:
        x = None
        for done in range(_ROUNDS):
            self._effort.tell("prove", done, _ROUNDS + _WHOLE_ROUNDS)
            if self._effort.spent:
                break
            self._run()
            if not is_optimal(self._solver):
                break
            self._prove(self._solver.getObjectiveValue())
            x = np.clip(self._solver.getSolution().col_value, 0, 1)
            cuts = self._cuts.violated(x, _SHORT)
            if not cuts:
                break
            self._add(cuts)
        return x

    def _whole(self, gap: float) -> Floats | None:
        """The best pattern that meets the cuts so far, if it may be cheaper than the incumbent."""
        import highspy

        if self._effort.spent:
            return None
        solver, count = self._solver, len(self._all)
        most = self._worthwhile()
        kind = highspy.HighsVarType
        kinds = np.array([kind.kInteger if free else kind.kContinuous for free in self._least < most])
        solver.changeColsBounds(count, self._all, self._least, most)
        solver.changeColsIntegrality(count, self._all, kinds)
        solver.setOptionValue("presolve", "on")
        solver.setOptionValue("mip_rel_gap", gap)
        self._run()
        info, status = solver.getInfo(), solver.getModelStatus()
        x = None
        if info.primal_solution_status == int(highspy.SolutionStatus.kSolutionStatusFeasible):
            x = np.rint(solver.getSolution().col_value)
        if status == highspy.HighsModelStatus.kInfeasible:
            self._prove(np.inf)
        elif np.isfinite(info.mip_dual_bound):
            self._prove(info.mip_dual_bound)
        solver.changeColsIntegrality(count, self._all, np.array([kind.kContinuous] * count))
        solver.changeColsBounds(count, self._all, self._least, self._most)
        solver.setOptionValue("presolve", "off")
        return x

    def _worthwhile(self) -> Floats:
        """Upper bounds of x: 0 where the relaxation's prices say that one more would cost more than the incumbent."""
        solver = self._solver
        self._run()
        if not is_optimal(solver):
            return self._most
        reduced = np.array(solver.getSolution().col_dual) * self._scale
        relaxed = solver.getObjectiveValue() * self._scale + self._constant
        hopeless = (self._least == 0) & (relaxed + reduced > self.incumbent * (1 + 1e-6))
        return np.where(hopeless, 0.0, self._most)

    def _prove(self, objective: float) -> None:
        """Take the solver's bound up, to the incumbent at most: the search left out what cannot be cheaper."""
        proven = objective * self._scale * (1 - _SLACK) + self._constant
        self.bound = max(self.bound, min(proven, self.incumbent))

    def _run(self) -> None:
        self._solver.setOptionValue("time_limit", self._effort.left)
        self._solver.run()

    def _add(self, cuts: Iterable[Cut]) -> None:
        import highspy

        given = list(cuts)
        start = np.cumsum([0, *(len(cut.unknowns) for cut in given)], dtype=np.int32)
        if not given:
            return
        least = np.array([cut.least for cut in given])
        self._solver.addRows(
            len(given), least, np.full(len(given), highspy.kHighsInf), int(start[-1]), start[:-1],
            np.concatenate([cut.unknowns for cut in given]), np.concatenate([cut.weights for cut in given]),
        )  # fmt: skip


def _demands(targets: Iterable[Target]) -> list[Demand]:
    found = []
    for target in targets:
        need = target.need
        for sides, level in (((1,), need.up), ((-1,), need.down), ((1, -1), need.wide)):
            if level > 0:
                found.append(Demand(target, sides, float(level)))
    return found
