"""A machine whose clock somebody set back, played by libfaketime on the installed program itself."""

import os
import shutil
import subprocess

import pytest

from tests.flows.house import BLOCKED, DONE, ERROR, WAITING, House
from tests.flows.installation import BIN
from tests.golden import golden

pytestmark = [
    pytest.mark.servers,
    pytest.mark.skipif(shutil.which("faketime") is None, reason="no libfaketime on this machine"),
]


def test_nothing_is_published_until_the_clock_is_right_again(pending: House) -> None:
    """Expired approvals and waivers would hold again."""
    assert pending.sluice("approve", pending.id, "--as", "amara").code == WAITING
    told = an_hour_ago(pending, "approve", pending.id, "--as", "jonas")
    assert told.returncode == ERROR, told.stdout
    golden.words(told.stderr)
    assert not pending.target.exists() or not list(pending.target.iterdir())

    told = an_hour_ago(pending, "doctor", "--repair")
    golden.where("clock", told.stdout)
    assert not pending.target.exists() or not list(pending.target.iterdir())

    assert pending.approve("jonas").code == DONE
    assert pending.events()[-1] == "published"
    assert pending.workspace().ledger.verify() == []


def test_a_release_can_be_refused_at_any_time(pending: House) -> None:
    for who, code in (("jonas", WAITING), ("amara", BLOCKED)):
        told = an_hour_ago(pending, "reject", pending.id, "--as", who, "--comment", "the codebook lacks a unit")
        assert told.returncode == code, told.stderr
    assert pending.events()[-1] == "rejected"


def an_hour_ago(house: House, *arguments: str) -> "subprocess.CompletedProcess[str]":
    own = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    return subprocess.run(
        ["faketime", "-f", "-1h", BIN / "sluice", *arguments],
        env=own | {"SLUICE_HOME": str(house.home)}, capture_output=True, text=True,
    )  # fmt: skip
