"""What docs/verification.md gives to those who have no Sluice: it finds what it says that it finds."""

import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sluice.custody import shelf
from tests.publication.signed_folder import SIGNERS, Publication, write_checksums

PAGE = Path(__file__).parents[2] / "docs" / "verification.md"

pytestmark = [
    pytest.mark.servers,
    pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="ssh-keygen is not installed"),
]


def run(folder: Path, command: str = "") -> "subprocess.CompletedProcess[str]":
    """The page's commands in a folder, stopped at the first that fails, and then another."""
    (block,) = re.findall(r"```sh\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    script = f"set -e -o pipefail\n{block}\n{command}"
    return subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "keys").write_text("".join(f"{signer.line}\n" for signer in SIGNERS))
    return Publication().put(tmp_path)


def test_the_commands_of_the_page_verify_what_was_published(folder: Path) -> None:
    decisions = "for who in 1:Amara-Diallo 2:jonas; do signed decision-${who%:*}.json ${who#*:} | files | "
    found = run(folder, decisions + "sha256sum --check --strict; done")
    assert found.returncode == 0, found.stderr
    assert found.stdout.count("fair.csv: OK") == 3


@pytest.mark.parametrize(
    "attack",
    [
        lambda folder: (folder / "fair.csv").write_text("age\n"),
        lambda folder: (folder / "fair.csv").unlink(),
        lambda folder: (folder / "more.csv").write_text("age\n"),
        lambda folder: (folder / ".more").write_text("age\n"),
        lambda folder: (folder / "attestation.json\nchecksums.sha256").write_text("age\n"),
        lambda folder: (folder / "fair.csv").symlink_to((folder / "fair.csv").rename(folder.parent / "aside")),
        lambda folder: (folder / "attestation.json").unlink(),
        lambda folder: (folder / "attestation.json").write_bytes((folder / "decision-1.json").read_bytes()),
        lambda folder: (folder.parent / "keys").write_text(f"{SIGNERS[1].line}\n"),
    ],
)
def test_they_fail_where_anything_is_wrong(folder: Path, attack: Callable[[Path], object]) -> None:
    attack(folder)
    write_checksums(folder)
    assert run(folder).returncode != 0


def test_they_do_not_take_one_person_for_another(folder: Path) -> None:
    assert run(folder, "signed decision-1.json Amara-Diallo").returncode == 0
    assert run(folder, "signed decision-1.json jonas").returncode != 0


def test_they_take_a_key_by_the_time_that_was_signed(folder: Path) -> None:
    """It verifies what was signed before it ended, years ago, and nothing later."""
    keys = folder.parent / "keys"
    for ended, believed in (
        (datetime(2026, 11, 20, 9, 0, 1, tzinfo=UTC), True),
        (datetime(2026, 11, 20, 8, tzinfo=UTC), False),
    ):
        keys.write_text("".join(f"{replace(signer, before=ended).line}\n" for signer in SIGNERS[1:]))
        keys.write_text(f"{SIGNERS[0].line}\n{keys.read_text()}")
        assert (run(folder, "signed decision-1.json Amara-Diallo").returncode == 0) == believed


@pytest.mark.chain
def test_each_file_of_a_folder_is_on_the_page_or_on_that_of_published_files(folder: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    rows = page + PAGE.with_name("published-files.md").read_text(encoding="utf-8")
    named = {name for row in rows.splitlines() if row.startswith("| `") for name in row.split("|")[1].split("`")[1::2]}
    assert {path.name for path in folder.iterdir()} - {"fair.csv", "fair.parquet", "decision-2.json"} <= named
    assert shelf.CHECKSUMS in page
