"""Inference: guessing a sensitive value better because the person is in the file.

Source: Giomi, Boenisch, Wehmeyer and Tasnadi (2023).
"""

from collections.abc import Iterator
from typing import ClassVar, Literal

import pandas as pd
from pydantic import Field

from policies.rules.control_rule import ControlRule, comparable_columns, known_columns
from policies.rules.microdata_rule import Columns
from sluice.ground.rule import AnyOf, Need
from sluice.ground.sentence import Sentence, Sentences
from sluice.ground.shares import Share
from sluice.ground.variables import Kind, Role, with_role
from sluice.ground.verdict import Finding
from sluice.risk.attacks.inference import inference
from sluice.utility.comparison import Comparison

_SAYS = Sentences(
    "inference",
    sets_of_items="{secret} holds sets of items, of which this attack does not guess single ones.",
    guesses="An intruder who knows {facts} facts guesses {secret:word}",
    nothing_known="Nothing is known to guess {secret:word} by.",
)


class Inference(ControlRule):
    """Who knows some facts about a person guesses a sensitive one hardly better for the person being in the file."""

    rule: Literal["inference"] = "inference"
    example: ClassVar[str] = "{rule: inference, limit: 0.1}"
    advice: ClassVar[str] = (
        "The nearest released record gives a person's sensitive value away better than a stranger's: perturb the "
        "sensitive variable itself, or fit a synthesis less closely (larger leaves, fewer predictors)."
    )
    known: Columns | None = Field(default=None, description="all quasi-identifiers, when not given")
    secrets: Columns | None = Field(default=None, description="all variables with the role sensitive, when not given")
    tolerance: Share = Field(default=0.05, description="how far a guessed number may be off, a share of the true one")

    nothing_to_play: ClassVar[Sentence] = Sentence(
        "inference.nothing_to_play",
        "The file has no quasi-identifier to know a person by, or no sensitive variable to guess.",
    )

    @property
    def requires(self) -> tuple[AnyOf, ...]:
        keys = () if self.known else ((Need.QUASI_IDENTIFIERS,),)
        secrets = () if self.secrets else ((Need.SENSITIVE,),)
        return (*super().requires, *keys, *secrets)

    def play(self, files: Comparison, control: pd.DataFrame) -> Iterator[Finding]:
        comparable = comparable_columns(files, control)
        known = list(self.known or known_columns(files, control))
        secrets = self.secrets or [name for name in with_role(files.released, Role.SENSITIVE) if name in comparable]
        for secret in secrets:
            if files.released[secret].kind is Kind.ITEMS:
                why = _SAYS.sets_of_items(secret=secret)
                yield self.unknown(why, self.attacks, secret)
                continue
            by = [name for name in known if name != secret]
            if not by:
                yield self.unknown(_SAYS.nothing_known(secret=secret), self.attacks, secret)
                continue
            attack = inference(
                files.recoded, files.masked, control, files.released, by, secret, self.tolerance, self.attacks,
                files.rng,
            )  # fmt: skip
            says = _SAYS.guesses(facts=len(by), secret=secret)
            yield self.found(attack, says, files.unit, f"{secret} by {', '.join(by)}")

    def describe(self) -> str:
        of = "sensitive variables" if self.secrets is None else ", ".join(self.secrets)
        risk = f"inference: risk at most {self.limit:.4g}"
        return f"Being in the file hardly helps others to guess a person's {of} ({risk})."
