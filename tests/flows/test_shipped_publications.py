"""What shipped definitions publish, whole: valid by the standard's own program, and the same to whoever reads it.

The risk that is known to be in the data is found. frictionless reads the data package; pandas, DuckDB and R the files.
"""

import subprocess
from pathlib import Path

import duckdb
import pandas as pd
import pytest
import yaml

from deployments.data import FILES
from deployments.warehouse import build_warehouse, write_connections
from tests.flows.house import DONE, WAITING, House
from tests.flows.test_real_data import alone, finding
from tests.publication.data_package import problems
from tests.publication.test_readers import haven

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ROOT / "deployments" / "releases"
# Of each file what R read: name, rows, whether it is a number and the sum, with 15 digits.
IN_R = """
arguments <- commandArgs(trailingOnly = TRUE)
suppressMessages(library(haven))
for (file in list.files(arguments[1], pattern = "[.](csv|dta|sav)$", full.names = TRUE)) {
  read <- switch(tools::file_ext(file), csv = read.csv(file, check.names = FALSE, na.strings = "", encoding = "UTF-8"),
                 dta = read_dta(file), sav = read_sav(file))
  numeric <- vapply(read, is.numeric, logical(1))
  total <- vapply(read, function(each) if (is.numeric(each)) sum(as.numeric(each), na.rm = TRUE) else NA_real_, 0)
  told <- data.frame(name = names(read), rows = nrow(read), numeric = numeric, total = sprintf("%.15g", total))
  write.csv(told, file.path(arguments[2], paste0(basename(file), ".told")), row.names = FALSE)
}
"""

# Those that pass whatever is drawn, and soon: of 944 voters, or 1,000 enterprises, a
# draw may have to be decided by people.
NAMES = ("fair-survey", "adult", "fair-tables", "census")


def house_of(name: str, reference_data: Path, root: Path) -> House:
    """A house with the documents of a shipped definition, whose people are known by their word."""
    house = House(root)
    definition = yaml.safe_load((SHIPPED / f"{name}.yaml").read_text(encoding="utf-8"))
    house.contract, house.policy = (
        yaml.safe_load((SHIPPED / definition[each]).read_text(encoding="utf-8")) for each in ("contract", "policy")
    )
    house.policy["approvals"]["identity"] = "declared"
    source = definition["source"]
    if "path" in source:
        where = {file.name: str(reference_data / file.reference) for file in FILES}
        paths = [source["path"]] if isinstance(source["path"], str) else source["path"]
        source["path"] = [where[Path(path).name] for path in paths]
    else:
        build_warehouse(root / "warehouse.duckdb")
    write_connections(house.home / "connections.yaml", root / "warehouse.duckdb", [reference_data, root])
    changed = {"contract": "contract.yaml", "policy": "policy.yaml", "target": "../published", "owner": "emil"}
    house.definition = definition | changed
    if "plan" in definition:
        house.definition["copies"] = ["stata", "spss"]
    house.write()
    return house


@pytest.mark.servers
@pytest.mark.parametrize("name", NAMES)
def test_what_a_shipped_definition_publishes(name: str, reference_data: Path, tmp_path: Path) -> None:
    house = house_of(name, reference_data, tmp_path / "house")
    told = house.release()
    assert told.code == WAITING, told.words
    if name == "adult":
        is_known_to_be_at_risk(house)
    assert house.approve("amara").code == WAITING
    assert (told := house.approve("jonas")).code == DONE, told.words
    folder = house.target / house.id

    assert problems(folder) == []
    files = [*folder.glob("*.parquet")]
    assert files
    for file in files:
        reads_the_same(pd.read_parquet(file), file)
    if not (r := haven()):
        pytest.skip("all but R reads the same: apt-get install r-base-core r-cran-haven")
    (tmp_path / "read.R").write_text(IN_R, encoding="utf-8")
    subprocess.run([r, str(tmp_path / "read.R"), str(folder), str(tmp_path)], check=True, timeout=1200)
    for file in files:
        reads_the_same_in_r(pd.read_parquet(file), file, tmp_path)


def is_known_to_be_at_risk(house: House) -> None:
    """As they are, more than every second person of Adult stands alone, and nobody in what is to be published."""
    uniques, records = alone(house.file)
    assert records == 32_561  # as the UCI repository counts adult.data
    before = finding(house.home, house.id, "sample_uniques_share", "original")
    assert before["attempted"] == records
    assert before["observed"] == pytest.approx(uniques / records, abs=1e-12)
    assert before["observed"] > 0.5
    assert finding(house.home, house.id, "k_anonymity", "original")["observed"] == 1
    assert finding(house.home, house.id, "k_anonymity", "masked")["observed"] >= 5
    assert finding(house.home, house.id, "sample_uniques_share", "masked")["observed"] == 0


def reads_the_same(read: pd.DataFrame, file: Path) -> None:
    """pandas and DuckDB, CSV and Parquet."""
    # As the data package says: nothing but an empty cell is missing. 'None' is a category of diabetes-130.
    csv = pd.read_csv(file.with_suffix(".csv"), low_memory=False, keep_default_na=False, na_values=[""])
    assert (list(csv), len(csv)) == (list(read), len(read))
    for column in read:
        numeric = pd.api.types.is_numeric_dtype(read[column])
        assert read[column].isna().equals(csv[column].isna()), column
        if numeric:
            assert float(csv[column].sum()) == pytest.approx(float(read[column].sum()), rel=1e-12), column
            for path in (file, file.with_suffix(".csv")):
                reader = f"read_csv('{path}', sample_size=-1)" if path.suffix == ".csv" else f"'{path}'"
                [(rows, total)] = duckdb.execute(f'SELECT count(*), sum("{column}"::DOUBLE) FROM {reader}').fetchall()
                assert rows == len(read)
                assert (total or 0) == pytest.approx(float(read[column].sum()), rel=1e-12), column


def reads_the_same_in_r(read: pd.DataFrame, file: Path, told_in: Path) -> None:
    """CSV, and the copies for Stata and SPSS by haven; of tables there are none."""
    endings = [ending for ending in (".csv", ".dta", ".sav") if file.with_suffix(ending).exists()]
    assert endings in ([".csv"], [".csv", ".dta", ".sav"])
    for ending in endings:
        told = pd.read_csv(told_in / f"{file.with_suffix(ending).name}.told").set_index("name")
        assert list(told.index) == list(read)
        assert set(told["rows"]) == {len(read)}
        for column in read.columns[[pd.api.types.is_numeric_dtype(kind) for kind in read.dtypes]]:
            assert told.loc[column, "numeric"], (file.name, ending, column)
            assert told.loc[column, "total"] == pytest.approx(float(read[column].sum()), rel=1e-9), column
