"""The worker's command; what the worker itself does on a server is seen in test_deployment.py."""

import os
from pathlib import Path

import pytest

from flows.cli.worker import begin_nowhere
from sluice.settings import settings
from tests.flows.house import ERROR, House


def test_it_needs_a_server(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    told = house.sluice("worker")
    assert told.code == ERROR
    assert "PREFECT_API_URL must name Prefect's server" in told.words


def test_it_leaves_the_folder_that_others_may_write_in_and_keeps_its_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SLUICE_HOME", "house")
    for name in ("SLUICE_PROJECT", "SLUICE_CONNECTIONS", "SLUICE_TIMESTAMP_CERTIFICATES"):
        monkeypatch.setenv(name, "")  # as if it were not set; and put back afterwards
    before = settings()
    begin_nowhere()
    assert os.getcwd() == "/"
    assert settings() == before
    assert (settings().home, settings().project) == (tmp_path / "house", tmp_path)
