import numpy as np
import pytest

from sluice.utility.told_moments import told_moments


def test_regular_numbers_are_told_to_a_fraction_of_their_deviation() -> None:
    values = np.random.default_rng(0).normal(50, 10, 1_000)
    before, after = told_moments(values, values + 7, 10)
    assert before.mean == pytest.approx(values.mean(), abs=0.05)
    assert before.deviation == pytest.approx(values.std(ddof=1), abs=0.2)
    assert after.mean == pytest.approx(values.mean() + 7, abs=0.05)
    assert told_moments(values, None, 10) == (before, (None, None))
    assert told_moments(values, None, 1)[0] == (values.mean(), values.std(ddof=1))


def test_who_knows_all_records_but_one_does_not_learn_it() -> None:
    """All others known, which extreme values fit both moments? By luck of the rounding, few; as a rule, many."""
    rng = np.random.default_rng(0)
    widths = []
    for _ in range(200):
        values, extreme = rng.normal(0, 1, int(rng.integers(10, 500))), 10 ** rng.uniform(3, 9)
        values[0] = extreme
        told, _ = told_moments(values, None, 10)
        fits = []
        for candidate in extreme * np.linspace(0.5, 1.5, 41):
            values[0] = candidate
            fits.append(told_moments(values, None, 10)[0] == told)
        widths.append(np.count_nonzero(fits) / 40)
    assert np.median(widths) > 0.25
    assert np.mean(np.array(widths) < 0.1) < 0.1


def test_rare_values_of_a_yes_and_no_are_not_counted() -> None:
    convicted = np.zeros(100)
    convicted[:3] = 1
    assert told_moments(convicted, convicted, 10) == ((None, None), (None, None))
    convicted[:30] = 1
    assert told_moments(convicted, convicted, 10)[0].mean == pytest.approx(0.3)


def test_constants_and_too_few_values() -> None:
    assert told_moments(np.full(20, 3.5), np.full(20, 3.5), 10) == ((3.5, 0), (3.5, 0))
    assert told_moments(np.arange(9.0), np.arange(9.0), 10) == ((None, None), (None, None))
    assert told_moments(np.zeros(0), None, 1) == ((None, None), (None, None))
