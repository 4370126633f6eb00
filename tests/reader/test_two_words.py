"""A file that tells primary from secondary tells contributors more; protected against it, it tells them too little."""

from sluice.tabular.rules.minimum_frequency import MinimumFrequency
from sluice.tabular.rules.p_percent import PPercent
from tests.reader.generate import drawn
from tests.reader.knowledge import least_of_secondary
from tests.reader.play import MAGNITUDES, with_two_words

RULES = [MinimumFrequency(n=3), PPercent(p=10)]


def test_what_a_secondary_cell_tells_its_contributors() -> None:
    table = drawn(36, {"a": (6,), "b": (5, 3)}, 150, firms=150)
    assert with_two_words(*table, RULES, MAGNITUDES, told=False).found().found == {"insider": 2}
    assert with_two_words(*table, RULES, MAGNITUDES, told=True).found().found == {}


def test_the_least_of_a_secondary_cell_by_hand() -> None:
    # 100 of mine, 1 of the next, and 10 of others: exactly 10 percent.
    assert least_of_secondary(100, MAGNITUDES) == 111
    assert least_of_secondary(0, MAGNITUDES) == 0
