"""Rare combinations: against a count in plain Python, and on files that copy parts of records."""

from collections import Counter
from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sluice.risk.attacks.attack_success import Units
from sluice.risk.attacks.rare_combinations import Table, cell_of_each, grouped, rare_finds, subsets
from sluice.risk.measurement import Measurement


def people(n: int, seed: int, levels: int = 12) -> Table:
    """Three labels that go with a hidden class, and a number."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 4, n)
    labels = [np.array([f"v{code}" for code in (kind * 3 + rng.geometric(0.4, n)) % levels], object) for _ in range(3)]
    return [*labels, np.round(rng.normal(size=n) + kind, 2)]


def rare_combinations(
    original: Table, released: Table, control: Table, size: int, rng: np.random.Generator, units: Units | None = None
) -> Measurement:
    """units : of both files apart"""
    if units is not None:
        units = (units[0], units[1] + units[0].max(initial=-1) + 1)
    return rare_finds(original, released, control, size, rng, units=units).measurement()


def plain_count(original: Table, released: Table, control: Table, size: int) -> tuple[float, float]:
    common = [{value for value, count in Counter(column).items() if count >= 10} for column in original]
    found = alone = hit = new = 0
    for chosen in combinations(range(len(original)), size):
        rows, file, others = (
            list(zip(*(table[column] for column in chosen), strict=True)) for table in (original, released, control)
        )
        held, released_rows = Counter(rows), set(file)
        for row in rows:
            if held[row] == 1 and all(v in common[c] for v, c in zip(row, chosen, strict=True)):
                alone, found = alone + 1, found + (row in released_rows)
        for row in others:
            if held[row] == 0 and all(v in common[c] for v, c in zip(row, chosen, strict=True)):
                new, hit = new + 1, hit + (row in released_rows)
    return found / alone, hit / new


@given(seed=st.integers(0, 2**20), size=st.sampled_from([2, 3]))
def test_as_counted_in_plain_python(seed: int, size: int) -> None:
    original, released, control = (people(300, seed + at)[:3] for at in (0, 1, 2))
    measured = rare_combinations(original, released, control, size, np.random.default_rng(0))
    assert (measured.value, measured.baseline) == plain_count(original, released, control, size)


def test_copies_are_found_and_other_people_are_not() -> None:
    original, others, control = (people(3_000, seed) for seed in (1, 2, 3))
    rng = np.random.default_rng(0)
    copied = rare_combinations(original, original, control, 3, rng)
    assert copied.value == 1
    assert copied.baseline == 0
    strangers = rare_combinations(original, others, control, 3, rng)
    assert strangers.interval[0] <= strangers.baseline <= strangers.interval[1]


def test_records_with_one_variable_redrawn_show() -> None:
    """No record is whole any more; three of four variables are."""
    original, control = people(3_000, 1), people(3_000, 3)
    redrawn = [np.random.default_rng(2).permutation(original[0]), *original[1:]]
    measured = rare_combinations(original, redrawn, control, 3, np.random.default_rng(0))
    assert measured.value > measured.baseline + 0.1


def test_somebody_with_several_records_is_one_person() -> None:
    """Seven years of 600 people whose values hardly change: as many records as copies of them, and nobody is alone."""
    first, control = people(600, 1), people(600, 3)
    years = [np.repeat(column, 7) for column in first]
    whose = (np.repeat(np.arange(600), 7), np.arange(600))
    unseen = rare_combinations(years, years, control, 3, np.random.default_rng(0))
    copied = rare_combinations(years, years, control, 3, np.random.default_rng(0), units=whose)
    once = rare_combinations(first, first, control, 3, np.random.default_rng(0))
    assert unseen.completed == 0
    assert (copied.value, copied.baseline) == (1, 0)
    assert copied.completed >= once.completed > 100  # seven records of each value make more of them common


def test_what_stays_as_it_was_is_no_leak_of_what_is_drawn_anew() -> None:
    """Three of four variables as they were: a fourth that is drawn without a look at anybody tells nothing of those who
    took part, one that is copied does."""
    first, second = people(600, 1), people(600, 2)
    drawn = [*first[:3], np.random.default_rng(4).permutation(people(600, 3)[3])]

    def beyond(released: Table, kept: tuple[int, ...]) -> float:
        found = rare_finds(first, released, second, 3, np.random.default_rng(0), kept=kept).measurement()
        assert found.completed > 100
        return found.beyond_baseline().value

    assert beyond(drawn, ()) > 0.05
    assert abs(beyond(drawn, (0, 1, 2))) < 0.03
    assert beyond(first, (0, 1, 2)) > 0.6


def test_more_halves_of_the_same_people_tell_more() -> None:
    both, whose = people(400, 1), np.arange(400)
    found = None
    widths = []
    for seed in range(4):
        inside = np.random.default_rng(seed).permutation(400) < 200
        own, others = ([column[part] for column in both] for part in (inside, ~inside))
        drawn = [np.random.default_rng(seed).permutation(own[0]), *own[1:]]
        units = (whose[inside], whose[~inside])
        more = rare_finds(own, drawn, others, 3, np.random.default_rng(0), units=units)
        found = more if found is None else found + more
        low, high = found.measurement().interval or (0, 1)
        widths.append(high - low)
    assert widths[3] < 0.7 * widths[0]


def test_nobody_alone_is_no_measurement() -> None:
    column = np.array(["a", "b"] * 50, object)
    measured = rare_combinations([column] * 2, [column] * 2, [column] * 2, 2, np.random.default_rng(0))
    assert (measured.attempted, measured.completed) == (0, 0)


def test_numbers_are_grouped_by_rank_so_that_no_unit_matters() -> None:
    values = np.exp(np.random.default_rng(0).normal(size=1_000) * 3)
    plain, logged = grouped(values, values[:10])[0], grouped(np.log(values), np.log(values[:10]))[0]
    assert np.array_equal(plain, logged)
    assert len(np.unique(plain)) == 50
    few = np.array([1.0, 2.0, np.nan, 2.0])
    assert len(np.unique(grouped(few)[0])) == 3


def test_many_cells_are_numbered_anew() -> None:
    rng = np.random.default_rng(0)
    codes = [rng.integers(0, 300, 500) for _ in range(4)]
    of, cells = cell_of_each(codes)
    assert of.max() < cells
    rows = list(zip(*codes, strict=True))
    assert all((of[i] == of[j]) == (rows[i] == rows[j]) for i in range(40) for j in range(40))


def test_subsets_are_all_or_some() -> None:
    rng = np.random.default_rng(0)
    assert list(subsets(4, 2, 10, rng)) == list(combinations(range(4), 2))
    assert list(subsets(2, 3, 10, rng)) == []
    some = list(subsets(40, 3, 25, rng))
    assert len(set(some)) == 25
    assert all(len(set(each)) == 3 for each in some)
