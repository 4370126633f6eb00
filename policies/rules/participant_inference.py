"""Participant inference: a variable is read off the nearest released records, better of those who took part.

Source: Giomi, Boenisch, Wehmeyer and Tasnadi (2023).
"""

from collections.abc import Iterator
from typing import ClassVar, Literal

import pandas as pd
from pydantic import Field

from policies.rules.control_rule import ControlRule, comparable_columns
from sluice.ground.sentence import Sentence, Sentences
from sluice.ground.verdict import Finding
from sluice.risk.attacks.participant_inference import FEWEST, participant_inference
from sluice.risk.classes.microdata_rule import Columns
from sluice.utility.comparison import Comparison

_SAYS = Sentences(
    "participant_inference",
    needs_people="The attack needs {fewest} {unit} in the file and {fewest} set aside.",
    read="An intruder who knows all variables but one reads {variables} off the nearest released records for "
    "{share:percent} of the {unit} in the file, and for {baseline:percent} of those who are not in it; "
    "no variable gains more.",
)


class ParticipantInference(ControlRule):
    """Who knows all of a person but one variable guesses it hardly better for the person being in the file."""

    rule: Literal["participant_inference"] = "participant_inference"
    example: ClassVar[str] = "{rule: participant_inference, limit: 0.1}"
    advice: ClassVar[str] = (
        "The released records nearest to a person tell the variable named: synthesise it with larger leaves, perturb "
        "it more, or keep fewer variables beside it."
    )
    columns: Columns | None = Field(default=None, description="all released columns, when not given")

    nothing_to_play: ClassVar[Sentence] = Sentence(
        "participant_inference.nothing_to_play", "The file has fewer than two columns that the original has, too."
    )

    def play(self, files: Comparison, control: pd.DataFrame) -> Iterator[Finding]:
        columns = list(self.columns or comparable_columns(files, control))
        if len(columns) < 2:
            return
        if min(len(files.recoded), len(control)) < FEWEST:
            yield self.unknown(_SAYS.needs_people(fewest=FEWEST, unit=files.unit), 2 * self.attacks)
            return
        found = participant_inference(
            files.recoded, files.masked, control, files.released, columns, self.attacks, files.rng
        )
        measured = found.measurement
        assert measured.baseline is not None
        which = " or ".join(name.replace("_", " ") for name in found.variables)
        says = _SAYS.read(variables=which, share=measured.value, unit=files.unit, baseline=measured.baseline)
        yield self.judge(measured.beyond_baseline(), says, "the variable that tells most")

    def describe(self) -> str:
        return (
            "Who knows all of a person but one variable guesses it hardly better for the person being in the file "
            f"(participant inference: at most {self.limit:.4g} more are guessed right)."
        )
