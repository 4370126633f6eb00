"""004_1eece6b9d3791e64.txt, "Data protection methods for aggregates / tabular data": the rules on the printed cells."""

import numpy as np

from sluice.tabular.dominance import dominance
from sluice.tabular.minimum_frequency import minimum_frequency
from sluice.tabular.p_percent import p_percent

FREQUENCIES = np.array([[2, 15, 30, 20, 10], [72, 20, 1, 30, 10], [38, 38, 15, 40, 5]])
MAGNITUDES = np.array([[360, 450, 720, 400, 360], [1440, 540, 22, 570, 320], [722, 1178, 375, 800, 363]])
M3_P5 = [350, 4, 3, 3, 3]  # "if contributions to (P_5, M_3) are 350, 4, 3, 3, 3"


def test_the_printed_totals() -> None:
    assert FREQUENCIES.sum(axis=1).tolist() == [77, 133, 136]
    assert FREQUENCIES.sum(axis=0).tolist() == [112, 73, 46, 90, 25]
    assert MAGNITUDES.sum(axis=1).tolist() == [2290, 2892, 3438]
    assert MAGNITUDES.sum(axis=0).tolist() == [2522, 2168, 1117, 1770, 1043]
    assert MAGNITUDES.sum() == 8620
    assert sum(M3_P5) == MAGNITUDES[2, 4] == 363
    assert len(M3_P5) == FREQUENCIES[2, 4]


def test_the_dominated_cell_is_sensitive_by_both_rules() -> None:
    """(1, 50): 350 / 363 > 0.5. p%: 363 - 350 - 4 = 9 < 175, half the largest; the slide's 181.5 is half the total."""
    assert dominance(M3_P5, n=1, k=50)
    assert p_percent(M3_P5, p=50)


def test_external_and_internal_attack() -> None:
    """One person makes up (M2, P3), 22; two make up (M1, P1), 360, and each can subtract its own.

    The split of 360 is not printed: every split is sensitive.
    """
    assert FREQUENCIES[1, 2] == 1
    assert minimum_frequency([22], n=3)
    assert p_percent([22], p=10)
    assert dominance([22], n=1, k=50)
    assert FREQUENCIES[0, 0] == 2
    for largest in range(180, 361):
        cell = [largest, 360 - largest]
        assert minimum_frequency(cell, n=3)
        assert p_percent(cell, p=10)
