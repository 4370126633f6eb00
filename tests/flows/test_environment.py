"""What numba and Prefect find in the environment; compiled kernels where nothing else can be written."""

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from flows.environment import compiled_before, kernel_folder
from sluice.ground.machine import ONE_HEAP
from tests.flows.house import House

pytestmark = pytest.mark.servers


@pytest.fixture
def closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that this account may not write; the superuser may write everywhere, so it is pretended."""
    folder = tmp_path / "closed"
    folder.mkdir()
    monkeypatch.setattr("flows.environment.os.access", lambda place, mode: "closed" not in Path(place).parts)
    return folder


@pytest.mark.chain
def test_numba_is_left_alone_where_it_has_a_place(tmp_path: Path, closed: Path) -> None:
    assert kernel_folder(tmp_path, closed / "cache", tmp_path) is None
    assert kernel_folder(closed, tmp_path / "not" / "made" / "yet", tmp_path) is None


@pytest.mark.chain
def test_else_the_workspace_is_the_place(tmp_path: Path, closed: Path) -> None:
    assert kernel_folder(closed / "package", closed / "cache", tmp_path / "home") == tmp_path / "home" / "kernels"


@pytest.mark.chain
def test_a_home_that_is_no_folder_is_none(tmp_path: Path, closed: Path) -> None:
    (tmp_path / "file").write_text("")
    assert kernel_folder(closed, tmp_path / "file" / "cache", tmp_path) == tmp_path / "kernels"


def test_whether_kernels_were_compiled_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "kernels"))
    assert not compiled_before()
    (tmp_path / "kernels" / "risk").mkdir(parents=True)
    (tmp_path / "kernels" / "risk" / "gower.nbi").touch()
    assert compiled_before()


def run(program: str, stream: str = "stdout", **settings: str) -> str:
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PREFECT", "NUMBA", "SLUICE", "MALLOC", "ARROW"))
    }
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment | settings, capture_output=True, text=True, check=True
    )
    return str(getattr(done, stream))


def test_numba_and_prefect_find_it_and_nothing_is_made(tmp_path: Path) -> None:
    program = (
        "from flows.environment import prepare; prepare()\n"
        "import os, numba\n"
        "print(numba.config.NUMBA_NUM_THREADS, os.environ['PREFECT_HOME'], os.environ['DO_NOT_TRACK'])"
    )
    home = tmp_path / "home"
    assert run(program, SLUICE_HOME=str(home), SLUICE_THREADS="1").split() == ["1", f"{home}/prefect", "1"]
    assert not home.exists()


HEAPS = """
import ctypes, os
from threading import Barrier, Thread

{first}
libc, all_of_them = ctypes.CDLL(None), Barrier(4)
libc.malloc.restype = libc.fdopen.restype = ctypes.c_void_p


def takes_memory():
    all_of_them.wait()
    libc.malloc(100_000)
    all_of_them.wait()


threads = [Thread(target=takes_memory) for _ in range(4)]
[each.start() for each in threads]
[each.join() for each in threads]
stream = ctypes.c_void_p(libc.fdopen(1, b"w"))
libc.malloc_info(0, stream)
libc.fflush(stream)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library has heaps of its own kind")
def test_all_threads_take_memory_from_one_heap() -> None:
    without = {name: value for name, value in os.environ.items() if name not in ONE_HEAP}
    prepared = "from flows.environment import prepare; prepare()"
    heaps = [
        subprocess.run(
            [sys.executable, "-c", HEAPS.format(first=first)], env=without | settings, capture_output=True, text=True
        ).stdout.count("<heap nr=")
        for first, settings in (("", {}), (prepared, {}), (prepared, {"MALLOC_ARENA_MAX": "3"}))
    ]
    assert heaps == [5, 1, 3]  # as many as the user wants


def test_processes_that_it_starts_do_too(tmp_path: Path) -> None:
    program = "from flows.environment import prepare; prepare(); import os, pyarrow\n"
    program += "print(os.environ['MALLOC_ARENA_MAX'], pyarrow.default_memory_pool().backend_name)"
    assert run(program, SLUICE_HOME=str(tmp_path)).split() == ["1", "system"]


def test_what_the_user_has_set_stays(tmp_path: Path) -> None:
    program = "from flows.environment import prepare; prepare(); import os; print(os.environ['PREFECT_HOME'])"
    assert run(program, PREFECT_HOME="/elsewhere").strip() == "/elsewhere"
    assert "KeyError" in run(
        f"try:\n  exec({program!r})\nexcept KeyError as e: print(repr(e))", PREFECT_API_URL="http://localhost:1/api"
    )


def test_the_command_line_starts_without_numba_and_prefect() -> None:
    modules = "flows.cli.main, tasks.release.vault.vault_retention"
    loaded = run(f"import sys, {modules}; print({{'numba', 'prefect', 'pandas'}} & set(sys.modules))")
    assert loaded.strip() == "set()"


def test_a_run_begins_before_what_only_later_steps_need_is_loaded(tmp_path: Path) -> None:
    late = {"scipy.stats", "matplotlib", "sklearn", "great_expectations"}
    program = f"import sys, flows.release; print({late} & set(sys.modules))"
    assert run(program, SLUICE_HOME=str(tmp_path)).strip() == "set()"


@pytest.mark.chain
def test_a_wrong_setting_is_an_error_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLUICE_WORKERS", "none")
    House(tmp_path / "house").sluice("status").refused(figures=True)


LOG_ONE = "from flows.environment import prepare; prepare(); from sluice.ground.log import log; log('an event')"


@pytest.mark.parametrize(
    ("settings", "begins"),
    [({}, ""), ({"SLUICE_LOG": "json"}, '{"time": '), ({"PREFECT__FLOW_RUN_ID": "a run of a deployment"}, "20")],
)
def test_a_log_is_written_on_request_and_for_a_worker(settings: dict[str, str], begins: str) -> None:
    said = run(LOG_ONE, stream="stderr", **settings)
    assert said.startswith(begins)
    assert bool(said) == bool(settings)


def test_a_run_outlives_whoever_reads_what_it_writes(tmp_path: Path) -> None:
    """Lines of ours, of Prefect's and of anybody's, once the worker that read them was killed."""
    program = (
        "import sys, logging, flows.engine\n"
        "from prefect.logging import get_logger\n"
        "from sluice.ground.log import log, write_log\n"
        "write_log('text')\n"
        "sys.stdin.readline()\n"  # the readers are gone
        "for _ in range(3): log('step ends'); get_logger('x').error('of Prefect'); print('anything', flush=True)\n"
        f"open({str(tmp_path / 'end')!r}, 'w').write('reached')\n"
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PREFECT", "SLUICE"))}
    pipe = subprocess.PIPE
    run = subprocess.Popen(
        [sys.executable, "-c", program], env=environment | {"SLUICE_HOME": str(tmp_path / "home")},
        stdin=pipe, stdout=pipe, stderr=pipe,
    )  # fmt: skip
    assert run.stdout is not None
    assert run.stderr is not None
    assert run.stdin is not None
    run.stdout.close()
    run.stderr.close()
    run.stdin.write(b"on\n")
    run.stdin.close()
    assert run.wait(60) == 0
    assert (tmp_path / "end").read_text() == "reached"


def test_the_end_of_a_run_is_not_fifty_lines_about_memory() -> None:
    """What libraries say after everything else; not what the run itself says last."""
    end = "import atexit, duckdb, gc, sys; gc.freeze(); atexit.register(lambda: print('last words', file=sys.stderr))"
    assert "nanobind: leaked" in run(end, "stderr"), "DuckDB says nothing any more: end_in_silence is of no use"
    assert run(f"from flows.environment import end_in_silence; end_in_silence(); {end}", "stderr") == "last words\n"
    engine = run(f"import flows.engine; {end}", "stderr", DO_NOT_TRACK="1", PREFECT_LOGGING_LEVEL="CRITICAL")
    assert "last words" in engine
    assert "nanobind" not in engine
