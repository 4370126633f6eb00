"""A house of which a finding needs a decision: its policy overlooks the region, by which people can be recognised."""

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

from tests.flows.house import WAITING, House
from tests.flows.stages import Stages

WHY = "The two regions are as large as countries: nobody is recognised by one."
RULES = [{"rule": "k_anonymity", "k": 5, "columns": ["age", "sex"]}]


class OverlookingHouse(House):
    """Its first release needs a decision."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.policy["rules"] = RULES
        self.write()


@cache
def _made() -> Stages[OverlookingHouse]:
    """Made at the first call; gone when the process ends."""
    folder = Path(tempfile.mkdtemp(prefix="sluice-decision-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    house = OverlookingHouse(folder / "house")
    answer = house.release()
    assert answer.code == WAITING, answer.words
    assert "needs a decision" in answer.words
    assert "blocked" not in answer.words.lower()
    return Stages(OverlookingHouse, house.root, {"held": house.save("held")})


def overlooking_house() -> OverlookingHouse:
    """One whose release waits for a decision on the finding."""
    return _made().at("held")
