"""A source is read by a process of its own. Whatever runs in it reaches neither the vault nor anything else of ours."""

import json
import os
import socket
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest

from sluice.ground.errors import DataError, ReaderKilledError, SourceUnreachableError
from sluice.ground.log import write_log
from sluice.sources import sandbox, separate_reading
from sluice.sources.permission import permitted_source
from sluice.sources.sandbox import NOT_CONFINED, landlock_version
from sluice.sources.separate_reading import at_most, read_apart, read_here
from sluice.sources.sources import CsvSource, SpssSource
from sluice.sources.sql_source import SqlSource
from sluice.sources.tabular_source import TabularSource
from sluice.transport import persistently
from tests.custody.ledgers import attack as alter
from tests.cutting_proxy import cutting_proxy
from tests.golden import golden
from tests.sources.readers import READERS, SECRET, place_of, records, refusal

pytestmark = pytest.mark.servers

ROOT = Path(__file__).resolve().parents[2]
confined_only = pytest.mark.skipif(not landlock_version(), reason="this system has no Landlock")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace with a secret in its vault, and a source beside it."""
    vault = tmp_path / "home" / "vault"
    vault.mkdir(parents=True, mode=0o700)
    (vault / "secret").write_text(SECRET)
    (tmp_path / "people.csv").write_text("a,b\n1,x\n2,\n")
    monkeypatch.setenv("SLUICE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def people(tmp_path: Path) -> CsvSource:
    return CsvSource(path=str(tmp_path / "people.csv"))


# -- how it ended


def dying(tmp_path: Path, words: str) -> Path:
    """A program in the place of Python that says this and aborts."""
    (tmp_path / "words").write_text(words)
    program = tmp_path / "dying"
    program.write_text(f"#!/bin/sh\ncat {tmp_path}/words >&2\nkill -ABRT $$\n")
    program.chmod(0o755)
    return program


def test_what_a_library_says_as_it_aborts_is_in_the_journal_and_no_value_of_the_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    told = (
        "terminate called after throwing an instance of 'std::system_error'\n"
        "  what():  Resource temporarily unavailable\n"
        f"  what():  Conversion Error: could not convert '{SECRET}'\n{SECRET} thread\nFatal Python error: Aborted\n"
    )
    many = dying(tmp_path, f"a warning of {SECRET}\n" * 20_000 + told)  # more than a pipe holds
    write_log("text")
    try:
        monkeypatch.setattr(sys, "executable", str(many))
        with pytest.raises(ReaderKilledError):
            list(read_apart(people(tmp_path), ["a", "b"]))
    finally:
        write_log(None)
    said = capsys.readouterr().err
    assert "reader killed SIGABRT" in said
    assert SECRET not in said
    assert "'std::system_error'; what():  Resource temporarily unavailable; Fatal Python error: Aborted" in said


# -- the same records and errors


@pytest.mark.parametrize("name", ["csv", "parquet", "duckdb", "sqlite", "postgresql"])
def test_the_records_of_each_kind_are_those_that_are_read_here_and_so_are_the_errors(
    name: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    place = place_of(name, request, tmp_path)
    READERS[name].write(records(100), place)
    source = READERS[name].source(place)
    columns = ["town", "code", "pay", "seen"]
    here, apart = list(source.batches(columns, 30)), list(read_apart(source, columns, 30))
    assert [len(batch) for batch in apart] == [30, 30, 30, 10]
    for one, other in zip(here, apart, strict=True):
        pd.testing.assert_frame_equal(one, other)
    assert refusal_apart(source, "code", "tonw") == refusal(source, "code", "tonw")


def refusal_apart(source: TabularSource, *columns: str) -> str:
    with pytest.raises(DataError) as raised:
        list(read_apart(source, columns))
    assert raised.value.__context__ is None
    assert SECRET not in str(raised.value)
    return str(raised.value)


def test_what_another_process_met_is_told_here_too(tmp_path: Path) -> None:
    frame = pd.DataFrame({"visit": [1.3e10, 4e11]})
    pyreadstat.write_sav(frame, tmp_path / "v.sav", variable_format={"visit": "DATETIME20"})
    source = SpssSource(path=str(tmp_path / "v.sav"))
    assert [len(batch) for batch in read_apart(source, ["visit"])] == [2]
    (remark,) = source.remarks.all()
    assert (remark.column, remark.count, remark.first) == ("visit", 1, 2)


@pytest.mark.parametrize(
    "name", ["csv", "parquet", "excel", "spss", "stata", "sas transport", "duckdb", "sqlite", "postgresql"]
)
def test_the_operator_s_limits_hold_for_each_kind(
    name: str, request: pytest.FixtureRequest, tmp_path: Path, home: Path
) -> None:
    place = place_of(name, request, tmp_path)
    READERS[name].write(records(100)[["code", "number"]], place)
    source = READERS[name].source(place)

    def limited(limits: str) -> None:
        (home / "connections.yaml").write_text(f"limits: {limits}\n")
        (home / "connections.yaml").chmod(0o600)

    limited("{rows: 100, seconds: 600}")
    assert sum(map(len, read_apart(source, ["code", "number"], 30))) == 100
    limited("{rows: 99}")
    said = refusal_apart(source, "code", "number")
    assert all(part in said for part in ("99 records", "limits.rows", str(home / "connections.yaml")))
    limited("{seconds: 0.01}")
    said = refusal_apart(source, "code", "number")
    assert all(part in said for part in ("0.01 seconds", "limits.seconds", str(home / "connections.yaml")))


def test_a_type_may_change_from_batch_to_batch(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "r.db") as made:
        made.execute("CREATE TABLE t (a)")
        made.executemany("INSERT INTO t VALUES (?)", [(1,), (None,), (2.5,), ("x",)])
    batches = list(read_apart(SqlSource(url=f"sqlite:///{tmp_path}/r.db", table="t"), ["a"], 1))
    types = ["int64[pyarrow]", "null[pyarrow]", "double[pyarrow]", "string[pyarrow]"]
    assert [str(batch["a"].dtype) for batch in batches] == types


def test_sqlite_s_log_of_what_is_not_yet_in_the_file_is_read(tmp_path: Path) -> None:
    source = SqlSource(url=f"sqlite:///{tmp_path}/r.db", table="t")
    writer = sqlite3.connect(tmp_path / "r.db")
    writer.execute("PRAGMA journal_mode = wal")
    writer.execute("CREATE TABLE t AS SELECT 7 AS a")
    writer.commit()
    assert (tmp_path / "r.db-wal").stat().st_size
    assert [batch["a"].tolist() for batch in read_apart(source, ["a"])] == [[7]]
    writer.close()
    assert not (tmp_path / "r.db-wal").exists()
    assert [batch["a"].tolist() for batch in read_apart(source, ["a"])] == [[7]]


def test_a_source_that_went_away(tmp_path: Path) -> None:
    (tmp_path / "people.csv").rename(tmp_path / "peoples.csv")
    golden.words(refusal_apart(people(tmp_path), "a"))
    source = SqlSource(url=f"duckdb:///{tmp_path}/absent.duckdb", table="t")
    golden.words(refusal_apart(source, "a"))


def test_a_large_source_is_not_read_at_once(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_bytes(b"a,b\n" + b"12345678,abcdefgh\n" * 500_000 + b"ragged\n")
    batches = read_apart(people(tmp_path), ["a", "b"], 1000)
    assert len(next(batches)) == 1000  # the last line has not been seen yet
    with golden.raises(DataError):
        list(batches)


# -- its end


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """The processes that were started."""
    started = []

    class Popen(subprocess.Popen):  # type: ignore[type-arg]
        def __init__(self, *arguments: Any, **more: Any) -> None:
            super().__init__(*arguments, **more)
            started.append(self)

    monkeypatch.setattr(subprocess, "Popen", Popen)
    return started


def large(tmp_path: Path) -> CsvSource:
    (tmp_path / "people.csv").write_bytes(b"a,b\n" + b"12345678,abcdefgh\n" * 200_000)
    return people(tmp_path)


def test_a_reading_that_is_given_up_leaves_no_process(tmp_path: Path, processes: list[subprocess.Popen[bytes]]) -> None:
    batches = read_apart(large(tmp_path), ["a"], 100)
    next(batches)
    [process] = processes
    assert process.poll() is None
    batches.close()
    assert process.poll() is not None


def test_a_process_that_breaks_off_is_no_end_of_the_data(
    tmp_path: Path, processes: list[subprocess.Popen[bytes]]
) -> None:
    batches = read_apart(large(tmp_path), ["a"], 100)
    next(batches)
    processes[0].kill()
    with golden.raises(DataError):
        list(batches)


# -- what may not be believed


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Puts a class in the place of the source that is read: what a hole in a driver lets an attacker do.

    Its `tables` runs where a driver runs. `confined=False` leaves out the sandbox, as it was before there was one.
    """

    def replace(body: str, confined: bool = True) -> None:
        code = (
            f"#!{sys.executable}\n"
            "import json, os, socket, subprocess, sys\n"
            f"sys.path.insert(0, {str(ROOT)!r})\n"
            "from sluice.sources import reader\n"
            "from sluice.ground.remarks import Remarks\n"
            f"class Hostile:\n    remarks = Remarks()\n    def tables(self, columns, size):\n{body}\n"
            "reader._source = lambda written: Hostile()\n"
        )
        code += "" if confined else "reader.confine = lambda *given: None\n"
        program = tmp_path / "hostile"
        program.write_text(code + "reader.main(*map(int, sys.argv[-2:]))\n")
        program.chmod(0o755)
        monkeypatch.setattr(separate_reading.sys, "executable", str(program))

    return replace


ATTACKS = """
        import ctypes, resource
        import pyarrow as pa
        vault, folder, port, parent = {vault!r}, {folder!r}, {port}, os.getppid()
        libc = ctypes.CDLL(None, use_errno=True)
        def call(name, *given):
            if getattr(libc, name)(*given) < 0:
                raise OSError(ctypes.get_errno(), name)
        def connect(kind, *address):
            with socket.socket(*kind) as made:
                made.connect(*address)
        def fork():
            child = os.fork()
            if not child:
                try:
                    open(vault + "/secret").read()
                except OSError:
                    os._exit(1)
                os._exit(0)
            if os.waitpid(child, 0)[1]:
                raise OSError("the child cannot either")
        attacks = {{
            "vault": lambda: open(vault + "/secret").read(),
            "folder of the vault": lambda: os.listdir(vault),
            "vault by a link": lambda: open(folder + "/link").read(),
            "vault by another root": lambda: open("/proc/self/root" + vault + "/secret").read(),
            "another source": lambda: open(folder + "/other.csv").read(),
            "its own folder": lambda: os.listdir(folder),
            "environment of Sluice": lambda: open(f"/proc/{{parent}}/environ", "rb").read(),
            "memory of Sluice": lambda: open(f"/proc/{{parent}}/mem", "rb").read(1),
            "descriptors of Sluice": lambda: os.listdir(f"/proc/{{parent}}/fd"),
            "write beside the source": lambda: open(folder + "/new", "w"),
            "write into the source": lambda: open(folder + "/people.csv", "a").write("forged"),
            "write into the vault": lambda: open(vault + "/forged", "w"),
            "write into the temporary folder": lambda: open("/tmp/sluice-test-forged", "w"),
            "empty the secret": lambda: os.truncate(vault + "/secret", 0),
            "remove the source": lambda: os.unlink(folder + "/doomed"),
            "open the vault to others": lambda: os.chmod(vault + "/..", 0o777),
            "connect": lambda: connect((), ("127.0.0.1", port)),
            "datagram": lambda: connect((socket.AF_INET, socket.SOCK_DGRAM), ("127.0.0.1", 9)),
            "listen": lambda: socket.create_server(("127.0.0.1", 0)),
            "listen without a name": lambda: socket.socket().listen(),
            "connect by many paths": lambda: connect((socket.AF_INET, socket.SOCK_STREAM, 262), ("127.0.0.1", port)),
            "a message that connects": lambda: socket.socket().sendto(b"x", 0x20000000, ("127.0.0.1", port)),
            "local socket": lambda: connect((socket.AF_UNIX,), folder + "/socket"),
            "local messages": lambda: socket.socketpair(type=socket.SOCK_DGRAM)[0].sendto(b"x", folder + "/messages"),
            "memory that is shared": lambda: call("shmctl", libc.shmget(0, 8, 0o1600), 0, 0),
            "a queue": lambda: call("msgctl", libc.msgget(0, 0o1600), 0, 0),
            "limits of Sluice": lambda: resource.prlimit(parent, resource.RLIMIT_NOFILE),
            "priority of Sluice": lambda: os.setpriority(os.PRIO_PROCESS, parent, 0),
            "when the secret was written": lambda: os.utime(vault + "/secret"),
            "watch the vault": lambda: call("inotify_add_watch", libc.inotify_init(), vault.encode(), 0xFFF),
            "program": lambda: subprocess.run(["/bin/true"]),
            "signal": lambda: os.kill(parent, 0),
            "another process": fork,
        }}
        done = []
        for name, attack in attacks.items():
            try:
                attack()
                done.append(name)
            except OSError:
                pass
        yield pa.table({{"a": [json.dumps([done, dict(os.environ)])]}})
"""


@pytest.fixture
def at_hand(tmp_path: Path) -> Iterator[dict[str, Any]]:
    """What the attacks are about: another source, a link to the vault, a server and a local socket."""
    (tmp_path / "other.csv").write_text(SECRET)
    (tmp_path / "doomed").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "home" / "vault" / "secret")
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_UNIX) as local,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as messages,
    ):
        local.bind(str(tmp_path / "socket"))
        local.listen()
        messages.bind(str(tmp_path / "messages"))
        vault = str(tmp_path / "home" / "vault")
        yield {"vault": vault, "folder": str(tmp_path), "port": server.getsockname()[1]}


def attack(source: TabularSource) -> tuple[list[str], dict[str, str]]:
    [batch] = read_apart(source, ["a"])
    done, environment = json.loads(batch["a"][0])
    return done, environment


def test_without_the_sandbox_nearly_everything_is_reached(tmp_path: Path, reader: Any, at_hand: dict[str, Any]) -> None:
    """So the attacks are some, and the next test can fail."""
    reader(ATTACKS.format(**at_hand), confined=False)
    done, _ = attack(people(tmp_path))
    (Path("/tmp/sluice-test-forged")).unlink(missing_ok=True)
    (tmp_path / "home").chmod(0o700)
    assert {"vault", "folder of the vault", "vault by a link", "another source", "write into the vault"} <= {*done}
    assert {"connect", "datagram", "listen", "local socket", "program", "signal", "another process"} <= {*done}
    assert {"a message that connects", "local messages", "limits of Sluice", "watch the vault"} <= {*done}
    assert len(done) >= 30


@pytest.mark.smoke
@confined_only
def test_a_hole_in_a_driver_is_no_hole_in_the_vault(
    tmp_path: Path, reader: Any, at_hand: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PGPASSWORD", "PGPASSFILE", "SLUICE_LEDGER_URL", "AWS_SECRET_ACCESS_KEY", "KRB5CCNAME"):
        monkeypatch.setenv(name, SECRET)
    mode = stat.S_IMODE((tmp_path / "home").stat().st_mode)
    reader(ATTACKS.format(**at_hand))
    done, environment = attack(people(tmp_path))
    assert done == []
    assert environment.keys() <= {
        "HOME", "LANG", "PGGSSENCMODE", "RES_OPTIONS", "TZ", "LC_CTYPE", "ARROW_DEFAULT_MEMORY_POOL",
        "OPENBLAS_NUM_THREADS",
    }  # fmt: skip
    assert (tmp_path / "home" / "vault" / "secret").read_text() == SECRET
    assert stat.S_IMODE((tmp_path / "home").stat().st_mode) == mode


@confined_only
@pytest.mark.skipif(landlock_version() < 4, reason="this Landlock knows no ports")
def test_a_hole_in_the_driver_of_a_server_reaches_that_server_alone(
    tmp_path: Path, reader: Any, at_hand: dict[str, Any]
) -> None:
    reader(ATTACKS.format(**at_hand))
    port = at_hand["port"]
    done, _ = attack(SqlSource(url=f"postgresql://u@127.0.0.1:{port}/x", table="t"))
    assert done == ["connect"]
    done, _ = attack(SqlSource(url=f"postgresql://u@127.0.0.1:{port + 1}/x", table="t"))
    assert done == []


NAMED = """
        import pyarrow as pa
        with socket.create_connection(("localhost", {port})) as made:
            found = made.getpeername()[1]
        try:
            socket.getaddrinfo("nowhere.invalid", 1)
        except socket.gaierror as error:
            unknown = error.errno
        yield pa.table({{"a": [json.dumps([[found, unknown], dict(os.environ)])]}})
"""


@confined_only
def test_a_server_is_found_by_its_name_without_a_datagram(tmp_path: Path, reader: Any, at_hand: dict[str, Any]) -> None:
    reader(NAMED.format(**at_hand))
    done, environment = attack(SqlSource(url=f"postgresql://u@localhost:{at_hand['port']}/x", table="t"))
    assert done[0] == at_hand["port"]
    assert int(done[1]) in (socket.EAI_NONAME, socket.EAI_AGAIN)  # answered by TCP, or there is no name server here
    assert environment["RES_OPTIONS"] == "use-vc"


PAIRS = """
        import pyarrow as pa
        made = []
        for close in (False, True):
            one, other = socket.socketpair()
            one.setblocking(False)
            if close:
                other.close()
            for name, attack in {{
                "connects": lambda: one.connect({folder!r} + "/socket"),
                "sends elsewhere": lambda: one.sendto(b"x", {folder!r} + "/messages"),
                "sends a descriptor elsewhere": lambda: one.sendmsg([b"x"], [], 0, {folder!r} + "/messages"),
                "is bound": lambda: one.bind({folder!r} + "/mine"),
                "listens": lambda: one.listen(),
            }}.items():
                try:
                    attack()
                    made.append(name)
                except OSError:
                    pass
        for kind in (socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
            try:
                socket.socketpair(type=kind)
                made.append(str(kind))
            except OSError:
                pass
        yield pa.table({{"a": [json.dumps([made, {{}}])]}})
"""


@confined_only
def test_a_pair_of_streams_that_a_driver_wakes_itself_by_leads_nowhere(
    tmp_path: Path, reader: Any, at_hand: dict[str, Any]
) -> None:
    reader(PAIRS.format(**at_hand))
    done, _ = attack(SqlSource(url=f"postgresql://u@127.0.0.1:{at_hand['port']}/x", table="t"))
    assert done == []
    (tmp_path / "a.csv").write_text("a\n1\n")
    with pytest.raises(DataError, match="PermissionError"):  # a file needs none
        attack(CsvSource(path=str(tmp_path / "a.csv")))


GARBAGE = {
    "no Arrow": "os.write(int(sys.argv[-2]), b'\\xff' * 100)",
    "a huge message": "os.write(int(sys.argv[-2]), b'\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\x7f' + b'x' * 100)",
    "other columns": "yield pa.table({'b': [1]})",
    "nested columns": "yield pa.table({'a': [[1]]})",
    "text that is none": "yield pa.table({'a': pa.array([b'\\xff\\xfe']).cast(pa.string(), safe=False)})",
    "a place beyond the end": (
        "sink = pa.BufferOutputStream()\n"
        "        with pa.ipc.new_stream(sink, pa.schema([('a', pa.string())])) as stream:\n"
        "            stream.write_table(pa.table({'a': ['x' * 777]}))\n"
        "        written = bytearray(sink.getvalue().to_pybytes())\n"
        "        place = written.rfind((777).to_bytes(4, 'little'))\n"
        "        written[place : place + 4] = (2**30).to_bytes(4, 'little')\n"
        "        os.write(int(sys.argv[-2]), written)"
    ),
    "a crash": "os.abort()",
    "an error that quotes the data": f"raise ValueError('{SECRET}')",
    "a false end": "os._exit(3)",
}  # fmt: skip


@pytest.mark.parametrize("answer", GARBAGE.values(), ids=GARBAGE.keys())
def test_what_such_a_process_answers_is_not_believed(tmp_path: Path, reader: Any, answer: str) -> None:
    reader(f"        import pyarrow as pa\n        {answer}\n        yield from ()\n")
    says = refusal_apart(people(tmp_path), "a")
    assert any(why in says for why in ("process that read it", "cannot be read (ValueError)")), says


def test_an_error_of_such_a_process_is_a_line_of_bounded_length(tmp_path: Path, reader: Any) -> None:
    reader(
        "        from sluice.ground.errors import DataError\n        raise DataError('\\x1b[2K\\n' + 'x' * 10_000)\n"
    )
    says = refusal_apart(people(tmp_path), "a")
    assert says.isprintable()
    assert len(says) == 4000


# -- between the look and the opening


def test_a_link_that_came_in_the_file_s_place_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "home" / "vault" / "secret")
    (tmp_path / "folder").symlink_to(tmp_path / "home" / "vault")
    for path in (tmp_path / "link", tmp_path / "folder" / "secret"):
        with pytest.raises(OSError, match=r"plain file|symbolic links|Not a directory"):
            sandbox._open_plainly(path)
    os.close(sandbox._open_plainly(tmp_path / "people.csv"))


@pytest.mark.parametrize("place", ["people.csv", "folder"])
def test_a_link_that_comes_after_the_permission_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """The file or its folder, which was looked at, becomes a link into the vault."""
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    written = {"people.csv": "people.csv", "folder": "folder/secret"}[place]
    (tmp_path / "folder" / "secret").write_text("a\n1\n")
    permitted = permitted_source(CsvSource(path=written, columns=("a",), header=False), tmp_path)
    (tmp_path / place).rename(tmp_path / "moved")
    vault = tmp_path / "home" / "vault"
    (tmp_path / place).symlink_to(vault if place == "folder" else vault / "secret")
    golden.words(refusal_apart(permitted, "a"))


@confined_only
def test_a_file_that_comes_in_the_place_of_another_is_not_read(tmp_path: Path) -> None:
    """Between the sandbox's look at the file and the driver's opening of it."""
    path = tmp_path / "people.csv"
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "from pathlib import Path\n"
        "from sluice.sources.sandbox import confine\n"
        f"confine([Path({str(path)!r})], [], ())\n"
        "for _ in range(2):\n"
        "    sys.stdin.readline()\n"
        "    try:\n"
        f"        print(open({str(path)!r}).readline().strip(), flush=True)\n"
        "    except PermissionError as error:\n"
        "        print('refused', flush=True)\n"
    )
    with subprocess.Popen([sys.executable, "-I", "-c", code], stdin=-1, stdout=-1, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline() == "a,b\n"
        path.unlink()
        path.symlink_to(tmp_path / "home" / "vault" / "secret")
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline() == "refused\n"


# -- credentials of the account


def test_no_credential_of_the_account_goes_to_a_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server asks for a password in clear; the account has several, none of them of this connection."""
    sent: list[bytes] = []

    def ask(server: socket.socket) -> None:
        connection, _ = server.accept()
        with connection:
            if connection.recv(4096)[4:8] == b"\x04\xd2\x16\x2f":  # it wants TLS, which there is none of
                connection.sendall(b"N")
                connection.recv(4096)
            connection.sendall(b"R\0\0\0\x08\0\0\0\x03")
            sent.append(connection.recv(4096))

    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        for path in (tmp_path / ".pgpass", tmp_path / "pgpass"):
            path.write_text(f"*:*:*:*:{SECRET}\n")
            path.chmod(0o600)
        service = tmp_path / ".pg_service.conf"
        service.write_text(f"[db]\npassword={SECRET}\n")
        for name, value in {
            "HOME": str(tmp_path),
            "PGPASSWORD": SECRET,
            "PGPASSFILE": str(tmp_path / "pgpass"),
            "PGSERVICEFILE": str(service),
            "PGSERVICE": "db",
        }.items():
            monkeypatch.setenv(name, value)
        asking = threading.Thread(target=ask, args=(server,), daemon=True)
        asking.start()
        source = SqlSource(url=f"postgresql://x@127.0.0.1:{port}/db", table="t")
        golden.words(refusal_apart(source, "a"))
        asking.join(30)
    assert sent == [b""]  # it was asked for, and not sent


def test_what_the_reader_of_a_server_needs(tmp_path: Path) -> None:
    (tmp_path / "ca.crt").write_text("")
    (tmp_path / "link.crt").symlink_to(tmp_path / "ca.crt")
    named = f"sslmode=verify-full&sslrootcert={tmp_path}/link.crt&sslcert={tmp_path}/absent.crt"
    source = SqlSource(url=f"postgresql://u@warehouse/x?{named}", table="t")
    assert source.files == (tmp_path / "ca.crt",)
    assert source.ports == (5432, 53)
    assert SqlSource(url="postgresql://u@warehouse:6000/x", table="t").ports == (6000, 53)
    assert SqlSource(url="postgresql:///x?host=/run/postgresql", table="t").ports is None
    assert SqlSource(url="duckdb:///:memory:", table="t").ports == ()


# -- systems without a sandbox


def test_where_there_is_no_landlock_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(separate_reading, "landlock_version", lambda: 0)
    write_log("text")
    try:
        assert len(list(read_apart(people(tmp_path), ["a"]))) == 1
    finally:
        write_log(None)
    assert NOT_CONFINED in capfd.readouterr().err


def test_memory_stays_small(tmp_path: Path, processes: list[subprocess.Popen[bytes]]) -> None:
    """Neither side holds the whole of a source: the reader waits when nobody takes its batches."""
    with duckdb.connect(tmp_path / "r.duckdb") as made:
        made.execute("CREATE TABLE t AS SELECT range AS i, repeat('x', 200) AS s FROM range(300000)")
    batches = read_apart(SqlSource(url=f"duckdb:///{tmp_path}/r.duckdb", table="t"), ["i", "s"], 1000)
    taken = sum(len(next(batches)) for _ in range(250))
    assert processes[0].poll() is None, "it has handed over more than anybody took"  # 10 MB are left, beyond any pipe
    assert taken + sum(map(len, batches)) == 300_000
    assert pa.total_allocated_bytes() < 20_000_000


@pytest.mark.reads_apart
@pytest.mark.servers
@pytest.mark.parametrize("patience", ["0", "30"], ids=["at once", "persistently"])
def test_a_connection_lost_in_the_middle_is_a_fault_of_transport(
    postgresql: str, monkeypatch: pytest.MonkeyPatch, patience: str
) -> None:
    monkeypatch.setenv("SLUICE_PATIENCE", patience)
    alter(postgresql, "CREATE TABLE people AS SELECT n, repeat('x', 90) AS text FROM generate_series(1, 50000) AS n")
    with cutting_proxy(postgresql) as proxy:
        proxy.cut_at, proxy.cuts = 1_000_000, 1
        source = SqlSource(url=proxy.url, table="people")

        def read() -> int:
            return sum(len(batch) for batch in read_apart(source, ["n", "text"], 1000))

        if patience == "0":
            with golden.raises(SourceUnreachableError, figures=False):
                persistently(read)
        else:
            assert persistently(read) == 50_000


def test_a_source_is_read_no_further_than_the_contract_allows() -> None:
    read = 0

    def batches() -> Iterator[pd.DataFrame]:
        nonlocal read
        while True:
            read += 1
            yield pd.DataFrame({"x": range(10)})

    with pytest.raises(DataError, match=r"rows\.maximum"):
        list(at_most(batches(), 25))
    assert read == 3
    assert len(list(at_most(iter([pd.DataFrame({"x": range(10)})] * 2), 20))) == 2


def test_a_command_reads_no_further_than_contract_operator_and_memory_allow(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.csv").write_text("a,b\n" + "1,x\n" * 100)
    source = CsvSource(path=str(tmp_path / "a.csv"))
    assert sum(map(len, read_here(source, ["a", "b"], 30, most=100))) == 100
    with golden.raises(DataError):
        list(read_here(source, ["a", "b"], 30, most=99))
    for limits in ("{rows: 99}", "{seconds: 0.0000001}"):
        (home / "connections.yaml").write_text(f"limits: {limits}\n")
        (home / "connections.yaml").chmod(0o600)
        with golden.raises(DataError):
            list(read_here(source, ["a", "b"], 30))
    (home / "connections.yaml").unlink()
    monkeypatch.setattr("sluice.sources.separate_reading.free_memory", lambda: 1_000)
    with golden.raises(DataError):
        list(read_here(source, ["a", "b"], 30))
    assert sum(map(len, read_here(source, ["a", "b"], 30, keep=False))) == 100
