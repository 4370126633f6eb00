"""Other tools' suppression patterns put through our audit: who can undo them, and how long that takes to find out.

gconfid 2 runs as itself where `make peers` was (see `gconfid_peer`). GaussSuppression is an R package; its
idea is written out here, plainly and for s1k only: cells are published one after another, dear ones first, as long as
no sensitive cell becomes a linear combination of what is published. Data: generated business tables, nace x region x
size; sensitive are fewer than three contributors or p% = 10. Failures are counted in sensitive cells (or unions) that
somebody can compute exactly + to within their protection level. Run `python -m benchmarks table_audit`.
"""

from collections import Counter
from pathlib import Path
from time import perf_counter

import numpy as np
import pandas as pd

from benchmarks.gconfid_peer import gconfid_pattern, has_gconfid
from sluice.tabular.audit.pattern_audit import Audit, audit
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.cells import Booleans, Cells, Status
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.rules.minimum_frequency import MinimumFrequency
from sluice.tabular.rules.p_percent import PPercent
from sluice.tabular.rules.sensitivity import Requirements, requirements_of
from tests.reference_data import REFERENCE_DATA

BUSINESS = REFERENCE_DATA / "business_generated"
RULES = (MinimumFrequency(n=3), PPercent(p=10))


def business(folder: Path) -> Cells:
    records = pd.read_csv(folder / "micro.csv.gz", dtype=str, keep_default_na=False)
    dimensions = []
    for axis in ("nace", "region", "size"):
        rows = pd.read_csv(folder / f"hier_{axis}.csv", dtype=str, keep_default_na=False)
        dimensions.append(Dimension.of(axis, list(zip(rows.code, rows.parent, strict=True))))
    leaves = np.column_stack([records[d.name].map(d.position).to_numpy(np.int32) for d in dimensions])
    return aggregate(dimensions, leaves, records["id"].to_numpy(np.int64), records["value"].to_numpy(np.int64))


def gauss_suppression_pattern(cells: Cells, sensitive: Booleans) -> Booleans:
    """Publish cells in falling order of value, each unless a sensitive cell would follow from those published so far.

    Every cell is a sum of innermost cells, a 0/1 vector. The vectors of the published cells are kept in echelon form
    modulo a prime; a candidate's remainder joins them unless then some sensitive cell's remainder would vanish.
    """
    prime = 2**31 - 1
    inner, parts = _inner_cells(cells)
    column = {cell: at for at, cell in enumerate(inner)}
    secret = [_reduced({column[part]: 1 for part in parts[cell]}, {}, prime) for cell in np.flatnonzero(sensitive)]
    touching: dict[int, set[int]] = {}
    for which, vector in enumerate(secret):
        for at in vector:
            touching.setdefault(at, set()).add(which)
    echelon: dict[int, dict[int, int]] = {}
    published = np.zeros(len(cells), dtype=bool)
    for cell in np.lexsort((np.arange(len(cells)), -cells.total)):
        if sensitive[cell]:
            continue
        rest = _reduced({column[part]: 1 for part in parts[cell]}, echelon, prime)
        if rest:
            pivot = min(rest, key=lambda at: (len(touching.get(at, ())), at))
            inverse = pow(rest[pivot], -1, prime)
            row = {at: value * inverse % prime for at, value in rest.items()}
            changed = {which: _less(secret[which], row, pivot, prime) for which in touching.get(pivot, ())}
            if not all(changed.values()):
                continue
            for which, vector in changed.items():
                for at in secret[which].keys() - vector.keys():
                    touching[at].discard(which)
                for at in vector.keys() - secret[which].keys():
                    touching.setdefault(at, set()).add(which)
                secret[which] = vector
            echelon[pivot] = row
        published[cell] = True
    return ~published


def _inner_cells(cells: Cells) -> tuple[list[int], list[list[int]]]:
    """The cells that are no sum, and of which of them each cell is the sum."""
    below: dict[int, list[int]] = {}
    for row in range(cells.equations.shape[0]):
        inside = slice(cells.equations.indptr[row], cells.equations.indptr[row + 1])
        members, signs = cells.equations.indices[inside], cells.equations.data[inside]
        below.setdefault(int(members[signs > 0][0]), [int(cell) for cell in members[signs < 0]])
    parts: dict[int, list[int]] = {}

    def expand(cell: int) -> list[int]:
        if cell not in parts:
            parts[cell] = [part for child in below[cell] for part in expand(child)] if cell in below else [cell]
        return parts[cell]

    every = [expand(cell) for cell in range(len(cells))]
    return [cell for cell in range(len(cells)) if cell not in below], every


def _reduced(vector: dict[int, int], echelon: dict[int, dict[int, int]], prime: int) -> dict[int, int]:
    waiting = [at for at in vector if at in echelon]
    while waiting:
        at = waiting.pop()
        if at in vector:
            vector = _less(vector, echelon[at], at, prime)
            waiting += [other for other in echelon[at] if other in echelon and other in vector]
    return vector


def _less(vector: dict[int, int], row: dict[int, int], pivot: int, prime: int) -> dict[int, int]:
    """The vector minus as much of a row (1 at its pivot) as takes its pivot away."""
    factor, made = vector[pivot], dict(vector)
    for at, value in row.items():
        left = (made.get(at, 0) - factor * value) % prime
        if left:
            made[at] = left
        else:
            made.pop(at, None)
    return made


def show(name: str, cells: Cells, needs: Requirements, suppressed: Booleans, seconds: float, examples: int) -> None:
    status = np.where(suppressed, np.where(needs.sensitive, Status.PRIMARY, Status.SECONDARY), Status.PUBLISHED)
    begun = perf_counter()
    outcome = audit(cells, status.astype(np.uint8), needs, RULES, workers=2)
    print(
        f"{name:<18}{seconds:8.1f} s{(suppressed & ~needs.sensitive).sum():7,}{cells.total[suppressed].sum():12,}"
        f"{_count(outcome, 'outsider'):>12}{_count(outcome, 'contributor'):>14}{_count(outcome, 'union'):>8}"
        f"{perf_counter() - begun:8.2f} s",
        flush=True,
    )
    kinds: Counter[str] = Counter()
    for breach in outcome.breaches:
        kinds[breach.attacker] += 1
        if kinds[breach.attacker] <= examples:
            print(f"    {breach.says}")


def _count(outcome: Audit, attacker: str) -> str:
    """Exactly + nearly: cells or unions, not attacks."""
    exact = {b.cells for b in outcome.breaches if b.attacker == attacker and b.exact}
    nearly = {b.cells for b in outcome.breaches if b.attacker == attacker} - exact
    return f"{len(exact)}+{len(nearly)}"


def main(quick: bool = False) -> None:
    if not BUSINESS.is_dir():
        print("the generated business data are not there")
        return
    peer = has_gconfid()
    for name in ("s1k",) if quick else ("s1k", "s10k"):
        cells = business(BUSINESS / name)
        needs = requirements_of(RULES, cells.contributions)
        small = needs.sensitive | (cells.total < np.quantile(cells.total, 0.1))
        audit(cells, np.where(small, Status.SECONDARY, 0).astype(np.uint8), needs, RULES)  # compiles
        print(f"{name}: {len(cells):,} cells, {needs.sensitive.sum()} sensitive; failures by attacker, exact + nearly")
        print(
            f"{'pattern of':<18}{'made in':>10}{'second.':>7}{'value':>12}"
            f"{'outsider':>12}{'contributor':>14}{'union':>8}{'audit':>10}"
        )
        if peer:
            show("gconfid SIZE", cells, needs, *gconfid_pattern(cells, needs.upper), examples=2)
        if name != "s1k":
            continue  # the plain elimination takes more than five minutes there
        begun = perf_counter()
        pattern = gauss_suppression_pattern(cells, needs.sensitive)
        show("Gauss-like", cells, needs, pattern, perf_counter() - begun, examples=2)


if __name__ == "__main__":
    main()
