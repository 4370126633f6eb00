"""What a process needs before it starts a run: a log, and what its libraries read when they are imported."""

import atexit
import gc
import io
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import sluice
from sluice.ground.log import write_log
from sluice.ground.machine import ONE_HEAP, keep_one_heap
from sluice.settings import settings

# What is imported and read at the start stays: looking for garbage among it was a sixth of the time of a short command.
_ALLOCATIONS = 100_000

_KERNELS = Path(sluice.__file__).resolve().parent / "risk" / "distances" / "__pycache__"


def prepare() -> None:
    """Begin the log, and set what numba, pyarrow and Prefect read where the user has not; makes no file and no folder.

    What this process makes from now on, by libraries too, is for its own account alone, whatever the umask was; what is
    for others (the shelf) says so itself.

    raises : DocumentError for a wrong setting
    """
    os.umask(0o077)
    gc.set_threshold(_ALLOCATIONS)
    chosen = settings()
    nobody_is_there = "PREFECT__FLOW_RUN_ID" in os.environ  # a run of a deployment: its output is the worker's journal
    write_log(chosen.log or ("text" if nobody_is_there else None))
    if "MALLOC_ARENA_MAX" not in os.environ and "arena_max" not in os.environ.get("GLIBC_TUNABLES", ""):
        keep_one_heap()
    wanted = ONE_HEAP | {
        "OMP_NUM_THREADS": str(chosen.threads),
        "DO_NOT_TRACK": "1",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    }
    if "PREFECT_API_URL" not in os.environ:
        # The command line says itself what failed, in words instead of a traceback.
        wanted |= {"PREFECT_LOGGING_LEVEL": "CRITICAL", "PREFECT_HOME": str(chosen.home / "prefect")}
    if "numba" not in sys.modules:
        wanted["NUMBA_NUM_THREADS"] = str(chosen.threads)
        if folder := kernel_folder(_KERNELS, _user_cache(), chosen.home):
            wanted["NUMBA_CACHE_DIR"] = str(folder)
    for name, value in wanted.items():
        os.environ.setdefault(name, value)


def outlive_the_reader() -> None:
    """Let this process write on where nobody reads any more: of a worker that was killed alone the runs go on.

    Else the next line of a log would end the release: ours by an error, Prefect's, by rich, as an exit of the process.
    """
    for name, number in (("stdout", 1), ("stderr", 2)):
        raw = io.BufferedWriter(_WithoutReader(number, "wb", closefd=False))
        setattr(sys, name, io.TextIOWrapper(raw, "utf-8", "backslashreplace", line_buffering=True))


class _WithoutReader(io.FileIO):
    """A pipe or file that takes everything: what nobody can read is lost, and no error."""

    def write(self, data: Any) -> int:
        with suppress(BrokenPipeError):
            return super().write(data) or 0
        return len(data)


def end_in_silence() -> None:
    """Have this process say nothing after its last words, those of whatever is registered later (`atexit`).

    At its very end DuckDB's binding lists all that Prefect's threads still hold: no fault, as the memory ends with the
    process, and fifty lines of the worker's journal for each run.
    """
    atexit.register(lambda: os.dup2(os.open(os.devnull, os.O_WRONLY), 2))


def kernel_folder(package: Path, user_cache: Path, workspace: Path) -> Path | None:
    """Where compiled kernels are kept if numba has no place of its own: an account without a home, a read-only install.

    numba keeps them beside the source or below the user's home, and fails when it can write to neither.
    """
    try:
        found = _writable(package) or _writable(user_cache)
    except OSError:  # not even to be looked at
        found = False
    return None if found else workspace / "kernels"


def compiled_before() -> bool:
    """Whether numba holds any compiled kernel of this installation; where it does not, the first run takes minutes.

    cost : a look at the folders of the package
    """
    own = os.environ.get("NUMBA_CACHE_DIR")
    places = [Path(own)] if own else [Path(sluice.__file__).resolve().parent, _user_cache()]
    return any(next(place.rglob("*.nbi"), None) for place in places if place.is_dir())


def _user_cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "numba"


def _writable(folder: Path) -> bool:
    """Whether this account could make files in `folder`, which need not exist yet."""
    existing = next((place for place in (folder, *folder.parents) if place.exists()), None)
    return existing is not None and existing.is_dir() and os.access(existing, os.W_OK)
