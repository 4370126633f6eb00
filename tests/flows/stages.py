"""The first release of a test house at two stages, made once: tests of what comes after a release begin with it."""

import atexit
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Generic, TypeVar

from tests.flows.house import DONE, WAITING, House

COMMENT = "k is 5, utility is fine"  # of amara, on approval


H = TypeVar("H", bound=House)


@dataclass(frozen=True)
class Stages(Generic[H]):
    """A house whose release waits for two approvals, has one of them, or was published with both."""

    kind: type[H]
    root: Path
    saved: Mapping[str, Path]

    def at(self, stage: str) -> H:
        house = self.kind(self.root)
        house.bring_back(self.saved[stage])
        return house


@cache
def stages(kind: type[H]) -> Stages[H]:
    """Made at the first call; gone when the process ends."""
    folder = Path(tempfile.mkdtemp(prefix="sluice-stages-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    house, saved = kind(folder / "house"), {}
    assert house.release().code == WAITING
    saved["pending"] = house.save("pending")
    assert house.sluice("approve", house.id, "--as", "amara", "--comment", COMMENT).code == WAITING
    saved["almost"] = house.save("almost")
    assert house.approve("jonas").code == DONE
    return Stages(kind, house.root, saved | {"published": house.save("published")})
