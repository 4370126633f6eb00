"""Answers about a confidential column by intervals, outside any release: sums, means and extremes of groups.

Source: Gopal, Goes and Garfinkel (1998); what is promised and what is not: `sluice.masking.recoding.camouflage`.
"""

import csv
import hashlib
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor, isfinite, log10
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sluice.ground.arrays import FloatArray
from sluice.ground.durable import replace
from sluice.ground.errors import DataError, DocumentError
from sluice.masking.recoding.camouflage import Camouflage, Interval
from sluice.sources.separate_reading import read_here
from sluice.tabular.model.column_values import is_missing, missing_value, numbers
from tasks.workbench.seed_file import secret_seed_of
from tasks.workbench.tabular_file import refuse_unfit_csv, table_source

NOT_JUDGED = (
    "Nobody judged or approved these answers. Keep the seed file secret, and camouflage these values only once."
)
QUERIES = ("sum", "mean", "minimum", "maximum")


@dataclass(frozen=True)
class CamouflagedAnswers:
    """What was answered: a row for all records and for each group, an interval for each of `QUERIES`."""

    output: Path
    records: int
    left_out: int
    answers: int
    width: float
    vectors: int

    def summary(self) -> dict[str, Any]:
        """For machines."""
        counts = {"records": self.records, "records_left_out": self.left_out, "answers": self.answers}
        return {"output": str(self.output), **counts, "width": self.width, "vectors": self.vectors, "judged": False}


def camouflage_file(
    source: Path,
    column: str,
    width: float,
    output: Path,
    seed_file: Path,
    *,
    by: Sequence[Sequence[str]] = (),
    vectors: int = 10,
    leave_out_missing: bool = False,
) -> CamouflagedAnswers:
    """Answer the sum, mean, minimum and maximum of a column of a CSV or Parquet file, of all records and by groups.

    width     : the interval that protects each value, in the unit of the column; answers show it
    seed_file : the same seed, values, width and vectors give the same answers. Anything else draws them anew, and two
                of them overlap more narrowly than either. A file that is not there is made
    by        : the columns of each grouping, public ones; a missing value is a group
    vectors   : more than the respondents who may pool what they know, and at least 3
    raises    : DataError, DocumentError, PlanError; then nothing is written
    cost      : O(records (vectors + groupings))
    """
    refuse_unfit_csv(output, [source, seed_file])
    if seed_file.resolve() == source.resolve():
        raise DataError(f"--seed-file {seed_file}: is the file of records. Name another file.")
    if not (isfinite(width) and width > 0):
        raise DocumentError(f"must be above 0, in the unit of '{column}'; got {width:g}", field="--width")
    table = table_source(source)
    used = list(dict.fromkeys(name for grouping in by for name in grouping))
    known = table.column_names()
    for name in (column, *used):
        if name not in known:
            raise DataError(f"{source} has no column '{name}'.", came=name, allowed=known)
    if column in used:
        raise DocumentError(
            f"groups must be formed by what is public; '{column}' is the confidential column", field="--by"
        )
    raw = pd.concat(read_here(table, [column, *used]), ignore_index=True)
    absent = is_missing(raw[column])
    if absent.any() and not leave_out_missing:
        raise DataError(str(missing_value(column, int(absent.sum()))))
    raw = raw[~absent].reset_index(drop=True)
    values = numbers(raw[column]).astype(np.float64)
    if width < 2 * _rounded_to(values):
        raise DocumentError(
            f"must be at least twice the unit that '{column}' is rounded to, or the only such number in an "
            f"interval would be the value; got {width:g}",
            field="--width",
        )
    seed = secret_seed_of(seed_file)
    # Mixed with what it is for: by the same draws, a column that is known would undo another, and two widths would
    # give each value away.
    mixed = hashlib.sha256(f"{seed}\n{column}\n{width!r}\n{vectors}\n".encode() + values.tobytes()).digest()
    made = Camouflage(values, width, np.random.default_rng(int.from_bytes(mixed)), vectors)
    rows = list(_rows(made, raw, by, used, max(0, 3 - floor(log10(width)))))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["by", *used, "records", *(f"{query}_{end}" for query in QUERIES for end in ("low", "high"))])
    writer.writerows(rows)
    replace(output, text.getvalue().encode(), 0o644)
    return CamouflagedAnswers(output, len(raw), int(absent.sum()), len(rows) * len(QUERIES), width, vectors)


def _rounded_to(values: FloatArray) -> float:
    """The largest power of ten from 1e-6 to 1e15 of which every value is a multiple; 0 where there is none."""
    for decimals in range(-15, 7):
        if np.array_equal(np.rint(values * 10.0**decimals) / 10.0**decimals, values):
            return 10.0**-decimals
    return 0.0


def _rows(
    made: Camouflage, raw: pd.DataFrame, by: Sequence[Sequence[str]], used: Sequence[str], decimals: int
) -> Iterator[list[str]]:
    """A row for all records, then for each group of each grouping, in the order of their codes."""
    yield ["", *("" for _ in used), *_answers(made, np.arange(len(raw)), decimals)]
    for grouping in by:
        text = raw[list(grouping)].astype("object").where(raw[list(grouping)].notna(), "").astype("str")
        for codes, at in sorted(text.groupby(list(grouping), sort=False).indices.items()):
            code = dict(zip(grouping, codes if isinstance(codes, tuple) else (codes,), strict=True))
            yield [",".join(grouping), *(code.get(name, "") for name in used), *_answers(made, at, decimals)]


def _answers(made: Camouflage, at: Any, decimals: int) -> list[str]:
    answers = [getattr(made, query)(np.asarray(at, dtype=np.int64)) for query in QUERIES]
    return [str(len(at)), *(end for answer in answers for end in _outward(answer, decimals))]


def _outward(answer: Interval, decimals: int) -> tuple[str, str]:
    """The interval's ends as text, rounded so that it only grows."""
    unit = 10.0**decimals
    low, high = floor(answer.low * unit) / unit, ceil(answer.high * unit) / unit
    return f"{low:.{decimals}f}", f"{high:.{decimals}f}"
