"""Where commands may write: never over what is read, into the workspace or into a published release."""

from pathlib import Path

import pytest

from sluice.custody.shelf import publish, refuse_place, refuse_to_overwrite
from sluice.ground.errors import DataError
from tests.golden import golden


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
    refuse_place(tmp_path / "b.csv")


def test_neither_settings_nor_documents_are_written_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLUICE_CONNECTIONS", str(tmp_path / "connections.yaml"))
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path / "prefect"))
    contract = tmp_path / "contract.yaml"
    contract.write_text("title: x")
    for output in (tmp_path / "connections.yaml", tmp_path / "prefect" / "profiles.toml", contract):
        with golden.raises(DataError):
            refuse_to_overwrite(output, [])
    refuse_to_overwrite(tmp_path / "other.yaml", [])
