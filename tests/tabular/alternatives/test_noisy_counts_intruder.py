"""Readers of counts with noise, held beside an attacker of its own: integer programs of SciPy on the figures alone."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

import sluice
from sluice.ground.verdict import Verdict
from sluice.tabular.alternatives.attacker_interval import NoisyCounts
from sluice.tabular.alternatives.perturbation_table import PerturbationTable
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.rules.minimum_frequency import MinimumFrequency
from sluice.tabular.rules.sensitivity import requirements_of
from tests.golden import golden
from tests.reader.generate import drawn
from tests.reader.published import Hierarchy
from tests.reader.real_records import Table, adult

N = 3
CLOSE, WIDE = (2, 1.0, 0), (7, 5.0, 2)


def generated(seed: int) -> Table:
    branches = ({"a": (2,), "b": (2,), "c": (2,)}, {"a": (2, 2), "b": (2, 2)})[seed % 2]
    return drawn(seed, branches, int(np.random.default_rng(seed).integers(8, 60)))


def attacked(table: Table, seed: int, noise: tuple[int, float, int]) -> tuple[Any, int, int]:
    """What the product says; of how many sensitive cells anybody has proof, and of how many who has a part in them."""
    records, rows = table
    maximum, variance, threshold = noise
    made = sluice.protect(
        records.assign(p=[f"P{each}" for each in range(len(records))]),
        {name: dict(of) for name, of in rows.items()},
        rules=[{"rule": "minimum_frequency", "n": N}],
        contributor="p",
        seed=seed,
        method={"method": "cell_key", "maximum": maximum, "variance": variance, "threshold": threshold},
    )
    hierarchies = [Hierarchy.of(name, of) for name, of in rows.items()]
    figures = made.cells.set_index([each.name for each in hierarchies])["changed_to"].astype(int).to_dict()
    above = [[h.above[code] for code in records[h.name]] for h in hierarchies]
    true = pd.Series([cell for each in zip(*above, strict=True) for cell in product(*each)]).value_counts().to_dict()
    codes = [sorted({code for up in each.above.values() for code in up}) for each in hierarchies]
    grid = {cell: at for at, cell in enumerate(product(*codes))}
    table = PerturbationTable.of_largest_entropy(*noise)
    low, high = table.origins(np.array([figures.get(cell, 0) for cell in grid]))
    sums = [
        (grid[cell], [grid[(*cell[:axis], part, *cell[axis + 1 :])] for part in parts])
        for axis, each in enumerate(hierarchies)
        for group, parts in each.sums
        for cell in grid
        if cell[axis] == group
    ]
    entries = np.array([(row, at, sign) for row, (whole, parts) in enumerate(sums) for at, sign in _row(whole, parts)])
    equations = csr_array((entries[:, 2], (entries[:, 0], entries[:, 1])), shape=(len(sums), len(grid)))
    anybody = member = 0
    for cell, total in true.items():
        if total >= N:
            continue
        for part in (0, 1):
            least = low.copy()
            least[grid[cell]] = max(least[grid[cell]], part)
            down, up = (_end(equations, least, high, grid[cell], sign) for sign in (1, -1))
            assert down <= total <= up
            proof = down == up or (down >= 1 and up < N)
            anybody, member = anybody + (proof and not part), member + (proof and bool(part))
    return made, anybody, member


def _row(whole: int, parts: list[int]) -> list[tuple[int, int]]:
    return [(whole, 1), *((part, -1) for part in parts)]


def _end(equations: csr_array, low: np.ndarray, high: np.ndarray, cell: int, sign: int) -> int:
    gain = np.zeros(len(low))
    gain[cell] = sign
    found = milp(gain, constraints=LinearConstraint(equations, 0, 0), bounds=Bounds(low, high), integrality=1)
    assert found.success
    return round(found.x[cell])


@pytest.mark.chain
def test_what_is_safe_withstands_the_attacker_and_what_it_breaks_fails() -> None:
    proofs = passes = 0
    for seed, noise in [*((seed, WIDE) for seed in range(3)), *((seed, CLOSE) for seed in range(6, 12))]:
        made, anybody, member = attacked(generated(seed), seed, noise)
        if made.verdict is Verdict.PASS:
            passes += 1
            assert anybody == member == 0
        proofs += anybody
        if member:
            assert made.verdict is Verdict.FAIL
            assert made.breaches_found >= member
            golden.words(made.says)
    assert passes >= 3
    assert proofs


@pytest.mark.exhaustive  # one secret is played above
def test_no_secret_gives_people_of_adult_away() -> None:
    """By country of birth and sex: 60 people, most of them alone in a cell or two, under one secret after another."""
    people = adult(60)[0][["country", "sex"]]
    trees = {name: [("Total", ""), *((code, "Total") for code in sorted(set(people[name])))] for name in people}
    safe = [attacked((people, trees), secret, WIDE) for secret in range(1, 3)]
    assert all(made.verdict is Verdict.PASS and anybody == member == 0 for made, anybody, member in safe)
    close = [attacked((people, trees), secret, CLOSE) for secret in range(1, 3)]
    assert all(made.verdict is Verdict.FAIL and member for made, _, member in close)


def read(low: list[int], high: list[int], *, coalition: int = 1, total: bool = True) -> list[bool]:
    """Whether 2 of one leaf, 5 of another and their sum, in this order, can be told too closely."""
    dimension = Dimension.flat("leaf", ["a", "b"])
    leaves = np.array([[dimension.position["a"]]] * 2 + [[dimension.position["b"]]] * 5)
    cells = aggregate([dimension], leaves, np.arange(7), np.ones(7, dtype=np.int64))
    order = np.argsort(cells.total)
    place = np.argsort(order)
    cells = replace(cells, published=np.where(cells.total == 7, total, True))
    rules = (MinimumFrequency(n=N),)
    needs = requirements_of(rules, cells.contributions)
    bounds = (np.array(ends, dtype=float)[place] for ends in (low, high))
    known = Assumptions(counts="contributors", coalition=coalition)
    failing, undecided = NoisyCounts(cells, *bounds, needs, rules, known).read()
    assert not undecided.any()
    return [bool(each) for each in failing[order]]


def test_figures_and_their_sum_bound_a_count() -> None:
    assert read([1, 3, 5], [4, 7, 9]) == [False, False, False]
    assert read([1, 5, 7], [4, 5, 7])[0]  # 7 less 5
    assert read([1, 5, 5], [4, 7, 7])[0]  # 2 at most: small, though 1 is possible
    assert not read([1, 5, 5], [4, 7, 7], total=False)[0]  # nobody has the sum


def test_who_is_in_a_cell_knows_that_it_is_not_empty() -> None:
    assert not read([0, 3, 3], [2, 7, 9], coalition=0)[0]
    assert read([0, 3, 3], [2, 7, 9])[0]
    assert not read([0, 3, 3], [3, 7, 9])[0]
    assert not read([0, 3, 3], [4, 7, 9], coalition=1)[0]
