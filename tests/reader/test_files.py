"""The other forms in which a table is published tell what its CSV tells, and nothing more."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sluice.publication.published_table import published_table
from sluice.publication.published_table_files import to_csv, to_parquet
from sluice.publication.sdmx import to_sdmx_csv
from sluice.tabular.model.cells import Status
from tests.publication.small_table import small
from tests.reader.files import parquet_of, sdmx_rows_of, unexplained

OPENING = ["dataflow", "XX:T(1.0)", "I"]


@pytest.mark.parametrize("decimals", [0, 2])
@pytest.mark.parametrize("form", ["plain", "words", "contributors", "intervals", "synthetic"])
def test_each_form_follows_from_the_csv(form: str, decimals: int) -> None:
    cells, status = small(decimals=decimals)
    hidden = status != Status.PUBLISHED
    more: dict[str, Any] = {
        "plain": {},
        "words": {"tell_primary": True},
        "contributors": {"tell_contributors": True},
        "intervals": {"interval": (cells.total - 1, cells.total + 5)},
        "synthetic": {"synthetic": cells.total + np.where(hidden, 3, 0)},
    }[form]
    table = published_table(cells, status, "t", ["area", "kind"], **more)
    text = to_csv(table).decode()
    assert to_parquet(table) == parquet_of(text)
    sdmx = csv.DictReader(io.StringIO(to_sdmx_csv(table, "XX:T(1.0)", None).decode()))
    assert list(sdmx) == sdmx_rows_of(text, OPENING, ["area", "kind"])


def test_a_parquet_file_whose_dictionary_remembers_a_word_is_noticed() -> None:
    table = published_table(*small(), "t", ["area", "kind"])
    read = pq.read_table(io.BytesIO(to_parquet(table)))
    known = ["published", "suppressed", "primary"]
    status = pa.DictionaryArray.from_arrays([known.index(word) for word in table.status], known)
    sink = io.BytesIO()
    pq.write_table(read.set_column(2, "status", status), sink, compression="zstd", version="2.6", store_schema=False)
    assert pq.read_table(io.BytesIO(sink.getvalue())).to_pydict() == read.to_pydict()
    assert sink.getvalue() != parquet_of(to_csv(table).decode())


def test_numbers_that_nobody_explains_are_noticed(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,status,value\r\nx,published,12\r\n", encoding="utf-8")
    described = {
        "rows": 1,
        "value": 12,
        "categories": ["x1"],
        "says": "Fewer than 3 are not published; 1 was, not 905.",
    }
    (tmp_path / "datapackage.json").write_text(json.dumps(described), encoding="utf-8")
    assert unexplained(tmp_path, "n: 3") == {"905"}
