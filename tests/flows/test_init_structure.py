"""`sluice init` on SDMX-CSV: what its structure says of columns and codes is in the contract."""

from pathlib import Path

from tests.flows.house import House
from tests.sources.test_sdmx_structure_file import PEOPLE, structure, written

CSV = (
    "DATAFLOW,PERSON,SEX,REGION,OBS_VALUE\n"
    + "".join(f"XX:PEOPLE(1.0),{n},{n % 2 + 1},0{n % 3 + 1},{1000 + n % 700}.5\n" for n in range(3_000))
)  # fmt: skip


def test_init_takes_them_into_the_contract(tmp_path: Path, house: House) -> None:
    (tmp_path / "people.csv").write_text(CSV, encoding="utf-8")
    path = written(tmp_path, structure(("PEOPLE", PEOPLE)))
    arguments = ("init", str(tmp_path / "people.csv"), "--structure", str(path), "--output", "-")
    told = house.sluice(*arguments)
    assert told.code == 0, told.err
    assert '"1": "male"' in told.out or "'1': male" in told.out
    assert '"01"' in told.out
    assert "Süd" in told.out
    assert "Sex of the person" in told.out
    other = house.sluice("init", "sqlite:///people.db", "--table", "people", "--structure", str(path))
    assert "--structure" in other.err
