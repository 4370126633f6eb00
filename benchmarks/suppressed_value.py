"""Suppressed value and processor time on generated tables of many kinds, beside gconfid SIZE.

    make peers && .venv/bin/python -m benchmarks suppressed_value

Once under gconfid's own condition, that nobody from outside narrows a cell further than its level, and once against
contributors and unions, which gconfid does not look at. Rules: fewer than 3 contributors, and p% = 10 of magnitudes.
"""

from time import process_time

import numpy as np

from benchmarks.gconfid_peer import gconfid_pattern, has_gconfid
from sluice.tabular.audit.pattern_audit import audit
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Status
from sluice.tabular.rules.minimum_frequency import MinimumFrequency
from sluice.tabular.rules.p_percent import PPercent
from sluice.tabular.rules.sensitivity import requirements_of
from sluice.tabular.suppression.suppression import suppress
from tests.tabular.generated import SHAPES, generated

CONDITIONS = {"gconfid's own": Assumptions(coalition=0, unions=False), "all": Assumptions()}
_SLOW = 3000  # cells from which on gconfid takes many minutes


def main(quick: bool = False) -> None:
    """Print value, value over gconfid's, CPU seconds, and whether the audit finds the pattern safe."""
    peer = has_gconfid()
    suppress_once()
    print(f"{'table':<24} {'cells':>6} {'sensitive':>9} {'condition':<14} {'value':>12} {'ratio':>6} {'CPU s':>6} safe")
    for name in list(SHAPES)[: 3 if quick else None]:
        cells, magnitude = generated(name), SHAPES[name].spread > 0
        rules = [MinimumFrequency(n=3), PPercent(p=10)] if magnitude else [MinimumFrequency(n=3)]
        needs = requirements_of(rules, cells.contributions)
        theirs = np.nan
        if peer and magnitude and len(cells) < _SLOW:
            pattern, _ = gconfid_pattern(cells, needs.upper)
            theirs = float(cells.total[pattern].sum())
        for says, assumptions in CONDITIONS.items():
            begun = process_time()
            made = suppress(cells, needs, rules, assumptions)
            used = process_time() - begun
            value = float(cells.total[made.status != Status.PUBLISHED].sum())
            safe = audit(cells, made.status, needs, rules, assumptions, made.certificates).safe
            print(
                f"{name:<24} {len(cells):6,} {needs.sensitive.sum():9,} {says:<14} {value:12,.0f} "
                f"{value / theirs:6.3f} {used:6.2f} {safe}",
                flush=True,
            )


def suppress_once() -> None:
    """Load the compiled loops."""
    cells = generated("2-D")
    suppress(cells, requirements_of([MinimumFrequency(n=3)], cells.contributions), [MinimumFrequency(n=3)])


if __name__ == "__main__":
    main()
