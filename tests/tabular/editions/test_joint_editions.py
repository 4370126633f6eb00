from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from sluice.tabular.audit.pattern_audit import audit
from sluice.tabular.editions.joint_editions import carried, joint_cells
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.cells import Cells, Status, Statuses
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.model.measure import Asking
from sluice.tabular.rules.minimum_frequency import MinimumFrequency
from sluice.tabular.rules.p_percent import PPercent
from sluice.tabular.rules.request_rule import RequestRule
from sluice.tabular.rules.sensitivity import requirements_of
from sluice.tabular.suppression.suppression import suppress
from tests.golden import golden
from tests.reference_data import reference_path
from tests.tabular.grids import at
from tests.tabular.tables import business, read_text, tables

RULES = [MinimumFrequency(n=3)]
PUBLISHED, PRIMARY, SECONDARY, WITHHELD = (int(status) for status in Status)

# 3 x 3 by industry and region; P1, M1 has two contributors, every other cell five.
INDUSTRY, REGION = (
    Dimension.flat(name, [f"{letter}{i}" for i in (1, 2, 3)]) for name, letter in (("ind", "P"), ("reg", "M"))
)


def square(revised: dict[tuple[str, str], int] | None = None, regions: Dimension = REGION) -> Cells:
    """Contributors give 10 each in every cell; `revised` adds to the first contribution of a cell."""
    leaves, value = [], []
    for industry, region in product(INDUSTRY.codes[1:], regions.codes[1:]):
        for number in range(2 if (industry, region) == ("P1", "M1") else 5):
            leaves.append((INDUSTRY.position[industry], regions.position[region]))
            value.append(10 + (revised or {}).get((industry, region), 0) * (number == 0))
    return aggregate([INDUSTRY, regions], np.array(leaves, np.int32), np.arange(len(leaves)), np.array(value))


def pattern(cells: Cells, *secondary: tuple[str, str]) -> Statuses:
    status = np.zeros(len(cells), dtype=np.uint8)
    status[at(cells, "P1", "M1")] = PRIMARY
    status[[at(cells, *names) for names in secondary]] = SECONDARY
    return status


def changes(earlier: Cells, then: Statuses, now: Cells, this: Statuses) -> tuple[int, int]:
    """How many cells of both editions appear, published now and suppressed then, and how many vanish."""
    before = joint_cells(earlier, then, now).before
    was, is_now = then[before[before >= 0]] != PUBLISHED, this[before >= 0] != PUBLISHED
    return int((was & ~is_now).sum()), int((~was & is_now).sum())


THEN = [("P1", "M2"), ("P2", "M1"), ("P2", "M2")]
OTHER = [("P1", "M3"), ("P3", "M1"), ("P3", "M3")]


def test_a_pattern_undone_by_another_one_is_caught_and_the_same_pattern_is_safe() -> None:
    """Each pattern is safe alone. Together they give P1, M1: what each suppresses beside it, the other publishes."""
    cells = square()
    for secondary in (THEN, OTHER):
        alone = audit(cells, pattern(cells, *secondary), requirements_of(RULES, cells.contributions), RULES)
        assert alone.safe
    joint = joint_cells(cells, pattern(cells, *THEN), cells)
    assert len(joint.cells) == len(cells)
    requirement = joint.requirements(RULES)
    status = joint.status(pattern(cells, *OTHER), pattern(cells, *THEN))
    both = audit(joint.cells, status, requirement, RULES)
    assert not both.safe
    says = joint.findings(RULES, both)
    assert len(says) == 1
    golden(says[0])
    status = joint.status(pattern(cells, *THEN), pattern(cells, *THEN))
    again = audit(joint.cells, status, requirement, RULES)
    assert again.safe
    assert joint.findings(RULES, again) == []


def test_revised_cells_are_other_unknowns() -> None:
    """Where the cell and its sums were revised, the other pattern opens no more than each does alone."""
    then, now = square(), square({("P1", "M1"): 7})
    joint = joint_cells(then, pattern(then, *THEN), now)
    assert len(joint.cells) == len(now) + 4  # the cell, its row, its column and the total
    moved = [joint.cells.name(cell) for cell in range(len(now), len(joint.cells))]
    assert moved == [f"ind {i}, reg {r}, in the earlier edition" for i, r in product(("Total", "P1"), ("Total", "M1"))]
    assert (np.abs(joint.cells.equations @ joint.cells.total) == 0).all()
    assert joint.public.sum() == len(then) - 4
    assert np.flatnonzero(joint.suppressed).tolist() == [joint.of_earlier[at(then, "P1", "M1")]]
    status = joint.status(pattern(now, *OTHER), pattern(then, *THEN))
    found = audit(joint.cells, status, joint.requirements(RULES), RULES)
    assert {breach.exact for breach in found.breaches} == {True}  # the other cells of each pattern were not revised
    assert len(found.breaches) == 2
    same = joint.status(pattern(now, *THEN), pattern(then, *THEN))
    assert audit(joint.cells, same, joint.requirements(RULES), RULES).safe


def test_what_is_out_cannot_be_mended_and_is_said() -> None:
    cells = square()
    published = np.zeros(len(cells), dtype=np.uint8)
    joint = joint_cells(cells, published, cells)
    golden(joint.findings(RULES))
    assert not joint.requirements(RULES).sensitive.any()
    assert joint.public.all()
    status = joint.now(joint.status(published, published), RULES)
    assert np.flatnonzero(status == PRIMARY).tolist() == [at(cells, "P1", "M1")]


def test_a_cell_that_was_sensitive_stays_so_while_its_total_stays() -> None:
    """P1, M1 is still 20, of five contributors now: published now, it would tell what two contributed then."""
    then = square()
    cell = at(then, "P1", "M1")
    contributors, largest = then.contributors.copy(), then.largest.copy()
    contributors[cell], largest[cell] = 5, 4
    now = replace(then, contributors=contributors, largest=largest)
    assert not requirements_of(RULES, now.contributions).sensitive.any()
    joint = joint_cells(then, pattern(then, *THEN), now)
    requirement = joint.requirements(RULES)
    assert np.flatnonzero(requirement.sensitive).tolist() == [cell]
    assert (requirement.lower[cell], requirement.upper[cell]) == (1, 1)  # 10 % of the largest of then
    published = joint.status(np.zeros(len(now), dtype=np.uint8), pattern(then, *THEN))
    assert joint.findings(RULES, audit(joint.cells, published, requirement, RULES))[0].startswith(
        "opens the earlier edition"
    )


def test_codes_may_come_and_go_and_stand_in_another_order() -> None:
    then = square()
    regions = Dimension.flat("reg", ["M4", "M2", "M1"])
    now = square(regions=regions)
    joint = joint_cells(then, pattern(then, *THEN), now)
    for cell, name in enumerate(now.name(cell) for cell in range(len(now))):
        before = joint.before[cell]
        assert (before < 0) == (", reg M4" in name)
        if before >= 0:
            assert then.name(int(before)) == name
    names = [joint.cells.name(cell) for cell in range(len(joint.cells))]
    assert names[at(now, "P2", "M1")] == "ind P2, reg M1, in both editions"
    assert names[at(now, "P2", "M4")] == "ind P2, reg M4, in this edition"
    assert "ind P2, reg M3, in the earlier edition" in names
    assert (joint.cells.equations @ joint.cells.total == 0).all()


def test_carried_by_hand() -> None:
    then, now = square(), square({("P2", "M2"): 3})
    before = pattern(then, *THEN)
    must, should = carried(then, before, now)
    assert np.flatnonzero(must).tolist() == [at(now, "P1", "M1")]
    assert sorted(np.flatnonzero(should).tolist()) == sorted(at(now, *names) for names in THEN)
    assert changes(then, before, now, pattern(now, *THEN)) == (0, 0)
    assert changes(then, before, now, pattern(now, *OTHER)) == (3, 3)


def test_a_marginal_that_was_withheld_is_not_known() -> None:
    cells = square()
    hidden = replace(cells, published=cells.codes[:, 0] > 0)
    status = np.where(hidden.published, PUBLISHED, WITHHELD).astype(np.uint8)
    joint = joint_cells(hidden, status, hidden)
    assert (joint.public == hidden.published).all()
    assert (joint.cells.published == hidden.published).all()
    assert (joint_cells(cells, pattern(cells), hidden).cells.published[hidden.codes[:, 0] == 0]).all()


@st.composite
def two_editions(draw: st.DrawFn) -> tuple[Cells, Cells]:
    """A table, and the same with a few records changed, added or gone."""
    now = draw(tables(least=4, most=25).filter(lambda cells: len(cells) <= 120))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    inner = np.flatnonzero(
        np.logical_and.reduce([np.isin(now.codes[:, a], d.leaves) for a, d in enumerate(now.dimensions)])
    )
    leaves = np.repeat(now.codes[inner], 2, axis=0)
    owner = rng.integers(0, 30, len(leaves))
    value = rng.integers(1, 200, len(leaves))
    editions = []
    for changes in (0, draw(st.integers(0, 3))):
        changed = value.copy()
        changed[rng.integers(0, len(value), changes)] += 5
        kept = np.ones(len(value), dtype=bool)
        kept[rng.integers(0, len(value), changes // 2)] = False
        kept[0] = True
        editions.append(aggregate(now.dimensions, leaves[kept], owner[kept], changed[kept]))
    return editions[0], editions[1]


@pytest.mark.chain
@given(two_editions(), st.integers(0, 2**32 - 1))
def test_the_joint_system_holds_both_editions(editions: tuple[Cells, Cells], seed: int) -> None:
    earlier, now = editions
    status = np.random.default_rng(seed).integers(0, 3, len(earlier)).astype(np.uint8)
    joint = joint_cells(earlier, status, now)
    cells = joint.cells
    assert (cells.total[: len(now)] == now.total).all()
    assert (cells.total[joint.of_earlier] == earlier.total).all()
    assert (cells.equations @ cells.total.astype(float) == 0).all()
    assert (joint.public[joint.of_earlier] == (status == PUBLISHED)).all()
    assert len(set(joint.of_earlier.tolist())) == len(earlier)
    # Every sum of either edition is in the joint system, with the same cells.
    rows = {
        frozenset(zip(row.indices.tolist(), row.data.tolist(), strict=True))
        for row in map(cells.equations.__getitem__, [[i] for i in range(cells.equations.shape[0])])
    }
    for edition, place in ((now, np.arange(len(now))), (earlier, joint.of_earlier)):
        for index in range(edition.equations.shape[0]):
            row = edition.equations[[index]]
            assert frozenset(zip(place[row.indices].tolist(), row.data.tolist(), strict=True)) in rows
    assert len(rows) == cells.equations.shape[0]


@pytest.mark.chain
@given(two_editions(), st.booleans())
def test_a_pattern_carried_forward_is_safe_for_both_editions(editions: tuple[Cells, Cells], whole: bool) -> None:
    earlier, now = editions
    try:
        then = suppress(earlier, requirements_of(RULES, earlier.contributions), RULES).status
    except DataError:
        assume(False)
    joint = joint_cells(earlier, then, now)
    must, should = carried(earlier, then, now)
    requirement = joint.requirements(RULES)
    found = suppress(
        joint.cells,
        requirement,
        RULES,
        forbidden=joint.public,
        preferred=joint.joint(should),
        suppressed=joint.suppressed | joint.joint(must | should if whole else must),
    )
    this = joint.now(found.status, RULES)
    status = joint.status(this, then)
    assert (status[joint.of_earlier][then == PUBLISHED] == PUBLISHED).all()
    outcome = audit(joint.cells, status, requirement, RULES)
    assert outcome.safe, (outcome.breaches, outcome.attempted - outcome.completed)
    if whole:
        appeared, vanished = changes(earlier, then, now, this)
        assert appeared == 0
        if len(joint.cells) == len(earlier) == len(now):  # nothing was revised
            assert vanished == 0


def business_editions(branch: str, seed: int) -> tuple[Cells, Cells]:
    """One branch of s1k, and the same with 5 % of the records revised, by about a half."""
    records = read_text(reference_path("business_generated", "s1k", "micro.csv.gz"))
    records = records[records["nace"].str.startswith(branch)]
    made = list(business("s1k").dimensions)
    leaves = np.column_stack([records[d.name].map(d.position).to_numpy(np.int32) for d in made])
    owner, value = (records[name].astype(np.int64).to_numpy() for name in ("id", "value"))
    rng = np.random.default_rng(seed)
    revised = np.where(rng.random(len(value)) < 0.05, value * np.exp(rng.normal(0, 0.5, len(value))), value)
    return aggregate(made, leaves, owner, value), aggregate(made, leaves, owner, np.rint(revised).astype(np.int64))


@pytest.mark.chain
def test_the_business_table_a_month_later() -> None:
    """A pattern made alone, at other costs, opens cells of the month before; one made jointly does not."""
    earlier, now = business_editions("KC", 2)
    rules = [MinimumFrequency(n=3), PPercent(p=10)]
    then = suppress(earlier, requirements_of(rules, earlier.contributions), rules).status
    other = np.random.default_rng(3).uniform(1, 1000, len(now))
    alone = suppress(now, requirements_of(rules, now.contributions), rules, cost=other).status
    joint = joint_cells(earlier, then, now)
    must, should = carried(earlier, then, now)
    requirement = joint.requirements(rules)
    opened = audit(joint.cells, joint.status(alone, then), requirement, rules)
    assert not opened.safe
    assert joint.findings(rules, opened)
    found = suppress(
        joint.cells,
        requirement,
        rules,
        forbidden=joint.public,
        suppressed=joint.suppressed | joint.joint(must | should),
    )
    together = joint.now(found.status, rules)
    assert audit(joint.cells, joint.status(together, then), requirement, rules).safe
    assert sum(changes(earlier, then, now, together)) <= sum(changes(earlier, then, now, alone))


STRANGE = Dimension("reg", ("All", "x", "y", "z"), ((0, (1, 2, 3)),))


@pytest.mark.parametrize("call", [joint_cells, carried])
@pytest.mark.parametrize(
    ("other", "statuses"),
    [({"decimals": 2}, 16), ({"dimensions": (INDUSTRY, replace(REGION, name="size"))}, 16),
     ({"dimensions": (INDUSTRY, STRANGE)}, 16), ({}, 3)],
)  # fmt: skip
def test_what_is_no_edition_of_the_same_table_is_refused(
    call: Callable[..., object], other: dict[str, Any], statuses: int
) -> None:
    cells = square()
    with golden.raises(DataError):
        call(cells, np.zeros(statuses, dtype=np.uint8), replace(cells, **other))


def test_whom_a_request_protects_is_known_of_both_editions() -> None:
    """Two share P1, M1 half and half, and nobody asked: an earlier edition that published it told nothing."""
    rules = [RequestRule(k=40)]
    then, now = square(), square({("P2", "M2"): 7})
    owner = int(then.owners[at(then, "P1", "M1"), 0])
    published = np.zeros(len(then), dtype=np.uint8)
    lost = {}
    for says, before, since in (("nobody", (), ()), ("then", (owner,), ()), ("now", (), (owner,))):
        earlier, later = replace(then, asking=Asking(before)), replace(now, asking=Asking(since))
        lost[says] = int(joint_cells(earlier, published, later).cannot_be_mended(rules).sum())
    assert lost == {"nobody": 0, "then": 1, "now": 1}
    assert joint_cells(then, published, now).cannot_be_mended(rules).sum() == 1  # not said who: as if all had asked
    shifted = replace(then, asking=Asking((owner,))).renumbered(
        lambda owners: np.where(owners < 0, owners, owners + 1000)
    )
    assert shifted.asking == Asking((owner + 1000,))
