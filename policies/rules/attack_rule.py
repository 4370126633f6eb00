"""AttackRule: a rule that plays an intruder with the original records against the masked file.

A PairedRule needs to know which masked record is whose, to tell a right link from a wrong one.
"""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from policies.check import Check, check
from sluice.ground.arrays import FloatArray
from sluice.ground.comparable_values import codes_of
from sluice.ground.errors import DataError
from sluice.ground.rule import NOT_JUDGED, DisclosureRule, Need, Requirement
from sluice.ground.sentence import Saying, Sentence, Sentences, as_fields
from sluice.ground.variables import NAMES, Kind, Role, Variable
from sluice.ground.verdict import Finding, Verdict
from sluice.risk.classes.microdata_rule import Columns
from sluice.risk.measurement import Measurement, if_near, verdict_within
from sluice.utility.comparison import Comparison

UNPAIRED = Sentence(
    "attack.unpaired",
    "Nobody said which masked row is whose, so no link can be right or wrong; where row i is the same person in both "
    "files, say so (paired).",
)
_PAIRED = Sentences(
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

_SAYS = Sentences(
    "attack",
    allows=" The policy allows {bound} {limit:percent}.",
    allows_beyond_baseline=" Without the file an intruder reaches {baseline:percent}; the policy allows "
    "{excess:percent} {direction}.",
    worse_than_guessing=" The attack did worse than guessing without the file, so it says nothing of the risk.",
    no_case=" No case could be examined.",
    no_baseline=" There is no baseline to compare it with.",
    not_played=" This attack was not played.",
)

Figure = Annotated[float, Field(allow_inf_nan=False)]


class AttackRule(DisclosureRule):
    """An attack, and the worst that it may achieve."""

    needs: ClassVar[str] = (
        "Give the attack what it lacks: columns that original and released file have in common, enough records, or a "
        "setting under which it does better than guessing."
    )
    largest: ClassVar[Mapping[str, float]] = {"limit": 1.0, "excess": 1.0}  # of a share of the people
    limit: Figure | None = Field(default=None, description="worst figure allowed, in the unit of the measure")
    excess: Figure | None = Field(
        default=None, description="how much worse than its baseline it may be, in the same unit"
    )
    binding: bool = Field(default=True, description="false: reported, but does not decide")

    @model_validator(mode="after")
    def _has_a_limit(self) -> Self:
        if self.limit is None and self.excess is None:
            raise ValueError(f"{self.rule} needs limit, excess or both; without either nothing could fail")
        return self

    @property
    def decides(self) -> bool:
        return self.binding

    @property
    def checks(self) -> list[Check]:
        return [check(self.rule, "attack", self.find)]

    @abstractmethod
    def find(self, files: Comparison) -> list[Finding]:
        """What the attack finds: at least one finding. Raises DataError when the files lack what it needs."""

    def judge(self, measured: Measurement, says: Saying, scope: str = "", minimum_cell: int = 0) -> Finding:
        """A finding on one figure; `says` gives it in words; the limits are added here.

        minimum_cell : a share of fewer people decides, and is not told; 0 where `says` tells it, or it is no share

        PASS when the whole interval keeps the limits, FAIL when none of it does, REVIEW between: what the sample
        cannot decide, a person does. Nothing completed, or an attack that does worse than its own baseline beyond
        chance (it was then played badly, and says nothing of the risk), is UNKNOWN.
        """
        said, few = says, 0 < measured.value * measured.completed < minimum_cell
        sign = 1.0 if measured.worse == "higher" else -1.0
        low, high = sorted(sign * end for end in (measured.interval or (measured.value, measured.value)))
        limits = []
        if self.limit is not None:
            limits.append(sign * self.limit)
            said += _SAYS.allows(bound="at most" if sign > 0 else "at least", limit=self.figure(self.limit))
        if self.excess is not None and measured.baseline is not None:
            limits.append(sign * measured.baseline + self.excess)
            said += _SAYS.allows_beyond_baseline(
                baseline=self.figure(measured.baseline),
                excess=self.figure(self.excess),
                direction="more" if sign > 0 else "less",
            )
        if measured.completed == 0:
            verdict, said = Verdict.UNKNOWN, says + _SAYS.no_case()
        elif not limits:
            verdict, said = Verdict.UNKNOWN, says + _SAYS.no_baseline()
        elif measured.baseline is not None and high < sign * measured.baseline:
            verdict = Verdict.UNKNOWN
            said += _SAYS.worse_than_guessing()
        else:
            allowed = min(limits)
            verdict = verdict_within((low, high), allowed)
            # Without ends, which might tell of a few.
            said += if_near(verdict, sign * measured.value, allowed, level=measured.level)
        return Finding(
            rule=self.rule,
            verdict=verdict,
            stage="attack",
            scope=scope,
            observed=None if few else measured.value,
            withheld=few,
            limit=sign * min(limits) if limits else None,
            attempted=measured.attempted,
            completed=measured.completed,
            binding=self.binding,
            **as_fields(said),
        )

    def figure(self, value: float) -> float | str:
        """A figure as the sentences have it, a share; one of another unit in words."""
        return value

    def not_applicable(self, why: Saying, attempted: int = 0, scope: str = "") -> Finding:
        """A finding that the attack has no sense on these files, so that a person decides whether it is missed."""
        return self._not_played(Verdict.REVIEW, why + _SAYS.not_played(), attempted, scope)

    def unknown(self, why: Saying, attempted: int = 0, scope: str = "") -> Finding:
        """A finding that nothing could be measured, and why."""
        return self._not_played(Verdict.UNKNOWN, why + NOT_JUDGED(), attempted, scope)

    def _not_played(self, verdict: Verdict, says: Saying, attempted: int, scope: str) -> Finding:
        return Finding(
            rule=self.rule, verdict=verdict, stage="attack", scope=scope, attempted=attempted, completed=0,
            binding=self.binding, **as_fields(says),
        )  # fmt: skip


class PairedRule(AttackRule):
    """A rule that needs to know which masked record is whose, to tell a right link from a wrong one."""

    needs: ClassVar[str] = (
        "This attack must know whose record each masked one is: keep the pairing, or judge an unpaired file by attacks "
        "with a holdout, and name columns that can be compared."
    )

    columns: Columns | None = Field(
        default=None, description="what the intruder knows; by default all quasi-identifiers that can be compared"
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
            why = _PAIRED.sets_not_compared(sets=sets)
            return [self.unknown(why, len(files.masked))]
        names = self._known(files)
        if not names:
            return [self.unknown(_PAIRED.no_variable(needs=self._needs), len(files.masked))]
        if not len(files.masked):
            return [self.unknown(_PAIRED.no_records(unit=files.unit))]
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
                if (variable.role in self._roles or _known_as_number(variable, files))
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


def _known_as_number(variable: Variable, files: Comparison) -> bool:
    """Whether an intruder knows it where the contract has no quasi-identifiers: then they know the numbers."""
    return files.numbers_alone and variable.kind.is_numeric and variable.role not in (*NAMES, Role.WEIGHT)


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
