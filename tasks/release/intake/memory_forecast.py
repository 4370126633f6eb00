"""The memory that a file of records will need at least, so that a run that cannot end well does not begin.

It goes by the bytes of a typed record: a category takes one or two, a number eight or nine. Masking and judging hold
the original, the recoded and the masked file in that form, and work on some columns at a time.
"""

from collections.abc import Iterator

import pandas as pd

from sluice.ground.errors import DataError
from sluice.ground.machine import free_memory
from sluice.ground.variables import NAMES, Kind, Variable, Variables

# Measured where variables of Census-Income, 14 of them categories and 6 numbers, were masked and judged by the
# reference standard and attacks, two at a time (benchmarks/README.md): a process held 1.54 GB at its peak with
# 1,000,000 records and 3.70 GB with 5,000,000. Before it read any it held 0.26 GB.
_PROGRAM = 400_000_000  # bytes without any record, beyond those
_TIMES = 9  # of the bytes of a typed record

_GIGABYTE = 1e9


def forecast(variables: Variables, records: int) -> int:
    """Bytes of memory that a run needs at least for so many records, beyond what it has when it begins to read.

    variables : as they are staged
    """
    return _PROGRAM + records * _bytes_of_record(variables)


def measurements_at_once(variables: Variables, records: int) -> int:
    """How many measurements may have so many records at a time, at least 1: half of the free memory is for them, as
    another run may begin meanwhile."""
    return max(1, free_memory() // 2 // forecast(variables, records))


def within_memory(batches: Iterator[pd.DataFrame], variables: Variables, minimum: int) -> Iterator[pd.DataFrame]:
    """The same batches, as long as what came so far can be masked and judged on this machine.

    minimum : records that the contract promises, which are looked at before the first batch is read
    raises  : DataError with the figures, before the batch that is too much is handed on
    """
    free = free_memory()
    _refuse(variables, minimum, free)
    records = 0
    for batch in batches:
        records += len(batch)
        _refuse(variables, records, free)
        yield batch


def _refuse(variables: Variables, records: int, free: int) -> None:
    needed = forecast(variables, records)
    if needed > free:
        most = max(0, free - _PROGRAM) // _bytes_of_record(variables)
        raise DataError(
            f"{records:,} records or more, of {len(variables)} variables, need at least {needed / _GIGABYTE:.1f} GB of "
            f"memory to be masked and judged, and {free / _GIGABYTE:.1f} GB are free, enough for {most:,} at most. Run "
            "it where more is free, or release fewer variables, or a sample that the source draws."
        )


def _bytes_of_record(variables: Variables) -> int:
    return _TIMES * sum(map(_bytes_of_value, variables.values()))


def _bytes_of_value(variable: Variable) -> int:
    """In a typed frame, see `sluice.ground.variables`."""
    if variable.role in NAMES:
        return 40  # a keyed hash, as text
    if variable.kind.is_categorical:
        return 1 if variable.categories is not None and len(variable.categories) < 128 else 2
    return {Kind.INTEGER: 9, Kind.TEXT: 16}.get(variable.kind, 8)
