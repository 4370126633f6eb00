"""Ranges: what stands in a plan in place of a value that a search is to find.

A list where the field takes one value, `{from: 0.05, to: 0.5}` where it takes a number, `{any_of: [...]}` anywhere.
What the field itself takes is a value: `bins: [25, 35]` are two cut points, and no range.
"""

from collections.abc import Callable, Mapping
from functools import cache, partial
from math import exp, log
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from sluice.masking.masking_step import MaskingStep
from sluice.masking.method_catalogue import methods

ANY = "any"  # of a field: whatever the method does without it


class Choice(BaseModel):
    """One of several values, of any form."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    any_of: tuple[Any, ...] = Field(min_length=1, description="the values, the usual one first")

    @property
    def first(self) -> Any:
        return self.any_of[0]

    @property
    def ends(self) -> tuple[Any, ...]:
        """Values that show whether all of them are allowed."""
        return self.any_of


class Between(BaseModel):
    """A number between two others, both included."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    low: float = Field(alias="from", allow_inf_nan=False)
    high: float = Field(alias="to", allow_inf_nan=False)
    log: bool = Field(default=False, description="true: factors count, not differences; from must be above 0")
    whole: bool = Field(default=False, description="true: whole numbers only")

    @model_validator(mode="after")
    def _rising(self) -> Self:
        if self.high < self.low:
            raise ValueError(f"from must be at most to; got {self.low:g} and {self.high:g}")
        if self.log and self.low <= 0:
            raise ValueError(f"from must be above 0 where log is true; got {self.low:g}")
        if self.whole and (self.low % 1 or self.high % 1):
            raise ValueError(f"from and to must be whole where whole is true; got {self.low:g} and {self.high:g}")
        return self

    @property
    def first(self) -> float:
        return self.ends[0]

    @property
    def ends(self) -> tuple[float, ...]:
        """Values that show whether all of them are allowed."""
        return (int(self.low), int(self.high)) if self.whole else (self.low, self.high)

    def at(self, share: float) -> float:
        """The value so far up the range, 0 to 1: by factors where these count, else by differences."""
        if self.log:
            value = exp(log(self.low) + share * (log(self.high) - log(self.low)))
        else:
            value = self.low + share * (self.high - self.low)
        return int(min(max(round(value), self.low), self.high)) if self.whole else self.tidy(value)

    def share(self, value: float) -> float:
        """How far up the range a value is, 0 to 1."""
        if self.high == self.low:
            return 0.0
        if self.log:
            return (log(value) - log(self.low)) / (log(self.high) - log(self.low))
        return (value - self.low) / (self.high - self.low)

    def tidy(self, value: float) -> float:
        """The value to three digits, as a person would write it, within the range."""
        return min(max(float(f"{value:.3g}"), self.low), self.high)


Range = Choice | Between
Choose = Callable[[str, Range], Any]
"""Whatever finds a value: a search, a draw of chance, or the first one. Called with the place in the plan."""


def is_scale(place: str, of: Choice) -> bool:
    """Whether the values are numbers in an order, of which near ones do nearly the same."""
    if place.endswith(".alternative"):
        return False
    numbers = [each for each in of.any_of if isinstance(each, int | float) and not isinstance(each, bool)]
    return len(numbers) == len(of.any_of) > 2 and numbers in (sorted(numbers), sorted(numbers, reverse=True))


def first(place: str, of: Range) -> Any:
    """The first value of each range."""
    return of.first


def last(place: str, of: Range) -> Any:
    """The last value of each range."""
    return of.ends[-1]


def at(point: Mapping[str, Any]) -> Choose:
    """What finds the values of a point: place -> value."""
    return lambda place, of: point.get(place, of.first)


def step_with(step: Mapping[str, Any], choose: Choose, place: str) -> dict[str, Any]:
    """A step as it is written, each range in it replaced by what `choose` finds.

    place  : of the step, such as "plan.2"; a range's own place is "plan.2.window"
    raises : ValidationError for a mapping of from and to that is no range
    """
    model = methods().get(str(step.get("method")))
    if model is None:  # the real model says which methods there are
        return dict(step)
    found = {}
    for field, value in step.items():
        if value == ANY and not _takes(model, field, ANY):
            continue
        found[field] = _with(value, partial(_takes, model, field), choose, f"{place}.{field}")
    return found


def _with(value: Any, taken: Callable[[Any], bool], choose: Choose, place: str) -> Any:
    """A value of a field; `taken` tells whether the field takes a value in its place."""
    of = range_of(value, taken)
    if of is not None:
        return choose(place, of)
    if not isinstance(value, Mapping) or taken(value):
        return value
    found = dict(value)
    for key, part in value.items():

        def takes(given: Any, key: Any = key) -> bool:
            return taken({key: given})

        found[key] = _with(part, takes, choose, f"{place}.{key}")
    return found


def range_of(value: Any, taken: Callable[[Any], bool]) -> Range | None:
    """The range that stands here; None for a value."""
    if isinstance(value, Mapping) and set(value) == {"any_of"}:
        return Choice.model_validate(value)
    if taken(value):
        return None
    if isinstance(value, Mapping) and {"from", "to"} <= set(value) <= {"from", "to", "log", "whole"}:
        between = Between.model_validate(value)
        # A field of whole numbers refuses a fraction.
        fraction = between.low + 0.5
        return between if between.whole or taken(fraction) or not taken(int(between.low)) else _whole(value)
    if isinstance(value, list | tuple) and value:
        return Choice(any_of=tuple(value))
    return None


def _whole(value: Mapping[str, Any]) -> Between:
    return Between.model_validate({**value, "whole": True})


def _takes(model: type[MaskingStep], field: str, value: Any) -> bool:
    """Whether a field of the method, by itself, takes the value. One that the method does not have takes everything:
    the method's own model says what is wrong."""
    if field not in model.model_fields:
        return True
    try:
        _adapter(model, field).validate_python(value)
    except (ValidationError, ValueError):
        return False
    return True


@cache
def _adapter(model: type[MaskingStep], field: str) -> TypeAdapter[Any]:
    """What validates a field alone: made once, as a search asks some thousand times, and each takes half a ms."""
    known = model.model_fields[field]
    of: Any = Annotated[known.annotation, known] if known.metadata else known.annotation
    return TypeAdapter(of)
