"""Subset inference: by the few variables that serve best another is read, better of those who are in the file.

Source: Giomi, Boenisch, Wehmeyer and Tasnadi (2023); Lasko and Vinterbo (2010), section II, where there is no control.
"""

from collections.abc import Iterator
from typing import ClassVar, Literal

import pandas as pd
from pydantic import Field

from policies.rules.attribute_rule import at_least_baseline
from policies.rules.control_rule import ControlRule, comparable_columns
from policies.rules.microdata_rule import Columns
from policies.rules.paired_rule import told_share
from sluice.ground.rule import AnyOf
from sluice.ground.sentence import Sentence, Sentences, listed, word
from sluice.ground.verdict import Finding
from sluice.risk.attacks.subset_inference import FEWEST, subset_inference
from sluice.utility.comparison import Comparison

_SAYS = Sentences(
    "subset_inference",
    needs_people="The attack needs {fewest} {unit} in the file{aside}.",
    read="An intruder who knows the most informative variables of a person reads another off the records near in these "
    "({ways}): rightly for {share:percent} of the {unit} in the file, and for {baseline:percent} {others}.",
)


class SubsetInference(ControlRule):
    """Who knows the variables of a person that serve best reads another hardly better for the person being in the file.

    Nobody needs to know which record is whose, so the rule judges files whose rows belong to nobody. Where people were
    set aside, what is read of them is what everybody's records tell; else it is what the original tells without the
    person.
    """

    rule: Literal["subset_inference"] = "subset_inference"
    example: ClassVar[str] = "{rule: subset_inference, limit: 0.05}"
    advice: ClassVar[str] = (
        "The variables that the finding names stand in the file together as real people have them: synthesise them "
        "with larger leaves, mask them together and not one of them alone, or release fewer of them."
    )
    columns: Columns | None = Field(default=None, description="all released columns, when not given")
    attacks: int = Field(default=6000, ge=100, description="people on each side; fewer where there are fewer records")

    nothing_to_play: ClassVar[Sentence] = Sentence(
        "subset_inference.nothing_to_play", "The file has fewer than two columns that the original has, too."
    )

    @property
    def requires(self) -> tuple[AnyOf, ...]:
        return ()

    def play(self, files: Comparison, control: pd.DataFrame) -> Iterator[Finding]:
        return self._played(files, control)

    def without_control(self, files: Comparison) -> Iterator[Finding]:
        return self._played(files, None)

    def _played(self, files: Comparison, control: pd.DataFrame | None) -> Iterator[Finding]:
        columns = list(self.columns or comparable_columns(files, control))
        if len(columns) < 2:
            return
        if min(len(files.recoded), FEWEST if control is None else len(control)) < FEWEST:
            aside = "" if control is None else f" and {FEWEST} set aside"
            yield self.unknown(_SAYS.needs_people(fewest=FEWEST, unit=files.unit, aside=aside), self.attacks)
            return
        found = subset_inference(files.recoded, files.masked, control, files.released, columns, self.attacks, files.rng)
        measured = found.measurement
        assert measured.baseline is not None
        right, without = (
            told_share(share, measured.completed, files.minimum_cell) for share in (measured.value, measured.baseline)
        )
        ways = dict.fromkeys(f"{word(read)} by {listed(known)}" for known, read in found.chosen if known)
        others = "of those who are not in it" if control is not None else "from a file that they are not in"
        says = _SAYS.read(
            ways=" or ".join(ways) or "no variable tells of another",
            share=right,
            unit=files.unit,
            baseline=without,
            others=others,
        )
        # No variable known is a set, too: whoever reads others better than these people was not played badly.
        yield self.judge(at_least_baseline(measured).beyond_baseline(), says, "the variables that tell most")

    def describe(self) -> str:
        return (
            "Who knows any variables of a person reads another hardly better for the person being in the file "
            f"(subset inference: at most {self.limit:.4g} more are read rightly)."
        )
