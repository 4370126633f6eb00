"""PairedRule: an attack that needs to know which masked record is whose, to tell a right link from a wrong one."""

from abc import abstractmethod
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from policies.rules.attack_rule import AttackRule
from sluice.ground.arrays import FloatArray
from sluice.ground.comparable_values import codes_of
from sluice.ground.errors import DataError
from sluice.ground.rule import Need, Requirement
from sluice.ground.sentence import Sentence, Sentences
from sluice.ground.variables import Kind, Role
from sluice.ground.verdict import Finding
from sluice.risk.classes.microdata_rule import Columns
from sluice.utility.comparison import Comparison

UNPAIRED = Sentence(
    "attack.unpaired",
    "Nobody said which masked row is whose, so no link can be right or wrong; where row i is the same person in both "
    "files, say so (paired).",
)
_SAYS = Sentences(
    "attack",
    sets_not_compared="This attack cannot compare sets of items ({sets:commas}); name the columns that it shall "
    "compare.",
    no_variable="The release has no variable that {needs}.",
    no_records="The files hold no {unit}.",
)


RANKED = (Kind.CONTINUOUS, Kind.INTEGER, Kind.ORDINAL)
_COMPARABLE = tuple(kind for kind in Kind if kind not in (Kind.TEXT, Kind.ITEMS))
_NEEDS = {Role.QUASI_IDENTIFIER: Need.QUASI_IDENTIFIERS, Role.SENSITIVE: Need.SENSITIVE}
Window = Annotated[float, Field(gt=0, le=1)]


class PairedRule(AttackRule):
    """A rule that needs to know which masked record is whose, to tell a right link from a wrong one."""

    needs: ClassVar[str] = (
        "This attack must know whose record each masked one is: keep the pairing, or judge an unpaired file by attacks "
        "with a holdout, and name columns that can be compared."
    )

    columns: Columns | None = Field(
        default=None, description="what the intruder knows; all quasi-identifiers that can be compared, when not given"
    )

    @property
    def requirements(self) -> list[Requirement]:
        if self.columns is not None or not self.decides:
            return []
        return [Requirement(self.rule, tuple(_NEEDS[role] for role in self._roles), of_pairs=True)]

    def find(self, files: Comparison) -> list[Finding]:
        if not files.paired:
            return [self.not_applicable(UNPAIRED(), len(files.masked))]
        if not len(files.recoded) == len(files.masked):
            raise DataError(
                f"{self.rule} compares record by record; got {len(files.recoded):,} original and "
                f"{len(files.masked):,} masked records."
            )
        if self.columns is None and (sets := self._sets_of_items(files)):
            why = _SAYS.sets_not_compared(sets=sets)
            return [self.unknown(why, len(files.masked))]
        names = self._known(files)
        if not names:
            return [self.unknown(_SAYS.no_variable(needs=self._needs), len(files.masked))]
        if not len(files.masked):
            return [self.unknown(_SAYS.no_records(unit=files.unit))]
        return [self.attack(files, names)]

    @abstractmethod
    def attack(self, files: Comparison, names: list[str]) -> Finding:
        """The finding on paired files with at least one record and one variable."""

    def _sets_of_items(self, files: Comparison) -> list[str]:
        """Released sets of items in the roles that the rule looks at: they are known, and not to be passed over."""
        return [
            name
            for name, variable in files.variables.items()
            if variable.kind is Kind.ITEMS and variable.role in self._roles and name in files.released
        ]

    def _known(self, files: Comparison) -> list[str]:
        """The variables that are compared: those named, or all fit ones in the roles that the rule looks at."""
        if self.columns is None:
            return [
                name
                for name, variable in files.variables.items()
                if variable.role in self._roles
                and name in files.released
                and files.released[name].kind in self._kinds
                and not files.recoded[name].isna().all()
            ]
        for name in self.columns:
            if name not in files.variables or name not in files.released:
                raise DataError(
                    f"columns of {self.rule} must be in the original and the release; '{name}' is not.",
                    came=name,
                    allowed=files.released,
                )
            if files.released[name].kind not in self._kinds:
                raise DataError(
                    f"columns of {self.rule} must be {', '.join(self._kinds)}; '{name}' is released as "
                    f"{files.released[name].kind}."
                )
        return list(self.columns)

    @property
    def _kinds(self) -> tuple[Kind, ...]:
        return _COMPARABLE

    @property
    def _roles(self) -> tuple[Role, ...]:
        return (Role.QUASI_IDENTIFIER,)

    @property
    def _needs(self) -> str:
        return f"is a quasi-identifier and {' or '.join(self._kinds)}"

    @property
    def _of_what(self) -> str:
        return "the quasi-identifiers" if self.columns is None else ", ".join(self.columns)


class RankedRule(PairedRule):
    """A rule on variables whose values have ranks: numbers, dates apart, and ordinal categories."""

    columns: Columns | None = Field(
        default=None, description="numbers and ordinal categories; all quasi-identifiers and sensitive ones by default"
    )

    @property
    def _kinds(self) -> tuple[Kind, ...]:
        return RANKED

    @property
    def _roles(self) -> tuple[Role, ...]:
        return (Role.QUASI_IDENTIFIER, Role.SENSITIVE)

    @property
    def _needs(self) -> str:
        return "is a quasi-identifier or sensitive, and a number or ordinal"


def ranks_or_numbers(files: Comparison, names: list[str], which: Literal["recoded", "masked"]) -> FloatArray:
    """Numbers, and ordinal categories by position, shape (n, len(names)), NaN where missing."""
    frame = getattr(files, which)
    columns = []
    for name in names:
        if files.released[name].kind is Kind.ORDINAL:
            codes = codes_of(frame[name]).astype(np.float64)
            columns.append(np.where(codes < 0, np.nan, codes))
        else:
            columns.append(frame[name].to_numpy(np.float64, na_value=np.nan))
    return np.column_stack(columns)
