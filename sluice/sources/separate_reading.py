"""Reading a source within the limits of the operator: in a process of its own, which cannot reach the vault where the
operating system allows it; or, for commands on files that no release is of, in this one."""

import json
import logging
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from io import FileIO
from time import monotonic
from typing import TYPE_CHECKING, BinaryIO

import pyarrow as pa

from sluice.ground.errors import DataError, ReaderKilledError, SourceUnreachableError
from sluice.ground.log import log
from sluice.ground.machine import free_memory
from sluice.settings import settings
from sluice.sources.sandbox import NOT_CONFINED, landlock_version
from sluice.sources.tabular_source import BATCH_SIZE, TabularSource, as_frame, missing_file

if TYPE_CHECKING:
    import pandas as pd

    from sluice.sources.connections import ReadingLimits

_LONGEST = 4000  # characters of an error that are believed
_TIMES = 3  # of the bytes of raw cells, for what is made of them
_PROGRAM = 1 << 30  # bytes that Python, its libraries and their threads may take, beyond those of the settings
# No credentials but those of the connection: no home with a password file or a certificate, no Kerberos ticket. And
# names of hosts are asked for by TCP (resolv.conf(5)), as UDP is closed to the process.
PROCESS_ENVIRONMENT = {
    "HOME": "/nonexistent", "LANG": "C.UTF-8", "PGGSSENCMODE": "disable", "RES_OPTIONS": "use-vc",
    "OPENBLAS_NUM_THREADS": "1",  # nothing is multiplied here, and where no thread can be had it stops the process
}  # fmt: skip
# What libraries say as they abort, as far as no value of the data can be in it.
_LAST_WORDS = re.compile(
    r"^ *(terminate called [\w ]*(?:'[\w:]+')?|Fatal Python error: \w+|OpenBLAS \w+: [A-Za-z ]+"
    r"|[\w ]+thread-local data|(?:malloc|free|realloc|munmap_chunk|corrupted|double free)\b[\w()/, -]*"
    r"|what\(\): +(?:std::bad_alloc|Resource temporarily unavailable|Cannot allocate memory))",
    re.MULTILINE,
)


class _LastWords(threading.Thread):
    """The end of what a process says on standard error, read as long as it says something."""

    def __init__(self, said: FileIO) -> None:
        super().__init__(daemon=True)
        self._said, self._kept = said, b""

    def run(self) -> None:
        while block := self._said.read(_LONGEST):
            self._kept = (self._kept + block)[-_LONGEST:]

    def of_end(self, code: int) -> str:
        """The signal that ended it, and what a library said as it aborted: no more than forms without any value."""
        self.join()
        known = [found[0].strip() for found in _LAST_WORDS.finditer(self._kept.decode("utf-8", "replace"))]
        return believed("; ".join([_signal(code), *known[-3:]]))


def read_apart(source: TabularSource, columns: Sequence[str], size: int = BATCH_SIZE) -> "Iterator[pd.DataFrame]":
    """The batches of a source, as `source.batches` has them, read by another process, see `sluice.sources.reader`.

    That process gets the files and ports of the source, an environment without any variable of ours, and no other
    file but Python's own; its memory is limited, as a small file can be made that fills any. What it answers is not
    believed: Arrow's arrays are checked before they are used.

    raises : SourceUnreachableError where its database cannot be reached, or no more; DataError, as
             `source.batches`, and beyond a limit of the operator; ReaderKilledError where a signal ends the process
    cost   : half a second of CPU; O(size) memory on either side
    """
    if absent := next((path for path in source.files if not path.is_file()), None):
        raise missing_file(absent)
    if not landlock_version():
        log("source is read unconfined", logging.WARNING, detail=NOT_CONFINED)
    memory = settings().memory + _PROGRAM
    limits = _limits()
    order = {
        "source": source.model_dump(mode="json"),
        "files": [str(path) for path in source.files],  # links were followed when they were permitted, and never after
        "ports": source.ports,
        "pandas": source.needs_pandas,
        "workspace": str(settings().home),
        "columns": list(columns),
        "size": size,
        "memory": memory,
    }
    records, records_in = os.pipe()
    errors, errors_in = os.pipe()
    words, words_in = os.pipe()
    with open(records, "rb") as batches, open(errors, "rb") as report, open(words, "rb", buffering=0) as said_aloud:
        try:
            process = subprocess.Popen(
                [sys.executable, "-I", "-m", "sluice.sources.reader", str(records_in), str(errors_in)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=words_in,
                env=PROCESS_ENVIRONMENT | {name: os.environ[name] for name in ("TZ",) if name in os.environ},
                cwd="/",
                pass_fds=(records_in, errors_in),
            )
        finally:
            os.close(records_in)
            os.close(errors_in)
            os.close(words_in)
        last_words = _LastWords(said_aloud)
        last_words.start()
        late = threading.Event()
        timer = threading.Timer(limits.seconds or 0, _stop, (process, late))
        try:
            if limits.seconds is not None:
                timer.start()
            assert process.stdin is not None
            with suppress(BrokenPipeError), process.stdin as pipe:  # it ended before it read: its end says why
                pipe.write(json.dumps(order).encode())
            whole, rows = True, 0
            while whole and batches.peek(1):
                table = _table(batches, columns)
                whole = table is not None
                if table is not None:
                    rows += table.num_rows
                    if limits.rows is not None and rows > limits.rows:
                        raise DataError(_beyond(source.title, f"{limits.rows:,} records", "rows"))
                    source.remarks.take((table.schema.metadata or {}).get(b"remarks", b""), columns)
                    yield as_frame(table)
            batches.close()  # a process that still writes ends by it
            process.wait()
            if late.is_set():
                raise DataError(_beyond(source.title, f"{limits.seconds:g} seconds", "seconds"))
            if process.returncode or not whole:
                said = report.read(1 << 16)
                killed = process.returncode < 0 and not said
                if killed:
                    log("reader killed", logging.WARNING, detail=last_words.of_end(process.returncode))
                kind = SourceUnreachableError if _is_lost(said) else ReaderKilledError if killed else DataError
                raise kind(_reason(said) or _ended(process.returncode, source.title, memory))
        finally:
            timer.cancel()
            process.kill()
            process.wait()
            last_words.join()


def read_here(
    source: TabularSource, columns: Sequence[str], size: int = BATCH_SIZE, most: int | None = None, keep: bool = True
) -> "Iterator[pd.DataFrame]":
    """The batches of a source, read by this process, for whoever runs a command on data of their own.

    most   : records that a contract allows, if it says
    keep   : all batches are kept in memory, to be worked on
    raises : DataError, as `source.batches`; beyond `most` or a limit of the operator, which are looked at after each
             batch; and before what is kept takes more memory than is free
    """
    limits, begun, free = _limits(), monotonic(), free_memory()
    rows = held = 0
    for table in source.tables(columns, size):
        rows, held = rows + table.num_rows, held + table.nbytes
        if limits.rows is not None and rows > limits.rows:
            raise DataError(_beyond(source.title, f"{limits.rows:,} records", "rows"))
        if limits.seconds is not None and monotonic() - begun > limits.seconds:
            raise DataError(_beyond(source.title, f"{limits.seconds:g} seconds", "seconds"))
        if most is not None and rows > most:
            raise DataError(f"{source.title}: {_too_many(most)}")
        if keep and _TIMES * held > free:
            raise DataError(
                f"{source.title}: more than {rows - table.num_rows:,} records of {len(columns)} columns need more than "
                f"the {free / 1e9:.1f} GB of memory that are free. Take a sample of them or fewer columns, or "
                "work where more is free."
            )
        yield as_frame(table)


def at_most(batches: "Iterator[pd.DataFrame]", maximum: int | None) -> "Iterator[pd.DataFrame]":
    """The same batches. Raises DataError as soon as there are more records than the contract allows: a packed file of a
    few megabytes can hold millions."""
    records = 0
    for batch in batches:
        records += len(batch)
        if maximum is not None and records > maximum:
            raise DataError(f"the table has {_too_many(maximum)}")
        yield batch


def _too_many(maximum: int) -> str:
    return f"more than {maximum:,} records, the most that the contract allows (rows.maximum); the rest was not read"


class _NoLimits:
    rows = seconds = None


def _limits() -> "ReadingLimits | _NoLimits":
    """Those of the operator; who wrote none need not wait for what addresses of databases are read with."""
    if settings().connections is None and not (settings().home / "connections.yaml").exists():
        return _NoLimits()
    from sluice.sources.connections import load_connections

    return load_connections().limits


def _stop(process: "subprocess.Popen[bytes]", late: threading.Event) -> None:
    late.set()
    process.kill()


def _beyond(title: str, most: str, limit: str) -> str:
    from sluice.sources.connections import connections_file

    return (
        f"{title}: reading it takes more than {most}, the most that is allowed (limits.{limit}); the rest was not "
        f"read. Whoever runs Sluice can set limits.{limit} higher in {connections_file()}."
    )


def _table(pipe: BinaryIO, columns: Sequence[str]) -> pa.Table | None:
    """The next Arrow stream in the pipe, checked to its last byte; None where there is none of these columns."""
    try:
        with pa.ipc.open_stream(pa.PythonFile(pipe, "r")) as stream:
            table = stream.read_all()
        table.validate(full=True)
    except (pa.ArrowException, OSError, EOFError):
        return None
    plain = not any(pa.types.is_nested(field.type) for field in table.schema)
    return table if plain and table.column_names == list(columns) else None


def _reason(report: bytes) -> str:
    """Our own sentence, or the kind of any other error; '' where nothing was said."""
    try:
        said = json.loads(report)
        says, kind = str(said["says"]), str(said["kind"])
    except (ValueError, KeyError, TypeError):
        return ""
    return believed(says or f"the source cannot be read ({kind})")


def believed(text: str) -> str:
    """What is shown of a text that such a process wrote: a line of bounded length."""
    return "".join(sign if sign.isprintable() else " " for sign in text[:_LONGEST])


def _is_lost(report: bytes) -> bool:
    """Whether it said that the connection was lost. Whoever lies about it is asked again for a while, and no more."""
    try:
        return json.loads(report)["lost"] is True
    except (ValueError, KeyError, TypeError):
        return False


def _signal(code: int) -> str:
    with suppress(ValueError):
        return signal.Signals(-code).name
    return str(code)


def _ended(code: int, title: str, memory: int) -> str:
    if not code:
        return f"{title}: the process that read it answered with something else than its columns"
    most = f"{memory / 1e9:.1f} GB (SLUICE_MEMORY)"
    return f"{title}: the process that read it ended with {_signal(code)}. It could use {most}."
