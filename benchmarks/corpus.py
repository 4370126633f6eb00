"""Files of others, read as `sluice init` reads them and compared with pandas, pyreadstat and pyarrow, cell by cell.

`python -m benchmarks corpus FOLDER`: every file below it of a format that is read. Each is recognised, drafted a
contract for, typed by it, and compared in all columns that the draft keeps: values, missing ones, order. Outcomes:
equal; refused (a sentence that names what to do); riddle (a sentence that names an inner place, or none); crashed;
differs; not compared (the other program does not read it); slow (beyond 20 s of CPU to be read).
"""

import gzip
import math
import re
import signal
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from datetime import time, timedelta
from io import StringIO
from itertools import islice
from pathlib import Path
from time import process_time
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pyreadstat

from schemas.contract import load_contract
from schemas.reading.contract_draft import contract_yaml
from schemas.reading.overview import overview, refuse_values_as_names
from schemas.reading.proposal import propose
from schemas.reading.typing import SourceTyping
from sluice.ground.errors import SluiceError
from sluice.ground.values import BLANKS, hours, is_number, label, truth
from sluice.sources.csv_source import CsvSource
from sluice.sources.excel_source import ExcelSource
from sluice.sources.recognition import Recognised, recognise

READ = (
    ".csv", ".tsv", ".txt", ".dat", ".xlsx", ".xlsm", ".xls", ".xlsb", ".ods", ".dta", ".sav", ".zsav", ".por",
    ".sas7bdat", ".xpt", ".parquet", ".arrow", ".feather", ".gz", ".sqlite", ".db",
)  # fmt: skip
_SLOW, _LONGEST = 20, 120  # seconds of CPU, of the clock
_LARGEST = 30 << 20
_RIDDLE = re.compile(
    r"Error at |\.py:\d|Traceback|<class|cannot be read \(\w+Error\)|/dev/shm|/tmp/tmp|must not be empty"
)


def run(folder: Path) -> None:
    found: Counter[str] = Counter()
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix.lower() in READ]
    for path in files:
        if 0 < path.stat().st_size < _LARGEST:
            outcome, says = _within(path)
            found[outcome] += 1
            if outcome not in ("equal", "not compared"):
                print(f"{outcome:9} {path.relative_to(folder)}: {says[:300]}", flush=True)
    print(", ".join(f"{number} {outcome}" for outcome, number in found.most_common()))


def _within(path: Path) -> tuple[str, str]:
    def stop(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(_LONGEST)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return outcome_of(path)
    except TimeoutError:
        return "slow", ""
    finally:
        signal.alarm(0)


def outcome_of(path: Path) -> tuple[str, str]:
    begun = process_time()
    try:
        found, typed, raw, formats = _read(path)
    except SluiceError as error:
        return ("riddle" if _RIDDLE.search(str(error)) else "refused"), " ".join(str(error).split())
    except TimeoutError:
        raise
    except Exception as error:
        return "crashed", f"{type(error).__name__}: {' '.join(str(error).split())}"
    if (took := process_time() - begun) > _SLOW:
        return "slow", f"{len(typed):,} records of {typed.shape[1]:,} columns took {took:.0f} s of CPU"
    try:
        other = _by_others(path, found)
    except TimeoutError:
        raise
    except Exception as error:
        return "not compared", f"{type(error).__name__}"
    differing = list(_differing(typed, other, raw, formats))
    return ("differs", "; ".join(differing)) if differing else ("equal", "")


def _read(path: Path) -> tuple[Recognised, pd.DataFrame, set[str], dict[str, str]]:
    """The typed records by the drafted contract, the columns whose missing codes it declares, and formats of dates."""
    found = recognise(path)
    refuse_values_as_names(found.records)
    described = found.described()
    seen = overview(found.records, described)
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "contract.yaml"
        everything = re.sub(r"role: (identifier|person|household|contributor|holding)\b", "role: other",
                            contract_yaml(seen, propose(seen), "corpus"))  # fmt: skip
        written.write_text(re.sub(r"^quasi_identifiers: .*\n", "", everything, flags=re.MULTILINE))
        contract = load_contract(written)
    typing = SourceTyping(contract, lambda _, text: text, found.records.decimal_mark)
    names = list(contract.staged)
    parts = [typing.type_batch(batch).astype(object) for batch in found.records.batches(names)]
    typing.variables()
    coded = {each.name for each in contract.staged.values() if each.missing_codes}
    formats = {name: each.date_format for name, each in contract.by_name.items() if each.date_format}
    return found, pd.concat(parts, ignore_index=True), coded, formats


def _by_others(path: Path, found: Recognised) -> pd.DataFrame:
    """The same file, all cells as they are in it."""
    source = found.source
    name = type(source).__name__
    if isinstance(source, CsvSource):
        with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding=source.encoding, newline="") as file:
            text = "".join(islice(file, source.skip_lines, None))
        if source.comment:
            text = re.sub(f"(?m)^{re.escape(source.comment)}.*\n?", "", text)
        frame = pd.read_csv(
            StringIO(text), sep=r"\s+" if source.aligned else source.separator, dtype=str, keep_default_na=False,
            header=0 if source.header else None, quotechar=source.quote or '"', quoting=0 if source.quote else 3,
            index_col=False,
        )  # fmt: skip
        if not source.header:
            frame.columns = pd.Index(list(source.columns or [f"column_{at + 1}" for at in range(frame.shape[1])]))
        return frame.rename(columns=lambda each: str(each).strip())
    if name == "ParquetSource":
        return _plain(pq.read_table(path))
    if name == "ArrowSource":
        return _plain(feather.read_table(path) if path.suffix == ".feather" else pa.ipc.open_file(path).read_all())
    if isinstance(source, ExcelSource):
        sheet: Any = pd.read_excel(
            path, sheet_name=source.sheet, header=source.header_row - 1, dtype=object, na_values=[],
            keep_default_na=False,
        )  # fmt: skip
        return pd.DataFrame(sheet.rename(columns=lambda each: label(each).strip()))
    readers = {
        ".dta": pyreadstat.read_dta, ".sav": pyreadstat.read_sav, ".zsav": pyreadstat.read_sav,
        ".por": pyreadstat.read_por, ".sas7bdat": pyreadstat.read_sas7bdat, ".xpt": pyreadstat.read_xport,
    }  # fmt: skip
    options: dict[str, Any] = {} if path.suffix in (".por", ".xpt") else {"user_missing": True}
    read: Any = readers[path.suffix.lower()]
    frame, meta = read(str(path), **options)
    seconds: pd.DataFrame = read(str(path), **options, disable_datetime_conversion=True)[0]
    for column in frame:
        of_a_day = path.suffix == ".dta" or re.match("TOD|TIMEAMPM", meta.original_variable_types.get(column) or "")
        if not of_a_day and any(isinstance(each, time) for each in frame[column]):  # it keeps what is within a day
            frame[column] = [
                None if each != each else hours(timedelta(seconds=round(each, 6))) for each in seconds[column]
            ]
    return pd.DataFrame(frame)


def _plain(table: pa.Table) -> pd.DataFrame:
    return pd.DataFrame({name: table[name].to_pylist() for name in table.column_names}, dtype=object)


def _differing(typed: pd.DataFrame, other: pd.DataFrame, coded: set[str], formats: dict[str, str]) -> Iterator[str]:
    for name in typed:
        if name not in other:
            yield f"{name}: the other reader has no such column"
            continue
        ours, theirs = typed[name].tolist(), other[name].tolist()
        if name in formats:
            theirs = _in_iso(other[name].map(lambda each: label(each).strip(BLANKS)), formats[name]).tolist()
        while len(theirs) > len(ours) and theirs[-1] == "":  # rows of a sheet without a cell that is read
            theirs.pop()
        if len(theirs) != len(ours):
            yield f"{len(ours)} records, {len(theirs)} by the other reader"
            return
        wrong = [
            at for at, (one, two) in enumerate(zip(ours, theirs, strict=True)) if not _same(one, two, name in coded)
        ]
        if wrong:
            yield f"{name}: {len(wrong)} cells, the first in record {wrong[0] + 1}"


def _in_iso(texts: "pd.Series[str]", written: str) -> "pd.Series[str]":
    """Texts with the days among them as pandas reads them by the format; months by their names in English."""
    form = written.replace("MM", "%m").replace("DD", "%d").replace("YYYY", "%Y")
    for month in ("%B", "%b"):
        plain = texts.str.replace(r"[, ]+", " ", regex=True)
        days = pd.to_datetime(plain, format=form.replace("MON", month), exact=False, errors="coerce")
        texts = days.dt.strftime("%Y-%m-%d").fillna(texts)
    return texts


def _same(ours: Any, theirs: Any, coded: bool) -> bool:
    missing = [each is None or each is pd.NaT or each is pd.NA or (isinstance(each, float) and math.isnan(each))
               for each in (ours, theirs)]  # fmt: skip
    if isinstance(theirs, list):
        return {each for each in theirs if each} == {*([] if missing[0] else str(ours).split(";"))}
    text = "" if missing[1] else (theirs if isinstance(theirs, str) else label(theirs)).strip(BLANKS)
    if missing[0]:
        return not text or coded
    own = label(ours.to_pydatetime() if isinstance(ours, pd.Timestamp) else ours)
    if own == text or truth(text) == own:
        return True
    if is_number(own) and is_number(text.replace(",", ".")):
        return float(own) == float(text.replace(",", "."))
    if isinstance(ours, pd.Timestamp):
        return own.startswith(text.replace(" ", "T")[:19]) or text.startswith(own[:10])
    return own.lstrip("0") == text.lstrip("0") or own == f".{text}"
