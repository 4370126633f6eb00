"""Rare combinations: values that one person alone holds together, found in the released file.

Source: Elliot, Manning, Mayes, Gurd and Bane (2005); Giomi, Boenisch, Wehmeyer and Tasnadi (2023).
"""

from collections.abc import Iterator
from typing import ClassVar, Literal

import pandas as pd
from pydantic import Field

from policies.rules.control_rule import ControlRule, comparable_columns
from sluice.ground.comparable_values import plain_values
from sluice.ground.sentence import Sentence, Sentences
from sluice.ground.verdict import Finding
from sluice.risk.attacks.rare_combinations import rare_combinations
from sluice.risk.classes.microdata_rule import Columns
from sluice.utility.comparison import Comparison

_SAYS = Sentences(
    "rare_combinations",
    nobody_alone="Nobody is alone with {size} values that others have.",
    stand_in_file="Among the combinations of {size} values that are common each by itself and that one of the {unit} "
    "alone holds, {share:percent} occur in the file; of those of {unit} who are not in it, {baseline:percent}.",
)


class RareCombinations(ControlRule):
    """Values that one person alone holds together stand in the file hardly more often than those of other people."""

    rule: Literal["rare_combinations"] = "rare_combinations"
    example: ClassVar[str] = "{rule: rare_combinations, limit: 0.15}"
    advice: ClassVar[str] = (
        "The file repeats combinations of values that only one person has: synthesise with larger leaves or smoothing, "
        "merge categories that are rare together, or mask the variables together and not one of them alone."
    )
    columns: Columns | None = Field(default=None, description="all released columns, when not given")
    sizes: tuple[int, ...] = Field(
        default=(3,), min_length=1, description="how many values a combination has; each size is judged by itself"
    )

    nothing_to_play: ClassVar[Sentence] = Sentence(
        "rare_combinations.nothing_to_play", "The file has too few columns that the original has, too."
    )

    def play(self, files: Comparison, control: pd.DataFrame) -> Iterator[Finding]:
        columns = list(self.columns or comparable_columns(files, control))
        tables = [[plain_values(file[name]) for name in columns] for file in (files.recoded, files.masked, control)]
        for size in (size for size in self.sizes if size <= len(columns)):
            found = rare_combinations(tables[0], tables[1], tables[2], size, files.rng)
            scope = f"{size} values"
            if not found.completed:
                yield self.unknown(_SAYS.nobody_alone(size=size), found.attempted, scope)
                continue
            assert found.baseline is not None
            says = _SAYS.stand_in_file(size=size, unit=files.unit, share=found.value, baseline=found.baseline)
            yield self.judge(found.beyond_baseline(), says, scope)

    def describe(self) -> str:
        return (
            f"Combinations of {' or '.join(map(str, self.sizes))} values that one person alone holds stand in the file "
            f"hardly more often than those of people who are not in it (rare combinations: at most "
            f"{self.limit:.4g} more)."
        )
