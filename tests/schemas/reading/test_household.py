"""Columns that name people though nobody calls them so: no amounts, and all records of a person count once."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from schemas.reading.column_proposal import Proposal
from schemas.reading.household import are_long, are_running, whose_records
from schemas.reading.overview import overview
from schemas.reading.proposal import Proposals, propose
from sluice.ground.variables import Role
from sluice.sources.csv_source import CsvSource
from tests.reference_data import adult_columns, reference_path


def proposed(frame: pd.DataFrame, folder: Path) -> Proposals:
    frame.to_csv(folder / "x.csv", index=False)
    return propose(overview(CsvSource(path=(str(folder / "x.csv"),))))


def role(frame: pd.DataFrame, folder: Path, name: str = "x1") -> tuple[Role, bool]:
    found: Proposal = proposed(frame, folder).by_name(name)
    return found.role, found.sure


@pytest.fixture(scope="module")
def adult() -> pd.DataFrame:
    path = reference_path("adult", "adult.data.gz")
    frame = pd.read_csv(path, header=None, names=adult_columns(), skipinitialspace=True, nrows=4000)
    return frame[["age", "sex", "marital_status", "capital_gain", "income"]]


@pytest.fixture(scope="module")
def stays() -> pd.DataFrame:
    columns = ["patient_nbr", "race", "gender", "age", "time_in_hospital", "insulin"]
    return pd.read_csv(
        reference_path("diabetes130", "diabetic_data.csv.gz"), usecols=columns, dtype=str, nrows=30_000
    ).rename(columns={"patient_nbr": "x1"})


# -- numbers of something


def test_of_many_numbers_of_one_s_own_those_of_telephones_and_rows_are_names(
    adult: pd.DataFrame, tmp_path: Path
) -> None:
    """Four thousand people of the Adult survey with four numbers of theirs, and an amount to the cent."""
    rng, n = np.random.default_rng(1), len(adult)
    frame = adult.assign(
        x1=rng.integers(10**10, 10**11, n), x2=rng.integers(10**7, 10**8, n), x3=0.0 + rng.integers(10**8, 10**9, n),
        x4=np.arange(n), x5=(rng.lognormal(8, 1, n) * 100).astype(int),
    )  # fmt: skip
    found = proposed(frame, tmp_path)
    assert {name: found.by_name(name).role for name in ("x1", "x2", "x3", "x4", "x5")} == {
        "x1": Role.IDENTIFIER, "x2": Role.IDENTIFIER, "x3": Role.IDENTIFIER, "x4": Role.IDENTIFIER, "x5": Role.OTHER,
    }  # fmt: skip


def test_a_telephone_that_a_family_shares_is_no_amount(adult: pd.DataFrame, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    phones = rng.integers(10**8, 10**9, 1500)
    assert role(adult.assign(x1=rng.choice(phones, len(adult))), tmp_path) == (Role.IDENTIFIER, False)
    amounts = rng.lognormal(13, 1, 1500).astype(int)  # most have six digits, a tenth seven
    assert role(adult.assign(x1=rng.choice(amounts, len(adult))), tmp_path)[0] is Role.OTHER


def test_dates_without_dots_are_no_amount(adult: pd.DataFrame, tmp_path: Path) -> None:
    days = adult["age"] * 365 + np.random.default_rng(1).integers(0, 365, len(adult))
    dates = (pd.Timestamp("1994-06-01") - pd.to_timedelta(days, "D")).dt.strftime("%Y%m%d").astype(int)
    assert role(adult.assign(x1=dates), tmp_path)[0] is Role.QUASI_IDENTIFIER  # days of birth


@pytest.mark.parametrize(
    ("labels", "long", "running"),
    [
        (["01234567", "1234568.0", "9876543"], True, False),
        (["999999", "123456"], False, False),
        (["12345678", "1", "2"], False, False),
        (["5", "7", "6", "8", None], False, True),
        (["5", "700"], False, False),
        ([None], False, False),
    ],
)
def test_long_and_running_numbers(labels: list[str | None], long: bool, running: bool) -> None:
    assert (are_long(labels), are_running(labels)) == (long, running)


def test_notes_beside_a_usual_answer_are_names_and_rare_categories_are_not(adult: pd.DataFrame, tmp_path: Path) -> None:
    usual = np.take(["fine", "called back"], np.arange(len(adult)) % 2)
    for notes, of, expected in (
        (200, "Mrs {}", Role.IDENTIFIER),
        (20, "Mrs {} moved to Ulm", Role.IDENTIFIER),
        (20, "ward {}", Role.OTHER),
    ):
        remarks = [of.format(at) if at < notes else text for at, text in enumerate(usual)]
        assert role(adult.assign(x1=remarks), tmp_path) == (expected, False)


# -- several records of a person


@pytest.mark.chain
@pytest.mark.parametrize("as_name", [str, "P{}".format])
def test_whoever_has_several_stays_is_one_person_whatever_the_column_is_called(
    stays: pd.DataFrame, tmp_path: Path, as_name: "type[str]"
) -> None:
    """In groups of five stays some hold fewer than five patients, so whoever counts stays lets them through."""
    frame = stays.assign(x1=stays["x1"].map(as_name))
    keys = ["race", "gender", "age", "time_in_hospital"]
    groups = frame.groupby(keys, dropna=False)["x1"]
    assert ((groups.size() >= 5) & (groups.nunique() < 5)).any()
    assert role(frame, tmp_path) == (Role.PERSON, False)
    frame.loc[3, "x1"] = None  # one name that is missing hides nobody
    assert role(frame, tmp_path) == (Role.PERSON, False)


def test_a_hundred_records_of_each_person_are_found_too(tmp_path: Path) -> None:
    rng, n = np.random.default_rng(2), 6000
    people = np.arange(n) // 100
    frame = pd.DataFrame({"x1": people + 70, "gender": rng.integers(0, 2, 60)[people], "steps": rng.integers(0, 99, n)})
    assert role(frame, tmp_path) == (Role.PERSON, False)
    named = frame.rename(columns={"x1": "patient_id"}).assign(patient_id=np.arange(n) // 20, gender="f")
    assert role(named, tmp_path, "patient_id") == (Role.PERSON, True)


def test_a_household_is_none_and_where_nothing_tells_a_person_is_assumed(tmp_path: Path) -> None:
    rng, n = np.random.default_rng(2), 900
    home = np.arange(n) // 3
    frame = pd.DataFrame({"x1": home + 500, "x2": rng.integers(1, 4, 300)[home], "x3": rng.integers(1, 5, 300)[home]})
    assert role(frame, tmp_path)[0] is Role.PERSON
    assert role(frame.rename(columns={"x1": "household"}), tmp_path, "household")[0] is Role.HOUSEHOLD
    assert role(frame.assign(sex=rng.integers(0, 2, n)), tmp_path)[0] is Role.HOUSEHOLD


def test_few_groups_and_traits_that_hardly_vary_say_nothing(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x1": np.arange(60) // 2 % 25, "sex": ["f"] * 59 + ["m"]})
    frame.to_csv(tmp_path / "x.csv", index=False)
    assert whose_records(overview(CsvSource(path=(str(tmp_path / "x.csv"),))), "x1", ["sex"]) is None
