"""Variables that are read off others: by a table, by digits, by two columns, by a sum; and those that are not."""

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from sluice.risk.reference.functional_dependence import Told, told_of

N = 1_200
RNG = np.random.default_rng(1)
AREA = RNG.integers(0, 12, N)
SEX = RNG.integers(0, 2, N)
AMOUNT = RNG.lognormal(8, 1, N)


def labels(codes: NDArray[np.int64], word: str = "v") -> pd.Series:
    return pd.Series(pd.Categorical([f"{word}{code}" for code in codes]))


def told(target: NDArray[np.generic], known: tuple[str, ...] = (), **columns: pd.Series) -> Told:
    return told_of(target, known, columns, np.arange(N), np.random.default_rng(2))


@pytest.mark.parametrize(
    ("column", "share"),
    [
        (pd.Series(100 / (AREA + 1.0)), 1.0),  # a weight of its own in each area
        (pd.Series(AREA * 1000 + RNG.integers(0, 1000, N)), 1.0),  # the first digits of a code
        (pd.Series(RNG.integers(0, 1000, N) * 100 + AREA), 1.0),  # the last ones
        (labels(RNG.integers(0, 12, N)), 0.0),
        (pd.Series(RNG.normal(size=N)), 0.0),
    ],
)
def test_one_column(column: pd.Series, share: float) -> None:
    found = told(labels(AREA).to_numpy(object), stays=column)
    assert found.success.share == pytest.approx(share, abs=0.01)
    assert found.by == (("stays",) if found.success.successes else ())


def test_two_columns_together() -> None:
    one, area = RNG.integers(0, 6, N), AREA % 6
    found = told(labels(area).to_numpy(object), one=labels(one), two=labels((area - one) % 6), three=labels(SEX))
    assert found.success.share > 0.95
    assert set(found.by) == {"one", "two"}


def test_a_sum_and_a_product() -> None:
    parts = RNG.lognormal(8, 1, (2, N))
    for total in (parts.sum(axis=0), parts[0] * parts[1]):
        found = told(total, first=pd.Series(parts[0]), second=pd.Series(parts[1]), other=pd.Series(AMOUNT))
        assert found.success.share > 0.95
        assert set(found.by) >= {"first", "second"}


def test_a_ratio_of_rounded_numbers_tells_a_size_and_a_noisy_one_does_not() -> None:
    size, weight = RNG.integers(1, 10, N), RNG.lognormal(5, 0.3, N)
    whole = {"one": pd.Series(np.round(weight)), "two": pd.Series(np.round(weight * size))}
    assert told(labels(size, "size ").to_numpy(object), **whole).success.share > 0.95
    noisy = whole | {"two": pd.Series(np.round(weight * size * RNG.lognormal(0, 0.3, N)))}
    assert told(labels(size, "size ").to_numpy(object), **noisy).success.share == 0


def test_a_year_that_a_label_names_is_a_sum_of_others() -> None:
    born, age = RNG.integers(1920, 1990, N), RNG.integers(0, 40, N)
    year = pd.Series(born + age)
    months = np.array([f"{each}-{1 + each % 12:02}" for each in born], dtype=object)
    for truth in (labels(born, "born ").to_numpy(object), months):
        assert told(truth, age=pd.Series(age), year=year).success.share > 0.7
    assert told(labels(born).to_numpy(object), age=pd.Series(RNG.permutation(age)), year=year).success.share < 0.05


@pytest.mark.parametrize(("noise", "share"), [(0.03, 1.0), (0.09, 1.0), (0.3, 0.0)])
def test_what_is_told_to_a_tenth_or_a_fifth_of_a_spread(noise: float, share: float) -> None:
    """A curve of two numbers, such as an index of height and weight; what only goes along with them is not told."""
    height, weight = RNG.normal(1.7, 0.1, N), RNG.normal(70, 12, N)
    index = weight / height**2
    target = index + noise * index.std() * RNG.normal(size=N)
    found = told(target, height=pd.Series(height), weight=pd.Series(weight))
    assert found.success.share == pytest.approx(share, abs=0.1)


def test_a_limit_of_its_own_tells_those_who_have_it() -> None:
    amount = np.where(RNG.random(N) < 0.2, 1e6 + AREA, AMOUNT)
    found = told(labels(AREA).to_numpy(object), amount=pd.Series(amount))
    assert found.people.mean() == pytest.approx(0.2, abs=0.05)


def test_what_is_known_anyway_is_not_told() -> None:
    weight = pd.Series(100 / (AREA + 1.0))
    coarse = labels(AREA // 4)
    assert not told(labels(AREA // 4).to_numpy(object), known=("key",), stays=weight, key=coarse).people.any()
    assert told(labels(AREA).to_numpy(object), known=("key",), stays=weight, key=coarse).people.all()


def test_part_of_the_areas_have_weights_of_their_own() -> None:
    found = told(labels(AREA).to_numpy(object), stays=pd.Series(100 / (np.minimum(AREA, 4) + 1.0)))
    assert found.people.mean() == pytest.approx((AREA < 4).mean(), abs=0.01)


def test_what_usually_goes_together_is_no_function() -> None:
    """Education tells of income, and age of marriage: nearly all young people are unmarried, and so are many others."""
    age = RNG.integers(15, 90, N)
    married = (RNG.random(N) < np.clip((age - 18) / 40, 0, 0.8)).astype(np.int64)
    income = RNG.random(N) < 0.2 + 0.5 * (age > 40)
    for target in (married, income.astype(np.int64)):
        assert told(labels(target).to_numpy(object), age=pd.Series(age), sex=labels(SEX)).success.share < 0.02


def test_a_missing_value_is_a_value_and_few_people_teach_nothing() -> None:
    truth = np.where(AREA < 6, None, labels(AREA).to_numpy(object))
    assert told(truth, stays=pd.Series(100 / (AREA + 1.0))).people.all()
    few = told_of(truth, (), {"stays": pd.Series(AREA)}, np.arange(6), np.random.default_rng(2))
    assert not few.people.any()


def test_the_others_of_a_unit_teach_nothing() -> None:
    """A number that only the thirty stays of a patient share tells the area of each to the others alone."""
    units = np.repeat(np.arange(N // 30), 30)
    area, number = AREA[units], RNG.permutation(N // 30)[units].astype(float)
    given = labels(area).to_numpy(object), (), {"stays": pd.Series(number)}, np.arange(N)
    assert told_of(*given, np.random.default_rng(2)).people.any()
    assert not told_of(*given, np.random.default_rng(2), units=units).people.any()


def scale_of(value: NDArray[np.float64], of: NDArray[np.int64], noise: float = 0.0) -> pd.Series:
    """Ranks within classes, upwards in some and downwards in others, moved by so many places."""
    ranks = pd.Series(value + RNG.random(N) / 100).groupby(of).rank()
    return ranks * np.where(of % 2 == 0, 1, -1) + noise * RNG.normal(size=N)


@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_an_order_within_classes_tells_a_value_or_bounds_it(noise: float) -> None:
    age = RNG.integers(0, 12, N).astype(float) * 5
    columns = {"sex": labels(SEX), "area": labels(AREA % 3), "scale": scale_of(age, AREA % 3 * 2 + SEX, noise)}
    found = told(age, ("sex", "area"), **columns)
    assert found.success.share > 0.4
    assert set(found.by) >= {"scale", "area"}
    inside = (found.low <= found.truth) & (found.truth <= found.high)
    assert inside.mean() > 0.95
    assert (found.high - found.low)[~found.people].mean() < 3


def test_what_is_known_to_follow_an_order_is_not_told() -> None:
    age = RNG.integers(0, 12, N).astype(float) * 5
    columns = {"sex": labels(SEX), "scale": scale_of(age, SEX)}
    assert told(age, ("sex",), **columns).people.any()
    assert not told(age, ("sex", "scale"), **columns, other=pd.Series(AMOUNT)).people.any()


def test_an_order_of_other_people_or_of_what_goes_along_tells_nothing() -> None:
    """Years of work go along with age, and an age is not read off them."""
    age = RNG.integers(20, 80, N).astype(float)
    work = np.round(np.maximum(0, age - 18 - RNG.gamma(2, 4, N)))
    for column in (pd.Series(work), scale_of(RNG.permutation(age), SEX)):
        found = told(age, ("sex",), sex=labels(SEX), stays=column)
        assert found.success.share < 0.05
        assert (found.high - found.low).min() == found.high.max()


@pytest.mark.parametrize("power", [False, True])
def test_a_sum_with_an_amount_of_each_class_tells_a_value(power: bool) -> None:
    age, other, amount = RNG.integers(20, 70, N), RNG.lognormal(3, 0.5, N), RNG.lognormal(2, 1, 4)[AREA % 4]
    column = age * other * amount if power else age - other + 20 * amount
    found = told(age.astype(float), column=pd.Series(column), other=pd.Series(other), area=labels(AREA % 4))
    assert found.success.share > 0.5
    assert set(found.by) >= {"column", "area"}
    assert not told(
        RNG.permutation(age).astype(float), column=pd.Series(column), other=pd.Series(other), area=labels(AREA % 4)
    ).people.any()
