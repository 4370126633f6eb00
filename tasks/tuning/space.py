"""The space of plans: a release definition whose plan leaves open what a search is to find.

Ranges take the place of values (`tasks/tuning/parameter_ranges.py`); a step may be optional, one of several, or in any
order among others; and variables may be dropped at a price. Every plan of the space is that of a valid definition.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import permutations
from typing import Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, Tag, ValidationError, field_validator, model_validator

from sluice.ground.errors import did_you_mean
from sluice.masking.method_catalogue import methods
from sluice.utility.analyses.asked_analyses import Analyses
from tasks.release.records.record_definition import RecordsDefinition
from tasks.release.release_definition import Definition, StrictModel
from tasks.tuning.parameter_ranges import Choice, Choose, first, step_with

WAYS = "plan.0.alternative"  # the place of the choice between whole plans
_MOST_ORDERED = 4  # steps in any order: 24 orders
_MOST_TRIED = 5000  # instances by which a space is checked when it is read
_NAMES = ("columns", "strata", "given", "within", "similar", "risk_keys", "order", "log")  # fields that list variables
_BY_NAME = ("importance", "levels", "weights", "matrix")  # fields that map variables


class StepOfSpace(StrictModel):
    """A masking step as in a plan, with ranges in place of values."""

    model_config = StrictModel.model_config | {"extra": "allow"}

    method: str = Field(json_schema_extra={"enum": list(methods())})
    optional: bool = Field(default=False, description="true: the search may leave the step out")

    @field_validator("method")
    @classmethod
    def _is_known(cls, method: str) -> str:
        if method not in methods():
            raise ValueError(f"there is no method '{method}'.{did_you_mean(method, methods())}")
        return method

    @cached_property
    def written(self) -> dict[str, Any]:
        """As the document has it, without `optional`."""
        return {"method": self.method, **(self.model_extra or {})}


def _or_one_item(schema: dict[str, Any]) -> None:
    """For editors: in place of a list there may stand the one item of it."""
    schema["items"] = {"anyOf": [schema["items"]["items"], schema["items"]]}


class Alternatives(StrictModel):
    """One of several steps, or lists of steps; an empty list is none."""

    alternatives: tuple["tuple[ItemOfSpace, ...]", ...] = Field(
        min_length=2, description="steps, or lists of steps", json_schema_extra=_or_one_item
    )

    @field_validator("alternatives", mode="before")
    @classmethod
    def _as_lists(cls, written: Any) -> Any:
        if not isinstance(written, list | tuple):
            return written
        return [each if isinstance(each, list | tuple) else [each] for each in written]


class InAnyOrder(StrictModel):
    """Steps that the search may put in another order."""

    order: Literal["any"]
    steps: tuple["ItemOfSpace", ...] = Field(min_length=2, max_length=_MOST_ORDERED)


def _form(item: Any) -> str:
    for key in ("alternatives", "order"):
        if (isinstance(item, Mapping) and key in item and "method" not in item) or hasattr(item, key):
            return key
    return "step"


ItemOfSpace = Annotated[
    Annotated[StepOfSpace, Tag("step")]
    | Annotated[Alternatives, Tag("alternatives")]
    | Annotated[InAnyOrder, Tag("order")],
    Discriminator(_form),
]


class LossWeights(StrictModel):
    """What the search makes as small as the policy allows."""

    marginals: float = Field(
        default=1,
        ge=0,
        allow_inf_nan=False,
        description="weight of the mean total variation distance of all pairs of variables, 0 to 1, from the original "
        "as it was: what is recoded, suppressed or dropped counts",
    )
    measures: dict[str, Annotated[float, Field(ge=0, allow_inf_nan=False)]] = Field(
        default_factory=dict, description="weights of further measures of utility, by their names in a policy"
    )
    variables: dict[str, Annotated[float, Field(ge=0, allow_inf_nan=False)]] = Field(
        default_factory=dict, description="variable: how much it counts in the pairs; 1, when not given"
    )

    @model_validator(mode="after")
    def _weighs_something(self) -> Self:
        if not self.marginals and not any(self.measures.values()):
            raise ValueError("marginals and measures: one weight must be above 0; else every plan would lose nothing")
        return self


class SearchSettings(StrictModel):
    """How long and by what the search goes."""

    trials: int = Field(default=100, ge=1, le=100_000, description="how many plans are tried at most")
    minutes: float | None = Field(default=None, gt=0, description="for all of it, the last judgement included")
    seed: int = Field(
        default=1,
        ge=0,
        description="the same seed, data and documents give the same trials. Not the seed of a release, which is drawn "
        "from the operating system",
    )
    people: float = Field(
        default=0.5,
        gt=0,
        le=1,
        description="share of the records, whole people and households, on which plans are tried",
    )
    most_records: int = Field(default=40_000, ge=1, description="on which plans are tried at most")
    finalists: int = Field(default=5, ge=1, le=20, description="best plans that are judged again, until one passes")
    loss: LossWeights = LossWeights()


class SpaceOfPlans(Definition):
    """A release definition that leaves its plan open in parts."""

    product = "records"

    plan: tuple[ItemOfSpace, ...] = Field(default=(), description="masking steps, in order, with what is left open")
    seed: Literal["keep", "destroy"] = "keep"
    analyses: Analyses = Field(default=Analyses(), description="as in a release definition; no trial does them")
    may_drop: dict[str, Annotated[float, Field(ge=0, allow_inf_nan=False)]] = Field(
        default_factory=dict, description="variable: what it costs, added to the loss, to leave it out of the file"
    )
    dropped_at_first: tuple[str, ...] = Field(
        default=(), description="variables of may_drop that the first plan leaves out: a search goes on from there"
    )
    search: SearchSettings = SearchSettings()

    @model_validator(mode="after")
    def _drops_what_it_may(self) -> Self:
        for name in self.dropped_at_first:
            if name not in self.may_drop:
                raise ValueError(f"dropped_at_first: '{name}' is not in may_drop.{did_you_mean(name, self.may_drop)}")
        return self

    @model_validator(mode="after")
    def _every_plan_is_valid(self) -> Self:
        for found, error in self._faults():
            where = ", ".join(f"{place} = {value!r}" for place, value in found.items())
            raise ValueError(f"plan{f', with {where}' if where else ''}: {error}")
        return self

    def definition(self, choose: Choose = first) -> RecordsDefinition:
        """One release definition of the space. Raises ValidationError for a combination that a method refuses."""
        of_space = {"plan", "may_drop", "dropped_at_first", "search"}
        content = self.model_dump(mode="json", exclude=of_space, exclude_none=True)
        content["source"] = self.source
        return RecordsDefinition.model_validate({**content, "plan": self.steps(choose)})

    def steps(self, choose: Choose = first) -> list[dict[str, Any]]:
        """The plan of one release definition, as it would be written."""
        dropped = self.dropped(choose)
        steps = [dict(step) for step in _steps(self.plan, choose, "plan")]
        return without(steps, dropped)

    @property
    def ways(self) -> int:
        """How many ways the plan has, each of which is worth a trial at first: the alternatives that it begins with."""
        begins = self.plan[0] if self.plan else None
        return len(begins.alternatives) if len(self.plan) == 1 and isinstance(begins, Alternatives) else 1

    def step_at(self, place: str) -> StepOfSpace | None:
        """The step that a place such as "plan.2.0.1.window" lies in; None for a choice between steps."""
        items: Any = self.plan
        item: Any = None
        for part in place.split(".")[1:]:
            if isinstance(item, StepOfSpace) or not part.isdigit():
                break
            if isinstance(item, Alternatives | InAnyOrder):
                items = item.alternatives[int(part)] if isinstance(item, Alternatives) else (item.steps[int(part)],)
                item = None
            else:
                item = items[int(part)]
        return item if isinstance(item, StepOfSpace) else None

    def dropped(self, choose: Choose = first) -> list[str]:
        """The variables that are left out of the file besides those that the plan removes."""
        found = []
        for name in self.may_drop:
            either = (True, False) if name in self.dropped_at_first else (False, True)
            if choose(f"may_drop.{name}", Choice(any_of=either)):
                found.append(name)
        return found

    def _faults(self) -> Iterator[tuple[dict[str, Any], str]]:
        """What is wrong, and by which choices one comes there: each range at each of its ends, one at a time."""
        waiting: list[dict[str, Any]] = [{}]
        known: set[tuple[str, str]] = set()
        tried = 0
        while waiting and tried < _MOST_TRIED:
            given, tried = waiting.pop(0), tried + 1
            found: list[dict[str, Any]] = []

            def choose(place: str, of: Any, given: dict[str, Any] = given, found: list[Any] = found) -> Any:
                for end in of.ends:
                    if place not in given and end != of.first and (place, repr(end)) not in known:
                        known.add((place, repr(end)))
                        found.append({**given, place: end})
                return given.get(place, of.first)

            try:
                steps = self.steps(choose)
                if steps:  # nothing may be left to do; the first one is a plan all the same
                    self._valid(steps)
                elif not given and not self.may_drop:
                    yield given, "names no step"
            except ValidationError as error:
                first_fault = error.errors()[0]
                at = ".".join(str(part) for part in first_fault["loc"])
                yield given, f"{at}: {first_fault['msg']}".removeprefix(": ")
            waiting += found

    def _valid(self, steps: Sequence[Mapping[str, Any]]) -> None:
        RecordsDefinition.model_validate(
            {
                "name": self.name, "title": self.title, "owner": self.owner, "source": self.source,
                "contract": self.contract, "policy": self.policy, "target": self.target, "plan": list(steps),
            }
        )  # fmt: skip


def _steps(items: Sequence[Any], choose: Choose, place: str) -> Iterator[dict[str, Any]]:
    for index, item in enumerate(items):
        here = f"{place}.{index}"
        if isinstance(item, Alternatives):
            taken = choose(f"{here}.alternative", Choice(any_of=tuple(range(len(item.alternatives)))))
            yield from _steps(item.alternatives[taken], choose, f"{here}.{taken}")
        elif isinstance(item, InAnyOrder):
            orders = tuple(permutations(range(len(item.steps))))
            order = choose(f"{here}.order", Choice(any_of=tuple("".join(map(str, each)) for each in orders)))
            parts = [list(_steps([part], choose, f"{here}.{at}")) for at, part in enumerate(item.steps)]
            for at in order:
                yield from parts[int(at)]
        elif not item.optional or choose(f"{here}.taken", Choice(any_of=(True, False))):
            yield step_with(item.written, choose, here)


def without(steps: Sequence[Mapping[str, Any]], names: Sequence[str]) -> list[dict[str, Any]]:
    """The plan by which these variables are removed first, and no later step speaks of them."""
    if not names:
        return [dict(step) for step in steps]
    found: list[dict[str, Any]] = []
    removed = list(names)
    for step in steps:
        left = dict(step)
        for field in _NAMES:
            if isinstance(step.get(field), list | tuple):
                left[field] = [name for name in step[field] if name not in names]
        for field in _BY_NAME:
            if isinstance(step.get(field), Mapping):
                left[field] = {name: value for name, value in step[field].items() if name not in names}
        if isinstance(groups := step.get("variable_groups"), list | tuple):
            parts = [[name for name in group if name not in names] for group in groups]
            left["variable_groups"] = [part for part in parts if part]
        if step.get("columns") and not left["columns"]:
            continue
        if step.get("of") in names:  # what is computed from a removed variable goes with it
            removed += left["columns"]
            continue
        if step.get("sensitive") in names or step.get("weight") in names:
            left = {key: value for key, value in left.items() if key not in ("sensitive", "l", "t", "weight")}
        if step["method"] == "removal":  # one step names all
            removed += left["columns"]
            continue
        found.append({key: value for key, value in left.items() if key == "columns" or value not in ([], {})})
    return [{"method": "removal", "columns": removed}, *found]
