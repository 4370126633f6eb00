"""The first hour with one's own data: `sluice init --yes`, then `sluice check`, file by file.

Adult as Stata, Excel and CSV with semicolons and decimal comma, mu-ARGUS's demonstration file and diabetes130, each in
a temporary folder. Minutes are those of the processor. Every proposal is taken, and nobody writes a line. Other files
are tried by `python -m benchmarks.first_hour FILE ...`.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from shutil import copy

import pandas as pd

from tests.reference_data import REFERENCE_DATA, adult_columns

SLUICE = [sys.executable, "-c", "from flows.cli.main import run; run()"]
ROOT = Path(__file__).resolve().parents[1]
LONGEST = 3600  # seconds of the clock for one command
VERDICTS = {0: "passes", 2: "blocked"}


def main(quick: bool = False) -> None:
    """Print a row for each file; with `quick` for 3,000 records of the CSV only."""
    if not REFERENCE_DATA.is_dir():
        print(f"left out: {REFERENCE_DATA} is not there (SLUICE_REFERENCE_DATA)")
        return
    cases: dict[str, Callable[[Path], list[str]]] = {"CSV": lambda folder: _csv(folder, 3000 if quick else None)}
    if not quick:
        cases |= {"Stata": _stata, "Excel": _excel, "mu-ARGUS": _fixed_width, "diabetes130": _diabetes}
    _compared(cases)


def _compared(cases: Mapping[str, Callable[[Path], list[str]]]) -> None:
    print(
        f"{'file':<16} {'init, min':>9} {'check, min':>10} {'drafts':>6}  {'variables':<9} {'regressions':<12} verdict"
    )
    for name, write in cases.items():
        with tempfile.TemporaryDirectory() as folder:
            _play(name, Path(folder), write(Path(folder)))


def _play(name: str, folder: Path, given: list[str]) -> None:
    init, first, said = _timed(folder, ["init", *given, "project", "--yes"])
    drafts = len(re.findall(r"^  [a-z-]+(?:file|business): ", said, re.MULTILINE))
    written = re.search(r"^the drafted plan passed on [\d,]+ records \(([a-z-]+)\)", said, re.MULTILINE)
    of = written[1] if written else "none"
    kept = re.search(rf"{of}: passes\n.*\n  keeps (\d+ of \d+) variables(?:.*?(\d of \d) regressions)?", said)
    row = f"{name:<16} {first:>9.1f} {{:>10}} {drafts:>6}  {kept[1] if kept else '':<9} {kept[2] if kept else '':<12}"
    if init is None or init != 0:
        verdict = "init took too long" if init is None else f"init ended with {init}"
        print(row.format(""), verdict, flush=True)
        return
    definition = next((folder / "project" / "releases").glob("*.yaml"))
    check, second, _ = _timed(folder, ["check", str(definition)])
    verdict = "check took too long" if check is None else VERDICTS.get(check, f"check ended with {check}")
    print(row.format(f"{second:.1f}"), verdict, flush=True)


def _timed(folder: Path, words: list[str]) -> tuple[int | None, float, str]:
    """The exit code (None: not ended in time), minutes of the processor, and what was said."""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "SLUICE_HOME": str(folder / "home")}
    for setting in ("PREFECT_API_URL", "SLUICE_CONNECTIONS"):
        environment.pop(setting, None)
    before = os.times()
    try:
        done = subprocess.run(
            SLUICE + words, cwd=folder, env=environment, capture_output=True, text=True, timeout=LONGEST
        )
        code, said = done.returncode, done.stdout + done.stderr
    except subprocess.TimeoutExpired:
        code, said = None, ""
    after = os.times()
    return code, (sum(after[2:4]) - sum(before[2:4])) / 60, said


def _adult(records: int | None = None) -> pd.DataFrame:
    path = REFERENCE_DATA / "adult" / "adult.data.gz"
    return pd.read_csv(path, names=adult_columns(), skipinitialspace=True, na_values="?", nrows=records)


def _csv(folder: Path, records: int | None) -> list[str]:
    people = _adult(records)
    people["hourly"] = (people["capital_gain"] / 52 / people["hours_per_week"]).round(2)
    people["sex"] = people["sex"].map({"Male": "männlich", "Female": "weiblich"})
    people.to_csv(folder / "adult.csv", sep=";", decimal=",", encoding="cp1252", index=False)
    return ["adult.csv"]


def _stata(folder: Path) -> list[str]:
    people = _adult()
    texts = people.select_dtypes(exclude="number").columns
    people.astype(dict.fromkeys(texts, "category")).to_stata(folder / "adult.dta", write_index=False, version=118)
    return ["adult.dta"]


def _excel(folder: Path) -> list[str]:
    _adult().to_excel(folder / "adult.xlsx", index=False, sheet_name="people")
    return ["adult.xlsx"]


def _fixed_width(folder: Path) -> list[str]:
    for file in (REFERENCE_DATA / "muargus_demo").iterdir():
        copy(file, folder)
    return ["Demodata.asc", "--layout", "Demodata.rda"]


def _diabetes(folder: Path) -> list[str]:
    copy(REFERENCE_DATA / "diabetes130" / "diabetic_data.csv.gz", folder)
    return ["diabetic_data.csv.gz"]


def _as_it_is(file: Path) -> Callable[[Path], list[str]]:
    return lambda folder: [str(file)]


if __name__ == "__main__":
    _compared({Path(each).stem: _as_it_is(Path(each).resolve()) for each in sys.argv[1:]})
