"""Torra (2013), "Data protection methods for aggregates / tabular data": its tables, attacks and rules.

The slides print both tables, the records of (P1, M1), three records of (P2, M1) and those of (P5, M3). The other
contributions are not printed; here each cell's are as equal as whole numbers can be, so that nothing is found sensitive
which the slides do not call so. What rests on printed figures alone is said at each test.
"""

from functools import lru_cache

import numpy as np
import pytest

from sluice.tabular.audit.single_cell_attacks import dominance_attack, external_attack, in_words, internal_attack
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.cells import Cells
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.rules.dominance import Dominance, dominance
from sluice.tabular.rules.minimum_frequency import MinimumFrequency, minimum_frequency
from sluice.tabular.rules.p_percent import PPercent, p_percent
from sluice.tabular.rules.sensitivity import SensitivityRule, requirements_of
from tests.golden import golden

FREQUENCIES = np.array([[2, 15, 30, 20, 10], [72, 20, 1, 30, 10], [38, 38, 15, 40, 5]])
MAGNITUDES = np.array([[360, 450, 720, 400, 360], [1440, 540, 22, 570, 320], [722, 1178, 375, 800, 363]])
PRINTED = {("M1", "P1"): [160, 200], ("M1", "P2"): [40, 60, 75], ("M3", "P5"): [350, 4, 3, 3, 3]}
M3_P5 = PRINTED["M3", "P5"]


@lru_cache
def salaries() -> Cells:
    """Town by profession, with the totals, from one record for each of the 346 people."""
    town, profession = (
        Dimension.flat("town", ["M1", "M2", "M3"]),
        Dimension.flat("profession", [f"P{p}" for p in range(1, 6)]),
    )
    leaves, values = [], []
    for (m, p), people in np.ndenumerate(FREQUENCIES):
        printed = PRINTED.get((f"M{m + 1}", f"P{p + 1}"), [])
        left, count = int(MAGNITUDES[m, p]) - sum(printed), int(people) - len(printed)
        values += [*printed, *(left // count + (at < left % count) for at in range(count))]
        leaves += [(town.position[f"M{m + 1}"], profession.position[f"P{p + 1}"])] * int(people)
    everybody = np.arange(len(values))
    return aggregate([town, profession], np.array(leaves, dtype=np.int32), everybody, np.array(values, dtype=np.int64))


def at(town: str, profession: str) -> int:
    cells = salaries()
    return [cells.name(cell) for cell in range(len(cells))].index(f"town {town}, profession {profession}")


def test_the_printed_totals() -> None:
    """Frequencies and magnitudes as printed add up to the printed margins; so do the cells that are made of records."""
    assert FREQUENCIES.sum(axis=1).tolist() == [77, 133, 136]
    assert FREQUENCIES.sum(axis=0).tolist() == [112, 73, 46, 90, 25]
    assert MAGNITUDES.sum(axis=1).tolist() == [2290, 2892, 3438]
    assert MAGNITUDES.sum(axis=0).tolist() == [2522, 2168, 1117, 1770, 1043]
    assert sum(M3_P5) == MAGNITUDES[2, 4] == 363
    assert len(M3_P5) == FREQUENCIES[2, 4]
    cells = salaries()
    assert (cells.contributors[at("Total", "Total")], cells.total[at("Total", "Total")]) == (346, 8620)
    assert (cells.contributors[at("M2", "Total")], cells.total[at("M2", "Total")]) == (133, 2892)
    assert (cells.contributors[at("Total", "P5")], cells.total[at("Total", "P5")]) == (25, 1043)
    assert len(cells) == 24


def test_the_external_attack() -> None:
    """ "The single person working as P3 in town M2 has a salary of 22." By the printed tables, of no other cell."""
    seen = external_attack(salaries().contributions)
    assert np.flatnonzero(seen.exactly).tolist() == [at("M2", "P3")]
    assert seen.largest_to[at("M2", "P3")] == 22


def test_the_internal_attack() -> None:
    """ "If there are only two doctors in a town, each one will be able to find the salary of the other": (P1, M1)."""
    contributions = salaries().contributions
    for seen, other in ((internal_attack(contributions), 200), (dominance_attack(contributions), 160)):
        assert np.flatnonzero(seen.exactly).tolist() == [at("M1", "P1")]
        assert seen.largest_from[at("M1", "P1")] == seen.largest_to[at("M1", "P1")] == other


def test_the_internal_attack_with_dominance() -> None:
    """ "If one of them has a salary of 350, then it is clear that the salary of the other four is at most 13." """
    seen = dominance_attack(salaries().contributions)
    assert (seen.others[at("M3", "P5")], seen.together_to[at("M3", "P5")]) == (4, 13)
    golden(in_words(salaries().contributions, contributor=("person", "people")))


@pytest.mark.parametrize(
    ("rule", "sensitive"),
    [
        (MinimumFrequency(n=2), [("M2", "P3")]),
        (MinimumFrequency(n=3), [("M1", "P1"), ("M2", "P3")]),
        (Dominance(n=1, k=50), [("M1", "P1"), ("M2", "P3"), ("M3", "P5")]),
        (PPercent(p=50), [("M1", "P1"), ("M2", "P3"), ("M3", "P5")]),
    ],
)
def test_the_rules_on_the_whole_table(rule: SensitivityRule, sensitive: list[tuple[str, str]]) -> None:
    found = np.flatnonzero(rule.sensitive(salaries().contributions))
    assert sorted(found) == sorted(at(*cell) for cell in sensitive)


def test_the_dominated_cell() -> None:
    """ "(1, 50) ... 350/363 > 0.5: Cell is sensitive", and not at (1, 97): 350 is 96.4 %."""
    assert dominance(M3_P5, n=1, k=50)
    assert not dominance(M3_P5, n=1, k=97)
    assert Dominance(n=1, k=50).protection(salaries().contributions)[at("M3", "P5")] == 2 * 350 - 363


def test_the_p_percent_example() -> None:
    """ "363 - 350 - 4 < 0.5 * 363": the example compares with half the total, 181.5.

    The rule's own words say "p% of the largest contribution", half of 350 = 175, and that is what this project does; a
    cell between the two is safe here and would be sensitive by the example.
    """
    assert p_percent(M3_P5, p=50)
    assert PPercent(p=50).protection(salaries().contributions)[at("M3", "P5")] == 175 - 9
    between = [60, *[5] * 8]  # of 100: 35 are left, at least half of 60, and less than half of 100
    assert 100 - 60 - 5 < 0.5 * 100
    assert not p_percent(between, p=50)


def test_two_people_are_sensitive_however_they_share() -> None:
    """Of (P1, M1) with 360, were its two records not printed: each split is sensitive by both rules."""
    for largest in range(180, 361):
        cell = [largest, 360 - largest]
        assert minimum_frequency(cell, n=3)
        assert p_percent(cell, p=10)


def test_after_the_printed_suppression_nobody_reads_the_single_salary() -> None:
    """ "Primary Suppression (PS) and Secondary Suppression (SS)": (M2, P3) with (M1, P3), (M1, P5) and (M2, P5).

    The four stand on the corners of a square: one number moves all, between 22 down and 320 up. The slides suppress
    for this person alone and leave the two of (P1, M1) and the 350 of (P5, M3) as they are.
    """
    cells, corners = salaries(), [("M2", "P3", 1), ("M1", "P3", -1), ("M1", "P5", 1), ("M2", "P5", -1)]
    low, high = np.full(len(cells), np.nan), np.full(len(cells), np.nan)
    for town, profession, sign in corners:
        ends = cells.total[at(town, profession)] + sign * np.array([-22.0, 320.0])
        low[at(town, profession)], high[at(town, profession)] = ends.min(), ends.max()
    assert (low[at("M2", "P3")], high[at("M2", "P3")]) == (0, 342)
    asked = requirements_of([MinimumFrequency(n=2)], cells.contributions)
    assert (high - cells.total >= asked.upper)[asked.sensitive].all()
    before, after = external_attack(cells.contributions), external_attack(cells.contributions, low, high)
    assert (before.exactly.sum(), after.exactly.sum()) == (1, 0)
    assert (after.largest_from[at("M2", "P3")], after.largest_to[at("M2", "P3")]) == (0, 342)
    left = internal_attack(cells.contributions, low, high)
    assert np.flatnonzero(left.exactly).tolist() == [at("M1", "P1")]
