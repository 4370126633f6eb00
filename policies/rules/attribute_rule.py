"""AttributeRule: an attack on single variables, by what the masked values of each tell of the original ones."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pydantic import Field

from policies.rules.attack_rule import AttackRule
from policies.rules.microdata_rule import Columns
from sluice.ground.errors import DataError
from sluice.ground.rule import AnyOf, Need
from sluice.ground.sentence import Sentence, Sentences, listed
from sluice.ground.variables import Kind, Role, with_role
from sluice.ground.verdict import Finding
from sluice.risk.attacks.released_column import is_released
from sluice.risk.measurement import Measurement
from sluice.utility.comparison import Comparison

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

    columns: Columns | None = Field(default=None, description="all variables with the role sensitive, when not given")

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


def at_least_baseline(found: Measurement) -> Measurement:
    """What an intruder achieves who may leave the masked file aside: never less than without it."""
    if found.baseline is None or found.interval is None:
        return found
    low, high = (max(end, found.baseline) for end in found.interval)
    return replace(found, value=max(found.value, found.baseline), interval=(low, high))


def refuse_missing(rule: str, names: Sequence[str], files: Comparison) -> None:
    for name in names:
        if name not in files.variables or not is_released(files.masked, name):
            raise DataError(f"{rule}: the file has no column '{name}'.", came=name, allowed=files.variables)


def refuse_excess(rule: str, value: Any) -> None:
    if value is not None:
        raise ValueError(f"{rule} has no excess, its figure is itself a difference; got {value!r}. Use limit.")


def percentage(share: float, found: Measurement, files: Comparison) -> float | str:
    """A share; of too small a count a bound in words."""
    if 0 < share * found.completed < files.minimum_cell:
        return f"less than {files.minimum_cell / found.completed:.1%}"
    return share


def allowed(limit: float | None, excess: float | None, without: str) -> str:
    parts = [f"{limit:.1%} of the people"] if limit is not None else []
    parts += [f"{excess:.1%} more of the people than {without}"] if excess is not None else []
    return f"at most {' and at most '.join(parts)}"
