"""A house whose policy knows series, at two stages that are made once."""

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

from policies.standing import Standing
from tasks.release.decisions.series_approval import standing_in_series
from tasks.release.decisions.under_review import UnderReview
from tests.flows.house import BLOCKED, DONE, WAITING, survey
from tests.flows.test_verify import SigningHouse

LIMITS = {"editions": 2, "days": 90, "drift": 0.3, "records": 0.1, "room": 1}


class SeriesHouse(SigningHouse):
    """A house whose policy knows series."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.policy["approvals"]["series"] = dict(LIMITS)
        self.adopts = False
        self.write()
        self.adopt()

    def approve_series(self, who: str) -> int:
        return self.sluice("approve", self.id, "--series", "--as", who).code

    def next_edition(self, seed: int) -> int:
        """How its release ends."""
        self.new_edition(seed)
        return self.release().code

    def judge(self) -> None:
        """Judge the data as they are, and go no further."""
        self.write()
        assert self.sluice("check", str(self.file)).code in (DONE, BLOCKED)

    @property
    def case(self) -> UnderReview:
        """The latest release, as those who decide find it."""
        return UnderReview.of(self.workspace(), self.id)

    def adopt_roster(self, *people: str) -> None:
        self.write()
        for person in people:
            told = self.sluice("adopt", str(self.documents / "people.yaml"), "--key", str(self.key(person)))
            assert told.code in (DONE, WAITING), told.words

    @property
    def standing(self) -> Standing:
        """Where the latest release stands with those who decide."""
        return standing_in_series(self.case)

    @property
    def page(self) -> str:
        return (self.home / "reports" / f"{self.id}.html").read_text()


def published_series() -> SeriesHouse:
    """One whose first edition was published, and approved with those that follow."""
    house, published, _ = _stages()
    house.go_back(published)
    return house


def judged_series() -> SeriesHouse:
    """The same, with a second edition that was judged and, as things are, would be published."""
    house, _, judged = _stages()
    house.go_back(judged)
    standing = house.standing
    assert standing.complete, standing.says
    return house


@cache
def _stages() -> tuple[SeriesHouse, Path, Path]:
    folder = Path(tempfile.mkdtemp(prefix="sluice-series-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    house = SeriesHouse(folder / "house")
    assert house.release().code == WAITING
    assert house.approve_series("amara") == WAITING
    assert house.approve_series("jonas") == DONE
    published = house.save("published")
    house.data = survey(seed=2)
    house.judge()
    return house, published, house.save("judged")
