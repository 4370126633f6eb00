"""Dates that are not written as 2024-12-31: the draft finds their format, and says where another one fits as well."""

from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path

import pandas as pd
import pytest

from schemas.contract import Contract, load_contract
from schemas.reading.contract_draft import draft_contract
from schemas.reading.overview import overview
from sluice.ground.variables import Kind, Role
from sluice.sources.sources import CsvSource
from tests.schemas.typed import type_source

DAYS = [date(1960, 1, 1) + timedelta(days=97 * i) for i in range(200)]
FIRSTS = [date(2000 + i // 12 % 20, 1 + i % 12, 1) for i in range(200)]


def columns(folder: Path, **written: Sequence[str]) -> dict[str, tuple[str, ...]]:
    pd.DataFrame(written).to_csv(folder / "people.csv", index=False, sep=";")
    return overview(CsvSource(path=(str(folder / "people.csv"),), separator=";")).date_formats


def spelled(days: Sequence[date], form: str) -> list[str]:
    return [day.strftime(form) for day in days]


@pytest.mark.parametrize(
    ("form", "found"),
    [
        ("%d.%m.%Y", "DD.MM.YYYY"),
        ("%m/%d/%Y", "MM/DD/YYYY"),
        ("%d/%m/%Y", "DD/MM/YYYY"),
        ("%d-%b-%Y", "DD-MON-YYYY"),
        ("%Y%m%d", "YYYYMMDD"),
        ("%d%b%Y", "DDMONYYYY"),
        ("%Y/%m/%d", "YYYY/MM/DD"),
    ],
)
def test_the_format_is_found(tmp_path: Path, form: str, found: str) -> None:
    assert columns(tmp_path, born=spelled(DAYS, form)) == {"born": (found,)}


def test_what_is_no_date_has_no_format(tmp_path: Path) -> None:
    numbers = [str(10_000_000 + 7 * i) for i in range(200)]
    versions = [f"1.{1 + i % 12}.{1 + i % 3}" for i in range(200)]
    some = [*spelled(DAYS[:150], "%d.%m.%Y"), *["12,5"] * 50]
    kept = spelled(DAYS, "%Y-%m-%d")
    assert columns(tmp_path, numbers=numbers, versions=versions, some=some, kept=kept) == {}


def test_days_that_may_be_months_are_told_by_other_columns_or_by_what_never_changes(tmp_path: Path) -> None:
    firsts = spelled(FIRSTS, "%m/%d/%Y")
    assert columns(tmp_path, firsts=firsts)["firsts"] == ("MM/DD/YYYY", "DD/MM/YYYY")
    assert columns(tmp_path, firsts=spelled(FIRSTS, "%d/%m/%Y"))["firsts"] == ("DD/MM/YYYY", "MM/DD/YYYY")
    within_twelve = [day.replace(day=1 + day.month % 12) for day in FIRSTS]
    alone = columns(tmp_path, came=spelled(within_twelve, "%m/%d/%Y"))
    assert alone["came"] == ("DD/MM/YYYY", "MM/DD/YYYY")  # nothing tells; a person is asked
    beside = columns(tmp_path, came=spelled(within_twelve, "%m/%d/%Y"), born=spelled(DAYS, "%m/%d/%Y"))
    assert beside == {"came": ("MM/DD/YYYY", "DD/MM/YYYY"), "born": ("MM/DD/YYYY",)}


def test_a_german_file_is_read_by_the_contract_that_is_drafted(tmp_path: Path) -> None:
    lines = ["Geburtsdatum;Größe_cm;Straßenart;Entlassung"]
    lines += [
        f"{day:%d.%m.%Y};{150 + i % 50},{i % 10};{('Fußweg', 'Gässchen')[i % 2]};"
        f"{'unbekannt' if i % 9 == 0 else f'{day.day}.{day.month}.2024'}"
        for i, day in enumerate(DAYS)
        if (day.month, day.day) != (2, 29)
    ]
    path = tmp_path / "klinik.csv"
    path.write_text("\n".join(lines) + "\n", encoding="cp1252")
    source = CsvSource(path=(str(path),), separator=";", decimal=",", encoding="cp1252")
    drafted = tmp_path / "klinik.yaml"
    drafted.write_text(draft_contract(source, "klinik"), encoding="utf-8")
    contract: Contract = load_contract(drafted)
    born = contract.by_name["Geburtsdatum"]
    assert (born.kind, born.role, born.date_format) == (Kind.DATE, Role.QUASI_IDENTIFIER, "DD.MM.YYYY")
    assert "unbekannt" in contract.by_name["Entlassung"].missing_codes
    assert contract.staged["Geburtsdatum"].date_format is None  # from here on a date is a date
    frame, _ = type_source(source.batches(list(contract.by_name)), contract, lambda name, text: text, ",")
    assert frame["Geburtsdatum"].iloc[1] == pd.Timestamp(DAYS[1])
    assert frame["Entlassung"].isna().sum() == sum(line.endswith("unbekannt") for line in lines)
    assert frame["Größe_cm"].iloc[1] == 151.1
