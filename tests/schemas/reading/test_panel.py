"""Whose records a panel holds is seen by its waves, whatever the column is called; other tables are no panels."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from schemas.reading.overview import Overview, overview
from schemas.reading.proposal import Proposals, propose
from sluice.ground.variables import Kind, Role
from sluice.sources.csv_source import CsvSource

UNITS, WAVES = 150, 6


def seen_of(frame: pd.DataFrame, folder: Path) -> Overview:
    frame.to_csv(folder / "x.csv", index=False)
    return overview(CsvSource(path=(str(folder / "x.csv"),)))


def panel(key: str, numbers: int = 7) -> pd.DataFrame:
    """Of 150 units six years each but for some that come later; amounts of which many are shared."""
    rng = np.random.default_rng(numbers)
    units = np.repeat(rng.permutation(UNITS) * numbers + 11, WAVES)
    frame = pd.DataFrame(
        {
            key: units,
            "year": np.tile(np.arange(1980, 1980 + WAVES), UNITS),
            "x2": rng.integers(0, 300, UNITS * WAVES),
            "x3": np.repeat(rng.integers(0, 100, UNITS), WAVES),
            "x4": rng.lognormal(3, 1, UNITS * WAVES).round(2),
        }
    )
    return frame[rng.random(len(frame)) < 0.9]


def proposed(frame: pd.DataFrame, folder: Path) -> tuple[Proposals, int]:
    seen = seen_of(frame, folder)
    found = propose(seen)
    return found, found.people(seen)


def test_a_key_of_no_telling_name_is_a_person_and_others_know_the_year(tmp_path: Path) -> None:
    found, people = proposed(panel("q7"), tmp_path)
    assert found.panel is not None
    assert (found.panel.key, found.panel.wave, found.panel.units, found.panel.most) == ("q7", "year", UNITS, WAVES)
    assert (found.by_name("q7").role, found.by_name("q7").sure, people) == (Role.PERSON, False, UNITS)
    assert (found.by_name("year").role, found.by_name("year").kind) == (Role.QUASI_IDENTIFIER, Kind.ORDINAL)
    assert found.record_key == ("q7", "year")
    assert {found.by_name(name).role for name in ("x2", "x3", "x4")}.isdisjoint({Role.PERSON, Role.IDENTIFIER})


@pytest.mark.parametrize("key", ["firm", "company_code", "Betrieb", "cusip"])
def test_a_firm_contributes(key: str, tmp_path: Path) -> None:
    found, people = proposed(panel(key), tmp_path)
    assert (found.by_name(key).role, people) == (Role.CONTRIBUTOR, UNITS)


def test_a_second_name_of_the_same_units_is_released_neither(tmp_path: Path) -> None:
    frame = panel("id")
    found, _ = proposed(frame.assign(code=frame["id"] * 13 % 100_003), tmp_path)
    assert found.panel is not None
    assert (found.panel.key, found.panel.others) == ("id", ("code",))
    assert (found.by_name("id").role, found.by_name("code").role) == (Role.PERSON, Role.IDENTIFIER)


def test_two_waves_and_a_record_entered_twice_are_a_panel(tmp_path: Path) -> None:
    frame = panel("id")
    two = frame[frame["year"] < 1982]
    found, _ = proposed(pd.concat([two, two.iloc[:2]]), tmp_path)
    assert found.panel is not None
    assert found.by_name("id").role is Role.PERSON


def cross_sections() -> pd.DataFrame:
    """Other people in each year, with amounts that a few share."""
    frame = panel("q7").drop(columns="q7")
    return frame.assign(x5=np.random.default_rng(1).integers(0, 400, len(frame)))


def rosters() -> pd.DataFrame:
    """Households, and the number of each person in its own."""
    rng = np.random.default_rng(3)
    house = np.repeat(np.arange(UNITS) + 500, rng.integers(1, 6, UNITS))
    line = pd.Series(house).groupby(house).cumcount() + 1
    return pd.DataFrame({"q1": house, "line": line, "age": rng.integers(0, 90, len(house))})


def months() -> pd.DataFrame:
    """One series by year and month."""
    at = np.arange(40 * 12)
    value = np.random.default_rng(4).normal(100, 9, len(at)).round(1)
    return pd.DataFrame({"year": 1960 + at // 12, "month": at % 12 + 1, "x1": value, "x2": value[::-1]})


@pytest.mark.parametrize("frame", [cross_sections(), rosters(), months()], ids=["cross-sections", "rosters", "months"])
def test_what_is_no_panel(frame: pd.DataFrame, tmp_path: Path) -> None:
    found, _ = proposed(frame, tmp_path)
    assert found.panel is None
