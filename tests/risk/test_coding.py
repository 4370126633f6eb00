"""Coding: the space in which records are compared, beside pandas and scikit-learn, kind by kind."""

import numpy as np
import pandas as pd
from sklearn.preprocessing import OneHotEncoder, RobustScaler

from sluice.ground.errors import DocumentError
from sluice.ground.variables import Variable
from sluice.risk.coding import Coding
from sluice.risk.spread import spread
from tests.golden import golden

SIZES = ("small", "middle", "large")


def category(values, categories):
    return pd.Series(pd.Categorical(values, categories=categories).rename_categories(list(categories)))


def variable(name, kind, **more):
    return Variable(name=name, kind=kind, **more)


VARIABLES = {
    "income": variable("income", "continuous"),
    "age": variable("age", "integer"),
    "size": variable("size", "ordinal", categories=SIZES),
    "area": variable("area", "nominal"),
    "sex": variable("sex", "binary", categories=("f", "m")),
    "since": variable("since", "date"),
}


def people(n=200, seed=1):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "income": rng.lognormal(size=n),
            "age": pd.array(rng.integers(18, 90, n), dtype="Int64"),
            "size": category(rng.choice(SIZES, n), SIZES),
            "area": category(rng.choice(list("ensw"), n), list("ensw")),
            "sex": category(rng.choice(["f", "m"], n), ["f", "m"]),
            "since": pd.Series(np.datetime64("2020-01-01") + rng.integers(0, 900, n)).astype("datetime64[us]"),
        }
    )


def test_agrees_with_scikit_learn():
    # Independent implementation: RobustScaler (its scale is tested with `spread`) and OneHotEncoder (0/1, here -1/+1).
    frame = people()
    coding = Coding.fit(frame, frame, VARIABLES, VARIABLES)
    days = (frame["since"] - pd.Timestamp("1970-01-01")).dt.days
    numbers = np.column_stack([frame["income"], frame["age"].astype(float), frame["size"].cat.codes, days])
    scaled = RobustScaler(with_scaling=False).fit_transform(numbers) / [spread(column) for column in numbers.T]
    dummies = OneHotEncoder(sparse_output=False).fit_transform(frame[["area", "sex"]].astype(str))
    expected = np.column_stack([scaled[:, :3], 2 * dummies[:, :4] - 1, 2 * dummies[:, 5] - 1, scaled[:, 3]])
    np.testing.assert_allclose(coding.original(frame), expected, atol=1e-12)
    points, unread = coding.released(frame)
    np.testing.assert_array_equal(points, coding.original(frame))  # to the last bit: a copy lies at distance 0
    assert (unread, coding.dimensions, coding.left_out) == (0, 9, ())


def test_the_original_sets_the_scale_for_every_file():
    frame = people()
    wide = frame.assign(income=frame["income"] * 1000)
    coding = Coding.fit(frame, frame, VARIABLES, VARIABLES)
    middle, scale = frame["income"].median(), spread(frame["income"].to_numpy())
    for points in (coding.original(wide), coding.released(wide)[0]):
        np.testing.assert_allclose(points[:, 0], (wide["income"] - middle) / scale)


def test_a_recoded_label_stands_for_the_people_who_carry_it():
    frame = people()
    old = frame["age"] >= 50
    recoded = frame.assign(
        age=category(np.where(old, "50+", "under 50"), ["under 50", "50+"]),
        area=category(np.where(frame["area"].isin(["n", "e"]), "ne", "sw"), ["ne", "sw"]),
    )
    released = VARIABLES | {
        "age": variable("age", "ordinal", categories=("under 50", "50+")),
        "area": variable("area", "nominal", categories=("ne", "sw")),
    }
    coding = Coding.fit(frame, recoded, VARIABLES, released)
    points, unread = coding.released(recoded.iloc[::-1])
    exact = coding.original(frame)
    np.testing.assert_allclose(points[::-1][old.to_numpy(), 1], np.median(exact[old.to_numpy(), 1]))
    ne = (recoded["area"] == "ne").to_numpy()
    np.testing.assert_allclose(points[::-1][ne, 3:7], np.tile(exact[ne, 3:7].mean(axis=0), (ne.sum(), 1)))
    assert unread == 0


def test_the_same_kind_and_other_groups_is_a_recoding_too():
    # A hierarchy's level: still nominal, and one of the new labels is spelt like an old one.
    frame = people()
    recoded = frame.assign(area=category(np.where(frame["area"] == "n", "n", "e"), ["n", "e"]))
    coding = Coding.fit(frame, recoded, VARIABLES, VARIABLES)
    exact, points = coding.original(frame)[:, 3:7], coding.released(recoded)[0][:, 3:7]
    others = (frame["area"] != "n").to_numpy()
    np.testing.assert_allclose(points[others], np.tile(exact[others].mean(axis=0), (others.sum(), 1)))


def test_a_date_released_as_a_year():
    frame = people()
    recoded = frame.assign(since=frame["since"].dt.year.astype("Int64"))
    released = VARIABLES | {"since": variable("since", "integer")}
    coding = Coding.fit(frame, recoded, VARIABLES, released)
    points, unread = coding.released(recoded)
    in_2021 = (recoded["since"] == 2021).to_numpy()
    np.testing.assert_allclose(points[in_2021, -1], np.median(coding.original(frame)[in_2021, -1]))
    beyond, unread = coding.released(recoded.assign(since=pd.array([1950] * 200, dtype="Int64")))
    assert unread == 200  # no original record carries this year: said, and placed in the middle
    np.testing.assert_allclose(beyond[:, -1], 0, atol=1e-12)


def test_probabilities_lie_at_their_expected_place():
    frame = people()
    shares = {"area=n": 0.5, "area=e": 0.5, "area=s": 0.0, "area=w": 0.0}
    masked = frame.drop(columns="area").assign(**shares)
    released = {n: v for n, v in VARIABLES.items() if n != "area"} | {n: variable(n, "continuous") for n in shares}
    coding = Coding.fit(frame, frame, VARIABLES, released)
    points, unread = coding.released(masked)
    np.testing.assert_allclose(points[:, 3:7], np.tile([0, 0, -1, -1], (200, 1)))  # 2 p - 1
    assert (unread, coding.left_out) == (0, ())
    certain = masked.assign(**{name: (frame["area"] == name[-1]).astype(float) for name in shares})
    np.testing.assert_array_equal(coding.released(certain)[0], coding.original(frame))
    original, released_labels = zip(*coding.labels(frame, certain), strict=True)
    np.testing.assert_array_equal(original[3], released_labels[3])
    assert not np.isin([*coding.labels(frame, masked)][3][1], frame["area"].unique()).any()
    assert coding.released(masked.assign(**dict.fromkeys(shares, 0.0)))[1] == 200


def with_gaps(frame, share, seed=0):
    gaps = np.random.default_rng(seed).random(len(frame)) < share
    return frame.assign(income=frame["income"].mask(gaps), area=frame["area"].mask(gaps)), gaps


def test_a_missing_value_is_a_coordinate_of_its_own():
    frame, gaps = with_gaps(people(), 0.2)
    coding = Coding.fit(frame, frame, VARIABLES, VARIABLES)
    points = coding.original(frame)
    np.testing.assert_allclose(points[gaps, 0], 0, atol=1e-12)  # the original's mean
    np.testing.assert_array_equal(points[:, 1], np.where(gaps, 1, -1))
    np.testing.assert_allclose(points[gaps, 4:8], np.tile(points[~gaps, 4:8].mean(axis=0), (gaps.sum(), 1)))
    assert coding.dimensions == 11
    np.testing.assert_array_equal(coding.released(frame)[0], points)


def test_a_suppressed_value_may_be_any_value():
    frame = people()
    masked, gaps = with_gaps(frame, 0.3)
    coding = Coding.fit(frame, frame, VARIABLES, VARIABLES)
    points, unread = coding.released(masked)
    assert unread == 0
    np.testing.assert_allclose(points[gaps, 0], 0, atol=1e-12)
    assert coding.dimensions == 9  # nothing marks a gap that the original does not have


def test_suppressed_among_missing_lies_in_proportion_between_both():
    frame, natural = with_gaps(people(400), 0.1)
    masked, _ = with_gaps(frame, 0.4, seed=9)
    gaps = masked["income"].isna().to_numpy()
    coding = Coding.fit(frame, frame, VARIABLES, VARIABLES)
    part = natural.mean() / gaps.mean()
    points, _ = coding.released(masked)
    average = 2 * natural.mean() - 1
    np.testing.assert_allclose(points[gaps, 1], part * 1 + (1 - part) * average)
    np.testing.assert_array_equal(points[~gaps, 1], -1)


def test_all_missing_and_constant_and_one_record():
    frame = people(30).assign(income=np.nan, age=pd.array([7] * 30, dtype="Int64"))
    points = Coding.fit(frame, frame, VARIABLES, VARIABLES).original(frame)
    assert np.isfinite(points).all()
    assert (points[:, 2] == 0).all()  # constant: scale 1
    one = people(1)
    assert np.isfinite(Coding.fit(one, one, VARIABLES, VARIABLES).released(one)[0]).all()
    huge = people().assign(income=1e300)
    assert np.isfinite(Coding.fit(people(), people(), VARIABLES, VARIABLES).released(huge)[0] ** 2).all()


def test_keys_and_texts_are_not_compared_and_weights_are():
    variables = {
        "id": variable("id", "text", role="identifier"),
        "home": variable("home", "integer", role="household"),
        "firm": variable("firm", "nominal", role="contributor"),
        "remark": variable("remark", "text"),
        "weight": variable("weight", "continuous", role="weight"),
        "kept": variable("kept", "continuous"),
    }
    n = 20
    frame = pd.DataFrame(
        {
            "id": [str(i) for i in range(n)],
            "home": pd.array(range(n), dtype="Int64"),
            "firm": category(["a"] * n, ["a"]),
            "remark": ["x"] * n,
            "weight": np.arange(n, dtype=float),
            "kept": np.arange(n, dtype=float),
        }
    )
    released = {name: v for name, v in variables.items() if name != "kept"} | {"new": variable("new", "continuous")}
    coding = Coding.fit(frame, frame, variables, released)
    assert coding.names == ("weight",)
    assert coding.left_out == ("remark", "new")  # released, and nobody knows what they tell


def test_weights_of_variables():
    frame = people()
    plain = Coding.fit(frame, frame, VARIABLES, VARIABLES).original(frame)
    weighted = Coding.fit(frame, frame, VARIABLES, VARIABLES, {"income": 4, "since": 0}).original(frame)
    np.testing.assert_allclose(weighted, np.column_stack([2 * plain[:, 0], plain[:, 1:-1]]))
    golden.refused(DocumentError, Coding.fit, frame, frame, VARIABLES, VARIABLES, {"incme": 2})


def test_an_unknown_category_is_counted():
    frame = people()
    strange = frame.assign(size=category(["huge"] * 200, ["huge"]), area=category(["u"] * 200, ["u"]))
    coding = Coding.fit(frame, frame, VARIABLES, VARIABLES)
    points, unread = coding.released(strange)
    assert unread == 400
    middle = np.append(0.0, coding.original(frame)[:, 3:7].mean(axis=0))  # the median of what has an order
    np.testing.assert_allclose(points[:, 2:7], np.tile(middle, (200, 1)), atol=1e-12)
