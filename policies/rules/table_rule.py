"""TableRule: a rule on one cell of a table, given the contributions that it adds up.

Given a file of records it answers `UNKNOWN`, so a policy written for tables lets no file of records out.
"""

from abc import abstractmethod
from typing import ClassVar

import pandas as pd

from sluice.ground.rule import NO_BACKGROUND, AnyOf, Background, Need, Rule
from sluice.ground.sentence import Sentence
from sluice.ground.variables import Variables
from sluice.ground.verdict import Finding
from sluice.tabular.rules.sensitivity import SensitivityRule

_FOR_CELLS = Sentence("for_cells", "The rule {rule} is for the cells of a table, not for {unit}.")


class TableRule(Rule):
    """A rule on one cell of a table: is its value sensitive, given the contributions that it adds up?"""

    needs: ClassVar[str] = (
        "The rule judges the cells of tables: release tables, or take a policy that is written for records."
    )

    @property
    def requires(self) -> tuple[AnyOf, ...]:
        return ((Need.CELLS,),)

    @abstractmethod
    def sensitivity(self) -> SensitivityRule:
        """The rule with its thresholds, ready to judge all cells of a table at once."""

    def find(
        self,
        frame: pd.DataFrame,
        variables: Variables,
        stage: str,
        unit: str = "records",
        background: Background = NO_BACKGROUND,
    ) -> list[Finding]:
        return [self.unknown(stage, _FOR_CELLS(rule=self.rule, unit=unit), len(frame))]


def attackers(coalition: int) -> str:
    if coalition == 1:
        return "its second largest contributor"
    return f"{coalition} contributors together, the next largest,"
