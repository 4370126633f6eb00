"""Where compiled kernels go when neither the installation nor the user's home can be written."""

from pathlib import Path

import pytest

from flows.kernel_cache import choose


@pytest.fixture
def closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that this account may not write; the superuser may write everywhere, so it is pretended."""
    folder = tmp_path / "closed"
    folder.mkdir()
    monkeypatch.setattr("flows.kernel_cache.os.access", lambda place, mode: "closed" not in Path(place).parts)
    return folder


def test_numba_is_left_alone_where_it_has_a_place(tmp_path: Path, closed: Path) -> None:
    assert choose(tmp_path, closed / "cache", tmp_path) is None
    assert choose(closed, tmp_path / "not" / "made" / "yet", tmp_path) is None


def test_else_the_workspace_is_the_place(tmp_path: Path, closed: Path) -> None:
    assert choose(closed / "package", closed / "cache", tmp_path / "home") == tmp_path / "home" / "kernels"


def test_a_home_that_is_no_folder_is_none(tmp_path: Path, closed: Path) -> None:
    (tmp_path / "file").write_text("")
    assert choose(closed, tmp_path / "file" / "cache", tmp_path) == tmp_path / "kernels"
