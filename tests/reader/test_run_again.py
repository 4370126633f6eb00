"""Whoever knows a method that changes values runs it again, with one secret after another, on real records.

Of a table that was rounded the reader does so on every table that fits; one that no secret turns into the figures is
not the true one. Of moves and factors, which exclude little, it learns for each cell the best guess from what many
secrets make of the true table, which is more than anybody has, and is then held to other secrets.
"""

from collections.abc import Callable, Mapping
from itertools import product

import numpy as np
import pytest

from sluice.tabular.alternatives import controlled_adjustment as adjustment
from sluice.tabular.alternatives.altered_cells import Disclosed
from sluice.tabular.alternatives.cell_key import record_keys
from sluice.tabular.alternatives.noise_multipliers import multiplied_cells, multipliers
from sluice.tabular.alternatives.small_count_rounding import small_count_rounding
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.cells import Cells
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.rules.minimum_frequency import MinimumFrequency
from sluice.tabular.rules.p_percent import PPercent
from sluice.tabular.rules.sensitivity import Requirements, requirements_of
from tests.reader.real_records import Table, adult, eia, ghgrp

COUNTRIES = ["United-States", "Mexico", "Canada", "England"]
BASE, SECRETS = 4, 100
RULES = (MinimumFrequency(n=3), PPercent(p=10))


def rounded(counts: Mapping[str, int], secret: int) -> dict[str, int]:
    """The listed cells of a table of counts by country."""
    leaves = np.repeat([COUNTRIES.index(code) + 1 for code in counts], list(counts.values()))[:, None].astype(np.int32)
    people = len(leaves)
    cells = aggregate(
        [Dimension.flat("country", COUNTRIES)], leaves, np.arange(people), np.ones(people, dtype=np.int64)
    )
    value = small_count_rounding(cells, BASE, np.random.default_rng(secret)).value
    codes = cells.dimensions[0].codes
    return {codes[code]: int(figure) for code, figure in zip(cells.codes[:, 0], value, strict=True) if figure}


def test_who_is_in_an_unlisted_cell_cannot_prove_that_it_is_sensitive() -> None:
    """Cells of 3 are not sensitive, and base 4 rounds them to 0 or 4: nobody must be able to exclude that it is 3."""
    asked = 0
    for start in range(0, 200, 40):
        born = adult(start + 40)[0]["country"][start:]
        true = {code: int((born == code).sum()) for code in COUNTRIES if (born == code).any()}
        figures = rounded(true, start)
        fit = [
            (range(1, BASE + 1) if figures[code] == BASE else [figures[code]]) if code in figures else range(BASE)
            for code in COUNTRIES
        ]
        unlisted = [at for at, code in enumerate(COUNTRIES) if code in true and code not in figures]
        for at in unlisted:
            largest = (dict(zip(COUNTRIES, table, strict=True)) for table in product(*fit) if table[at] == BASE - 1)
            assert any(
                rounded({code: count for code, count in table.items() if count}, secret) == figures
                for table in largest
                for secret in range(SECRETS)
            )
        asked += len(unlisted)
    assert asked >= 4


def magnitudes(table: Table) -> tuple[Cells, np.ndarray, np.ndarray]:
    """The cells, the leaves of the records and their amounts."""
    records, rows = table
    made = [
        Dimension.of(name, list(tree)) if tree else Dimension.flat(name, sorted(set(records[name])))
        for name, tree in rows.items()
    ]
    leaves = np.column_stack([records[each.name].map(each.position).to_numpy(np.int32) for each in made])
    amounts = records["value"].to_numpy(np.int64)
    return aggregate(made, leaves, np.unique(records["firm"], return_inverse=True)[1], amounts), leaves, amounts


Method = Callable[[int], np.ndarray]
"""secret -> the published figures, shape (c,)"""


def adjusted(table: Table, cells: Cells, needs: Requirements) -> Method:
    return lambda secret: (
        adjustment.controlled_adjustment(cells, needs, np.random.default_rng(secret), rules=RULES).value
    )


def multiplied(table: Table, cells: Cells, needs: Requirements) -> Method:
    _, leaves, amounts = magnitudes(table)
    names = table[0].drop(columns="value").agg("-".join, axis=1)

    def method(secret: int) -> np.ndarray:
        key = f"secret number {secret:>8}".encode()
        factors = multipliers(record_keys(names, key), record_keys(table[0]["firm"], key), 10)
        return multiplied_cells(cells, needs, leaves, amounts, factors, 10).value

    return method


@pytest.mark.parametrize(
    "records",
    [eia, pytest.param(lambda: ghgrp(["TX", "LA", "OK", "AR", "NM"]), marks=pytest.mark.exhaustive, id="ghgrp")],
)
@pytest.mark.parametrize("of", [adjusted, multiplied])
def test_the_best_guess_of_a_cell_that_all_secrets_teach_fails_more_often_than_not(
    of: Callable[[Table, Cells, Requirements], Method], records: Callable[[], Table], monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing = lambda table: Disclosed(*np.zeros((2, len(table.cells)), dtype=bool))  # noqa: E731
    monkeypatch.setattr(adjustment, "read_adjustment", nothing)  # it changes no figure
    table = records()
    cells, *_ = magnitudes(table)
    needs = requirements_of(RULES, cells.contributions)
    method, sensitive = of(table, cells, needs), needs.sensitive
    level = np.maximum(needs.lower, needs.upper)[sensitive]
    figures = np.array([method(secret)[sensitive] for secret in range(2 * SECRETS)])
    guesses = figures[:, :, None] / np.linspace(0.4, 3, 261)
    near = np.abs(guesses - cells.total[sensitive][None, :, None]) < level[None, :, None]
    taught = near[:SECRETS].mean(axis=0).argmax(axis=1)
    right = near[SECRETS:, np.arange(len(level)), taught].mean(axis=0)
    assert len(right) > 40
    assert right.mean() < 0.46
    assert right.max() < 0.65  # of 50 cells the luckiest: one half, and three standard deviations of a hundred secrets
