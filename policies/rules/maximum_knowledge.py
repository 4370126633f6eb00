"""Maximum knowledge: an intruder who has the original file.

Source: Yamazoe and Omote (2021), section 2.3, after Domingo-Ferrer, Ricci and Soria-Comas (2015).
"""

from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator

from policies.rules.attack_rule import Figure
from policies.rules.attribute_rule import EMPTY_FILE, UNREAD_SHARE, UNREADABLE, AttributeRule, percentage, refuse_excess
from sluice.ground.rule import AnyOf
from sluice.ground.sentence import Saying, Sentences, word
from sluice.ground.verdict import Finding
from sluice.risk.attacks import maximum_knowledge
from sluice.utility.comparison import Comparison

_SAYS = Sentences(
    "maximum_knowledge",
    not_compared="{name:word} cannot be compared, or linked by another variable.",
    nothing_compared="No released variable can be compared with the original.",
    too_few="There are too few {unit} to link.",
    nearer="An intruder who has the original finds a further {more:.1%} of the {unit} within some distance of {what} "
    "than in a copy of the masked file whose columns were scrambled.",
    differ="For an intruder who has the original, the distances of the {unit} to {what} differ from those in a "
    "scrambled copy by {value:.3g} ({comparison:word}; two scrambled copies differ by {by_chance:.3g}).",
)


class MaximumKnowledge(AttributeRule):
    """Even with the original in hand, nearest masked records are hardly nearer than those of a scrambled file."""

    rule: Literal["maximum_knowledge"] = "maximum_knowledge"
    example: ClassVar[str] = "{rule: maximum_knowledge, limit: 0.1}"
    advice: ClassVar[str] = (
        "Somebody who holds the original finds each record's masked counterpart: only masking that breaks the link of "
        "whole records helps, such as swapping several variables independently or synthesis."
    )
    limit: Figure = Field(gt=0, description="most allowed; for closer a share of the people, else in the comparison's")
    excess: None = Field(default=None, description="none: the figure is itself a difference from a scrambled copy")
    of: Literal["records", "attributes"] = Field(
        default="records", description="link whole records, or each of `columns` by all other variables"
    )
    comparison: maximum_knowledge.Comparison = Field(
        default="closer",
        description="closer: people with a record within some distance, beyond a scrambled copy; or a divergence",
    )
    records: int = Field(default=2_000, ge=100, description="at most so many people, at random, are attacked")
    copies: int = Field(default=10, ge=2, description="scrambled copies; a divergence is measured from each")

    @field_validator("excess", mode="before")
    @classmethod
    def _no_excess(cls, value: Any) -> None:
        refuse_excess("maximum_knowledge", value)

    @property
    def requires(self) -> tuple[AnyOf, ...]:
        return super().requires if self.of == "attributes" else ()

    def find(self, files: Comparison) -> list[Finding]:
        if self.of == "attributes":
            return super().find(files)
        n = len(files.original)
        if not n or not len(files.masked):
            return [self.unknown(EMPTY_FILE(unit=files.unit), n)]
        space = self._space(files)
        if isinstance(space, tuple):
            return [self.unknown(space, n)]
        found = maximum_knowledge.of_records(
            space.original, space.masked, list(space.columns.values()), files.rng, self.records, self.copies,
            self.comparison,
        )  # fmt: skip
        return [self._judged(found, files, "a masked record", "whole records")]

    def examine(self, files: Comparison, name: str) -> Finding:
        n, space = len(files.original), self._space(files)
        if isinstance(space, tuple):
            return self.unknown(space, n, name)
        if name not in space.columns or len(space.columns) < 2:
            return self.unknown(_SAYS.not_compared(name=name), n, name)
        found = maximum_knowledge.of_attribute(
            space.original, space.masked, space.columns[name], files.rng, self.records, self.copies, self.comparison
        )
        return self._judged(found, files, f"the {word(name)} of their nearest record by all other variables", name)

    def _space(self, files: Comparison) -> maximum_knowledge.Space | Saying:
        """Both files in one space; or why they cannot be compared."""
        space = maximum_knowledge.common_space(
            files.original, files.recoded, files.masked, files.variables, files.released
        )
        if not space.columns:
            return _SAYS.nothing_compared()
        if space.unread > UNREAD_SHARE * len(space.columns) * len(files.masked):
            return UNREADABLE()
        return space

    def _judged(self, found: maximum_knowledge.MaximumKnowledge, files: Comparison, what: str, scope: str) -> Finding:
        if found.measurement.completed < files.minimum_cell:
            return self.unknown(_SAYS.too_few(unit=files.unit), found.measurement.attempted, scope)
        if self.comparison == "closer":
            more = percentage(found.measurement.value, found.measurement, files)
            says = _SAYS.nearer(more=more, unit=files.unit, what=what)
        else:
            says = _SAYS.differ(
                unit=files.unit,
                what=what,
                value=found.measurement.value,
                comparison=self.comparison,
                by_chance=found.by_chance,
            )
        return self.judge(found.measurement, says, scope, files.minimum_cell if self.comparison == "closer" else 0)

    def figure(self, value: float) -> float | str:
        return super().figure(value) if self.comparison == "closer" else f"{value:.4g}"

    def describe(self) -> str:
        what = "their own records" if self.of == "records" else f"the values of {self.of_what}"
        limit = f"{self.limit:.1%} of the people" if self.comparison == "closer" else f"{self.limit:.3g}"
        measure = "" if self.comparison == "closer" else f" by {word(self.comparison)}"
        return (
            f"An intruder who has the original and links it to the masked file comes nearer to {what} than in a "
            f"scrambled copy for at most {limit}{measure} (maximum-knowledge attack)."
        )
