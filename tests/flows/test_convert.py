"""Conversion of a published folder by somebody who has nothing else of the house but its keys."""

import csv
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pyreadstat
import pytest

from sluice.publication.folder_verification import verify_folder
from tests.flows.house import DONE, House, Told
from tests.flows.stages import stages
from tests.flows.tables_house import TablesHouse
from tests.golden import golden


def published(kind: type[House]) -> tuple[House, Path]:
    house = stages(kind).at("published")
    (house.root / "keys").write_text(house.sluice("people", "--keys").out)
    folder = house.target / house.id
    shutil.rmtree(house.home)
    shutil.rmtree(house.documents)
    return house, folder


def convert(house: House, folder: Path, to: str, output: Path) -> Told:
    return house.sluice(
        "convert", str(folder), "--to", to, "--keys", str(house.root / "keys"), "--unsigned", "-o", str(output)
    )


def test_a_file_of_records_for_each_package_and_a_spreadsheet(tmp_path: Path) -> None:
    house, folder = published(House)
    records = pd.read_parquet(folder / "people-puf.parquet")
    for to, name, read in (
        ("stata", "people-puf.dta", pyreadstat.read_dta),
        ("spss", "people-puf.sav", pyreadstat.read_sav),
    ):
        told = convert(house, folder, to, tmp_path)
        assert told.code == DONE, told.words
        found, known = read(tmp_path / name)
        assert found["income"].tolist() == records["income"].tolist()
        assert found["age"].map(known.variable_value_labels["age"]).tolist() == records["age"].tolist()
    assert convert(house, folder, "csv", tmp_path).code == DONE
    with (tmp_path / "people-puf.labels.csv").open(newline="", encoding="utf-8") as file:
        assert [row["age"] for row in csv.DictReader(file)] == records["age"].tolist()
    assert not house.home.exists()  # not even made


def test_what_is_changed_after_it_was_verified_is_not_converted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who may write to the folder waits until it was verified, and then has other labels and other data there."""
    house, folder = published(House)
    records = pd.read_parquet(folder / "people-puf.parquet")

    def verified(*arguments: Any, **given: Any) -> Any:
        found = verify_folder(*arguments, **given)
        (folder / "datapackage.json").write_text("{}")
        (folder / "people-puf.parquet").write_bytes(b"PAR1")
        return found

    monkeypatch.setattr("sluice.publication.folder_verification.verify_folder", verified)
    told = convert(house, folder, "stata", tmp_path)
    assert told.code == DONE, told.words
    found, _ = pyreadstat.read_dta(tmp_path / "people-puf.dta")
    assert found["income"].tolist() == records["income"].tolist()
    assert (folder / "datapackage.json").read_text() == "{}"  # it did wait


def test_tables_too(tmp_path: Path) -> None:
    house, folder = published(TablesHouse)
    told = convert(house, folder, "stata", tmp_path)
    assert told.code == DONE, told.words
    for path in folder.glob("*.parquet"):
        found, known = pyreadstat.read_dta(tmp_path / f"{path.stem}.dta")
        table = pq.read_table(path).to_pydict()
        assert [None if pd.isna(each) else each for each in found["value"]] == table["value"]
        labels = known.variable_value_labels["status"]
        assert [labels[code].split(":")[0] for code in found["status"]] == table["status"]


def test_what_is_not_as_it_was_published_or_would_spoil_it_is_refused(tmp_path: Path) -> None:
    house, folder = published(House)
    (folder.parent / ".lock").touch()  # as on the publisher's own shelf
    for place in (folder / "mine", folder.parent):
        convert(house, folder, "stata", place).refused()
    assert convert(house, folder, "stata", tmp_path).code == DONE
    golden.words(convert(house, folder, "stata", tmp_path).words)
    description = folder / "datapackage.json"  # an intruder swaps two labels
    description.write_text(description.read_text().replace("under 40", "over 40"))
    convert(house, folder, "spss", tmp_path).refused()
    assert not (tmp_path / "people-puf.sav").exists()
