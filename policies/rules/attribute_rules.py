"""AttributeRule: an attack on single variables, and the one that guesses a sensitive value by what the file teaches."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from policies.reported_shares import share_or_less
from policies.rules.attack_rule import AttackRule, Figure
from sluice.ground.arrays import BoolArray
from sluice.ground.errors import DataError
from sluice.ground.released_values import is_released
from sluice.ground.rule import AnyOf, Need
from sluice.ground.sentence import Sentence, Sentences, listed, percent
from sluice.ground.variables import Kind, Role, as_label, with_role
from sluice.ground.verdict import Finding
from sluice.risk.attacks.attribute_inference import attribute_inference, labelled_files
from sluice.risk.classes.microdata_rule import Columns
from sluice.risk.people_of_records import groups_of_people
from sluice.utility.comparison import Comparison

_GUESSES = Sentences(
    "attribute_inference",
    no_quasi_identifiers="No released variable is declared a quasi-identifier.",
    blind="From {known:listed}, not even the unmasked file would have {name:word} guessed better than a file without "
    "the person; the attack sees nothing.",
    guessed="Learning from the masked file how {name:word} goes with {known:listed}, an intruder guesses it for "
    "{share:percent} of the {unit}; from a file without the person, for {baseline:percent}, and from the unmasked "
    "file, for {unmasked:percent}.",
    guessed_harmful="Learning from the masked file how {name:word} goes with {known:listed}, an intruder guesses it "
    "for {share:percent} of the {unit} with a value that the contract does not call harmless; from a file without the "
    "person, for {baseline:percent}, and from the unmasked file, for {unmasked:percent}. The intruder guesses it for "
    "{of_all:percent} of all {unit}.",
)

UNREADABLE = Sentence(
    "attack.unreadable", "Some released values are neither original values nor explained by the recodings."
)
TOO_FEW = Sentence("attack.too_few_values", "Too few {unit} have a value of {name:word} to guess.")
EMPTY_FILE = Sentence("attack.empty_file", "A file holds no {unit}.")
_SAYS = Sentences(
    "attack",
    nothing_sensitive="No sensitive variable is in the released file.",
    sets_of_items="'{name}' holds sets of items, of which this attack does not learn single ones.",
)

UNREAD_SHARE = 0.001  # of the values: more that cannot be read would make the file look safe


class AttributeRule(AttackRule):
    """A rule on each of some variables, the sensitive ones when none is named; one finding a variable."""

    columns: Columns | None = Field(default=None, description="all variables with the role sensitive by default")

    @property
    def requires(self) -> tuple[AnyOf, ...]:
        return () if self.columns else ((Need.SENSITIVE,),)

    def find(self, files: Comparison) -> list[Finding]:
        names = self.attributes(files)
        if not names:
            return [self.unknown(_SAYS.nothing_sensitive(), len(files.original))]
        if not len(files.original) or not len(files.masked):
            return [self.unknown(EMPTY_FILE(unit=files.unit), len(files.original))]
        return [
            self.unknown(_SAYS.sets_of_items(name=name), len(files.original))
            if files.variables[name].kind is Kind.ITEMS
            else self.examine(files, name)
            for name in names
        ]

    def attributes(self, files: Comparison) -> list[str]:
        """The released variables that are looked at. Raises DataError when one that is named is not there."""
        if self.columns is None:
            sensitive = with_role(files.variables, Role.SENSITIVE)
            return [
                name
                for name in sensitive
                if files.variables[name].kind is not Kind.TEXT and is_released(files.masked, name)
            ]
        refuse_missing(self.rule, self.columns, files)
        for name in self.columns:
            if files.variables[name].kind is Kind.TEXT:
                raise DataError(f"{self.rule}: '{name}' is free text, whose values cannot be guessed or counted")
        return list(self.columns)

    @abstractmethod
    def examine(self, files: Comparison, name: str) -> Finding:
        """The finding on one variable, in files with at least one record each."""

    @property
    def of_what(self) -> str:
        return "every sensitive variable" if self.columns is None else listed(self.columns)


def _not_harmless(files: Comparison, name: str) -> BoolArray | None:
    """Of whom the value is none that the contract calls harmless, shape (n,); None: it calls none so."""
    harmless = files.variables[name].harmless
    if harmless is None or not harmless.values:
        return None
    return ~files.original[name].map(as_label).isin(harmless.values).to_numpy(np.bool_)


def refuse_missing(rule: str, names: Sequence[str], files: Comparison) -> None:
    for name in names:
        if name not in files.variables or not is_released(files.masked, name):
            raise DataError(f"{rule}: the file has no column '{name}'.", came=name, allowed=files.variables)


def refuse_excess(rule: str, value: Any) -> None:
    if value is not None:
        raise ValueError(f"{rule} has no excess, its figure is itself a difference; got {value!r}. Use limit.")


def allowed(limit: float | None, excess: float | None, without: str) -> str:
    parts = [f"{percent(limit)} of the people"] if limit is not None else []
    parts += [f"{percent(excess)} more of the people than {without}"] if excess is not None else []
    return f"at most {' and at most '.join(parts)}"


class AttributeInference(AttributeRule):
    """A person's sensitive value is guessed hardly better than if the person had not been in the file."""

    rule: Literal["attribute_inference"] = "attribute_inference"
    example: ClassVar[str] = "{rule: attribute_inference, excess: 0.05}"
    about: ClassVar[str] = "Attribute inference: guessing a person's sensitive value by what the masked file teaches."
    source: ClassVar[str] = (
        "Source: The comparison of Lasko and Vinterbo (2010), section II.A, with a random forest (Breiman 2001) as the "
        "intruder."
    )
    advice: ClassVar[str] = (
        "A model trained on the file predicts this sensitive variable for its own people: weaken its relation with the "
        "quasi-identifiers by swapping or noise on the sensitive variable, or by coarser quasi-identifiers."
    )
    limit: Figure | None = Field(default=None, ge=0, le=1, description="share of the people whose value is guessed")
    excess: Figure | None = Field(
        default=None, ge=0, le=1, description="how much more than from a file without the person, a share of the people"
    )
    known: Columns | None = Field(
        default=None, description="what the intruder knows; all released quasi-identifiers by default"
    )
    tolerance: float = Field(
        default=0.1, ge=0, le=10, description="(robust) standard deviations within which a number is guessed right"
    )
    records: int = Field(default=10_000, ge=100, description="most people attacked, drawn at random")
    trees: int = Field(default=50, ge=5, le=1000, description="trees of each random forest")

    @property
    def requires(self) -> tuple[AnyOf, ...]:
        return super().requires if self.known else (*super().requires, (Need.QUASI_IDENTIFIERS,))

    def examine(self, files: Comparison, name: str) -> Finding:
        n = len(files.original)
        known = [each for each in self._known(files) if each != name]
        if not known:
            return self.unknown(_GUESSES.no_quasi_identifiers(), n, name)
        frames = [files.recoded, files.masked]
        if files.recoded_holdout is not None:
            frames.append(files.recoded_holdout)
        (original, masked, *holdout), deviation = labelled_files(frames, known, name)
        tolerance = None if deviation is None else self.tolerance * deviation
        found = attribute_inference(
            original, masked, files.rng, holdout=holdout[0] if holdout else None, paired=files.paired,
            tolerance=tolerance, records=self.records, trees=self.trees, asked=_not_harmless(files, name),
            units=groups_of_people(files.original, files.variables),
        )  # fmt: skip
        measured = found.measurement
        if measured.completed < files.minimum_cell:
            return self.unknown(TOO_FEW(unit=files.unit, name=name), n, name)
        if found.blind:
            why = _GUESSES.blind(known=known, name=name)
            return self.unknown(why, n, name)
        told = {
            "name": name,
            "known": known,
            "share": share_or_less(measured.value, measured.completed, files.minimum_cell),
            "unit": files.unit,
            "baseline": share_or_less(measured.baseline or 0.0, measured.completed, files.minimum_cell),
            "unmasked": share_or_less(found.control.value, found.control.completed, files.minimum_cell),
        }
        if files.variables[name].harmless is None:
            says = _GUESSES.guessed(**told)
        else:
            of_all = share_or_less(found.of_all, measured.attempted, files.minimum_cell)
            says = _GUESSES.guessed_harmful(**told, of_all=of_all)
        return self.judge(measured.at_least_baseline(), says, name, files.minimum_cell)

    def _known(self, files: Comparison) -> list[str]:
        if self.known is None:
            roles = (Role.SENSITIVE, Role.OTHER) if files.numbers_alone else (Role.QUASI_IDENTIFIER,)
            keys = [name for name, variable in files.variables.items() if variable.role in roles]
            return [name for name in keys if is_released(files.masked, name)]
        refuse_missing(self.rule, self.known, files)
        return list(self.known)

    def describe(self) -> str:
        knows = "the quasi-identifiers" if self.known is None else listed(self.known)
        return (
            f"An intruder who knows {knows} and learns from the masked file guesses {self.of_what} for "
            f"{allowed(self.limit, self.excess, 'from a file without the person')} (attribute inference)."
        )
