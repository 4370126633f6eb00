"""Query answer: an aggregate query run on the records of one file, in a database of its own.

The database is in memory, reads no file, no network and no variable of this process, cannot be told otherwise by a
query, and has a limited time and memory.
"""

import threading
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa

from sluice.ground.errors import DataError
from sluice.utility.analyses.aggregate_query import TABLE, AggregateQuery
from sluice.utility.analyses.query_comparison import Group, QueryAnswer

_MOST_ROWS = 10_000
_SECONDS = 60.0
_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "python_enable_replacements": "false",
    "temp_directory": "",
    "memory_limit": "2GB",
    "threads": "1",
    "lock_configuration": "true",
}


def answer(query: AggregateQuery, frame: pd.DataFrame, seconds: float = _SECONDS) -> QueryAnswer:
    """What the query finds in the records.

    frame  : numbers, texts, dates and truth values; categories as texts
    raises : DataError where the database cannot run it, after so many seconds, and for more than 10,000 rows. Its
             text tells no value
    """
    records = pa.Table.from_pandas(frame, preserve_index=False)  # in which a missing number is missing, and no NaN
    connection = duckdb.connect(":memory:", config=_CONFIG)
    timer = threading.Timer(seconds, connection.interrupt)
    try:
        connection.register(TABLE, records)
        timer.start()
        found = connection.execute(query.text).fetchmany(_MOST_ROWS + 1)
    except duckdb.InterruptException:
        raise DataError(f"the query took more than {seconds:g} seconds.") from None
    except (duckdb.Error, RuntimeError) as error:  # their texts may hold values
        raise DataError(f"the query cannot be run on the records ({type(error).__name__}).") from None
    finally:
        timer.cancel()
        connection.close()
    if len(found) > _MOST_ROWS:
        raise DataError(f"the query has more than {_MOST_ROWS:,} rows; group by fewer or coarser columns.")
    return _as_answer(query, found)


def _as_answer(query: AggregateQuery, rows: list[tuple[Any, ...]]) -> QueryAnswer:
    g, f = len(query.groups), len(query.figures)
    values: dict[Group, Any] = {}
    behind: dict[Group, Any] = {}
    starts = g + f + np.cumsum([0, *query.counts])
    for row in rows:
        group: Group = tuple(row[:g])
        try:
            values[group] = np.array([np.nan if each is None else float(each) for each in row[g : g + f]])
        except (TypeError, ValueError):
            raise DataError("the query must make numbers of its aggregates.") from None
        fewest = [min(_fewest(row, at, to)) for at, to in pairwise(starts)]
        behind[group] = np.array(fewest, dtype=np.int64)
    return QueryAnswer(query.groups, query.figures, values, behind)


def _fewest(row: tuple[Any, ...], at: int, to: int) -> Iterator[int]:
    """Of each aggregate the records that count in it or, if fewer and they matter, the others; none is not few."""
    for place in range(at, to, 3):
        some, others, matter = int(row[place] or 0), int(row[place + 1] or 0), bool(row[place + 2])
        yield min(some, others) if matter and others else some
