"""Whoever runs the method again on every table that fits learns more; not where the costs have secret noise."""

from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from sluice.ground.errors import DataError
from sluice.publication.published_table import published_table
from sluice.publication.published_table_files import to_csv
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Cells, Status, Statuses
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.rules.minimum_frequency import MinimumFrequency
from tasks.release.tables.protection import ProtectionRequest, protect_cells
from tests.reader.minimality import Counts, Excluded, Factors, as_published, candidates, learned
from tests.reader.published import Cell, Hierarchy, Published, read_tables

SIDE, MEAN, MOST = 3, 4.0, 15
DIMENSIONS = [Dimension.flat(name, [f"{name}{code}" for code in range(SIDE)]) for name in "ab"]
CODES = list(product(*([f"{name}{code}" for code in range(SIDE)] for name in "ab")))


def suppressed_by_product(counts: Counts, factors: Factors, n: int) -> tuple[Cells, Statuses]:
    leaves = np.array([CODES.index(cell) for cell, count in counts.items() for _ in range(count)])
    codes = np.column_stack([leaves // SIDE + 1, leaves % SIDE + 1]).astype(np.int32)
    cells = aggregate(DIMENSIONS, codes, np.arange(len(leaves)), np.ones(len(leaves), dtype=np.int64))
    request = ProtectionRequest.of(cells, [MinimumFrequency(n=n)], Assumptions(counts="contributors"))
    factor = np.array([factors(codes_of(cells, cell)) for cell in range(len(cells))])
    noisy = replace(request, manual=replace(request.manual, cost=request.manual.cost * factor))
    return cells, protect_cells(cells, noisy).status


def codes_of(cells: Cells, cell: int) -> Cell:
    return tuple(d.codes[code] for d, code in zip(DIMENSIONS, cells.codes[cell], strict=True))


def pattern(counts: Counts, factors: Factors, n: int) -> frozenset[Cell]:
    try:
        cells, status = suppressed_by_product(counts, factors, n)
    except DataError:
        return frozenset()
    return frozenset(codes_of(cells, int(cell)) for cell in np.flatnonzero(status != Status.PUBLISHED))


def small_table(seed: int, n: int) -> tuple[Published, dict[Cell, int]] | None:
    """A table of counts as the product publishes it, and its counts; None where nothing is suppressed."""
    rng = np.random.default_rng([seed, 47])
    counts = rng.poisson(MEAN * rng.gamma(1.0, 1.0, (SIDE, SIDE))).ravel()
    inner = {cell: int(count) for cell, count in zip(CODES, counts, strict=True) if count}
    try:
        cells, status = suppressed_by_product(inner, lambda cell: 1.0, n)
    except DataError:
        return None
    true: Counter[Cell] = Counter()
    for (a, b), count in inner.items():
        for cell in product((a, "Total"), (b, "Total")):
            true[cell] += count
    hierarchies = [Hierarchy.flat(d.name, d.codes[1:]) for d in DIMENSIONS]
    table = published_table(cells, status, "t", [d.name for d in DIMENSIONS])
    published = read_tables([to_csv(table).decode()], hierarchies)
    return (published, dict(true)) if not published.known.all() else None


def played(n: int, seeds: range, secrets: int) -> Excluded:
    exact = below = 0
    for seed in seeds:
        drawn = small_table(seed, n)
        tables = candidates(drawn[0], MOST) if drawn else None
        if drawn is None or tables is None:
            continue
        published, true = drawn
        left = as_published(published, tables, lambda counts, factors: pattern(counts, factors, n), secrets)
        assert left[(tables == [true[cell] for cell in published.cells]).all(axis=1)].all()
        found = learned(published, tables, left, true, n - 1)
        exact, below = exact + found.exact, below + found.below
    return Excluded(exact, below)


@pytest.mark.parametrize("n", [2, pytest.param(3, marks=pytest.mark.exhaustive)])
def test_noise_on_the_costs_leaves_less_to_a_reader_who_runs_the_method_again(n: int) -> None:
    """Some remain: tables of which the pattern would be unsafe, or have cells to spare, are excluded by any costs."""
    known, secret = (played(n, range(20), secrets) for secrets in (0, 5))
    assert known.exact >= 2
    assert secret.exact <= (2 if n == 2 else 0)  # of 2, that a cell is sensitive is its value
    assert secret.below < known.below
