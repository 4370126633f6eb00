"""A budget of time: safe whatever it is, cheaper the more there is, and the same without one."""

from collections.abc import Iterator
from functools import cache
from itertools import count

import numpy as np
import pytest

from sluice.ground.errors import DataError
from sluice.tabular.audit.pattern_audit import audit
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Cells, Status
from sluice.tabular.suppression import greedy_search
from sluice.tabular.suppression.effort import Effort
from sluice.tabular.suppression.suppression import suppress
from tests.golden import golden
from tests.tabular.generated import generated
from tests.tabular.grids import RULES, needs_of


class Ticks:
    """A clock that goes on by a second whenever somebody looks at it."""

    def __init__(self) -> None:
        self._ticks: Iterator[int] = count()

    def __call__(self) -> float:
        return float(next(self._ticks))


def value(cells: Cells, effort: Effort) -> float:
    """What a safe pattern suppresses."""
    needs = needs_of(cells)
    made = suppress(cells, needs, RULES, effort=effort)
    assert audit(cells, made.status, needs, RULES).safe
    return float(cells.total[made.status != Status.PUBLISHED].sum())


@cache
def without_a_budget() -> float:
    return value(generated("2-D"), Effort())


def test_more_time_never_makes_a_pattern_dearer_and_none_makes_it_safe() -> None:
    cells = generated("2-D")
    values = [value(cells, Effort.of(seconds, Ticks())) for seconds in (0, 20, 100_000)]
    assert values == sorted(values, reverse=True)
    assert values[0] > values[-1]
    assert values[-1] == without_a_budget()


def test_without_a_budget_the_outcome_is_always_the_same() -> None:
    cells = generated("2-D")
    needs = needs_of(cells)
    one, two = (suppress(cells, needs, RULES, Assumptions(coalition=0)).status for _ in range(2))
    assert (one == two).all()


def test_without_a_budget_work_is_bounded_and_what_was_found_by_then_is_safe(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = generated("2-D")
    best, first = without_a_budget(), value(cells, Effort.of(0, Ticks()))
    monkeypatch.setattr(greedy_search, "_WORK", 0)
    assert value(cells, Effort()) == best  # cells are given up for a while, however long the proofs took
    monkeypatch.setattr(greedy_search, "_CLEANING", 0)
    assert value(cells, Effort()) == first > best
    assert value(cells, Effort.of(100_000, Ticks())) == best  # a budget of time counts instead


def test_progress_runs_through_the_stages_and_knows_how_much_there_is() -> None:
    cells = generated("2-D")
    told: list[tuple[str, int, int]] = []
    value(cells, Effort(progress=lambda stage, done, of: told.append((stage, done, of))))
    stages = [stage for stage, _, _ in told]
    assert list(dict.fromkeys(stages)) == ["protect", "clean up", "shake"]
    assert all(0 <= done < of for _, done, of in told)
    sensitive = int(needs_of(cells).sensitive.sum())
    assert 0 < told[0][2] <= sensitive  # equal cells are one


def test_time_is_counted_from_the_beginning_and_shared() -> None:
    now = [0.0]
    effort = Effort.of(10, lambda: now[0])
    assert not effort.spent
    now[0] = 4
    assert effort.left == 6
    assert effort.part(0.5).left == 3
    now[0] = 11
    assert effort.spent
    assert effort.left == 0
    assert Effort().part(0.1).left == np.inf


def test_a_budget_below_nothing_is_refused() -> None:
    with golden.raises(DataError):
        Effort.of(-1, Ticks())


def test_work_of_a_large_table_grows_slowly_and_is_shared_by_its_branches_and_the_whole() -> None:
    inside = np.arange(60_000) < 20_000
    branches = greedy_search._work(60_000, inside) + greedy_search._work(60_000, ~inside)
    every = branches + greedy_search._work(60_000, None)
    assert every == pytest.approx(1.2 * greedy_search._work(30_000, None) / (1 - greedy_search._BRANCHES))
    assert every < greedy_search._work(29_999, None)  # which is shaken as well
