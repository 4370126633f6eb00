"""Masked values matched with the original ones: by themselves, with the original in hand, and by their distribution."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator

from policies.reported_shares import share_or_less
from policies.rules.attack_rule import Figure
from policies.rules.attribute_rules import (
    EMPTY_FILE,
    TOO_FEW,
    UNREAD_SHARE,
    UNREADABLE,
    AttributeRule,
    allowed,
    refuse_excess,
)
from sluice.ground import divergence as distributions
from sluice.ground.released_values import released_column
from sluice.ground.rule import AnyOf
from sluice.ground.sentence import Saying, Sentence, Sentences, percent, word
from sluice.ground.verdict import Finding
from sluice.risk.attacks import maximum_knowledge
from sluice.risk.attacks.data_invasion import data_invasion
from sluice.risk.measurement import Measurement
from sluice.utility.comparison import Comparison

_DIVERGE = Sentence(
    "attribute_divergence.divergence",
    "The masked values of {name:word} are distributed {how} the original ones: {divergence:word} divergence "
    "{value:.3g}, from 0 for the same. The nearer they are, the easier masked values are matched to original ones.",
)

_DISTANCES = Sentences(
    "maximum_knowledge",
    not_compared="{name:word} cannot be compared, or linked by another variable.",
    nothing_compared="No released variable can be compared with the original.",
    too_few="There are too few {unit} to link.",
    nearer="An intruder who has the original finds a further {more:percent} of the {unit} within some distance of "
    "{what} than in a copy of the masked file whose columns were scrambled.",
    differ="For an intruder who has the original, the distances of the {unit} to {what} differ from those in a "
    "scrambled copy by {value:.3g} ({comparison:word}; two scrambled copies differ by {by_chance:.3g}).",
)

_SAYS = Sentences(
    "data_invasion",
    unpaired="Which masked record of {name:word} is whose is unknown, so that no guess can be marked.",
    guessed="From the masked values of {name:word} alone, the original one is guessed for {share:percent} of the "
    "{unit}; always guessing the most frequent value, for {baseline:percent}.",
    better_of_two=" An intruder takes the better of the two.",
)


class DataInvasion(AttributeRule):
    """The original value of a variable cannot be guessed from its masked values."""

    rule: Literal["data_invasion"] = "data_invasion"
    example: ClassVar[str] = "{rule: data_invasion, excess: 0.05}"
    about: ClassVar[str] = "Data invasion: guessing the original value of a variable from its masked values alone."
    source: ClassVar[str] = "Source: Yamazoe and Omote (2021), section 4.2, Algorithms 1 and 2."
    advice: ClassVar[str] = (
        "The masked values give the original value away without any other variable: move more records to other values "
        "(PRAM with a lower retention, wider swapping), or merge the values that are told apart."
    )
    limit: Figure | None = Field(default=None, ge=0, le=1, description="share of the people whose value is guessed")
    excess: Figure | None = Field(
        default=None, ge=0, le=1, description="how much more than by guessing the most frequent value"
    )
    level: Literal[1, 2] = Field(
        default=2,
        description="1: the intruder knows which values there are; 2: also how frequent each is, playing both attacks",
    )
    when_misled: Literal["unknown", "guess"] = Field(
        default="unknown",
        description="if guesses are worse than the most frequent value: unknown, or counted as that guess",
    )

    def examine(self, files: Comparison, name: str) -> Finding:
        n = len(files.original)
        if not files.paired:
            why = _SAYS.unpaired(name=name)
            return self.not_applicable(why, n, name)
        masked = released_column(files.masked, name)
        # Weighed by how frequent the values are, even a verbatim file can do no better than its most frequent value;
        # who knows more may play as if he knew less.
        levels = range(1, self.level + 1)
        played = [data_invasion(files.original[name], files.recoded[name], masked, level) for level in levels]
        found = max(played, key=lambda each: each.value)
        if found.completed < files.minimum_cell:
            return self.unknown(TOO_FEW(unit=files.unit, name=name), n, name)
        if found.attempted - found.completed > UNREAD_SHARE * found.attempted:
            return self.unknown(UNREADABLE(), n, name)
        says = _SAYS.guessed(
            name=name,
            share=share_or_less(found.value, found.completed, files.minimum_cell),
            unit=files.unit,
            baseline=share_or_less(found.baseline or 0.0, found.completed, files.minimum_cell),
        )
        if self.when_misled == "guess":
            found, says = found.at_least_baseline(), says + _SAYS.better_of_two()
        return self.judge(found, says, name, files.minimum_cell)

    def describe(self) -> str:
        knows = "and how frequent each original value is" if self.level == 2 else "and which original values there are"
        return (
            f"An intruder who knows the masked values of {self.of_what} {knows} guesses the original value for "
            f"{allowed(self.limit, self.excess, 'by guessing the most frequent value')} (data invasion)."
        )


class MaximumKnowledge(AttributeRule):
    """Even with the original, nearest masked records are hardly nearer than those of a scrambled file."""

    rule: Literal["maximum_knowledge"] = "maximum_knowledge"
    example: ClassVar[str] = "{rule: maximum_knowledge, limit: 0.1}"
    about: ClassVar[str] = "Maximum knowledge: an intruder who has the original file."
    source: ClassVar[str] = (
        "Source: Yamazoe and Omote (2021), section 2.3, after Domingo-Ferrer, Ricci and Soria-Comas (2015)."
    )
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
    records: int = Field(default=2_000, ge=100, description="most people attacked, drawn at random")
    copies: int = Field(default=10, ge=2, description="scrambled copies; a divergence is measured from each")

    @field_validator("excess", mode="before")
    @classmethod
    def _no_excess(cls, value: Any) -> None:
        refuse_excess("maximum_knowledge", value)

    @property
    def bounds(self) -> Mapping[str, float]:
        """Of a divergence there is no largest figure."""
        return {"limit": 1.0} if self.comparison == "closer" else {}

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
            return self.unknown(_DISTANCES.not_compared(name=name), n, name)
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
            return _DISTANCES.nothing_compared()
        if space.unread > UNREAD_SHARE * len(space.columns) * len(files.masked):
            return UNREADABLE()
        return space

    def _judged(self, found: maximum_knowledge.MaximumKnowledge, files: Comparison, what: str, scope: str) -> Finding:
        if found.measurement.completed < files.minimum_cell:
            return self.unknown(_DISTANCES.too_few(unit=files.unit), found.measurement.attempted, scope)
        if self.comparison == "closer":
            more = share_or_less(found.measurement.value, found.measurement.completed, files.minimum_cell)
            says = _DISTANCES.nearer(more=more, unit=files.unit, what=what)
        else:
            says = _DISTANCES.differ(
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
        limit = f"{percent(self.limit)} of the people" if self.comparison == "closer" else f"{self.limit:.3g}"
        measure = "" if self.comparison == "closer" else f" by {word(self.comparison)}"
        return (
            f"An intruder who has the original and links it to the masked file comes nearer to {what} than in a "
            f"scrambled copy for at most {limit}{measure} (maximum-knowledge attack)."
        )


class AttributeDivergence(AttributeRule):
    """The masked values are distributed differently enough from the original ones.

    As a risk, small is worse: by two equal distributions the masked values can be matched to the original ones, rank
    by rank (Yamazoe and Omote 2021, section 5.2). As a loss, large is worse: that is for the limits on utility.
    """

    rule: Literal["attribute_divergence"] = "attribute_divergence"
    example: ClassVar[str] = "{rule: attribute_divergence, limit: 0.001}"
    largest: ClassVar[Mapping[str, float]] = {}  # less is a risk: what could not fail is refused by the field
    about: ClassVar[str] = (
        "Attribute divergence: how far the distribution of the masked values is from that of the original ones."
    )
    source: ClassVar[str] = (
        'Source: Yamazoe and Omote (2021), section 5.2, "Basic analysis"; Lin (1991) for the Jensen-Shannon divergence.'
    )
    advice: ClassVar[str] = (
        "The marginal distribution is all but unchanged, so masked values match original ones rank by rank: use a "
        "method that changes the marginal (noise, PRAM, synthesis) rather than one that permutes values."
    )
    limit: Figure = Field(gt=0, description="least allowed, in the unit of the divergence; less is a risk")
    excess: None = Field(default=None, description="none: the figure is itself a difference between two files")
    divergence: distributions.Divergence = Field(
        default="jensen_shannon", description="all but kullback_leibler are from 0 to 1"
    )
    bins: int = Field(default=20, ge=2, le=1000, description="intervals of numbers and dates, of equal shares")
    pseudo_count: float = Field(
        default=0.5, gt=0, le=10, description="for kullback_leibler: added to every bin, so that none is empty"
    )

    @field_validator("excess", mode="before")
    @classmethod
    def _no_excess(cls, value: Any) -> None:
        refuse_excess("attribute_divergence", value)

    def examine(self, files: Comparison, name: str) -> Finding:
        masked = released_column(files.masked, name)
        before, after = distributions.counts_of(files.recoded[name], masked, self.bins)
        pseudo_count = self.pseudo_count if self.divergence == "kullback_leibler" else 0.0
        value = distributions.divergence(self.divergence, before, after, pseudo_count)
        n = len(files.original)
        says = _DIVERGE(
            name=name, how="as" if value == 0 else "differently from", divergence=self.divergence, value=value
        )
        return self.judge(Measurement(value, n, n, worse="lower"), says, name)

    def figure(self, value: float) -> float | str:
        return f"{value:.4g}"

    def describe(self) -> str:
        return (
            f"The distribution of the masked values of {self.of_what} lies at least {self.limit:.3g} from the original "
            f"one by {word(self.divergence)} divergence."
        )
