"""What of the machine this process may use: its processors and memory, within the limits of its container; and how it
gives memory back.

Linux limits a container by control groups, of version 1 or 2. A group's limit holds for all groups below it, so the
lowest on the way up counts.
"""

import ctypes
import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from math import ceil
from pathlib import Path

ROOT = Path("/")
# What glibc and pyarrow read as a process begins: one heap for all threads and libraries.
ONE_HEAP = {"MALLOC_ARENA_MAX": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}
_LITTLE = 1 << 30  # bytes; libraries alone take half of that
_ARENAS = -8  # M_ARENA_MAX of glibc's malloc.h


def processors(root: Path = ROOT) -> int:
    """How many processors this process may keep busy, at least 1: of those it may run on, what the quota pays for."""
    able = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quotas = [_share(folder / "cpu.max") for folder in _groups(root, "")]
    quotas += [_share_of_version_1(folder) for folder in _groups(root, "cpu")]
    return max(min([able, *(ceil(quota) for quota in quotas if quota)]), 1)


def memory(root: Path = ROOT) -> int:
    """How many bytes of memory this process may use: the machine's, or less where its container has less."""
    limits = [_number(folder / "memory.max") for folder in _groups(root, "")]
    limits += [_number(folder / "memory.limit_in_bytes") for folder in _groups(root, "memory")]
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min([physical, *(int(limit) for limit in limits if limit)])


def free_memory(root: Path = ROOT) -> int:
    """How many bytes of memory are free for this process: of the machine, or less where its container has less.

    What only keeps copies of files counts as free. All of `memory` where the system does not say what is in use.
    """
    limited = [(folder, "memory.max", "memory.current", "inactive_file") for folder in _groups(root, "")]
    limited += [
        (folder, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        for folder in _groups(root, "memory")
    ]
    free = [memory(root)]
    for folder, limit, used, copies in limited:
        most, taken = _number(folder / limit), _number(folder / used)
        if most is not None and taken is not None:
            free.append(int(most - taken) + (_entry(folder / "memory.stat", copies) or 0))
    available = _entry(root / "proc/meminfo", "MemAvailable:")
    if available is not None:
        free.append(1024 * available)
    return max(0, min(free))


def resident_memory(root: Path = ROOT) -> int | None:
    """How many bytes of memory this process has; None where the system does not say."""
    held = _entry(root / "proc/self/status", "VmRSS:")
    return None if held is None else 1024 * held


def give_back_memory(least: int = _LITTLE) -> None:
    """Return to the system what this process freed and its libraries kept for later, as far as they can.

    Between two steps of a run, of which the next may need what the last one had. Cost: some tenths of a second; nothing
    where the process has less than 1 GiB, of which little could be given back.
    """
    if (held := resident_memory()) is not None and held < least:
        return
    gc.collect()
    if "pyarrow" in sys.modules:  # which is not loaded for this
        sys.modules["pyarrow"].default_memory_pool().release_unused()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc alone has it
    if trim is not None:
        trim(0)


@contextmanager
def without_collecting() -> Iterator[None]:
    """For code that imports much: all that it makes stays, and to look for garbage among it is a fifth of the time."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def keep_one_heap() -> None:
    """Have all threads of this process take memory from one heap, as processes that it starts should (`ONE_HEAP`).

    By default glibc gives threads heaps of their own, and what one of them freed is of no use to the others: a run in
    several threads held a quarter more. Nothing changes with another C library.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_ARENAS, 1)


def _entry(file: Path, name: str) -> int | None:
    """The whole number that follows a name at the beginning of a line."""
    try:
        lines = [line.split() for line in file.read_text().splitlines()]
    except OSError:
        return None
    return next((int(line[1]) for line in lines if len(line) > 1 and line[0] == name and line[1].isdecimal()), None)


def _groups(root: Path, controller: str) -> Iterator[Path]:
    """The folders of this process's control group and of those above it; controller '' is version 2."""
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:  # no Linux, or no control groups
        return
    top = root / "sys/fs/cgroup" / controller
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            group = top / path.lstrip("/")
            # In a container the path may be the host's, of which only the top can be seen.
            yield from (folder for folder in (group, *group.parents) if folder == top or folder.is_relative_to(top))


def _share(file: Path) -> float | None:
    """Version 2's quota, such as '150000 100000': one and a half processors. None where there is no limit."""
    try:
        quota, period = file.read_text().split()
        return int(quota) / int(period)
    except (OSError, ValueError):  # 'max' is no number
        return None


def _share_of_version_1(folder: Path) -> float | None:
    quota, period = _number(folder / "cpu.cfs_quota_us"), _number(folder / "cpu.cfs_period_us")
    return quota / period if quota and period and quota > 0 else None


def _number(file: Path) -> float | None:
    try:
        return int(file.read_text())
    except (OSError, ValueError):
        return None


def threads() -> int:
    """How many threads compiled kernels run in: numba's number, which an entry point sets and a notebook may set."""
    from numba import config  # takes half a second to import; not for those who compute nothing

    return int(config.NUMBA_NUM_THREADS)
