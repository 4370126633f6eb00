"""sluice.masking.synthesis.calibration: least squares by NumPy is what the moved values are held against."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.arrays import FloatArray, IntArray
from sluice.masking.synthesis.calibration import Sides, calibrated, chosen_of_two
from tests.reference_data import reference_path

PEOPLE = 3000


def coefficients(y: FloatArray, *x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """With their standard errors."""
    design = np.column_stack([np.ones(len(y)), *x])
    found, squares, *_ = np.linalg.lstsq(design, y)
    return found, np.sqrt(np.diag(np.linalg.inv(design.T @ design)) * squares / len(y))


def survey(seed: int = 0) -> dict[str, FloatArray]:
    """Who works and how long depends on age; children do not work. Income depends on hours and education."""
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 80, PEOPLE).astype(float)
    education = rng.integers(0, 4, PEOPLE).astype(float)
    works = ((age >= 15) & (rng.random(PEOPLE) < 0.4 + 0.12 * education)).astype(float)
    hours = np.where(works == 1, np.clip(np.rint(40 - 0.2 * age + rng.normal(0, 8, PEOPLE)), 1, 80), 0.0)
    income = np.rint(100 * np.exp(0.02 * hours + 0.2 * education + rng.normal(0, 0.5, PEOPLE)))
    return {"age": age, "education": education, "works": works, "hours": hours, "income": income}


def weakened(original: dict[str, FloatArray], seed: int = 1) -> dict[str, Sides]:
    """A synthetic file: records anew, with incomes and education that are somebody else's in some of them."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, PEOPLE, PEOPLE)
    drawn = {name: values[rows] for name, values in original.items()}
    for name, count in (("income", PEOPLE // 3), ("education", PEOPLE // 5)):
        some = rng.permutation(PEOPLE)[:count]
        drawn[name][some] = drawn[name][rng.permutation(some)]
    return {name: Sides(original[name], drawn[name], name in ("education", "works")) for name in original}


def moved(sides: dict[str, Sides], minimum_people: int = 30, seed: int = 2) -> dict[str, FloatArray]:
    places = calibrated(sides, list(sides), minimum_people, np.random.default_rng(seed))
    return {name: sides[name].synthetic[rows] for name, rows in places.items()}


def test_regressions_come_near_those_of_the_original() -> None:
    original, sides = survey(), weakened(survey())
    drawn = {name: each.synthetic for name, each in sides.items()}
    for response, regressors in (("income", ("hours", "education")), ("income", ("age", "hours"))):
        (wanted, error), (before, _), (after, _) = (
            coefficients(file[response], *(file[name] for name in regressors))
            for file in (original, drawn, moved(sides))
        )
        assert np.abs((before - wanted) / error).max() > 4
        assert np.abs((after - wanted) / error).max() < 1.5


@pytest.mark.parametrize("beside", [(), ("hours",)])
def test_categories_relate_as_in_the_original(beside: tuple[str, ...]) -> None:
    """Also where another variable says the same, which goes along: who has no hours does not work."""
    original, sides = survey(), weakened(survey())
    sides = {name: sides[name] for name in ("age", "education", "works", *beside)}
    (wanted, error), (before, _), (after, _) = (
        coefficients(file["works"], *(file["education"] == level for level in (1, 2, 3)))
        for file in (original, {name: each.synthetic for name, each in sides.items()}, moved(sides))
    )
    assert np.abs((before - wanted) / error)[1:].max() > 2
    assert np.abs((after - wanted) / error)[1:].max() < 1


def test_a_long_tail_is_sent_as_far_as_its_slope_needs() -> None:
    rng = np.random.default_rng(5)
    x = rng.lognormal(0, 1.1, PEOPLE)
    y = x * rng.lognormal(0, 0.3, PEOPLE)
    mixed = y.copy()
    some = rng.permutation(PEOPLE)[: PEOPLE // 3]
    mixed[some] = mixed[rng.permutation(some)]
    sides = {"x": Sides(x, x, False), "y": Sides(y, mixed, False)}
    (wanted, _), (before, _), (after, _) = (
        coefficients(each["y"], each["x"]) for each in ({"x": x, "y": y}, {"x": x, "y": mixed}, moved(sides))
    )
    assert abs(before[1] - wanted[1]) > 0.2
    assert abs(after[1] - wanted[1]) < 0.04  # its standard error where errors grow with x, of which half is the blur


def test_a_variable_that_leaves_hardly_any_choice_is_not_made_worse() -> None:
    """A rate of each grade alone: exchanged among all, it would lose what it says of the grade."""
    rng = np.random.default_rng(6)
    grade = rng.integers(0, 8, PEOPLE).astype(float)
    rate, z = 3 * grade + rng.integers(0, 3, PEOPLE), rng.normal(size=PEOPLE) + grade
    rows = rng.permutation(PEOPLE)
    sides = {
        name: Sides(each, each[rows], name == "grade") for name, each in (("grade", grade), ("z", z), ("rate", rate))
    }
    after = moved(sides)
    (wanted, error), (found, _) = (
        coefficients(*(file[name] for name in ("rate", "z"))) for file in ({"rate": rate, "z": z}, after)
    )
    assert np.abs((found - wanted) / error).max() < 1
    assert np.array_equal(after["rate"] // 3, after["grade"])


def test_of_two_draws_those_are_taken_that_have_nearly_mean_and_variance_of_the_original() -> None:
    rng = np.random.default_rng(7)
    original = rng.lognormal(0, 0.8, PEOPLE)
    one, other = rng.choice(original, PEOPLE), rng.choice(original, PEOPLE)
    chosen = np.where(chosen_of_two(one, other, original, rng), other, one)
    furthest = np.abs(original - original.mean()).max()
    assert abs(chosen.var() - original.var()) < 3 * furthest**2 / PEOPLE
    assert abs(chosen.mean() - original.mean()) < 3 * furthest / PEOPLE
    giant = np.r_[np.zeros(199), 1e6]
    assert not chosen_of_two(rng.permutation(giant), giant, giant, rng).any(), "its variance is one person's"


def test_who_knows_everybody_else_computes_no_value_of_the_last_one_from_mean_and_variance() -> None:
    """Nor from two files that differ by this person alone, of the same seed."""
    original = np.random.default_rng(7).normal(size=PEOPLE)
    original[0] = 6
    errors, differences = [], []
    for seed in range(30):
        sums = []
        for last in (6.0, 5.0):
            original[0] = last
            rng = np.random.default_rng(seed)
            one, other = rng.normal(size=(2, PEOPLE))
            sums.append(np.where(chosen_of_two(one, other, original, rng), other, one).sum())
        errors.append(sums[1] - original.sum())
        differences.append(sums[0] - sums[1])
    assert np.std(errors) > 3
    assert np.std(differences) > 3


def slopes_of_releases(last: float, seeds: range) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The original's variables, whose first person has a far x and `last` as y; and the slope that each release shows.

    The other draws are the same for every `last`.
    """
    rng = np.random.default_rng(8)
    x = rng.normal(size=400)
    x[0] = 2.0
    y = 0.5 * x + rng.normal(size=400)
    y[0] = last
    slopes = []
    for seed in seeds:
        draws = np.random.default_rng(seed)
        mixed = 0.25 * x + draws.normal(0, 1.1, 400)
        sides = {"x": Sides(x, x, False), "y": Sides(y, mixed, False)}
        places = calibrated(sides, ["y"], 20, draws)["y"]
        slopes.append(coefficients(mixed[places], x)[0][1])
    return x, y, np.asarray(slopes)


def test_who_knows_everybody_else_computes_nothing_of_the_last_one_from_a_regression() -> None:
    """The slope and the others' values give the last value; the others alone give their regression at this x."""
    x, y, slopes = slopes_of_releases(4.0, range(12))
    apart = x - x.mean()
    computed = (slopes * (apart @ apart) - apart[1:] @ y[1:]) / apart[0]
    alone = coefficients(y[1:], x[1:])[0] @ [1.0, x[0]]
    assert np.abs(slopes - 0.5).max() < 0.4, "the releases have the slope"
    assert np.sqrt(np.mean((computed - y[0]) ** 2)) > abs(alone - y[0])


def test_two_files_that_differ_by_a_far_person_are_not_told_apart_by_a_regression() -> None:
    """Of one seed, too: the slopes scatter by more than the person moves the original's."""
    (x, y, far), (_, other, near) = (slopes_of_releases(last, range(24)) for last in (7.0, 1.0))
    moves = coefficients(y, x)[0][1] - coefficients(other, x)[0][1]
    assert moves > 0
    assert np.std(far - near) > moves


def sums_of_a_cell(people: int, inside: FloatArray, seeds: range) -> tuple[FloatArray, FloatArray]:
    """Sums of y over a category of so many people, as releases show them, and those of the files that were drawn.

    inside : y of these people; y of 400 others varies by 1 around 0, and is drawn without regard to the category
    """
    rng = np.random.default_rng(9)
    cell = np.r_[np.ones(people), np.zeros(400)]
    y = np.r_[inside, rng.normal(size=400)]
    shown, drawn = [], []
    for seed in seeds:
        draws = np.random.default_rng(seed)
        mixed = draws.normal(y.mean(), y.std(), len(y))
        sides = {"cell": Sides(cell, cell, True), "y": Sides(y, mixed, False)}
        places = calibrated(sides, ["y"], 100, draws)["y"]
        drawn.append(mixed[cell == 1].sum())
        shown.append(mixed[places][cell == 1].sum())
    return np.asarray(shown), np.asarray(drawn)


def test_who_knows_all_but_one_of_a_small_category_is_not_told_the_last_one_by_its_mean() -> None:
    """Of 20, the fewest that an effect is told of; also where the others are all alike, and nothing seems to vary."""
    for others in (np.random.default_rng(1).normal(1.0, 1.0, 19), np.full(19, 2.0)):
        inside = np.r_[others, 2.0]
        shown, _ = sums_of_a_cell(20, inside, range(16))
        assert abs(shown.mean() - inside.sum()) < abs(inside.sum()) / 2, "the mean of the category is kept"
        assert np.sqrt(np.mean((shown - others.sum() - 2.0) ** 2)) > 1.0, "by guessing, one errs by 1"


def test_of_a_smaller_category_nothing_is_told() -> None:
    shown, drawn = sums_of_a_cell(19, np.full(19, 3.0), range(8))
    assert np.array_equal(shown, drawn)


def called_right(people: FloatArray, others: FloatArray, file: FloatArray) -> float:
    """By whoever knows the population: how often a person who took part fits better than one who did not what second
    moments of the file are more than the population's (a score test; all variables are independent, of variance 1).
    """
    apart = file.T @ file / len(file) - np.eye(file.shape[1])
    first, second = (np.einsum("ij,jk,ik->i", each, apart, each) for each in (people, others))
    return float((first[:, None] > second).mean())


def test_who_took_part_is_told_no_better_by_the_equations_than_by_the_moments_themselves() -> None:
    """That is little among many people: equations grow with the square of the variables, beside the number of people.

    What was drawn knows nothing of the people here, so that all that is told comes from the equations.
    """
    told = {}
    for count in (300, 1500):
        themselves, released = [], []
        for seed in range(2):
            rng = np.random.default_rng(seed)
            people, others, drawn = rng.normal(size=(3, count, 8))
            sides = {str(k): Sides(people[:, k], drawn[:, k], False) for k in range(8)}
            places = calibrated(sides, list(sides), 20, rng)
            file = np.column_stack([drawn[rows, int(name)] for name, rows in places.items()])
            themselves.append(called_right(people, others, people))
            released.append(called_right(people, others, file))
        told[count] = float(np.mean(released))
        assert np.mean(themselves) > told[count] - 0.01
    assert np.mean(themselves) > 0.52, "the attack works"
    assert told[1500] < 0.54


def test_an_effect_that_the_original_hardly_determines_is_left_to_the_others() -> None:
    """x and z say the same in the original, and differ in what was drawn: by their difference nothing is explained."""
    rng = np.random.default_rng(11)
    x = rng.normal(size=PEOPLE)
    z, y = x + rng.normal(0, 0.01, PEOPLE), x + rng.normal(size=PEOPLE)
    drawn_z, mixed = x + rng.normal(0, 0.5, PEOPLE), y.copy()
    some = rng.permutation(PEOPLE)[: PEOPLE // 3]
    mixed[some] = mixed[rng.permutation(some)]
    sides = {"x": Sides(x, x, False), "z": Sides(z, drawn_z, False), "y": Sides(y, mixed, False)}
    after = mixed[calibrated(sides, ["y"], 20, rng)["y"]]
    assert abs(np.corrcoef(after, drawn_z - x)[0, 1]) < 0.1
    (wanted, error), (found, _) = coefficients(y, x), coefficients(after, x)
    assert np.abs((found - wanted) / error).max() < 1.5


def test_amounts_that_few_people_have_come_to_who_has_them() -> None:
    """One in twenty has an amount, far from 0, and who has one depends on x; in what was drawn anybody may."""
    rng = np.random.default_rng(12)
    x = rng.normal(size=PEOPLE)
    amount = np.where(rng.random(PEOPLE) < 0.05 * np.exp(0.7 * x - 0.25), 1800 + rng.normal(0, 200, PEOPLE), 0.0)
    mixed = rng.permutation(amount)
    sides = {"x": Sides(x, x, False), "amount": Sides(amount, mixed, False)}
    after = mixed[calibrated(sides, ["amount"], 20, rng)["amount"]]
    (wanted, error), (before, _), (found, _) = (coefficients(each, x) for each in (amount, mixed, after))
    assert np.abs((before - wanted) / error)[1] > 4
    assert np.abs((found - wanted) / error).max() < 1.5


def test_the_logarithm_of_a_skewed_amount_is_explained_as_in_the_original() -> None:
    rng = np.random.default_rng(13)
    x = rng.normal(size=PEOPLE)
    amount = np.exp(0.8 * x + rng.normal(0, 1.5, PEOPLE))
    mixed = rng.permutation(amount)
    after = mixed[calibrated({"x": Sides(x, x, False), "y": Sides(amount, mixed, False)}, ["y"], 20, rng)["y"]]
    (wanted, error), (found, _) = (coefficients(np.log(each), x) for each in (amount, after))
    assert np.abs((found - wanted) / error).max() < 1.5


def slopes_moved(after: FloatArray, original: FloatArray, x: FloatArray) -> FloatArray:
    """In standard errors: of the amount, who has any, who has a loss, and its logarithm with what is not 0 as it is."""
    scales = (lambda y: y, lambda y: y > 0, lambda y: y < 0, lambda y: np.sign(y) * np.log1p(np.abs(y)))
    moved = []
    for scale in scales:
        (wanted, error), (found, _) = (coefficients(scale(each).astype(float), x) for each in (original, after))
        moved.append(np.abs(found - wanted)[1] / max(error[1], 1e-12))
    return np.asarray(moved)


@cache
def gains_of_adult() -> pd.DataFrame:
    """Education and capital gains, which one in twelve has, of 3,000 people."""
    raw = pd.read_csv(reference_path("adult", "adult.data.gz"), header=None, usecols=[4, 10], nrows=PEOPLE)
    return raw.set_axis(["education", "gain"], axis=1).astype(float)


def test_who_has_an_amount_and_its_logarithm_are_explained_as_in_the_original() -> None:
    """Capital gains of Adult, which all changed places; 13 of 99,999 make the variance, and stay where they are."""
    education, gain = gains_of_adult().to_numpy().T
    rng = np.random.default_rng(15)
    mixed = rng.permutation(gain)
    sides = {"education": Sides(education, education, False), "gain": Sides(gain, mixed, False)}
    after = mixed[calibrated(sides, ["gain"], 20, rng)["gain"]]
    assert slopes_moved(mixed, gain, education)[[1, 3]].min() > 4
    assert slopes_moved(after, gain, education)[[1, 3]].max() < 1.5


def test_gains_and_losses_are_explained_each() -> None:
    rng = np.random.default_rng(17)
    x = rng.normal(size=PEOPLE)
    size = np.exp(7 + 0.4 * x + rng.normal(0, 1.2, PEOPLE))
    profit = np.where(rng.random(PEOPLE) < 0.4, 0.0, np.where(rng.random(PEOPLE) < 0.2 + 0.1 * (x > 0), -size, size))
    mixed = rng.permutation(profit)
    sides = {"x": Sides(x, x, False), "profit": Sides(profit, mixed, False)}
    after = mixed[calibrated(sides, ["profit"], 20, rng)["profit"]]
    assert slopes_moved(mixed, profit, x).max() > 3
    assert slopes_moved(after, profit, x).max() < 1.5


def test_an_amount_explains_by_whether_there_is_any_and_by_how_much() -> None:
    rng = np.random.default_rng(18)
    rent = np.where(rng.random(PEOPLE) < 0.7, 0.0, np.exp(7 + rng.normal(0, 1, PEOPLE)))
    y = 2.0 * (rent > 0) - 0.2 * np.log1p(rent) + rng.normal(size=PEOPLE)
    mixed = rng.permutation(y)
    after = mixed[calibrated({"rent": Sides(rent, rent, False), "y": Sides(y, mixed, False)}, ["y"], 20, rng)["y"]]
    (wanted, error), (found, _) = (coefficients(each, rent > 0, np.log1p(rent)) for each in (y, after))
    assert np.abs((found - wanted) / error).max() < 1.5


def test_as_many_have_an_amount_as_in_the_original_when_its_variance_is_near() -> None:
    """Of two draws that with more people were taken to reach the variance."""
    rng = np.random.default_rng(19)
    original = np.where(rng.random(PEOPLE) < 0.8, 0.0, np.exp(7 + rng.normal(0, 1, PEOPLE)))
    one, other = (np.minimum(rng.choice(original, PEOPLE), 8000.0) for _ in range(2))  # tails came out too short
    after = np.where(chosen_of_two(one, other, original, rng), other, one)
    assert abs((after > 0).sum() - (original > 0).sum()) < 12
    assert abs(np.log(after[after > 0]).mean() - np.log(original[original > 0]).mean()) < 0.05


def test_amounts_of_which_too_few_are_so_large_stay_where_they_were_drawn() -> None:
    rng = np.random.default_rng(20)
    x = rng.normal(size=PEOPLE)
    amount = np.where(rng.random(PEOPLE) < 0.5, 0.0, np.exp(5 + 0.3 * x + rng.normal(0, 0.5, PEOPLE)))
    giants = rng.permutation(PEOPLE)[:3]
    amount[giants] = 1e6
    mixed = rng.permutation(amount)
    after = mixed[calibrated({"x": Sides(x, x, False), "y": Sides(amount, mixed, False)}, ["y"], 20, rng)["y"]]
    assert np.array_equal(np.flatnonzero(after == 1e6), np.flatnonzero(mixed == 1e6))
    assert slopes_moved(after, amount, x)[[1, 3]].max() < 1.5


@given(st.integers(0, 2**32 - 1))
def test_values_change_places_only_and_the_same_seed_moves_the_same(seed: int) -> None:
    sides = weakened(survey(3), 4)
    sides = {
        name: Sides(each.original[:300], each.synthetic[:300], each.is_category)
        for name, each in sides.items()
        if name in ("age", "works", "hours")
    }
    found, again = moved(sides, 10, seed), moved(sides, 10, seed)
    for name, each in sides.items():
        assert np.array_equal(np.sort(found[name]), np.sort(each.synthetic))
        assert np.array_equal(found[name], again[name])


def test_nothing_impossible_is_made() -> None:
    sides = weakened(survey())
    before = {name: each.synthetic for name, each in sides.items()}
    after = moved(sides)
    for file in (before, after):
        assert not ((file["works"] == 0) & (file["hours"] > 0)).any()
        assert not ((file["works"] == 1) & (file["hours"] == 0)).any()
    young = (after["age"] < 12) & (after["works"] == 1)  # the parts of the range are some four years
    assert not young.any()


def test_missing_values_stay_where_they_are() -> None:
    sides = weakened(survey())
    income = sides["income"]
    gone = [np.where(np.arange(PEOPLE) % 7 == 0, np.nan, each) for each in (income.original, income.synthetic)]
    after = moved({**sides, "income": Sides(*gone, is_category=False)})
    assert np.array_equal(np.isnan(after["income"]), np.isnan(gone[1]))


def test_what_few_people_make_is_left_alone() -> None:
    rng = np.random.default_rng(0)
    x, giant = rng.normal(size=200), np.r_[np.zeros(199), 1e6]
    sides = {name: Sides(each, rng.permutation(each), False) for name, each in (("x", x), ("giant", giant))}
    found = calibrated(sides, ["x", "giant"], 20, rng)
    assert np.array_equal(found["giant"], np.arange(200))
    few = {name: Sides(each.original[:30], each.synthetic[:30], False) for name, each in sides.items()}
    assert all(np.array_equal(each, np.arange(30)) for each in calibrated(few, ["x", "giant"], 20, rng).values())


def test_nothing_to_calibrate_is_nothing() -> None:
    assert calibrated({}, [], 5, np.random.default_rng(0)) == {}


# -- people with several records


def histories(seed: int = 0) -> tuple[dict[str, FloatArray], dict[str, Sides], IntArray]:
    """Of 300 firms eight years each: they differ far more than years do. The synthetic file knows no year."""
    rng = np.random.default_rng(seed)
    firm, year = np.repeat(np.arange(300), 8), np.tile(np.arange(8.0), 300)
    wage = rng.normal(0, 1, 300)[firm] + 0.02 * year + rng.normal(0, 0.1, 2400)
    original = {"year": year, "wage": wage}
    return original, {"year": Sides(year, year, True), "wage": Sides(wage, rng.permutation(wage), False)}, firm


def of_years(wage: FloatArray, year: FloatArray) -> FloatArray:
    means = np.array([wage[year == each].mean() for each in range(8)])
    return means - means.mean()


def test_effects_of_years_come_near_by_the_errors_that_people_leave_them() -> None:
    """A firm's own wages vary by a tenth: the mean of a year beside others is known to .006, and not to .06."""
    original, sides, firm = histories()
    year, places = original["year"], {}
    for whose in (None, firm):
        found = calibrated(sides, ["wage"], 20, np.random.default_rng(3), whose)["wage"]
        apart = of_years(sides["wage"].synthetic[found], year) - of_years(original["wage"], year)
        places[whose is None] = float(np.sqrt(np.mean(apart**2)))
    assert places[True] > 0.012, "of as many records of different people nobody knows the year so well"
    assert places[False] < 0.008


def test_what_differs_between_people_is_blurred_by_what_a_person_makes_of_it() -> None:
    """A trait that never changes: eight draws a person would cancel each other, and leave a third of the blur."""
    _, sides, firm = histories(1)
    rng = np.random.default_rng(5)
    trait = rng.normal(size=300)[firm]
    both = {"trait": Sides(trait, trait, False), "wage": sides["wage"]}
    slopes = {}
    for whose in (None, firm):
        wages = [
            sides["wage"].synthetic[calibrated(both, ["wage"], 20, np.random.default_rng(seed), whose)["wage"]]
            for seed in range(8)
        ]
        slopes[whose is None] = np.std([coefficients(wage, trait)[0][1] for wage in wages])
    assert slopes[False] > 1.5 * slopes[True]


def test_of_eight_records_each_twenty_people_are_asked_for() -> None:
    """A category of five firms is told by forty records, and by fewer people than an effect needs."""
    _, sides, firm = histories(2)
    cell = (firm < 5).astype(float)
    high = sides["wage"].original + 3 * cell
    drawn = np.random.default_rng(6).permutation(high)
    both = {"cell": Sides(cell, cell, True), "wage": Sides(high, drawn, False)}
    told, withheld = (
        drawn[calibrated(both, ["wage"], 20, np.random.default_rng(7), whose)["wage"]][cell == 1].mean()
        for whose in (None, firm)
    )
    assert abs(told - high[cell == 1].mean()) < 0.5
    assert abs(withheld - drawn[cell == 1].mean()) < 0.5
