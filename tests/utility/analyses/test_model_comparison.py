from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from sluice.ground.variables import Kind, Variable
from sluice.utility.analyses.design_matrix import designs
from sluice.utility.analyses.formula import read_formula
from sluice.utility.analyses.model_comparison import (
    ModelComparison,
    compare_models,
    compare_subgroups,
    interval_overlap,
)
from sluice.utility.analyses.model_variables import ModelVariable, masked_variables, original_variables
from sluice.utility.analyses.models import compared_model
from tests.golden import golden

VARIABLES = {
    "pay": Variable(name="pay", kind=Kind.CONTINUOUS),
    "age": Variable(name="age", kind=Kind.CONTINUOUS),
    "level": Variable(name="level", kind=Kind.ORDINAL, categories=("none", "school", "degree", "doctor")),
    "sex": Variable(name="sex", kind=Kind.BINARY, categories=("f", "m")),
    "weight": Variable(name="weight", kind=Kind.CONTINUOUS),
}
N = 1200


def people(seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    age, level = rng.uniform(18, 65, N).round(), rng.choice(4, N, p=[0.2, 0.5, 0.25, 0.05])
    pay = np.exp(0.02 * age + 0.2 * level + rng.normal(size=N) / 2)
    return pd.DataFrame(
        {
            "pay": pay,
            "age": age,
            "level": pd.Categorical.from_codes(level, VARIABLES["level"].categories, ordered=True),
            "sex": pd.Categorical.from_codes(rng.integers(0, 2, N), ["f", "m"]),
            "weight": rng.uniform(1, 5, N),
        }
    )


ORIGINAL = people()


def original() -> dict[str, ModelVariable]:
    return original_variables(VARIABLES, ORIGINAL, VARIABLES)


def file_of(masked: pd.DataFrame, recoded: pd.DataFrame | None = None, **changed: Any) -> dict[str, ModelVariable]:
    released = {name: changed.get(name, VARIABLES[name]) for name in masked}
    return masked_variables(VARIABLES, ORIGINAL, ORIGINAL if recoded is None else recoded, masked, VARIABLES, released)


def compare(formula: str, kind: Any, after: dict[str, ModelVariable], weight: str | None = None) -> ModelComparison:
    return compare_models(read_formula(formula), kind, original(), after, weight)


@pytest.mark.parametrize(
    ("formula", "python"),
    [
        ("log(pay) ~ age + level", "np.log(pay) ~ age + C(level, Treatment('school'))"),
        ("pay ~ age*level + age^2", "pay ~ age*C(level, Treatment('school')) + I(age**2)"),
        ("pay ~ level - 1", "pay ~ level - 1"),
        ("pay ~ sex:level", "pay ~ sex:level"),
        ("pay ~ sqrt(age) + sex*level", "pay ~ np.sqrt(age) + sex*C(level, Treatment('school'))"),
    ],
)
def test_designs_span_those_of_patsy(formula: str, python: str) -> None:
    """Fitted values and, where the coding is the same, coefficients are those of statsmodels' formulas."""
    design, _ = designs(read_formula(formula), original(), original(), None)
    expected = smf.ols(python, ORIGINAL).fit()
    found, *_ = np.linalg.lstsq(design.matrix, design.response, rcond=None)
    np.testing.assert_allclose(design.matrix @ found, expected.fittedvalues, rtol=1e-6)
    if "sex" not in formula:
        changes = compare(formula, "linear", original()).changes
        assert sorted(change.before for change in changes) == pytest.approx(sorted(expected.params), rel=1e-6)
        assert sorted(change.before_error for change in changes) == pytest.approx(sorted(expected.bse), rel=1e-6)


def test_the_overlap_of_intervals_by_hand() -> None:
    """Karr, Kohnen, Oganian, Reiter and Sanil (2006), section 3.2: the common part as a share of each, averaged."""
    z = 1.959963984540054
    assert interval_overlap(0, 1 / z, 0, 1 / z) == 1  # (-1, 1) twice
    assert interval_overlap(0, 1 / z, 1, 1 / z) == pytest.approx(0.5)  # (-1, 1) and (0, 2) have (0, 1)
    assert interval_overlap(0, 2 / z, 0, 1 / z) == pytest.approx(0.75)  # all of the one, half of the other
    assert interval_overlap(0, 1 / z, 5, 1 / z) == 0
    assert interval_overlap(0, 1, float("nan"), 1) == 0
    assert interval_overlap(1, 0, 1, 0) == 1
    assert interval_overlap(1, 0, 2, 0) == 0
    assert interval_overlap(0, 1, 0, 0) == 0.5


def test_an_unchanged_file_keeps_every_coefficient_in_any_order() -> None:
    shuffled = ORIGINAL.sample(frac=1, random_state=1).reset_index(drop=True)
    for formula, kind in [
        ("log(pay) ~ age*sex + level", "linear"),
        ("sex == 'm' ~ age + pay", "logistic"),
        ("age ~ level", "poisson"),
        ("survival(pay, sex) ~ age", "cox"),
    ]:
        found = compare(formula, kind, file_of(shuffled))
        assert found.overlap == pytest.approx(1, abs=1e-6)
        assert found.difference == pytest.approx(0, abs=1e-5)
        assert (found.lost, found.records, found.used, found.used_masked) == (0, N, N, N)


def test_standard_errors_are_of_people_where_these_have_several_records() -> None:
    """Four equal records of each tell no more than one: not of the masked file either, which names nobody."""
    formula = read_formula("pay ~ age + sex")
    noisy = ORIGINAL.assign(pay=ORIGINAL["pay"] * np.random.default_rng(2).uniform(0.5, 1.5, N))
    found = []
    for times in (1, 4):
        rows = np.repeat(np.arange(N), times)
        before, after = (
            original_variables(formula.variables, file.iloc[rows], VARIABLES) for file in (ORIGINAL, noisy)
        )
        found.append(compare_models(formula, "linear", before, after, people=rows).changes)
    for once, often in zip(*found, strict=True):
        for name in ("before", "before_error", "after", "after_error", "overlap", "difference"):
            assert getattr(often, name) == pytest.approx(getattr(once, name), rel=0.01), name


def test_what_never_changes_is_not_exact_by_the_year() -> None:
    """Each of 300 has one record a year: by people the years leave an error of nought, and any change is endless."""
    frame = ORIGINAL.iloc[np.repeat(np.arange(300), 4)].reset_index(drop=True)
    frame["age"] = np.tile(np.arange(4.0), 300)
    before, after = (
        original_variables(("pay", "age"), each, VARIABLES) for each in (frame, frame.sample(900, random_state=1))
    )
    found = compare_models(read_formula("pay ~ age"), "linear", before, after, people=np.repeat(np.arange(300), 4))
    assert found.changes[1].difference < 3
    assert found.changes[1].before_error == pytest.approx(frame["pay"].std() / frame["age"].std() / 1200**0.5, rel=0.05)


def test_a_weight_is_used_where_the_file_has_it() -> None:
    weighted = compare("log(pay) ~ age", "linear", original(), "weight")
    plain = compare("log(pay) ~ age", "linear", original())
    assert weighted.changes[1].before != plain.changes[1].before
    assert weighted.overlap == pytest.approx(1)
    without = compare("log(pay) ~ age", "linear", file_of(ORIGINAL.drop(columns="weight")), "weight")
    assert without.changes[1].after == plain.changes[1].before
    negative = file_of(ORIGINAL.assign(weight=-1.0))
    golden.refused(DataError, compare, "log(pay) ~ age", "linear", negative, "weight")


def test_coefficients_of_variables_that_were_removed_are_lost_and_count_as_none() -> None:
    found = compare("log(pay) ~ age + level", "linear", file_of(ORIGINAL.drop(columns="level")))
    lost = [change for change in found.changes if change.is_lost]
    assert {change.term for change in lost} == {"(intercept)", "level: none", "level: degree", "level: doctor"}
    assert all(change.overlap == 0 for change in lost)
    assert all(change.difference == abs(change.before) / change.before_error for change in lost)
    assert found.overlap < 0.25  # age alone is left of five
    gone = compare("log(pay) ~ age + level", "linear", file_of(ORIGINAL.drop(columns="pay")))
    assert (gone.lost, gone.overlap, gone.used_masked) == (len(gone.changes), 0, 0)


def test_categories_that_were_merged_are_lost_and_the_others_compared() -> None:
    merged = ORIGINAL["level"].astype("str").replace({"degree": "higher", "doctor": "higher"})
    recoded = ORIGINAL.assign(level=pd.Categorical(merged, ["none", "school", "higher"], ordered=True))
    groups = Variable(name="level", kind=Kind.ORDINAL, categories=("none", "school", "higher"))
    found = compare("log(pay) ~ age + level", "linear", file_of(recoded, recoded, level=groups))
    after = {change.term: change.after for change in found.changes}
    assert np.isnan([after["level: degree"], after["level: doctor"]]).all()
    assert found.lost == 2
    kept = [change for change in found.changes if not change.is_lost]
    assert min(change.overlap for change in kept) > 0.9
    # Where the reference itself was merged, the most frequent that is left takes its place in both files.
    merged = ORIGINAL["level"].astype("str").replace({"school": "lower", "none": "lower"})
    recoded = ORIGINAL.assign(level=pd.Categorical(merged, ["lower", "degree", "doctor"], ordered=True))
    groups = Variable(name="level", kind=Kind.ORDINAL, categories=("lower", "degree", "doctor"))
    found = compare("log(pay) ~ age + level", "linear", file_of(recoded, recoded, level=groups))
    assert {change.term for change in found.changes if change.is_lost} == {"level: none", "level: school"}


def test_numbers_in_groups_are_compared_by_their_means() -> None:
    labels = ("18 to 30", "31 to 50", "51 to 65")
    recoded = ORIGINAL.assign(age=pd.cut(ORIGINAL["age"], [0, 30, 50, 65], labels=labels))
    groups = Variable(name="age", kind=Kind.ORDINAL, categories=labels)
    found = compare("log(pay) ~ age + sex", "linear", file_of(recoded, recoded, age=groups))
    age = next(change for change in found.changes if change.term == "age")
    assert not age.is_lost
    assert 0.5 < age.overlap < 1


def test_a_response_that_groups_do_not_tell_is_lost() -> None:
    merged = ORIGINAL["level"].astype("str").replace({"degree": "higher", "doctor": "higher"})
    recoded = ORIGINAL.assign(level=pd.Categorical(merged, ["none", "school", "higher"], ordered=True))
    groups = Variable(name="level", kind=Kind.ORDINAL, categories=("none", "school", "higher"))
    found = compare("level == 'degree' ~ age", "logistic", file_of(recoded, recoded, level=groups))
    assert found.overlap == 0
    kept = compare("level == 'none' ~ age", "logistic", file_of(recoded, recoded, level=groups))
    assert kept.overlap == pytest.approx(1, abs=1e-6)


@given(st.floats(0.2, 60), st.integers(0, 99))
def test_figures_are_within_their_bounds(noise: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    masked = ORIGINAL.assign(age=ORIGINAL["age"] + noise * rng.normal(size=N))
    found = compare("log(pay) ~ age + sex", "linear", file_of(masked))
    assert 0 <= found.overlap <= 1
    assert found.difference >= 0
    assert len(found.changes) == 3


def test_more_noise_costs_more() -> None:
    rng = np.random.default_rng(5)
    drawn = rng.normal(size=N)
    overlaps = [
        compare("log(pay) ~ age", "linear", file_of(ORIGINAL.assign(age=ORIGINAL.age + noise * drawn))).overlap
        for noise in (0, 2, 5, 20)
    ]
    assert overlaps == sorted(overlaps, reverse=True)


def test_a_model_that_the_original_does_not_determine_has_no_figure() -> None:
    found = compare("pay > 100000 ~ age", "logistic", original())
    assert found.changes == ()
    assert np.isnan(found.overlap)
    golden.refused(DataError, compare, "age ~ C(pay)", "linear", original())


def test_subgroups_are_fitted_by_themselves_and_those_that_left_have_lost_everything() -> None:
    groups = {sex: (ORIGINAL["sex"] == sex).to_numpy() for sex in ("f", "m")}
    drawn = ORIGINAL["pay"].sample(frac=1, random_state=0)
    changed = ORIGINAL.assign(pay=np.where(groups["m"], drawn, ORIGINAL["pay"]))
    formula = read_formula("log(pay) ~ age")
    found = compare_subgroups(formula, "linear", original(), file_of(changed), groups, groups)
    alone = smf.ols("np.log(pay) ~ age", ORIGINAL[ORIGINAL["sex"] == "f"]).fit()
    assert found["f"].changes[1].before == pytest.approx(alone.params["age"])
    assert found["f"].overlap == 1 > found["m"].overlap
    gone = compare_subgroups(formula, "linear", original(), file_of(changed), groups, {"f": groups["f"]})
    assert gone["m"].overlap == 0
    few = {"few": np.arange(N) < 15}
    assert compare_subgroups(formula, "linear", original(), original(), few, few) == {}


def test_a_coefficient_behind_which_few_records_stand_is_not_shown() -> None:
    rare = ORIGINAL["level"].cat.codes.to_numpy().copy()
    rare[rare == 3] = 2
    rare[:7] = 3
    frame = ORIGINAL.assign(level=pd.Categorical.from_codes(rare, VARIABLES["level"].categories, ordered=True))
    variables = original_variables(VARIABLES, frame, VARIABLES)
    for formula, kind, hidden in [
        ("log(pay) ~ age + level", "linear", {"level: doctor"}),
        ("log(pay) ~ age*level", "linear", {"level: doctor", "age × level: doctor"}),
    ]:
        found = compare_models(read_formula(formula), kind, variables, variables)
        shown = compared_model("m", kind, formula, found, 10)
        assert {change.term for change in found.changes} - {each.term for each in shown.coefficients} == hidden
        assert (shown.hidden, shown.lost) == (len(hidden), 0)
    # Twenty of a category, of whom four say yes: the coefficient would tell how many.
    rare[:20] = 3
    yes = np.random.default_rng(0).integers(0, 2, N)
    yes[:20] = np.arange(20) < 4
    frame = frame.assign(
        level=pd.Categorical.from_codes(rare, VARIABLES["level"].categories, ordered=True),
        sex=pd.Categorical.from_codes(yes, ["f", "m"]),
    )
    variables = original_variables(VARIABLES, frame, VARIABLES)
    found = compare_models(read_formula("sex ~ level"), "logistic", variables, variables)
    assert "level: doctor" not in {each.term for each in compared_model("m", "logistic", "", found, 10).coefficients}
    everything = compare_models(read_formula("log(pay) ~ C(age)"), "linear", original(), original())
    shown = {each.term for each in compared_model("m", "linear", "", everything, 21).coefficients}
    assert 0 < len(shown) < len(everything.changes)
    assert all(change.behind >= 21 for change in everything.changes if change.term in shown)


@pytest.mark.parametrize(("formula", "far"), [("pay ~ age", "age"), ("pay ~ age*sex", "age"), ("age ~ sex", "age")])
def test_nobody_is_read_off_a_coefficient_that_is_theirs_alone(formula: str, far: str) -> None:
    """Who is far from all others pulls the line through themselves: its slope times their distance is their value."""
    number = ORIGINAL[far].to_numpy().copy()
    number[0] = 1e6
    frame = ORIGINAL.assign(**{far: number})
    variables = original_variables(VARIABLES, frame, VARIABLES)
    found = compare_models(read_formula(formula), "linear", variables, variables)
    if formula == "pay ~ age":
        read = frame["pay"].mean() + found.changes[1].before * (1e6 - number.mean())
        assert read == pytest.approx(frame["pay"][0], rel=0.01)
    shown = compared_model("m", "linear", formula, found, 10).coefficients
    assert not any("age" in one.term or far == formula[:3] for one in shown)
    ordinary = compare_models(read_formula(formula), "linear", original(), original())
    assert compared_model("m", "linear", formula, ordinary, 10).hidden == 0


def test_without_a_variable_the_intercept_stands_for_other_people() -> None:
    formula = read_formula("pay ~ age + sex")
    found = compare_models(formula, "linear", original(), file_of(ORIGINAL[["pay", "age"]]))
    assert {each.term: each.recoded for each in found.changes if each.is_lost} == {"(intercept)": True, "sex: f": False}
