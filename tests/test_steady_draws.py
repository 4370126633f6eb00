"""Draws of test houses are the same on every run, and nothing but the tests can make those of a vault so."""

import os
import random
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from sluice.custody import vault
from sluice.custody.vault import Vault
from tests.steady_draws import make_steady


@pytest.fixture
def untouched() -> ModuleType:
    """The vault's module as a production process has it."""
    assert vault.__file__ is not None
    spec = spec_from_file_location("untouched_vault", vault.__file__)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class _Environment(dict[str, str]):
    """Variables, and which of them were asked for."""

    def __init__(self) -> None:
        super().__init__(os.environ)
        self.asked: list[str] = []

    def __getitem__(self, name: str) -> str:
        self.asked.append(name)
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        self.asked.append(str(name))
        return super().__contains__(name)

    def get(self, name: str, default: str | None = None) -> str | None:  # type: ignore[override]
        self.asked.append(name)
        return super().get(name, default)

    def __iter__(self) -> Iterator[str]:
        self.asked.append("all")
        return super().__iter__()


def drawn(kind: type[Vault], house: Path) -> tuple[bytes, ...]:
    """All that a vault draws in the order in which a house does: its secret, two seeds, and a later key."""
    opened = kind(house / "home" / "vault")
    first, second = (opened.seed(name).entropy for name in ("people-1", "people-2"))
    key = opened.signing_key(2, draw=True).private_bytes_raw()
    return opened.ledger_key(), str(first).encode(), str(second).encode(), key


def house(folder: Path, series: str) -> Path:
    (folder / "home").mkdir(parents=True)
    make_steady(folder, series)
    return folder


def test_a_series_is_drawn_again_and_another_is_another(tmp_path: Path) -> None:
    first, again, other = (
        drawn(Vault, house(tmp_path / name, series)) for name, series in (("a", "1"), ("b", "1"), ("c", "2"))
    )
    assert first == again
    assert len({*first, *other}) == 8


def test_a_vault_of_no_test_house_is_drawn_by_the_system(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "again" / "home").mkdir(parents=True)
    assert not {*drawn(Vault, tmp_path)} & {*drawn(Vault, tmp_path / "again")}


def test_who_sets_variables_and_files_of_a_production_process_fixes_no_draw(
    untouched: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither what makes test houses steady, nor generators of this process, nor any variable reaches the vault."""
    for name in ("SLUICE_SEED", "SLUICE_DRAWS", "PYTEST_CURRENT_TEST", "PYTEST_VERSION", "PYTHONHASHSEED"):
        monkeypatch.setenv(name, "1")
    found = []
    environment = _Environment()
    before = random.getstate(), np.random.get_state()  # noqa: NPY002  # of whatever this process draws later
    for name in ("a", "b"):
        random.seed(1)
        np.random.seed(1)  # noqa: NPY002
        planted = house(tmp_path / name, "1")
        with monkeypatch.context() as patched:
            patched.setattr(os, "environ", environment)
            found.append({*drawn(untouched.Vault, planted)})
    random.setstate(before[0])
    np.random.set_state(before[1])  # noqa: NPY002
    assert not found[0] & found[1]
    assert environment.asked == []
