"""The units: systemd takes them, and they are closed as far as the sandbox of readers and compiled loops allow."""

import shutil
import subprocess
from configparser import RawConfigParser
from pathlib import Path

import pytest

from tests.deployments.shipped_settings import DEPLOYMENTS, ROOT

pytestmark = pytest.mark.servers

UNITS = sorted((DEPLOYMENTS / "systemd").glob("*.service"))
CLOSED = {
    "umask": "0077",
    "protectsystem": "strict",
    "protecthome": "yes",
    "privatetmp": "yes",
    "privatedevices": "yes",
    "nonewprivileges": "yes",
    "capabilityboundingset": "",
    "restrictnamespaces": "yes",
    "limitcore": "0",
}


def service(unit: Path) -> dict[str, list[str]]:
    """The settings of a unit's service: name, in lower case -> its values."""
    found: dict[str, list[str]] = {}
    section = ""
    for line in unit.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            section = line
        elif section == "[Service]" and line and not line.startswith("#"):
            name, _, value = line.partition("=")
            found.setdefault(name.lower(), []).append(value)
    return found


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_each_unit_is_closed(unit: Path) -> None:
    found = service(unit)
    assert {name: found.get(name, ["?"])[-1] for name in CLOSED} == CLOSED
    assert "root" not in found["user"]


def test_the_worker_writes_to_workspace_and_shelf_alone_and_the_server_sees_neither() -> None:
    worker, server = (service(DEPLOYMENTS / "systemd" / f"sluice-{name}.service") for name in ("worker", "server"))
    assert worker["readwritepaths"] == ["/srv/sluice /srv/published"]
    assert "readwritepaths" not in server
    assert server["inaccessiblepaths"] == ["-/srv/sluice -/srv/published"]
    assert worker["workingdirectory"] == ["/"], "Prefect reads settings from files in the current folder"


def test_the_worker_may_do_what_the_sandbox_of_readers_and_compiled_loops_do() -> None:
    found = service(DEPLOYMENTS / "systemd" / "sluice-worker.service")
    allowed = " ".join(found["systemcallfilter"])
    for call in (
        "@system-service",
        "landlock_create_ruleset",
        "landlock_add_rule",
        "landlock_restrict_self",
        "seccomp",
    ):
        assert call in allowed.split()
    assert "memorydenywriteexecute" not in found


def test_the_files_of_settings_are_those_that_the_units_read() -> None:
    for unit, file in (("worker", "environment"), ("server", "server")):
        found = service(DEPLOYMENTS / "systemd" / f"sluice-{unit}.service")
        assert found["environmentfile"] == [f"/etc/sluice/{file}"]
        assert (DEPLOYMENTS / "systemd" / file).is_file()
        for line in (DEPLOYMENTS / "systemd" / file).read_text(encoding="utf-8").splitlines():
            assert line.startswith("#") or not set(line) & set(" '\"$"), "a shell and systemd read it alike"


def test_a_server_that_is_started_again_knows_which_runs_hold_a_place() -> None:
    """Else it would refuse to renew the lease of a run at work, which ends as Crashed by that."""
    found = service(DEPLOYMENTS / "systemd" / "sluice-server.service")
    environment = dict(setting.split("=", 1) for setting in found["environment"])
    assert environment["PREFECT_SERVER_CONCURRENCY_LEASE_STORAGE"].endswith(".lease_storage.filesystem")
    assert environment["PREFECT_HOME"] == f"/var/lib/{found['statedirectory'][0]}"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed here")
def test_systemd_takes_the_units(tmp_path: Path) -> None:
    """But for the programs, which lie elsewhere here: these stand in for them."""
    for unit in UNITS:
        text = unit.read_text(encoding="utf-8")
        for program in ("sluice", "prefect"):
            text = text.replace(f"/opt/sluice/.venv/bin/{program}", "/bin/true")
        (tmp_path / unit.name).write_text(text, encoding="utf-8")
        checked = subprocess.run(["systemd-analyze", "verify", tmp_path / unit.name], capture_output=True, text=True)
        said = [line for line in checked.stderr.splitlines() if unit.name in line]
        assert (checked.returncode, said) == (0, []), checked.stderr


def test_the_ini_form_is_sound() -> None:
    for unit in UNITS:
        parser = RawConfigParser(strict=False)
        parser.read_string(unit.read_text(encoding="utf-8"))
        assert parser.sections() == ["Unit", "Service", "Install"]
    assert ROOT.joinpath("docs", "deployment.md").read_text(encoding="utf-8").count("deployments/systemd") >= 1
