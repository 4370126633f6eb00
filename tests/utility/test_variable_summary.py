from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.variables import Kind, Role, Variable
from sluice.utility.variable_summary import VariableSummary, summarise, told_moments

VARIABLES = {
    v.name: v
    for v in (
        Variable(name="person", kind=Kind.TEXT, role=Role.IDENTIFIER),
        Variable(name="household", kind=Kind.INTEGER, role=Role.HOUSEHOLD),
        Variable(name="age", kind=Kind.INTEGER, role=Role.QUASI_IDENTIFIER, unit="years"),
        Variable(name="income", kind=Kind.CONTINUOUS, description="per year", role=Role.SENSITIVE),
    )
}
BANDS = ("0-39", "40+")
RELEASED = {
    "household": VARIABLES["household"],
    "age": Variable(name="age", kind=Kind.ORDINAL, categories=BANDS, role=Role.QUASI_IDENTIFIER, unit="years"),
    "income": VARIABLES["income"],
}


def files(n: int) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng(n)
    age = rng.integers(18, 80, n)
    original = pd.DataFrame(
        {
            "person": pd.array([f"p{i}" for i in range(n)], dtype="str"),
            "household": pd.array(np.arange(n) // 3, dtype="Int64"),
            "age": pd.array(age, dtype="Int64"),
            "income": rng.normal(1000, 100, n),
        }
    )
    bands = pd.Categorical(np.where(age < 40, *BANDS), categories=BANDS, ordered=True)
    recoded = original[["household", "income"]].assign(age=bands)
    masked = recoded.assign(income=recoded["income"] + 50)
    masked.loc[: n // 10 - 1, "age"] = None  # a tenth is suppressed
    return original, recoded, masked


def by_name(n: int, **changes: pd.DataFrame) -> dict[str, VariableSummary]:
    original, recoded, masked = files(n)
    frames = {"original": original, "recoded": recoded, "masked": masked, **changes}
    return {s.name: s for s in summarise(**frames, variables=VARIABLES, released=RELEASED, minimum_cell=10)}


def test_a_recoded_variable_is_shown_on_the_released_categories() -> None:
    _, recoded, masked = files(500)
    age = by_name(500)["age"]
    assert (age.kind_before, age.kind_after, age.unit) == (Kind.INTEGER, Kind.ORDINAL, "years")
    assert age.bins == BANDS
    assert age.counts_before == tuple((recoded["age"] == band).sum() for band in BANDS)
    assert age.counts_after == tuple((masked["age"] == band).sum() for band in BANDS)
    assert (age.changed, age.suppressed) == (0.0, 0.1)  # a band is not a change
    assert (age.missing_before, age.missing_after) == (0.0, 0.1)
    assert age.mean_before == pytest.approx(files(500)[0]["age"].mean(), abs=0.1)
    assert age.mean_after is None


def test_a_numeric_variable_has_moments_and_common_bins() -> None:
    original = files(500)[0]
    income = by_name(500)["income"]
    assert income.mean_after == pytest.approx(income.mean_before + 50)
    assert income.deviation_before == pytest.approx(original["income"].std(), abs=2)  # rounded, see told_moments
    assert (income.changed, income.suppressed) == (1.0, 0.0)
    assert len(income.bins) == len(income.counts_before) == len(income.counts_after) > 5


def test_what_names_a_unit_or_is_not_released_gives_nothing_away() -> None:
    summaries = by_name(500)
    assert list(summaries) == list(VARIABLES)  # in the order of the original, released or not
    for name in ("person", "household"):
        assert summaries[name].bins == ()
        assert summaries[name].mean_before is None
    assert summaries["person"].kind_after is None
    assert (summaries["person"].changed, summaries["person"].missing_after) == (None, None)


def test_a_moment_of_few_values_is_not_shown() -> None:
    original, _, _ = files(500)
    sparse = original.assign(income=np.where(np.arange(500) < 9, 77.0, np.nan))
    assert by_name(500, original=sparse)["income"].mean_before is None
    assert by_name(9)["income"].mean_before is None


def test_files_of_different_length_have_no_cell_changes() -> None:
    shorter = files(500)[2].head(400)
    age = by_name(500, masked=shorter)["age"]
    assert (age.changed, age.suppressed) == (None, None)
    assert age.missing_after == pytest.approx(50 / 400)


@given(st.integers(0, 60), st.randoms())
def test_any_length_any_order_and_no_small_count(n: int, random: "np.random.Generator") -> None:
    order = list(range(n))
    random.shuffle(order)
    moved = {
        name: frame.iloc[order].set_axis([1] * n)
        for name, frame in zip(("original", "recoded", "masked"), files(n), strict=True)
    }
    for here, there in zip(by_name(n).values(), by_name(n, **moved).values(), strict=True):
        assert all(count is None or count >= 10 for count in (*here.counts_before, *here.counts_after))
        assert here.model_dump(exclude={"mean_before", "mean_after", "deviation_before", "deviation_after"}) == (
            there.model_dump(exclude={"mean_before", "mean_after", "deviation_before", "deviation_after"})
        )
        assert here.mean_before == pytest.approx(there.mean_before)


def test_testdata_against_pandas(reference_data: Path) -> None:
    """Counts and moments of sdcMicro's `testdata` against pandas' own."""
    table = pd.read_csv(reference_data / "sdcmicro_testdata" / "testdata.csv.gz")
    frame = pd.DataFrame(
        {"roof": table["roof"].astype(str).astype("category"), "expend": table["expend"].astype(float)}
    )
    variables = {
        "roof": Variable(name="roof", kind=Kind.NOMINAL),
        "expend": Variable(name="expend", kind=Kind.CONTINUOUS),
    }
    roof, expend = summarise(frame, frame, frame, variables, variables, minimum_cell=5)
    frequency = table["roof"].astype(str).value_counts()
    for name, count in zip(roof.bins, roof.counts_before, strict=True):
        if count is not None:
            assert count == frequency[name]
    assert expend.mean_before == pytest.approx(table["expend"].mean(), rel=2e-3)  # rounded, see told_moments
    assert expend.deviation_after == pytest.approx(table["expend"].std(), rel=2e-3)
    assert (expend.changed, roof.changed) == (0.0, 0.0)


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
