"""What a reader of the files and the rules finds in suppression patterns, ours and other programs', in the same run.

The reader is that of `tests/reader`, which shares no code with the product: it knows the published cells, their sums,
that values are whole numbers, that a listed count is not 0, the rules, and for insiders what they contributed. Columns:
sensitive cells; of these those that anybody computes exactly, proves to be too small (counts), or comes nearer to than
the rules allow; computed, among counts of which two values were possible, by who knows which cells are sensitive; and
what contributors compute exactly + too nearly. `?`: cells about which the reader did not finish.

gconfid 2 runs as itself where `make peers` was (see `gconfid_peer`). GaussSuppression (see `table_audit`)
and sdcTable's simple heuristic are R packages; the ideas are written out here from their documentation: of the latter,
that each sum with a single suppressed part gets another, the smallest, until there is none. That of HITAS, which
sdcTable and tau-ARGUS have, is in `hitas`. Run `python -m benchmarks table_reader`.
"""

from collections.abc import Callable
from time import process_time

import numpy as np
import pandas as pd

from benchmarks.gconfid_peer import gconfid_pattern, has_gconfid
from benchmarks.hitas import hitas_pattern
from benchmarks.table_audit import gauss_suppression_pattern
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Booleans, Cells, Status
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.model.measure import Measure
from sluice.tabular.model.numbered_records import records_of
from sluice.tabular.rules.minimum_frequency import MinimumFrequency
from sluice.tabular.rules.p_percent import PPercent
from sluice.tabular.rules.sensitivity import Requirements, SensitivityRule
from tasks.release.tables.protection import ProtectionRequest, protect_cells
from tests.reader.generate import Rows, drawn
from tests.reader.judge import Rules, Truth, successes
from tests.reader.play import MAGNITUDES, as_written, fewer_than
from tests.reader.published import Hierarchy, read_tables
from tests.reader.real_records import Table, adult, business

Pattern = Callable[[Cells, Requirements], Booleans]


def simple_heuristic(cells: Cells, requirements: Requirements) -> Booleans:
    """Until no sum has a single suppressed cell: suppress the smallest other cell of it that has a value."""
    suppressed = requirements.sensitive.copy()
    sums = [
        cells.equations.indices[a:b]
        for a, b in zip(cells.equations.indptr, cells.equations.indptr[1:], strict=False)
    ]  # fmt: skip
    while True:
        single = [members for members in sums if suppressed[members].sum() == 1 and len(members) > 1]
        if not single:
            return suppressed
        for members in single:
            if suppressed[members].sum() == 1:
                left = members[~suppressed[members]]
                suppressed[left[np.argmin(cells.total[left])]] = True


def main(quick: bool = False) -> None:
    print(
        f"{'':<34}{'cells':>6}{'sens.':>7}{'supp.':>7}{'value':>14}  exact below narrow status  contributors   reader"
    )
    for name, (records, rows), rules in _tables(quick):
        print(name, flush=True)
        play(records, rows, rules)


def _tables(quick: bool) -> list[tuple[str, Table, Rules]]:
    counts: dict[str, tuple[int, ...]] = {"a": (4, 4), "b": (5,), "c": (3,)}
    made = [("sparse counts, n = 3", _any(drawn(71, counts, 400)), fewer_than(3))]
    made += [("firms, heavy tails", _any(drawn(72, counts, 500, firms=250)), MAGNITUDES)]
    if not quick:
        made += [("sparse counts, n = 5", _any(drawn(73, counts, 600)), fewer_than(5))]
        made += [("Adult, 3,000 people, n = 3", adult(3_000), fewer_than(3))]
        made += [("business_generated, 1,053 cells", business(), MAGNITUDES)]
    return made


def _any(made: tuple[pd.DataFrame, dict[str, Rows]]) -> Table:
    return made[0], dict(made[1])


def play(records: pd.DataFrame, rows: dict[str, Rows | None], rules: Rules) -> None:
    """One table under every pattern."""
    firms = "firm" in records
    dimensions = [
        Dimension.of(name, tree) if tree else Dimension.flat(name, sorted(set(records[name])))
        for name, tree in rows.items()
    ]
    measure = Measure("value", "firm") if firms else Measure()
    cells = records_of(records, dimensions, measure).cells(dimensions)
    judges: list[SensitivityRule] = [
        MinimumFrequency(n=int(rule["n"])) if rule["rule"] == "minimum_frequency" else PPercent(p=rule["p"])
        for rule in rules
    ]
    request = ProtectionRequest.of(cells, judges, Assumptions(counts=measure.counts, own_parts=True))
    truth = Truth(
        records,
        [Hierarchy.of(name, tree) if tree else Hierarchy.flat(name, records[name]) for name, tree in rows.items()],
        rules,
        *((measure.value, measure.contributor) if firms else ()),
    )
    patterns: dict[str, Pattern] = {
        "Sluice": lambda cells, _: protect_cells(cells, request).status != Status.PUBLISHED,
        "GaussSuppression-like": lambda cells, needs: gauss_suppression_pattern(cells, needs.sensitive),
        "sdcTable-like, simple heuristic": simple_heuristic,
        "HITAS-like": hitas_pattern,
    }
    if has_gconfid():
        patterns["gconfid SIZE"] = lambda cells, needs: gconfid_pattern(cells, needs.upper)[0]
    for name, pattern in patterns.items():
        show(name, cells, pattern(cells, request.requirements), request.requirements, truth)


def show(name: str, cells: Cells, suppressed: Booleans, needs: Requirements, truth: Truth) -> None:
    status = np.where(suppressed, np.where(needs.sensitive, Status.PRIMARY, Status.SECONDARY), Status.PUBLISHED)
    text = as_written(cells, status.astype(np.uint8))
    begun = process_time()
    found = successes(read_tables([text], truth.hierarchies), truth)
    of = {kind: found.found.get(kind, 0) for kind in found.KINDS}
    print(
        f"  {name:<32}{len(cells):6,}{found.sensitive:7,}{int(suppressed.sum()):7,}{cells.total[suppressed].sum():14,}"
        f"{of['exact']:7}{of['below']:6}{of['narrow']:7}{of['status_exact']:7}"
        f"{of['insider_exact']:8} + {of['insider']:<4}{process_time() - begun:7.1f} s"
        + (f"  ?{of['undecided']}" if of["undecided"] else ""),
        flush=True,
    )
