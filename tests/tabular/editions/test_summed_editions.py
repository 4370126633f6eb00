"""A year and its quarters, and figures that happen to add up."""

import numpy as np
import pytest

from sluice.ground.errors import DataError
from sluice.tabular.audit.pattern_audit import audit
from sluice.tabular.editions.summed_editions import found_sums, in_dimensions, summed
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.cells import Cells, Integers, Status, Statuses
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.rules.minimum_frequency import MinimumFrequency
from sluice.tabular.rules.sensitivity import requirements_of
from sluice.tabular.suppression.suppression import suppress
from tests.golden import golden
from tests.tabular.grids import at

ACT, REGION = Dimension.flat("act", ["A", "B", "C", "D"]), Dimension.flat("region", ["N", "S", "W"])
RULES = [MinimumFrequency(n=3)]


def table(values: Integers, firms: int = 5, few: tuple[int, int] | None = None) -> Cells:
    """Values of shape (4, 3), of so many firms each, of two in a cell; the same firms report in each edition."""
    leaves, owner, value = [], [], []
    for (row, column), total in np.ndenumerate(values):
        for number in range(2 if (row, column) == few else firms):
            leaves.append((row + 1, column + 1))
            owner.append((row * 3 + column) * firms + number)
            value.append(total if number == 0 else 0)
    return aggregate([ACT, REGION], np.array(leaves, np.int32), np.array(owner), np.array(value))


def quarters(seed: int = 0, largest: int = 1000) -> list[Integers]:
    return [np.random.default_rng([seed, quarter]).integers(1, largest, (4, 3)) for quarter in range(4)]


def nothing_hidden(cells: Cells) -> Statuses:
    return np.zeros(len(cells), dtype=np.uint8)


def pattern(cells: Cells) -> Statuses:
    return suppress(cells, requirements_of(RULES, cells.contributions), RULES).status


def test_what_a_quarter_suppresses_the_year_gives_back_and_a_joint_pattern_does_not() -> None:
    parts = quarters()
    first, *rest = [table(values, few=(0, 0) if number == 0 else None) for number, values in enumerate(parts)]
    year = table(np.sum(parts, axis=0))
    others = [("q1", first, pattern(first)), *((f"q{n}", each, nothing_hidden(each)) for n, each in enumerate(rest, 2))]
    joint = summed(year, others, 0)
    assert joint.sums == len(year)
    required = joint.requirements(requirements_of(RULES, year.contributions), RULES, True)
    found = audit(joint.cells, joint.status(nothing_hidden(year)), required, RULES)
    assert {joint.cells.name(breach.cell) for breach in found.breaches} == {"act A, region N, in q1"}
    made = suppress(joint.cells, required, RULES, forbidden=joint.public, suppressed=joint.suppressed)
    status = made.status[: joint.count]
    assert audit(joint.cells, joint.status(status), required, RULES).safe
    assert status[at(year, "A", "N")] != Status.PUBLISHED


def test_a_revised_cell_is_no_sum_and_is_counted_where_the_rest_is_near() -> None:
    parts = quarters()
    first, *rest = [table(values, few=(0, 0) if number == 0 else None) for number, values in enumerate(parts)]
    revised = np.sum(parts, axis=0)
    revised[0, 0] += 1
    joint = summed(
        table(revised),
        [("q1", first, pattern(first)), *((str(n), e, nothing_hidden(e)) for n, e in enumerate(rest))],
        0,
    )
    assert joint.sums == 20 - 4  # the cell and its three totals
    assert joint.revised == 1


@pytest.mark.parametrize("now", range(5))
@pytest.mark.parametrize("revised", [0, 4])
def test_a_sum_is_found_whichever_of_its_editions_comes_last_among_many_others(now: int, revised: int) -> None:
    parts = quarters(1)
    whole = np.sum(parts, axis=0)
    whole.flat[:revised] += 7
    series = [table(whole), *(table(values) for values in parts)]
    strange = [table(np.random.default_rng([2, n]).integers(1, 1000, (4, 3))) for n in range(9)]
    others = [*series[:now], *strange[:5], *series[now + 1 :], *strange[5:]]
    ((found, places),) = found_sums(series[now], others)
    all_editions = [series[now], *others]
    assert all_editions[found] is series[0]
    assert {id(all_editions[at]) for at in places} == {id(each) for each in series[1:]}


@pytest.mark.parametrize("largest", [3, 30, 3000])
@pytest.mark.parametrize("seed", range(4))
def test_editions_that_do_not_add_up_are_not_said_to(largest: int, seed: int) -> None:
    """Of 24 editions with small counts, some sets add up by chance: they tell nothing that anybody could rely on."""
    rng = np.random.default_rng([seed, largest])
    now, *others = [table(rng.integers(1, largest + 1, (4, 3))) for _ in range(13)]
    assert found_sums(now, others) == []


def test_editions_with_fewer_dimensions_stand_at_the_total_of_the_others() -> None:
    parts = quarters(3)
    year = table(np.sum(parts, axis=0))
    by_act = [
        aggregate([ACT], np.arange(1, 5, dtype=np.int32)[:, None], np.arange(4), values.sum(axis=1)) for values in parts
    ]
    assert found_sums(year, by_act) == [(0, (1, 2, 3, 4))]
    joint = summed(year, [(f"q{n}", each, nothing_hidden(each)) for n, each in enumerate(by_act)], 0)
    assert joint.sums == 5
    assert in_dimensions(by_act[0], [REGION, ACT]).codes[:, 0].tolist() == [0] * 5


def test_other_decimals_and_other_totals_are_refused() -> None:
    one, other = table(quarters()[0]), table(quarters()[1])
    from dataclasses import replace

    with golden.raises(DataError):
        summed(one, [("q", replace(other, decimals=1), nothing_hidden(other))], 0)
    renamed = replace(other, dimensions=(Dimension.flat("act", ["A", "B", "C", "D"], "All"), REGION))
    with golden.raises(DataError):
        summed(one, [("q", renamed, nothing_hidden(other))], 0)
