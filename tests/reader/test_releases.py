"""Nobody who has read the files and the documents of a whole release learns what its policy forbids."""

import csv
from io import StringIO
from pathlib import Path

import pytest

from tests.flows.tables_house import NACE, REGION, firms
from tests.reader.files import parquet_of, sdmx_rows_of, unexplained
from tests.reader.generate import utilities
from tests.reader.judge import Rules, successes
from tests.reader.play import MAGNITUDES, OWN_PARTS, fewer_than
from tests.reader.reader_house import ReaderHouse
from tests.reader.real_records import Table, adult, business, diabetes, eia, ghgrp


def play(root: Path, table: Table, rules: Rules, coalition: int) -> None:
    records, rows = table
    play_house(ReaderHouse(root, records, rows, rules, coalition=coalition), coalition)


def play_house(house: ReaderHouse, coalition: int) -> None:
    release, truth = house.published()
    assert not release.published.tells_status
    found = successes(release.published, truth, coalition, OWN_PARTS)
    assert found.sensitive > 5
    assert found.found == {}


@pytest.mark.longest  # of more people than the stays in hospital, which show the same
def test_adult_by_occupation_country_and_sex(tmp_path: Path) -> None:
    play(tmp_path / "house", adult(120), fewer_than(5), coalition=2)


@pytest.mark.exhaustive  # read as emissions are
def test_stays_in_hospital_of_patients_who_have_several(tmp_path: Path) -> None:
    play(tmp_path / "house", diabetes(120), fewer_than(5), coalition=1)


def test_emissions_of_facilities_by_industry_and_state(tmp_path: Path) -> None:
    play(tmp_path / "house", ghgrp(["TX", "LA", "OK"]), MAGNITUDES, coalition=1)


def test_revenue_of_utilities_by_state_and_class_of_customers(tmp_path: Path) -> None:
    play(tmp_path / "house", eia(), MAGNITUDES, coalition=1)


@pytest.mark.exhaustive  # read as those of the real utilities are
def test_revenue_of_generated_utilities_that_sell_in_many_states(tmp_path: Path) -> None:
    play(tmp_path / "house", utilities(3, 60), MAGNITUDES, coalition=1)


@pytest.mark.exhaustive  # as utilities and facilities, whose amounts are read as well
def test_turnover_of_firms_in_a_branch(tmp_path: Path) -> None:
    play(tmp_path / "house", business("KA"), MAGNITUDES, coalition=1)


@pytest.mark.exhaustive
def test_linked_tables_of_firms_in_all_files(tmp_path: Path) -> None:
    read = firms()
    records = read[["firm", "nace", "region", "size"]].assign(value=(10 * read["turnover"]).round().astype("int64"))
    rows = {"nace": list(NACE.items()), "region": list(REGION.items()), "size": None}
    tables = [["nace", "region"], ["nace", "size"]]
    house = ReaderHouse(tmp_path / "house", records, rows, MAGNITUDES, coalition=2, tables=tables)
    house.definition["form"] = {"sdmx_dataflow": "XX:FIRMS(1.0)"}
    house.write()
    play_house(house, coalition=2)
    for path in (house.folder / "table-0.csv", house.folder / "table-1.csv"):
        text = path.read_bytes().decode()
        assert path.with_suffix(".parquet").read_bytes() == parquet_of(text)
        sdmx = csv.DictReader(StringIO(path.with_suffix(".sdmx.csv").read_bytes().decode()))
        assert list(sdmx) == sdmx_rows_of(text, ["dataflow", "XX:FIRMS(1.0)", "I"], [*rows])
    documents = (house.documents.glob("*.yaml"), house.documents.glob("n*.csv"), house.documents.glob("region.csv"))
    assert not unexplained(house.folder, " ".join(path.read_text("utf-8") for some in documents for path in some))
