"""Distance-based record linkage.

Source: Torra (2013), "Rank swapping: Example II" and "Experiments for IPSO-A,B,C".
"""

from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from policies.rules.linkage_rule import LinkageRule
from sluice.ground.sentence import Saying, Sentence
from sluice.risk.coded_points import side_by_side
from sluice.risk.linkage.record_linkage import (
    AT_ONCE,
    Distance,
    linkage_coordinates,
    linkage_scenarios,
    record_linkage,
)
from sluice.risk.measurement import Measurement
from sluice.utility.comparison import Comparison

_NEAREST = {
    "all": Sentence("distance_linkage.all", " takes the nearest"),
    "average": Sentence(
        "distance_linkage.average", " takes the nearest, on average over knowing the first to knowing all of these"
    ),
    "worst": Sentence("distance_linkage.worst", " takes the nearest by as many of these as serve best"),
}

IntArray = npt.NDArray[np.int64]


class DistanceLinkage(LinkageRule):
    """Few original records lie nearest to their own masked record."""

    rule: Literal["distance_linkage"] = "distance_linkage"
    example: ClassVar[str] = "{rule: distance_linkage, excess: 0.01}"
    advice: ClassVar[str] = (
        "Masked records lie nearest to their originals: swap or add noise over wider distances on the quasi-"
        "identifiers that the scope names, or microaggregate them in larger groups."
    )
    distance: Distance = Field(default="robust", description="how nearness is measured")
    scenario: Literal["all", "average", "worst"] = Field(
        default="all",
        description="all: the intruder knows all variables; average, worst: over intruders who know the first, the "
        "first two, and so on to all, in the order of the columns",
    )

    def link(self, files: Comparison, names: list[str], rows: IntArray) -> tuple[Measurement, Saying]:
        known = [
            linkage_coordinates(files.recoded[name], files.masked[name], files.released[name].kind) for name in names
        ]
        if self.scenario == "all":
            everything = [side_by_side([pair[side] for pair in known], AT_ONCE) for side in (0, 1)]
            scenarios = [record_linkage(everything[0], everything[1], self.distance, rows)]
        else:
            scenarios = linkage_scenarios(known, self.distance, rows)
        correct = np.array([links.correct() for links in scenarios])
        chosen = correct[correct.mean(axis=1).argmax()] if self.scenario == "worst" else correct.mean(axis=0)
        return self._share_linked(chosen, files), _NEAREST[self.scenario]()

    def describe(self) -> str:
        return (
            f"An intruder who knows {self._of_what} and takes the nearest masked record is seldom right "
            "(distance-based record linkage)."
        )
