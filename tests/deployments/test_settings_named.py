"""Units, images and manifests name settings that exist: a misspelt one would be believed to hold."""

import re
from datetime import timedelta
from pathlib import Path

import pytest

from tests.deployments.shipped_settings import DEPLOYMENTS, ROOT, known_settings, named_settings

FILES = [
    ROOT / "Dockerfile",
    ROOT / "tasks" / "project" / "files" / "environment",
    *sorted(
        path
        for folder in ("systemd", "compose", "kubernetes")
        for path in (DEPLOYMENTS / folder).iterdir()
        if path.is_file()
    ),
]


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.name)
def test_every_setting_that_a_shipped_file_names_exists(file: Path) -> None:
    assert named_settings(file.read_text(encoding="utf-8")) - known_settings() == set()


def test_the_documentation_names_settings_that_exist() -> None:
    text = (ROOT / "docs" / "deployment.md").read_text(encoding="utf-8")
    ours = {name for name in named_settings(text) if name.startswith("SLUICE_")}
    assert len(ours) > 10
    assert ours - known_settings() == set()


def test_a_misspelt_one_would_be_found() -> None:
    assert named_settings("SLUICE_LEDGERURL=x PREFECT_API_ULR=y") - known_settings() == {
        "SLUICE_LEDGERURL",
        "PREFECT_API_ULR",
    }


@pytest.mark.parametrize("file", ["deployments/systemd/server", "deployments/compose/compose.yaml",
                                  "deployments/kubernetes/settings.yaml"])  # fmt: skip
def test_each_server_says_where_browsers_reach_it(file: str) -> None:
    assert "PREFECT_SERVER_UI_API_URL" in (ROOT / file).read_text(encoding="utf-8")


@pytest.mark.parametrize("file", ["deployments/systemd/server", "deployments/compose/compose.yaml",
                                  "deployments/kubernetes/settings.yaml"])  # fmt: skip
def test_each_server_forgets_what_ended_long_ago(file: str) -> None:
    """By the values as Prefect reads them: events alone is its default, and its database grew for ever."""
    from prefect.settings.models.server.services import ServerServicesDBVacuumSettings

    text = (ROOT / file).read_text(encoding="utf-8")
    name = r"PREFECT_SERVER_SERVICES_DB_VACUUM_%s(?:=|: )\"?([\w,]+)"
    enabled, seconds = (re.search(name % field, text) for field in ("ENABLED", "RETENTION_PERIOD"))
    assert enabled
    assert seconds
    read = ServerServicesDBVacuumSettings(enabled=enabled[1], retention_period=seconds[1])
    assert read.enabled_vacuum_types >= {"events", "flow_runs"}
    assert read.retention_period == timedelta(days=30)
