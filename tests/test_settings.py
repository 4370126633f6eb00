"""Settings come from the environment or the machine; a wrong one is named with what is allowed and what came."""

from pathlib import Path

import duckdb
import pytest

from sluice.ground.errors import DocumentError
from sluice.ground.machine import memory, processors
from sluice.settings import Settings, settings
from tests.golden import golden


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in Settings.model_fields:
        monkeypatch.delenv(f"SLUICE_{name.upper()}", raising=False)


def test_the_defaults_are_the_machine_s(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    chosen = settings()
    assert (chosen.workers, chosen.threads, chosen.memory) == (processors(), processors(), memory() // 4)
    assert (chosen.home, chosen.ledger_url, chosen.log) == (tmp_path / ".sluice", None, None)
    assert list(tmp_path.iterdir()) == []


def test_the_environment_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SLUICE_HOME", "house")
    monkeypatch.setenv("SLUICE_WORKERS", "3")
    monkeypatch.setenv("SLUICE_MEMORY", "2GB")
    monkeypatch.setenv("SLUICE_THREADS", "")  # as if it were not set
    chosen = settings()
    assert (chosen.home, chosen.workers, chosen.memory) == (tmp_path / "house", 3, 2_000_000_000)
    assert chosen.threads == processors()


def test_duckdb_keeps_to_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLUICE_MEMORY", "128MiB")
    monkeypatch.setenv("SLUICE_THREADS", "1")
    with duckdb.connect(config=settings().duckdb(tmp_path)) as engine:
        wanted = ", ".join(f"current_setting('{name}')" for name in ("memory_limit", "threads", "temp_directory"))
        (found,) = engine.sql(f"SELECT {wanted}").fetchall()
    assert found == ("128.0 MiB", 1, str(tmp_path))


@pytest.mark.parametrize(
    ("variable", "came"),
    [
        ("SLUICE_WORKERS", "0"),
        ("SLUICE_THREADS", "many"),
        ("SLUICE_MEMORY", "3"),
        ("SLUICE_MEMORY", "lots"),
        ("SLUICE_PATIENCE", "-1"),
        ("SLUICE_LOG", "xml"),
    ],
)
def test_a_wrong_setting_is_named(monkeypatch: pytest.MonkeyPatch, variable: str, came: str) -> None:
    monkeypatch.setenv(variable, came)
    with golden.raises(DocumentError):
        settings()


@pytest.mark.parametrize("slip", ["SLUICE_LEDGERURL", "SLUICE_WORKER"])
def test_a_misspelt_setting_is_refused(monkeypatch: pytest.MonkeyPatch, slip: str) -> None:
    monkeypatch.setenv("SLUICE_WAREHOUSE_URL", "of a definition's own")
    settings()
    monkeypatch.setenv(slip, "anything")
    with golden.raises(DocumentError):
        settings()


def test_the_ledger_s_password_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLUICE_LEDGER_URL", "postgresql://clerk:hunter2@db/ledger")
    assert "hunter2" not in repr(settings())


@pytest.mark.parametrize("address", ["tsa.example.org", "file:///etc/passwd", "ftp://tsa.example.org/"])
def test_an_authority_is_asked_over_the_web_alone(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setenv("SLUICE_TIMESTAMP_URL", address)
    with golden.raises(DocumentError):
        settings()


def test_stamps_are_verified_by_certificates_that_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLUICE_TIMESTAMP_URL", "https://tsa.example.org/")
    with golden.raises(DocumentError):
        settings()


def test_a_process_that_becomes_a_run_has_the_patience_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker's run is forked from a process that has read its settings."""
    monkeypatch.delenv("PREFECT__FLOW_RUN_ID", raising=False)
    before = settings().patience
    monkeypatch.setenv("PREFECT__FLOW_RUN_ID", "5c0a7a3a-1f0f-4b0e-9d57-0c9a3c4f8a11")
    assert settings().patience > before
