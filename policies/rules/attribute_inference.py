"""Attribute inference: guessing a person's sensitive value by what the masked file teaches.

Source: The comparison of Lasko and Vinterbo (2010), section II.A, with a random forest (Breiman 2001) as the intruder.
"""

from typing import ClassVar, Literal

from pydantic import Field

from policies.rules.attack_rule import Figure
from policies.rules.attribute_rule import TOO_FEW, AttributeRule, allowed, at_least_baseline, percentage, refuse_missing
from policies.rules.microdata_rule import Columns
from sluice.ground.rule import AnyOf, Need
from sluice.ground.sentence import Sentences, listed
from sluice.ground.variables import Role, with_role
from sluice.ground.verdict import Finding
from sluice.risk.attacks.attribute_inference import attribute_inference, labelled_files
from sluice.risk.attacks.released_column import is_released
from sluice.utility.comparison import Comparison

_SAYS = Sentences(
    "attribute_inference",
    no_quasi_identifiers="No released variable is declared a quasi-identifier.",
    blind="From {known:listed}, not even the unmasked file would have {name:word} guessed better than a file without "
    "the person; the attack sees nothing.",
    guessed="Learning from the masked file how {name:word} goes with {known:listed}, an intruder guesses it for "
    "{share:.1%} of the {unit}; from a file without the person, for {baseline:.1%}, and from the unmasked file, for "
    "{unmasked:.1%}.",
)


class AttributeInference(AttributeRule):
    """A person's sensitive value is guessed hardly better than if the person had not been in the file."""

    rule: Literal["attribute_inference"] = "attribute_inference"
    example: ClassVar[str] = "{rule: attribute_inference, excess: 0.05}"
    advice: ClassVar[str] = (
        "A model trained on the file predicts this sensitive variable for its own people: weaken its relation with the "
        "quasi-identifiers by swapping or noise on the sensitive variable, or by coarser quasi-identifiers."
    )
    limit: Figure | None = Field(default=None, ge=0, le=1, description="share of the people whose value is guessed")
    excess: Figure | None = Field(
        default=None, ge=0, le=1, description="how much more than from a file without the person, a share of the people"
    )
    known: Columns | None = Field(
        default=None, description="what the intruder knows; all released quasi-identifiers, when not given"
    )
    tolerance: float = Field(
        default=0.1, ge=0, le=10, description="numbers are guessed right within so many (robust) standard deviations"
    )
    records: int = Field(default=10_000, ge=100, description="at most so many people, at random, are attacked")
    trees: int = Field(default=50, ge=5, le=1000, description="trees of each random forest")

    @property
    def requires(self) -> tuple[AnyOf, ...]:
        return super().requires if self.known else (*super().requires, (Need.QUASI_IDENTIFIERS,))

    def examine(self, files: Comparison, name: str) -> Finding:
        n = len(files.original)
        known = [each for each in self._known(files) if each != name]
        if not known:
            return self.unknown(_SAYS.no_quasi_identifiers(), n, name)
        frames = [files.recoded, files.masked]
        if files.recoded_holdout is not None:
            frames.append(files.recoded_holdout)
        (original, masked, *holdout), deviation = labelled_files(frames, known, name)
        tolerance = None if deviation is None else self.tolerance * deviation
        found = attribute_inference(
            original, masked, files.rng, holdout=holdout[0] if holdout else None, paired=files.paired,
            tolerance=tolerance, records=self.records, trees=self.trees,
        )  # fmt: skip
        measured = found.measurement
        if measured.completed < files.minimum_cell:
            return self.unknown(TOO_FEW(unit=files.unit, name=name), n, name)
        if found.blind:
            why = _SAYS.blind(known=known, name=name)
            return self.unknown(why, n, name)
        says = _SAYS.guessed(
            name=name,
            known=known,
            share=percentage(measured.value, measured, files),
            unit=files.unit,
            baseline=percentage(measured.baseline or 0.0, measured, files),
            unmasked=percentage(found.control.value, found.control, files),
        )
        return self.judge(at_least_baseline(measured), says, name, files.minimum_cell)

    def _known(self, files: Comparison) -> list[str]:
        if self.known is None:
            keys = with_role(files.variables, Role.QUASI_IDENTIFIER)
            return [name for name in keys if is_released(files.masked, name)]
        refuse_missing(self.rule, self.known, files)
        return list(self.known)

    def describe(self) -> str:
        knows = "the quasi-identifiers" if self.known is None else listed(self.known)
        return (
            f"An intruder who knows {knows} and learns from the masked file guesses {self.of_what} for "
            f"{allowed(self.limit, self.excess, 'from a file without the person')} (attribute inference)."
        )
