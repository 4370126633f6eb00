"""The first release of a test house at two stages, made once: tests of what comes after a release begin with it."""

import atexit
import shutil
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.flows.house import DONE, WAITING, House

COMMENT = "k is 5, utility is fine"  # of amara, on approval


@dataclass(frozen=True)
class Stages:
    """A house, and copies of it to go back to: its release waits for two approvals, or was published with both."""

    house: House
    pending: Path
    published: Path


@cache
def stages() -> Stages:
    """Made at the first call; gone when the process ends."""
    folder = Path(tempfile.mkdtemp(prefix="sluice-stages-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    house = House(folder / "house")
    assert house.release().code == WAITING
    pending = house.save("pending")
    assert house.sluice("approve", house.id, "--as", "amara", "--comment", COMMENT).code == WAITING
    assert house.approve("jonas").code == DONE
    return Stages(house, pending, house.save("published"))
