"""Optimal suppression beside the fast search: cost, proven bound, gap and seconds at 1,000 and 10,000 cells.

Rule: fewer than 3 contributors or p% = 10; the cost is the value, the sensitive cells' too. Once for outsiders alone,
which is what gconfid protects against (it runs beside where `make peers` was), and once for all
conditions: intervals, unions, contributors' own attacks, all at the full level. Figures that a prototype reached:
all conditions 805,396 (bound 797,787) and 3,433,868 (bound 3,347,402); outsiders and unions 614,095 and 2,879,016.
"""

from time import monotonic, perf_counter

import numpy as np

from benchmarks.gconfid_peer import gconfid_pattern, has_gconfid
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.rules.minimum_frequency import MinimumFrequency
from sluice.tabular.rules.p_percent import PPercent
from sluice.tabular.rules.sensitivity import requirements_of
from sluice.tabular.suppression.effort import Effort
from sluice.tabular.suppression.optimal_suppression import cost_of, optimise
from sluice.tabular.suppression.suppression import suppress
from tests.tabular.tables import business

RULES = (MinimumFrequency(n=3), PPercent(p=10))
CONDITIONS = {"outsiders, unions": Assumptions(coalition=0), "all conditions": Assumptions()}
SECONDS = 300.0  # what the solver may take


def line(table: str, condition: str, method: str, value: float, bound: float | None, seconds: float) -> None:
    proven = f"{bound:>13,.0f} {100 * (1 - bound / value):>7.2f}" if bound is not None else f"{'':>13} {'':>7}"
    print(f"{table:<6} {condition:<18} {method:<9} {value:>12,.0f} {proven} {seconds:>9.1f}", flush=True)


def main(quick: bool = False) -> None:
    """Print the value suppressed, the bound that no safe pattern goes below, the gap and the time."""
    peer = has_gconfid()
    print(f"{'table':<6} {'condition':<18} {'method':<9} {'value':>12} {'bound':>13} {'gap, %':>7} {'seconds':>9}")
    for table in ("s1k",) if quick else ("s1k", "s10k"):
        cells = business(table)
        requirements = requirements_of(RULES, cells.contributions)
        value = cells.total.astype(np.float64)
        if peer:
            pattern, seconds = gconfid_pattern(cells, requirements.upper)
            line(table, "outsiders", "gconfid", float(value[pattern].sum()), None, seconds)
        for condition, assumptions in CONDITIONS.items():
            begun = perf_counter()
            fast = suppress(cells, requirements, RULES, assumptions)
            line(table, condition, "suppress", cost_of(fast, value), None, perf_counter() - begun)
            begun = perf_counter()
            effort = Effort.of(SECONDS, monotonic)
            best = optimise(cells, requirements, RULES, assumptions, incumbent=fast, effort=effort)
            line(table, condition, "optimise", cost_of(best, value), best.bound, perf_counter() - begun)


if __name__ == "__main__":
    main()
