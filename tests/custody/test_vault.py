"""The vault: closed to others, secrets made once, seeds that can be destroyed, files kept by their content."""

import errno
import hashlib
import hmac
import multiprocessing
import os
import socket
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.custody.vault import Vault
from sluice.ground.errors import DataError, SluiceError
from tests.golden import golden


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    return Vault(tmp_path / "vault")


def _mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_everything_in_the_vault_is_closed_to_other_accounts(vault: Vault) -> None:
    before = os.umask(0)  # the most careless setting
    try:
        vault.keep_bytes(b"kept", ".parquet")
        vault.seed("fair-1")
        vault.destroy_seed("fair-2")
        with vault.scratch() as path:
            assert _mode(path) == 0o600
            path.write_bytes(b"x")
            vault.keep(path)
    finally:
        os.umask(before)
    for path in [vault.root, *vault.root.rglob("*")]:
        assert _mode(path) == (0o700 if path.is_dir() else 0o600), path


@pytest.mark.parametrize("mode", [0o750, 0o701, 0o755, 0o777])
def test_a_vault_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    Vault(tmp_path / "vault")
    (tmp_path / "vault").chmod(mode)
    with golden.raises(SluiceError):
        Vault(tmp_path / "vault")


def test_a_secret_that_others_can_read_or_that_is_damaged_or_lost_is_refused(vault: Vault) -> None:
    secret = vault.root / "secret"
    secret.chmod(0o640)
    with golden.raises(SluiceError):
        Vault(vault.root)
    secret.chmod(0o600)
    secret.write_bytes(b"short")
    with golden.raises(SluiceError):
        Vault(vault.root)
    secret.unlink()
    with golden.raises(SluiceError):
        Vault(vault.root)
    assert not secret.exists()


# -- secrets


def test_pseudonyms_are_keyed_hashes(vault: Vault) -> None:
    """Against HMAC-SHA256 computed with `hmac.new` from the secret on disk."""
    secret = (vault.root / "secret").read_bytes()
    key = hmac.new(secret, b"pseudonym\0person", hashlib.sha256).digest()
    expected = hmac.new(key, "Zoë".encode(), hashlib.sha256).hexdigest()[:32]
    assert vault.pseudonym("person", "Zoë") == expected
    assert Vault(vault.root).pseudonym("person", "Zoë") == expected
    assert vault.ledger_key() == hmac.new(secret, b"ledger", hashlib.sha256).digest()


def test_pseudonyms_differ_between_variables_and_vaults(vault: Vault, tmp_path: Path) -> None:
    other = Vault(tmp_path / "other")
    pseudonyms = {v.pseudonym(name, "7") for v in (vault, other) for name in ("person", "household")}
    assert len(pseudonyms) == 4
    assert vault.ledger_key() != other.ledger_key()


@given(st.sets(st.text(max_size=5), max_size=20), st.text(max_size=5))
def test_distinct_values_have_distinct_pseudonyms(values: set[str], name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        vault = Vault(Path(folder) / "vault")
        assert len({vault.pseudonym(name, value) for value in values}) == len(values)


def _open_and_tell(path: Path, release: str, told: Connection) -> None:
    vault = Vault(path)
    told.send((vault.ledger_key(), vault.seed(release).entropy))


@pytest.mark.servers
def test_processes_that_open_a_new_vault_together_share_one_secret_and_one_seed(tmp_path: Path) -> None:
    fork = multiprocessing.get_context("fork")
    ours, theirs = fork.Pipe(duplex=False)
    running = [fork.Process(target=_open_and_tell, args=(tmp_path / "vault", "fair-1", theirs)) for _ in range(6)]
    for process in running:
        process.start()
    told = [ours.recv() for _ in running]
    for process in running:
        process.join()
    assert len(set(told)) == 1
    assert [path.name for path in (tmp_path / "vault").iterdir() if path.name.startswith(".")] == []


# -- seeds


def test_a_seed_is_drawn_once_and_gives_the_same_numbers_again(vault: Vault) -> None:
    first, again = vault.seed("fair-1"), Vault(vault.root).seed("fair-1")
    draws = [np.random.default_rng(seed.spawn(2)[1]).random(5) for seed in (first, again)]
    np.testing.assert_array_equal(*draws)
    assert first.entropy == int.from_bytes((vault.root / "seeds" / "fair-1").read_bytes(), "big")
    assert vault.seed("fair-2").entropy != first.entropy


def test_a_destroyed_seed_never_comes_back(vault: Vault) -> None:
    vault.seed("fair-1")
    vault.destroy_seed("fair-1")
    vault.destroy_seed("fair-1")
    for again in (vault, Vault(vault.root)):
        with golden.raises(SluiceError):
            again.seed("fair-1")
    assert not (vault.root / "seeds" / "fair-1").exists()
    vault.destroy_seed("never-drawn")
    with golden.raises(SluiceError):
        vault.seed("never-drawn")


def test_a_seed_drawn_while_it_is_destroyed_is_thrown_away(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    from sluice.custody import vault as module

    real = module.create_once

    def slow(path: Path, content: bytes) -> bytes:
        if path.name == "fair-1":
            monkeypatch.setattr(module, "create_once", real)
            Vault(vault.root).destroy_seed("fair-1")
        return real(path, content)

    monkeypatch.setattr(module, "create_once", slow)
    with golden.raises(SluiceError):
        vault.seed("fair-1")
    assert not (vault.root / "seeds" / "fair-1").exists()


def test_a_damaged_seed_is_refused(vault: Vault) -> None:
    vault.seed("fair-1")
    (vault.root / "seeds" / "fair-1").write_bytes(b"cut")
    with golden.raises(SluiceError):
        vault.seed("fair-1")


@pytest.mark.parametrize("name", ["", "../secret", "a/b", ".hidden", "fair 1", "fair~destroyed", "x" * 201])
def test_what_is_no_plain_name_has_no_seed(vault: Vault, name: str) -> None:
    with golden.raises(SluiceError):
        vault.seed(name)
    with golden.raises(SluiceError):
        vault.destroy_seed(name)


# -- files


def test_files_are_kept_by_their_content(vault: Vault) -> None:
    content = os.urandom(3_000_000)
    with vault.scratch(".parquet") as path:
        path.write_bytes(content)
        sha256 = vault.keep(path, ".parquet")
        assert not path.exists()
    assert sha256 == hashlib.sha256(content).hexdigest()
    assert vault.path(sha256, ".parquet").read_bytes() == content
    assert vault.verify(sha256, ".parquet") == vault.path(sha256, ".parquet")
    with vault.open_verified(sha256, ".parquet") as file:
        assert file.read() == content
    assert vault.keep_bytes(content, ".parquet") == sha256
    assert len(list((vault.root / "objects").iterdir())) == 1
    assert list((vault.root / "scratch").iterdir()) == []


def test_the_empty_file_is_a_file(vault: Vault) -> None:
    assert vault.verify(vault.keep_bytes(b"")).read_bytes() == b""


def test_an_absent_a_damaged_and_a_mended_object(vault: Vault) -> None:
    sha256 = hashlib.sha256(b"records").hexdigest()
    with golden.raises(DataError):
        vault.path(sha256)
    vault.keep_bytes(b"records")
    vault.path(sha256).write_bytes(b"recorts")
    with golden.raises(DataError):
        vault.verify(sha256)
    with golden.raises(DataError), vault.open_verified(sha256):
        pass
    vault.keep_bytes(b"records")
    assert vault.verify(sha256).read_bytes() == b"records"
    with golden.raises(DataError):
        vault.path(sha256, ".csv")


@pytest.mark.parametrize("suffix", ["csv", "/../x", ".CSV", "../secret", ". "])
def test_a_suffix_that_leads_elsewhere_is_refused(vault: Vault, suffix: str) -> None:
    with golden.raises(SluiceError):
        vault.keep_bytes(b"x", suffix)
    with golden.raises(SluiceError):
        vault.path("../secret")


def test_scratch_is_gone_after_an_error(vault: Vault) -> None:
    with pytest.raises(ZeroDivisionError), vault.scratch(".parquet") as path:
        path.write_bytes(bytes(1 // 0))
    assert list((vault.root / "scratch").iterdir()) == []


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_leaves_nothing_half_written(vault: Vault, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    def full(handle: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", full)
    with golden.raises(DataError):
        vault.keep_bytes(b"records")
    with golden.raises(DataError):
        vault.seed("fair-1")
    with golden.raises(DataError):
        Vault(vault.root.with_name("new"))
    with golden.raises(DataError), vault.scratch():
        full(0)  # as a Parquet writer in the block meets it
    monkeypatch.undo()
    assert list((vault.root / "objects").iterdir()) == []
    assert list((vault.root / "scratch").iterdir()) == []
    assert list((vault.root / "seeds").iterdir()) == []
    assert list(vault.root.with_name("new").iterdir()) == []


def test_other_errors_of_the_disk_are_not_called_full(vault: Vault) -> None:
    with pytest.raises(FileNotFoundError):
        vault.keep(vault.root / "scratch" / "absent")


def _killed_while_writing(path: Path) -> None:
    with Vault(path).scratch(".parquet") as scratch:
        scratch.write_bytes(b"half")
        os.kill(os.getpid(), 9)


@pytest.mark.servers
def test_scratch_of_killed_runs_is_removed_and_that_of_living_ones_stays(vault: Vault) -> None:
    process = multiprocessing.get_context("fork").Process(target=_killed_while_writing, args=(vault.root,))
    process.start()
    process.join()
    scratch = vault.root / "scratch"
    assert len(list(scratch.iterdir())) == 1
    day, hour = 86400, 3600
    parent, host = os.getppid(), socket.gethostname()
    ages = {f"{host}~{parent}~a": 2 * hour, f"{host}~{parent}~b": 2 * day, "elsewhere~1~a": 2 * hour}
    ages |= {"elsewhere~1~b": hour / 2, f"{host}~{os.getpid()}~c": 2 * day, "stray": 2 * hour}
    for name, age in ages.items():
        (scratch / name).write_bytes(b"")
        os.utime(scratch / name, (time.time() - age,) * 2)
    with vault.scratch() as own:
        Vault(vault.root)
        left = {path.name for path in scratch.iterdir()}
    assert left == {f"{host}~{parent}~a", "elsewhere~1~b", f"{host}~{os.getpid()}~c", own.name}


# -- its format


def test_a_vault_says_its_format_and_one_from_before_that_is_marked(vault: Vault) -> None:
    file = vault.root / "format"
    assert file.read_text() == "1\n"
    kept = vault.keep_bytes(b"kept")
    file.unlink()  # as before formats were written
    assert Vault(vault.root).path(kept).read_bytes() == b"kept"
    assert file.read_text() == "1\n"


@pytest.mark.parametrize("written", ["2\n", ""])
def test_a_vault_of_a_later_format_or_of_none_that_can_be_read_is_refused(vault: Vault, written: str) -> None:
    (vault.root / "format").write_text(written)
    before = sorted(vault.root.rglob("*"))
    with golden.raises(SluiceError):
        Vault(vault.root)
    assert sorted(vault.root.rglob("*")) == before
