"""What each protection of suppressed cells costs, in cells and value, one after the other.

    python -m benchmarks suppression_price

Generated tables, each of another seed: turnover of firms (fewer than 3 contributors, p% = 10; cost: value), and counts
of people (fewer than 3, fewer than 5). Each line withstands what the line above it does, and one kind of reader more.
"""

from dataclasses import replace
from time import process_time

import numpy as np

from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Cells, Status
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.rules.minimum_frequency import MinimumFrequency
from sluice.tabular.rules.p_percent import PPercent
from sluice.tabular.rules.sensitivity import SensitivityRule, requirements_of
from sluice.tabular.suppression.suppression import suppress

_NOBODY = Assumptions(coalition=0, unions=False, own_parts=False)
_CONDITIONS = [
    ("anybody, by intervals", _NOBODY),
    ("+ sole contributors", replace(_NOBODY, coalition=1)),
    ("+ unions", replace(_NOBODY, coalition=1, unions=True)),
    ("+ own parts", Assumptions(own_parts=True)),
]
_RULES = ("+ readers of the rules", Assumptions(own_parts=True, counts="contributors"))


def main(quick: bool = False) -> None:
    print(f"{'table':>15}  cells sensitive       protected against    CPU secondary     value")
    for seed in (1,) if quick else (1, 2, 3):
        _lines(f"turnover {seed}", _table(seed, firms=True), [MinimumFrequency(n=3), PPercent(p=10)], _CONDITIONS)
    for n in (3,) if quick else (3, 5):
        _lines(f"counts below {n}", _table(10 + n), [MinimumFrequency(n=n)], [*_CONDITIONS, _RULES])


def _lines(name: str, cells: Cells, rules: list[SensitivityRule], conditions: list[tuple[str, Assumptions]]) -> None:
    requirements = requirements_of(rules, cells.contributions)
    suppress(cells, requirements, rules, conditions[0][1])  # compile, or load the compiled loops
    for says, assumptions in conditions:
        begun = process_time()
        hidden = suppress(cells, requirements, rules, assumptions).status != Status.PUBLISHED
        print(
            f"{name:>15} {len(cells):6,} {requirements.sensitive.sum():9,} {says:>23} {process_time() - begun:6.1f} "
            f"{(hidden & ~requirements.sensitive).sum():9,} {cells.total[hidden].sum():9,}",
            flush=True,
        )


def _table(seed: int, firms: bool = False) -> Cells:
    """Three dimensions, two of them with two levels; log-normal turnover of firms with several records, or people."""
    random = np.random.default_rng(seed)
    dimensions = [_tree("a", 4, 3), _tree("b", 3, 3), Dimension.flat("c", ["c0", "c1", "c2"])]
    records = 1500
    shares = [random.dirichlet(np.full(len(dimension.leaves), 1.5)) for dimension in dimensions]
    leaves = [random.choice(d.leaves, records, p=share) for d, share in zip(dimensions, shares, strict=True)]
    who = random.integers(0, records // 2, records) if firms else np.arange(records)
    value = np.rint(np.exp(random.normal(4, 1.5, records))) if firms else np.ones(records)
    return aggregate(dimensions, np.column_stack(leaves).astype(np.int32), who, value.astype(np.int64))


def _tree(name: str, groups: int, leaves: int) -> Dimension:
    rows = [("Total", "")]
    for group in range(groups):
        rows += [(f"{name}{group}", "Total"), *((f"{name}{group}{leaf}", f"{name}{group}") for leaf in range(leaves))]
    return Dimension.of(name, rows)
