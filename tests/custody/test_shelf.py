"""The shelf: a release is there whole or not at all, whenever the run is killed."""

import errno
import fcntl
import hashlib
import multiprocessing
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.custody.shelf import CHECKSUMS, LOCK, publish, read_back, refuse_place, refuse_to_overwrite, withdraw
from sluice.ground.errors import DataError, SluiceError
from tests.golden import golden

STEPS = [
    "partial made",
    "data.csv written",
    "data.parquet written",
    "manifest.json written",
    "checksums written",
    "partial on disk",
    "renamed",
    "on disk",
]


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path | bytes]:
    source = tmp_path / "object"
    source.write_bytes(os.urandom(2_500_000))
    source.chmod(0o600)
    return {"data.parquet": source, "data.csv": b"age,income\n30,2\n", "manifest.json": b"{}"}


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    return tmp_path / "published"


def _content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def _names(shelf: Path) -> list[str]:
    """What is there, but for the lock."""
    return sorted(path.name for path in shelf.iterdir() if path.name != LOCK)


@pytest.mark.servers
def test_a_release_is_published_with_checksums_that_other_tools_read(
    shelf: Path, files: dict[str, Path | bytes]
) -> None:
    before = os.umask(0o077)  # what is published can be read whatever the account's setting is
    try:
        shelf.mkdir()
        folder = publish(shelf, "fair-1", files)
    finally:
        os.umask(before)
    assert folder == shelf / "fair-1"
    assert _names(shelf) == ["fair-1"]
    assert set(_content(folder)) == {*files, CHECKSUMS}
    assert (folder / "data.csv").read_bytes() == files["data.csv"]
    assert folder.stat().st_mode & 0o777 == 0o755
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o644}
    assert read_back(folder) == []
    check = subprocess.run(
        ["sha256sum", "--strict", "--check", CHECKSUMS], cwd=folder, capture_output=True, check=False
    )
    assert check.returncode == 0, check.stdout
    assert check.stdout.count(b": OK") == 3


def test_the_order_of_the_steps(shelf: Path, files: dict[str, Path | bytes]) -> None:
    seen: list[str] = []
    publish(shelf, "fair-1", files, fault_hook=seen.append)
    assert seen == STEPS


@given(st.dictionaries(st.from_regex(r"[a-z][a-z0-9._-]{0,10}", fullmatch=True), st.binary(max_size=50), min_size=1))
def test_what_was_published_is_read_back(files: Mapping[str, bytes]) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = publish(Path(place), "fair-1", files)
        assert read_back(folder) == []
        assert publish(Path(place), "fair-1", files) == folder
        content = _content(folder)
        listed = content.pop(CHECKSUMS).decode().splitlines()
        assert content == files
        assert listed == [f"{hashlib.sha256(files[name]).hexdigest()}  {name}" for name in sorted(files)]


def _publish_until(shelf: Path, files: Mapping[str, Path | bytes], fatal: str) -> None:
    publish(shelf, "fair-1", files, fault_hook=lambda step: os.kill(os.getpid(), 9) if step == fatal else None)


@pytest.mark.servers
@pytest.mark.parametrize("fatal", STEPS)
def test_kill_9_leaves_nothing_or_everything_and_a_rerun_finishes(
    shelf: Path, files: dict[str, Path | bytes], fatal: str
) -> None:
    process = multiprocessing.get_context("fork").Process(target=_publish_until, args=(shelf, files, fatal))
    process.start()
    process.join()
    assert process.exitcode == -9
    if STEPS.index(fatal) >= STEPS.index("renamed"):
        assert read_back(shelf / "fair-1") == []
    else:
        assert not (shelf / "fair-1").exists()
        assert len(list(shelf.glob(".fair-1.partial-*"))) == 1
    folder = publish(shelf, "fair-1", files)
    assert read_back(folder) == []
    assert _names(shelf) == ["fair-1"]


def _publish(shelf: Path, files: Mapping[str, Path | bytes]) -> None:
    for _ in range(5):
        publish(shelf, "fair-1", files)


@pytest.mark.chain
def test_publishers_of_one_release_do_not_disturb_each_other(shelf: Path, files: dict[str, Path | bytes]) -> None:
    spawn = multiprocessing.get_context("spawn")
    running = [spawn.Process(target=_publish, args=(shelf, files)) for _ in range(2)]
    for process in running:
        process.start()
    for process in running:
        process.join()
    assert [process.exitcode for process in running] == [0] * 2
    assert read_back(shelf / "fair-1") == []
    assert _names(shelf) == ["fair-1"]


def test_an_error_leaves_nothing_behind(shelf: Path, files: dict[str, Path | bytes]) -> None:
    def fail(step: str) -> None:
        if step == "checksums written":
            raise RuntimeError

    with pytest.raises(RuntimeError):
        publish(shelf, "fair-1", files, fault_hook=fail)
    assert _names(shelf) == []


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_leaves_nothing_behind(
    shelf: Path, files: dict[str, Path | bytes], monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def full(handle: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", full)
    with golden.raises(DataError):
        publish(shelf, "fair-1", files)
    assert _names(shelf) == []


def test_the_partial_folder_of_another_release_is_left_alone(shelf: Path, files: dict[str, Path | bytes]) -> None:
    for name in (".fair-1.partial-aa", ".fair-10.partial-aa", ".fair-1.x.partial-aa"):
        (shelf / name).mkdir(parents=True)
    publish(shelf, "fair-1", files)
    assert _names(shelf) == [".fair-1.x.partial-aa", ".fair-10.partial-aa", "fair-1"]


def _emptied(folder: Path) -> Path:
    shutil.rmtree(folder)
    return folder


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "data.csv").write_bytes(b"tampered"),
        lambda folder: (folder / "data.csv").unlink(),
        lambda folder: (folder / "extra.txt").write_bytes(b"x"),
        lambda folder: (folder / CHECKSUMS).unlink(),
        lambda folder: _emptied(folder).mkdir(),
        lambda folder: _emptied(folder).write_bytes(b"x"),
        lambda folder: _emptied(folder).symlink_to("nowhere"),
    ],
    ids=["more bytes", "file gone", "file more", "checksums gone", "empty", "a file", "link"],
)
def test_other_content_under_the_name_is_refused_and_left(
    shelf: Path, files: dict[str, Path | bytes], change: Callable[[Path], object]
) -> None:
    folder = publish(shelf, "fair-1", files)
    change(folder)
    before = _content(folder) if folder.is_dir() else _names(shelf)
    with golden.raises(SluiceError):
        publish(shelf, "fair-1", files)
    assert before == (_content(folder) if folder.is_dir() else _names(shelf))
    assert _names(shelf) == ["fair-1"]


@pytest.mark.parametrize("other", [{"data.csv": b"other"}, {"new.csv": b"x"}, {"data.parquet": b"other"}])
def test_a_published_release_is_never_overwritten(
    shelf: Path, files: dict[str, Path | bytes], other: dict[str, bytes]
) -> None:
    folder = publish(shelf, "fair-1", files)
    before = _content(folder)
    golden.refused(SluiceError, publish, shelf, "fair-1", {**files, **other})
    with golden.raises(SluiceError):
        publish(shelf, "fair-1", {name: files[name] for name in ("data.csv", "data.parquet")})
    assert _content(folder) == before


@pytest.mark.parametrize("name", ["", "../up", "a/b", ".hidden", CHECKSUMS, "a b"])
def test_a_name_that_leads_elsewhere_is_refused(shelf: Path, name: str) -> None:
    with golden.raises(SluiceError):
        publish(shelf, name, {"data.csv": b""})
    with golden.raises(SluiceError):
        publish(shelf, "fair-1", {name: b""})
    assert not shelf.exists()


def test_nothing_is_no_release(shelf: Path) -> None:
    with golden.raises(SluiceError):
        publish(shelf, "fair-1", {})


def test_a_target_that_cannot_be_a_folder_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with golden.raises(SluiceError):
        publish(tmp_path / "file" / "published", "fair-1", {"data.csv": b""})


def test_read_back_says_what_is_wrong(shelf: Path, files: dict[str, Path | bytes]) -> None:
    folder = publish(shelf, "fair-1", files)
    (folder / "data.csv").unlink()
    (folder / "manifest.json").write_bytes(b"[]")
    (folder / "extra").mkdir()
    (folder / "data.parquet").rename(shelf / "kept")
    (folder / "data.parquet").symlink_to(shelf / "kept")
    assert read_back(folder) == [
        "data.csv is missing",
        "extra does not belong to the release",
        "data.parquet is not a plain file",
        "manifest.json was changed: its SHA-256 differs",
    ]
    (folder / CHECKSUMS).write_text("nonsense\n")
    assert read_back(folder) == [f"{CHECKSUMS} has a line that is not 'SHA-256  name'"]
    (folder / CHECKSUMS).write_text("")
    golden(read_back(folder)[0])
    assert str(CHECKSUMS) in read_back(folder)[0]
    (folder / CHECKSUMS).unlink()
    assert read_back(folder) == [f"{CHECKSUMS} is missing or cannot be read"]
    assert read_back(shelf / "absent") == [f"{CHECKSUMS} is missing or cannot be read"]


def test_a_withdrawn_release_leaves_a_tombstone_and_cannot_come_back(
    shelf: Path, files: dict[str, Path | bytes]
) -> None:
    folder = publish(shelf, "fair-1", files)
    before = _content(folder)
    gone = withdraw(folder, "an error in the weights")
    assert _names(shelf) == [".withdrawn-fair-1", "fair-1.withdrawn.txt"]
    assert _content(gone) == before
    assert gone.stat().st_mode & 0o777 == 0o700
    tombstone = shelf / "fair-1.withdrawn.txt"
    golden(tombstone.read_text())
    assert tombstone.stat().st_mode & 0o777 == 0o644
    assert withdraw(folder, "an error in the weights; wrong codes") == gone  # asked for by more people meanwhile
    golden(tombstone.read_text())
    with golden.raises(SluiceError):
        publish(shelf, "fair-1", files)


def test_a_withdrawal_that_was_interrupted_is_finished(
    shelf: Path, files: dict[str, Path | bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = publish(shelf, "fair-1", files)
    monkeypatch.setattr(Path, "rename", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        withdraw(folder, "an error in the weights")
    monkeypatch.undo()
    assert _names(shelf) == ["fair-1", "fair-1.withdrawn.txt"]
    withdraw(folder, "an error in the weights")
    assert _names(shelf) == [".withdrawn-fair-1", "fair-1.withdrawn.txt"]


def test_a_withdrawal_needs_a_shelf_and_a_reason(shelf: Path, files: dict[str, Path | bytes]) -> None:
    folder = publish(shelf, "fair-1", files)
    with golden.raises(SluiceError):
        withdraw(folder, "  ")
    with golden.raises(SluiceError):
        withdraw(shelf.with_name("elsewhere") / "fair-1", "a reason")
    assert _names(shelf) == ["fair-1"]


def test_what_somebody_removed_by_hand_can_be_withdrawn_and_goes_again_when_it_comes_back(
    shelf: Path, files: dict[str, Path | bytes]
) -> None:
    folder = publish(shelf, "fair-1", files)
    aside = folder.rename(shelf.with_name("aside"))
    withdraw(folder, "an error in the weights")
    assert _names(shelf) == ["fair-1.withdrawn.txt"]
    copy = shutil.copytree(aside, shelf.with_name("copy"))
    aside.rename(folder)
    gone = withdraw(folder, "an error in the weights")
    assert _names(shelf) == [".withdrawn-fair-1", "fair-1.withdrawn.txt"]
    copy.rename(folder)
    with pytest.raises(OSError, match="not empty"):
        withdraw(folder, "an error in the weights")
    assert [each.stat().st_mode & 0o777 for each in (folder, gone)] == [0o700] * 2


@pytest.mark.servers
def test_who_reads_the_shelf_cannot_keep_what_is_withdrawn_there(shelf: Path, files: dict[str, Path | bytes]) -> None:
    folder = publish(shelf, "fair-1", files)
    reader = os.open(shelf, os.O_RDONLY)
    fcntl.flock(reader, fcntl.LOCK_EX)
    done = multiprocessing.get_context("fork").Process(target=withdraw, args=(folder, "an error"))
    done.start()
    done.join(20)
    waits = done.is_alive()
    done.kill()
    os.close(reader)
    assert not waits
    assert _names(shelf) == [".withdrawn-fair-1", "fair-1.withdrawn.txt"]
    assert (shelf / LOCK).stat().st_mode & 0o777 == 0o600, "else every reader could lock it"


@pytest.mark.parametrize("make", [Path.mkdir, lambda lock: lock.symlink_to("elsewhere")])
def test_a_lock_that_is_somebody_elses_is_said(
    shelf: Path, files: dict[str, Path | bytes], make: Callable[[Path], None]
) -> None:
    folder = publish(shelf, "fair-1", files)
    (shelf / LOCK).unlink()
    make(shelf / LOCK)
    with golden.raises(SluiceError):
        withdraw(folder, "an error")
    assert folder.is_dir()


def test_what_an_inspection_refuses_never_appears(shelf: Path, files: dict[str, Path | bytes]) -> None:
    seen: list[set[str]] = []

    def refuse(partial: Path) -> None:
        seen.append({path.name for path in partial.iterdir()})
        assert not (shelf / "fair-1").exists()
        raise ValueError("not the approved table")

    with golden.raises(ValueError):
        publish(shelf, "fair-1", files, inspect=refuse)
    assert seen == [{*files, CHECKSUMS}]
    assert _names(shelf) == []


# Where commands may write: never over what is read, into the workspace or into a published release.


def test_what_is_read_is_not_overwritten(tmp_path: Path) -> None:
    data, report = tmp_path / "data.csv", tmp_path / "out.html"
    refuse_to_overwrite(tmp_path / "out.csv", [data, None], report)
    for output, further in ((tmp_path / "x" / ".." / "data.csv", report), (tmp_path / "out.csv", data)):
        (tmp_path / "x").mkdir(exist_ok=True)
        with golden.raises(DataError):
            refuse_to_overwrite(output, [data], further)


def test_neither_the_workspace_nor_a_published_release_is_written_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLUICE_HOME", str(tmp_path / "home"))
    vault, published = tmp_path / "home" / "vault", publish(tmp_path / "shelf", "fair-1", {"a.csv": b"x"})
    vault.mkdir(parents=True)
    (tmp_path / "link").symlink_to(vault)
    (tmp_path / "secret.csv").symlink_to(vault / "secret")
    for output in (vault / "secret", tmp_path / "link" / "x.csv", tmp_path / "secret.csv", vault / ".." / "ledger.db"):
        with golden.raises(DataError):
            refuse_to_overwrite(output, [], option="--repair")
    for output in (published / "a.csv", published / "new.csv"):
        with golden.raises(DataError):
            refuse_to_overwrite(output, [])
    for output in (tmp_path / "shelf" / "fair-2", tmp_path / "shelf" / "fair-1.withdrawn.txt", published):
        with golden.raises(DataError):
            refuse_place(output)
    for output in (published / "sub" / "new", tmp_path / "shelf" / "fair-2" / "sub" / "a.csv"):  # folders come with it
        with golden.raises(DataError):
            refuse_place(output)
    refuse_place(tmp_path / "sub" / "b.csv")


def test_neither_settings_nor_documents_are_written_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLUICE_CONNECTIONS", str(tmp_path / "connections.yaml"))
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path / "prefect"))
    contract = tmp_path / "contract.yaml"
    contract.write_text("title: x")
    for output in (tmp_path / "connections.yaml", tmp_path / "prefect" / "profiles.toml", contract):
        with golden.raises(DataError):
            refuse_to_overwrite(output, [])
    refuse_to_overwrite(tmp_path / "other.yaml", [])
