"""Rules on single variables: what the masked values of a variable tell of the original ones."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field, field_validator

from policies.original_and_masked import OriginalAndMasked
from policies.rules.attack_rule import AttackRule, Figure
from sluice.errors import DataError, did_you_mean
from sluice.risk.attacks import divergence as distributions
from sluice.risk.attacks import maximum_knowledge
from sluice.risk.attacks.attribute_inference import attribute_inference, learned
from sluice.risk.attacks.data_invasion import data_invasion
from sluice.risk.attacks.released_column import is_released, released_column
from sluice.risk.measurement import Measurement
from sluice.variables import Kind, Role, with_role
from sluice.verdict import Finding

FloatArray = npt.NDArray[np.float64]
Columns = Annotated[tuple[str, ...], Field(min_length=1)]

_UNREAD_SHARE = 0.001  # of the values: more that cannot be read would make the file look safe
_UNREADABLE = "Some released values are neither original values nor explained by the recodings."


class _OnAttributes(AttackRule):
    """A rule on each of some variables, the sensitive ones when none is named; one finding a variable."""

    columns: Columns | None = Field(default=None, description="all variables with the role sensitive, when not given")

    def find(self, files: OriginalAndMasked) -> list[Finding]:
        names = self.attributes(files)
        if not names:
            return [self.unknown("No sensitive variable is in the released file.", len(files.original))]
        if not len(files.original) or not len(files.masked):
            return [self.unknown(f"A file holds no {files.unit}.", len(files.original))]
        return [self.examine(files, name) for name in names]

    def attributes(self, files: OriginalAndMasked) -> list[str]:
        """The released variables that are looked at. Raises DataError when one that is named is not there."""
        if self.columns is None:
            sensitive = with_role(files.variables, Role.SENSITIVE)
            return [
                name
                for name in sensitive
                if files.variables[name].kind is not Kind.TEXT and is_released(files.masked, name)
            ]
        _refuse_missing(self.rule, self.columns, files)
        for name in self.columns:
            if files.variables[name].kind is Kind.TEXT:
                raise DataError(f"{self.rule}: '{name}' is free text, whose values cannot be guessed or counted")
        return list(self.columns)

    @abstractmethod
    def examine(self, files: OriginalAndMasked, name: str) -> Finding:
        """The finding on one variable, in files with at least one record each."""

    @property
    def of_what(self) -> str:
        return "every sensitive variable" if self.columns is None else _listed(self.columns)


class DataInvasion(_OnAttributes):
    """The original value of a variable cannot be told from its masked values."""

    rule: Literal["data_invasion"] = "data_invasion"
    limit: Figure | None = Field(default=None, ge=0, le=1, description="share of the people whose value is guessed")
    excess: Figure | None = Field(
        default=None, ge=0, le=1, description="how much more than by guessing the most frequent value, share of people"
    )
    level: Literal[1, 2] = Field(
        default=2,
        description="1: the intruder knows which values there are; 2: also how frequent each is, playing both attacks",
    )
    when_misled: Literal["unknown", "guess"] = Field(
        default="unknown",
        description="when the masked values mislead below the most frequent value: unknown, or taken as that guess",
    )

    def examine(self, files: OriginalAndMasked, name: str) -> Finding:
        n = len(files.original)
        if not files.paired:
            why = f"Which masked record of {_word(name)} is whose is unknown, so that no guess can be marked."
            return self.unknown(why, n, name)
        masked = released_column(files.masked, name)
        # Weighed by how frequent the values are, even a verbatim file can do no better than its most frequent value;
        # who knows more may play as if he knew less.
        levels = range(1, self.level + 1)
        played = [data_invasion(files.original[name], files.recoded[name], masked, level) for level in levels]
        found = max(played, key=lambda each: each.value)
        if found.completed < files.minimum_cell:
            return self.unknown(f"Too few {files.unit} have a value of {_word(name)} to guess.", n, name)
        if found.attempted - found.completed > _UNREAD_SHARE * found.attempted:
            return self.unknown(_UNREADABLE, n, name)
        says = (
            f"From the masked values of {_word(name)} alone, the original one is guessed for "
            f"{_told(found.value, found, files)} of the {files.unit}; always guessing the most frequent value, "
            f"for {_told(found.baseline or 0.0, found, files)}."
        )
        if self.when_misled == "guess":
            found, says = _at_least_baseline(found), f"{says} An intruder takes the better of the two."
        return self.judge(found, says, name)

    def describe(self) -> str:
        knows = "and how frequent each original value is" if self.level == 2 else "and which original values there are"
        return (
            f"An intruder who knows the masked values of {self.of_what} {knows} guesses the original value for "
            f"{_allowed(self.limit, self.excess, 'by guessing the most frequent value')} (data invasion)."
        )


class MaximumKnowledge(_OnAttributes):
    """Even with the original in hand, nearest masked records are hardly nearer than those of a scrambled file."""

    rule: Literal["maximum_knowledge"] = "maximum_knowledge"
    limit: Figure = Field(gt=0, description="most allowed; for closer a share of the people, else in the comparison's")
    excess: None = Field(default=None, description="none: the figure is itself a difference from a scrambled copy")
    of: Literal["records", "attributes"] = Field(
        default="records", description="link whole records, or each of `columns` by all other variables"
    )
    comparison: maximum_knowledge.Comparison = Field(
        default="closer",
        description="closer: share of people with a record within reach, beyond a scrambled copy; or a divergence",
    )
    records: int = Field(default=2_000, ge=100, description="at most so many people, at random, are attacked")
    copies: int = Field(default=10, ge=2, description="scrambled copies; a divergence is measured from each")

    @field_validator("excess", mode="before")
    @classmethod
    def _no_excess(cls, value: Any) -> None:
        _refuse_excess("maximum_knowledge", value)

    def find(self, files: OriginalAndMasked) -> list[Finding]:
        if self.of == "attributes":
            return super().find(files)
        n = len(files.original)
        if not n or not len(files.masked):
            return [self.unknown(f"A file holds no {files.unit}.", n)]
        space = self._space(files)
        if isinstance(space, str):
            return [self.unknown(space, n)]
        found = maximum_knowledge.of_records(
            space.original, space.masked, list(space.columns.values()), files.rng, self.records, self.copies,
            self.comparison,
        )  # fmt: skip
        return [self._judged(found, files, "a masked record", "whole records")]

    def examine(self, files: OriginalAndMasked, name: str) -> Finding:
        n, space = len(files.original), self._space(files)
        if isinstance(space, str):
            return self.unknown(space, n, name)
        if name not in space.columns or len(space.columns) < 2:
            return self.unknown(f"{_word(name)} cannot be compared, or linked by another variable.", n, name)
        found = maximum_knowledge.of_attribute(
            space.original, space.masked, space.columns[name], files.rng, self.records, self.copies, self.comparison
        )
        return self._judged(found, files, f"the {_word(name)} of their nearest record by all other variables", name)

    def _space(self, files: OriginalAndMasked) -> maximum_knowledge.Space | str:
        """Both files in one space; or why they cannot be compared."""
        space = maximum_knowledge.common_space(
            files.original, files.recoded, files.masked, files.variables, files.released
        )
        if not space.columns:
            return "No released variable can be compared with the original."
        if space.unread > _UNREAD_SHARE * len(space.columns) * len(files.masked):
            return _UNREADABLE
        return space

    def _judged(
        self, found: maximum_knowledge.MaximumKnowledge, files: OriginalAndMasked, what: str, scope: str
    ) -> Finding:
        if found.measurement.completed < files.minimum_cell:
            return self.unknown(f"There are too few {files.unit} to link.", found.measurement.attempted, scope)
        if self.comparison == "closer":
            more = _told(found.measurement.value, found.measurement, files)
            says = (
                f"An intruder who has the original finds a further {more} of the {files.unit} within some distance "
                f"of {what} than in a copy of the masked file whose columns were scrambled."
            )
        else:
            says = (
                f"For an intruder who has the original, the distances of the {files.unit} to {what} differ from "
                f"those in a scrambled copy by {found.measurement.value:.3g} ({_word(self.comparison)}; two scrambled "
                f"copies differ by {found.by_chance:.3g})."
            )
        return self.judge(found.measurement, says, scope)

    def figure(self, value: float) -> str:
        return super().figure(value) if self.comparison == "closer" else f"{value:.4g}"

    def describe(self) -> str:
        what = "their own records" if self.of == "records" else f"the values of {self.of_what}"
        limit = f"{self.limit:.1%} of the people" if self.comparison == "closer" else f"{self.limit:.3g}"
        measure = "" if self.comparison == "closer" else f" by {_word(self.comparison)}"
        return (
            f"An intruder who has the original and links it to the masked file comes nearer to {what} than in a "
            f"scrambled copy for at most {limit}{measure} (maximum-knowledge attack)."
        )


class AttributeDivergence(_OnAttributes):
    """The masked values are distributed differently enough from the original ones.

    As a risk, small is worse: by two equal distributions the masked values can be matched to the original ones, rank
    by rank (Yamazoe and Omote 2021, section 5.2). As a loss, large is worse: that is for the limits on utility.
    """

    rule: Literal["attribute_divergence"] = "attribute_divergence"
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
        _refuse_excess("attribute_divergence", value)

    def examine(self, files: OriginalAndMasked, name: str) -> Finding:
        masked = released_column(files.masked, name)
        before, after = distributions.counts_of(files.recoded[name], masked, self.bins)
        pseudo_count = self.pseudo_count if self.divergence == "kullback_leibler" else 0.0
        value = distributions.divergence(self.divergence, before, after, pseudo_count)
        n = len(files.original)
        says = (
            f"The masked values of {_word(name)} are distributed {'as' if value == 0 else 'differently from'} the "
            f"original ones: {_word(self.divergence)} divergence {value:.3g}, from 0 for the same. The nearer they "
            "are, the easier masked values are matched to original ones."
        )
        return self.judge(Measurement(value, n, n, worse="lower"), says, name)

    def figure(self, value: float) -> str:
        return f"{value:.4g}"

    def describe(self) -> str:
        return (
            f"The distribution of the masked values of {self.of_what} lies at least {self.limit:.3g} from the original "
            f"one by {_word(self.divergence)} divergence."
        )


class AttributeInference(_OnAttributes):
    """A person's sensitive value is guessed hardly better than if the person had not been in the file."""

    rule: Literal["attribute_inference"] = "attribute_inference"
    limit: Figure | None = Field(default=None, ge=0, le=1, description="share of the people whose value is guessed")
    excess: Figure | None = Field(
        default=None, ge=0, le=1, description="how much more than from a file without the person, a share of the people"
    )
    known: Columns | None = Field(
        default=None, description="what the intruder knows; all released quasi-identifiers, when not given"
    )
    tolerance: float = Field(
        default=0.1, ge=0, le=10, description="numbers are guessed right within so many standard deviations"
    )
    records: int = Field(default=10_000, ge=100, description="at most so many people, at random, are attacked")
    trees: int = Field(default=50, ge=5, le=1000, description="trees of each random forest")

    def examine(self, files: OriginalAndMasked, name: str) -> Finding:
        n = len(files.original)
        known = [each for each in self._known(files) if each != name]
        if not known:
            return self.unknown("No released variable is declared a quasi-identifier.", n, name)
        frames = [files.recoded, files.masked]
        if files.recoded_holdout is not None:
            frames.append(files.recoded_holdout)
        (original, masked, *holdout), spread = learned(frames, known, name)
        tolerance = None if spread is None else self.tolerance * spread
        found = attribute_inference(
            original, masked, files.rng, holdout=holdout[0] if holdout else None, paired=files.paired,
            tolerance=tolerance, records=self.records, trees=self.trees,
        )  # fmt: skip
        measured = found.measurement
        if measured.completed < files.minimum_cell:
            return self.unknown(f"Too few {files.unit} have a value of {_word(name)} to guess.", n, name)
        if found.blind:
            why = (
                f"From {_listed(known)}, not even the unmasked file would have {_word(name)} guessed better than a "
                "file without the person; the attack sees nothing."
            )
            return self.unknown(why, n, name)
        says = (
            f"Learning from the masked file how {_word(name)} goes with {_listed(known)}, an intruder guesses it for "
            f"{_told(measured.value, measured, files)} of the {files.unit}; from a file without the person, for "
            f"{_told(measured.baseline or 0.0, measured, files)}, and from the unmasked file, for "
            f"{_told(found.control.value, found.control, files)}."
        )
        return self.judge(_at_least_baseline(measured), says, name)

    def _known(self, files: OriginalAndMasked) -> list[str]:
        if self.known is None:
            keys = with_role(files.variables, Role.QUASI_IDENTIFIER)
            return [name for name in keys if is_released(files.masked, name)]
        _refuse_missing(self.rule, self.known, files)
        return list(self.known)

    def describe(self) -> str:
        knows = "the quasi-identifiers" if self.known is None else _listed(self.known)
        return (
            f"An intruder who knows {knows} and learns from the masked file guesses {self.of_what} for "
            f"{_allowed(self.limit, self.excess, 'from a file without the person')} (attribute inference)."
        )


def _at_least_baseline(found: Measurement) -> Measurement:
    """What an intruder reaches who may leave the masked file aside: never less than without it."""
    if found.baseline is None or found.interval is None:
        return found
    low, high = (max(end, found.baseline) for end in found.interval)
    return replace(found, value=max(found.value, found.baseline), interval=(low, high))


def _refuse_missing(rule: str, names: Sequence[str], files: OriginalAndMasked) -> None:
    for name in names:
        if name not in files.variables or not is_released(files.masked, name):
            raise DataError(f"{rule}: the file has no column '{name}'.{did_you_mean(name, files.variables)}")


def _refuse_excess(rule: str, value: Any) -> None:
    if value is not None:
        raise ValueError(f"{rule} has no excess, its figure is itself a difference; got {value!r}. Use limit.")


def _told(share: float, found: Measurement, files: OriginalAndMasked) -> str:
    """A share in per cent; too small a count is told as a bound."""
    if 0 < share * found.completed < files.minimum_cell:
        return f"less than {files.minimum_cell / found.completed:.1%}"
    return f"{share:.1%}"


def _allowed(limit: float | None, excess: float | None, without: str) -> str:
    parts = [f"{limit:.1%} of the people"] if limit is not None else []
    parts += [f"{excess:.1%} more of the people than {without}"] if excess is not None else []
    return f"at most {' and at most '.join(parts)}"


def _word(name: str) -> str:
    return name.replace("_", " ")


def _listed(names: Sequence[str]) -> str:
    """'age, years married and children'"""
    *most, last = (_word(name) for name in names)
    return f"{', '.join(most)} and {last}" if most else last
