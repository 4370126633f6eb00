"""One figure of utility, its limit in a policy, and the finding that the two add up to."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from math import isfinite, isnan
from typing import Any, NamedTuple, Self

from pydantic import Field

from sluice.ground.document_parts import FrozenModel, Share
from sluice.ground.sentence import Saying, Sentence, as_fields
from sluice.ground.verdict import Finding, Verdict

_ASKS = Sentence("utility.asks", "; the policy asks for {limit:.2f}.")

_ROUNDING = 1e-9  # equal files agree by 1 but for rounding

NO_LIMIT = Sentence("utility.no_limit", "; no limit is set.")
CATEGORY = Sentence("utility.category", " ({variable} = {category})")
WORST = Sentence("utility.worst", " ({name})")
_FEW = Sentence("utility.of_few", "{what} is not told: masking changed too few values of {names:commas}, or mostly one")

_NOISE = 1e-12  # of figures of the order of 1, from sums of up to some million records


class Limit(FrozenModel):
    """The largest loss that is tolerated; not binding means reported only."""

    at_most: float = Field(ge=0, allow_inf_nan=False)
    binding: bool = True


class ShareLimit(Limit):
    at_most: Share = Field(ge=0, description="share of the records, not percent")


class Floor(FrozenModel):
    """The smallest agreement that is tolerated; not binding means reported only."""

    at_least: Share = Field(ge=0, description="0 to 1")
    binding: bool = True


class Measured(NamedTuple):
    """One measure of one file: NaN when it could not be computed, and then `says` says why."""

    value: float
    says: Saying  # without the stop at its end
    scope: str
    attempted: int
    completed: int
    written: Callable[[float], str]  # the limit, in the unit of `says`
    applicable: bool = True  # False: the file has too few variables of the kind that is compared
    tells_of_few: bool = False  # True: the figure decides and is not shown, for fewer records than the minimum cell
    asks: float | None = None  # without a limit, anything above 0 needs a decision, and above this it fails

    def told(self, what: str, of_few: Collection[str]) -> Self:
        """The same measure, which decides and is not shown where it would tell of a few people's values of the
        variables `of_few`."""
        if not of_few or not isfinite(self.value):
            return self
        return self._replace(says=few_told(what, of_few), scope="", tells_of_few=True)

    def finding(self, name: str, limit: Limit | None) -> Finding:
        """Under a limit, or reported where there is none, stage "utility".

        Nine digits of a figure count: what comes after them tells in which order it was added up, and so of single
        records. A figure that is 0 but for rounding is 0.
        """
        value = without_noise(float(f"{self.value:.9g}"))
        if isnan(value):
            verdict = Verdict.UNKNOWN if self.applicable else Verdict.PASS
        else:
            verdict = Verdict.FAIL if limit is not None and min(value, self.value) > limit.at_most else Verdict.PASS
        asks = self.asks is not None and limit is None and value > 0
        if asks:
            verdict = Verdict.FAIL if value > (self.asks or 0.0) else Verdict.REVIEW
        allows = NO_LIMIT() if limit is None else _ALLOWS[self.written](limit=without_noise(limit.at_most))
        return Finding(
            rule=name,
            verdict=verdict,
            stage="utility",
            scope=self.scope,
            observed=value if isfinite(value) and not self.tells_of_few else None,
            withheld=self.tells_of_few,
            limit=None if limit is None else limit.at_most,
            attempted=self.attempted,
            completed=self.completed,
            binding=asks or (limit is not None and limit.binding and self.applicable),
            **as_fields(self.says + allows),
        )


@dataclass(frozen=True)
class Found:
    """What one family of measures found: figures by the names of their limits, and parts of the report's view."""

    measured: Mapping[str, Measured]
    view: Mapping[str, Any] = field(default_factory=dict)  # by the names of UtilityView's fields


def few_told(what: str, of_few: Collection[str]) -> Saying:
    """In place of a figure that would tell of a few people's values of these variables; without the stop at its end."""
    return _FEW(what=what, names=sorted(of_few))


def without_noise(value: float) -> float:
    """0 where rounding alone made the difference: equal sums, added up in another order."""
    return 0.0 if abs(value) < _NOISE else value


def figure(value: float) -> float | str:
    """A figure as a sentence tells it; without a bound, in words."""
    return without_noise(value) if isfinite(value) else written_number(value)


def written_number(value: float) -> str:
    """Three digits."""
    return f"{without_noise(value):.3g}" if isfinite(value) else "∞ (a constant variable was changed)"


def written_percent(value: float) -> str:
    """A share as a percentage of three digits."""
    return f"{100 * without_noise(value):.3g} %" if isfinite(value) else written_number(value)


_ALLOWS: Mapping[Callable[[float], str], Sentence] = {
    written_percent: Sentence("utility.allows_share", "; the policy allows {limit:percent}."),
    written_number: Sentence("utility.allows", "; the policy allows {limit:.3g}."),
}


def floor_finding(
    rule: str, floor: Floor | None, value: float, says: Saying, scope: str, attempted: int, completed: int
) -> Finding:
    """Of a figure that is better the larger it is: under a floor, or reported where there is none, stage "utility"; NaN
    is `UNKNOWN`.

    says : without the stop at its end
    """
    if isnan(value):
        verdict = Verdict.UNKNOWN
    else:
        verdict = Verdict.FAIL if floor is not None and value < floor.at_least - _ROUNDING else Verdict.PASS
    asks = NO_LIMIT() if floor is None else _ASKS(limit=floor.at_least)
    return Finding(
        rule=rule,
        verdict=verdict,
        stage="utility",
        scope=scope,
        observed=value if isfinite(value) else None,
        limit=None if floor is None else floor.at_least,
        attempted=attempted,
        completed=completed,
        binding=floor is not None and floor.binding,
        **as_fields(says + asks),
    )
