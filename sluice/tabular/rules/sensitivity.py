"""What a rule on the cells of a table is, and what rules together ask of each cell.

A rule judges cells by their total, their number of contributors and their largest contributions alone, so it can judge
any union of cells as well. Comparisons are exact: whole numbers and fractions, never rounded floats.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from sluice.ground.rule import NO_BACKGROUND, AnyOf, Background, Need, Rule
from sluice.ground.sentence import Sentence
from sluice.ground.variables import Variables
from sluice.ground.verdict import Finding
from sluice.tabular.model.cells import Booleans, Contributions, Integers

_FOR_CELLS = Sentence("for_cells", "The rule {rule} is for the cells of a table, not for {unit}.")


class SensitivityRule(Rule):
    """A rule on one cell of a table: is its value sensitive, given the contributions that it adds up?

    Given a file of records it answers `UNKNOWN`, so a policy written for tables lets no file of records out.
    """

    needs: ClassVar[str] = (
        "The rule judges the cells of tables: release tables, or take a policy that is written for records."
    )

    @property
    def requires(self) -> tuple[AnyOf, ...]:
        return ((Need.CELLS,),)

    def find(
        self,
        frame: pd.DataFrame,
        variables: Variables,
        stage: str,
        unit: str = "records",
        background: Background = NO_BACKGROUND,
    ) -> list[Finding]:
        return [self.unknown(stage, _FOR_CELLS(rule=self.rule, unit=unit), len(frame))]

    @property
    @abstractmethod
    def largest_needed(self) -> int:
        """How many of the largest contributions it looks at."""

    def sensitive(self, contributions: Contributions) -> Booleans:
        """Shape (c,): True where the cell may not be published."""
        return self.protection(contributions) > 0

    @abstractmethod
    def protection(self, contributions: Contributions, outsider: bool = False) -> Integers:
        """Shape (c,): how far from its total, up and down, an attacker must believe each cell possible; 0 where safe.

        In units of the last decimal, rounded up. By default the attacker is the contributor who can tell most of
        another; an outsider contributes nothing to the cell (or has taken its own contribution out of it).
        """


@dataclass(frozen=True, eq=False)
class Requirements:
    """What must hold of each of c cells.

    by_rule   : name of the rule (or 'a_priori') -> shape (c,), whom it calls sensitive
    sensitive : shape (c,), by any of them
    lower     : shape (c,), an attacker must believe total - lower possible; at most the total where none is negative
    upper     : shape (c,), and total + upper
    sliding   : shape (c,), and the interval must be at least this wide
    """

    by_rule: Mapping[str, Booleans]
    sensitive: Booleans
    lower: Integers
    upper: Integers
    sliding: Integers


def requirements_of(
    rules: Sequence[SensitivityRule], contributions: Contributions, nonnegative: bool = True, sliding: bool = False
) -> Requirements:
    """What the rules together ask: sensitive by any, protected as far as the one asks that asks most.

    nonnegative : no contribution is negative, so nobody believes a total below 0 possible
    sliding     : the interval must be as wide as both levels together, wherever in it the total lies

    Several rules of one name, such as (n, k) for three pairs, count as one in `by_rule`.
    """
    count = len(contributions.total)
    by_rule: dict[str, Booleans] = {}
    level = np.zeros(count, dtype=np.int64)
    for rule in rules:
        found = rule.sensitive(contributions)
        by_rule[rule.rule] = by_rule.get(rule.rule, np.zeros(count, dtype=bool)) | found
        level = np.maximum(level, np.where(found, rule.protection(contributions), 0))
    sensitive = np.logical_or.reduce(list(by_rule.values())) if rules else np.zeros(count, dtype=bool)
    lower = lower_level(level, contributions.total, nonnegative)
    none = np.zeros(count, dtype=np.int64)
    if sliding:
        return Requirements(by_rule, sensitive, none, none, lower + level)
    return Requirements(by_rule, sensitive, lower, level, none)


def lower_level(level: Integers, total: Integers, nonnegative: bool) -> Integers:
    """A level downwards that can be reached: at most the total where nothing is negative."""
    return np.minimum(level, np.maximum(total, 0)) if nonnegative else level
