"""What a container allows, read from control groups of both versions in a folder that stands for the machine's root."""

import gc
import sys
from pathlib import Path

import pytest

from sluice.ground.machine import free_memory, give_back_memory, memory, processors, resident_memory, without_collecting

GIB = 1 << 30


@pytest.fixture(autouse=True)
def large_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """16 processors, 64 GiB."""
    monkeypatch.setattr("sluice.ground.machine.os.sched_getaffinity", lambda _: set(range(16)))
    monkeypatch.setattr(
        "sluice.ground.machine.os.sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 16 * GIB // 1024}.get
    )


def machine(root: Path, groups: str, **files: str) -> Path:
    """A root with this process's groups and these files of limits, '/' written as '__'."""
    for name, content in {"proc/self/cgroup": groups, **{k.replace("__", "/"): v for k, v in files.items()}}.items():
        path = root / (name if name.startswith("proc") else f"sys/fs/cgroup/{name}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{content}\n")
    return root


def test_without_limits_it_is_the_machine(tmp_path: Path) -> None:
    assert (processors(tmp_path), memory(tmp_path)) == (16, 64 * GIB)  # no control groups at all
    free = machine(tmp_path, "0::/", **{"cpu.max": "max 100000", "memory.max": "max"})
    assert (processors(free), memory(free)) == (16, 64 * GIB)


VERSION_1 = {
    "cpu__pod__cpu.cfs_quota_us": "150000",
    "cpu__pod__cpu.cfs_period_us": "100000",
    "cpu__cpu.cfs_quota_us": "-1",
    "cpu__cpu.cfs_period_us": "100000",
    "memory__pod__memory.limit_in_bytes": str(GIB),
    "memory__memory.limit_in_bytes": "9223372036854771712",
}
NESTED = {
    "slice__pod__cpu.max": "800000 100000",
    "slice__cpu.max": "400000 100000",
    "slice__pod__memory.max": str(3 * GIB),
    "slice__memory.max": str(5 * GIB),
}
OF_A_CONTAINER = {"memory__memory.limit_in_bytes": str(GIB), "cpu.max": "100000 100000"}


@pytest.mark.parametrize(
    ("groups", "limits", "allowed"),
    [
        ("0::/", {"cpu.max": "250000 100000", "memory.max": str(2 * GIB)}, (3, 2 * GIB)),
        ("0::/slice/pod", NESTED, (4, 3 * GIB)),  # the lowest on the way up
        ("4:memory:/pod\n2:cpu,cpuacct:/pod\n0::/", VERSION_1, (2, GIB)),
        ("4:memory:/docker/0123\n0::/../../host", OF_A_CONTAINER, (1, GIB)),  # by the path of the host
    ],
    ids=["version 2", "nested", "version 1", "in a container"],
)
def test_the_limits_of_control_groups_count(
    tmp_path: Path, groups: str, limits: dict[str, str], allowed: tuple[int, int]
) -> None:
    limited = machine(tmp_path, groups, **limits)
    assert (processors(limited), memory(limited)) == allowed


def test_a_process_that_is_bound_to_one_processor_has_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sluice.ground.machine.os.sched_getaffinity", lambda _: {5})
    assert processors(tmp_path) == 1
    half = machine(tmp_path, "0::/", **{"cpu.max": "50000 100000"})
    assert processors(half) == 1


def test_free_is_what_the_machine_says_is_available(tmp_path: Path) -> None:
    assert free_memory(tmp_path) == 64 * GIB  # where nothing says what is in use
    busy = machine(tmp_path, "0::/", proc__meminfo=f"MemTotal: 9 kB\nMemAvailable:   {4 * GIB // 1024} kB")
    assert free_memory(busy) == 4 * GIB


@pytest.mark.parametrize(
    ("groups", "folder", "names"),
    [
        ("0::/pod", "pod", ("memory.max", "memory.current", "inactive_file")),
        ("4:memory:/pod", "memory__pod", ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")),
    ],
    ids=["version 2", "version 1"],
)
def test_of_a_container_what_its_processes_left_is_free_and_copies_of_files_are(
    tmp_path: Path, groups: str, folder: str, names: tuple[str, str, str]
) -> None:
    limit, used, copies = names
    files = {
        "proc__meminfo": f"MemAvailable: {32 * GIB // 1024} kB",
        f"{folder}__{limit}": str(4 * GIB),
        f"{folder}__{used}": str(3 * GIB),
        f"{folder}__memory.stat": f"anon 5\n{copies} {GIB}",
    }
    assert free_memory(machine(tmp_path, groups, **files)) == 2 * GIB
    full = machine(tmp_path, groups, **files | {f"{folder}__{used}": str(6 * GIB)})
    assert free_memory(full) == 0


@pytest.mark.chain
@pytest.mark.skipif(sys.platform != "linux", reason="says what a process holds on Linux alone")
def test_what_was_freed_is_given_back() -> None:
    kept = [number.to_bytes(1000, "big") for number in range(100_000)]
    pinned = kept[::1000]  # the allocator gives back what is behind the last one by itself, and nothing between them
    del kept
    before = resident_memory()
    assert before is not None
    give_back_memory(least=before)
    after = resident_memory()
    assert after is not None
    assert after < before - 50_000_000
    assert len(pinned) == 100


def test_a_small_process_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[None] = []
    monkeypatch.setattr("sluice.ground.machine.gc.collect", lambda: looked.append(None))
    monkeypatch.setattr("sluice.ground.machine.resident_memory", lambda: GIB - 1)
    give_back_memory()
    assert not looked
    monkeypatch.setattr("sluice.ground.machine.resident_memory", lambda: None)  # no Linux
    give_back_memory()
    assert looked


def test_garbage_is_looked_for_again_after_an_import_that_failed_too() -> None:
    @without_collecting()
    def import_all() -> None:
        assert not gc.isenabled()
        with without_collecting():
            pass
        assert not gc.isenabled()
        raise ModuleNotFoundError

    with pytest.raises(ModuleNotFoundError):
        import_all()
    assert gc.isenabled()
