"""Generalization: the levels of the variables' hierarchies at which a file satisfies its models and loses least.

Sources: Samarati (2001) and LeFevre, DeWitt and Ramakrishnan (2005), full-domain generalisation; El Emam and others
(2009), the optimum among all transformations; Fung, Wang and Yu (2005), going down the hierarchies from there, in each
group by itself. The search is `sluice/generalization/lattice`.
"""

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Annotated, ClassVar, Literal, Protocol, Self

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, model_validator

from sluice.generalization.choice import MODELS, OBJECTIVES, Choice
from sluice.generalization.lattice.histogram import BLANK
from sluice.generalization.lattice.local_recoding import local_recoding
from sluice.generalization.lattice.node_suppression import Solution
from sluice.generalization.lattice.search import search
from sluice.generalization.levels_found import LevelsFound
from sluice.generalization.objectives.key_losses import Loss
from sluice.generalization.objectives.objective import Objective
from sluice.ground.arrays import IntArray
from sluice.ground.errors import InfeasibleError, PlanError, did_you_mean
from sluice.ground.rule import FileOf
from sluice.ground.variables import Role, Variable, Variables, with_role
from sluice.masking.masking_step import NONE_OF_A_RECODING, MaskingStep, carried_out
from sluice.masking.recoding.generalized_levels import (
    GENERALIZED,
    IN_AN_ANALYSIS,
    REPEATED,
    GeneralizedLevels,
    SuppressedRecords,
    depth,
    with_missing,
)
from sluice.masking.recoding.refined_levels import RefinedLevels, SearchedKeys, refuse_ambiguous, refuse_unrefinable
from sluice.risk.classes.equivalence_classes import Codes, category_codes
from sluice.risk.classes.privacy_model import PrivacyModel, SensitiveModel, Suppressed
from sluice.risk.population.delta_presence import DeltaPresenceModel
from sluice.risk.population.k_map import KMapModel
from sluice.risk.population.population_rule import population_list
from sluice.risk.transparency.attack import NoAttack

_OF_SUPPRESSED: Mapping[str, Suppressed] = {"released": "without_keys", "removed": "removed", "left": "ignored"}


class Rules(Protocol):
    """A policy's rules, as the search knows them."""

    def models(self, variables: Variables) -> tuple[PrivacyModel, ...]:
        """What a file of these variables must satisfy."""

    def without_model(self, variables: Variables) -> tuple[str, ...]:
        """The rules that the search does not know."""


class Levels(BaseModel):
    """The levels that a search may choose for a variable; both ends included."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    lowest: int = Field(default=0, ge=0, alias="from", description="0: the values as they are")
    highest: int | None = Field(default=None, ge=0, alias="to", description="the top of the hierarchy by default")

    @model_validator(mode="after")
    def _rising(self) -> Self:
        if self.highest is not None and self.highest < self.lowest:
            raise ValueError(f"from must be at most to; got {self.lowest} and {self.highest}")
        return self


class Generalization(MaskingStep):
    """Give each variable at the level of its hierarchy at which all models hold and the file loses least."""

    method: Literal["generalization"] = "generalization"
    search: Literal["optimal"] = Field(
        default="optimal", description="optimal: of all combinations of levels one that provably loses least"
    )
    under: Literal["policy"] | None = Field(
        default=None,
        description="policy: take the models from the policy's rules on groups. The policy still judges the file",
    )
    models: tuple[Annotated[PrivacyModel, Choice("model", MODELS)], ...] = Field(
        default=(), description="privacy models that must hold, beside those of the policy"
    )
    objective: Annotated[Objective, Choice("objective", OBJECTIVES)] = Field(
        default=Loss(), description="what is made as small as the models allow"
    )
    weights: dict[str, float] = Field(
        default_factory=dict, description="variable: how much its loss counts; 1 by default"
    )
    levels: dict[str, int | Levels] = Field(
        default_factory=dict,
        description="variable: its level, or {from, to}: the levels that the search may choose. All by default",
    )
    suppression_limit: float = Field(
        default=0, ge=0, le=1, description="share of the records that may be suppressed, not percent"
    )
    suppressed: Literal["released", "removed", "left"] = Field(
        default="released",
        description=(
            "released: suppressed records stay without values, as a group that must satisfy the models; "
            "removed: they are left out; left: they stay for a later step"
        ),
    )
    effort: int | None = Field(
        default=None,
        ge=1,
        description=(
            "how often the search may divide the remaining choices; then it takes the best found, with a bound "
            "on the optimum. Absent: to the end. 1,000 take seconds where keys are many"
        ),
    )
    refine: bool = Field(
        default=False,
        description=(
            "local recoding: each group is divided by one level finer in one variable as long as all parts "
            "satisfy the models; levels then differ within a variable"
        ),
    )
    population: str | None = Field(
        default=None,
        min_length=1,
        exclude_if=lambda path: path is None,  # a plan that names none stays the one it was
        description="path of a CSV of the people, as for the rule k_map, in the values that the step finds",
    )
    population_sha256: str | None = Field(
        default=None,
        pattern="^[0-9a-f]{64}$",
        exclude_if=lambda sha256: sha256 is None,
        description="of the list, as sha256sum prints it; another list is refused",
    )
    _rules: Rules | None = PrivateAttr(default=None)
    _file_of: FileOf | None = PrivateAttr(default=None)

    takes_strata: ClassVar[bool] = False
    takes_households: ClassVar[bool] = False

    example: ClassVar[str] = (
        "{method: generalization, columns: [sex, region, education], models: [{model: k_anonymity, k: 20}]}"
    )
    use_when: ClassVar[str] = (
        "Quasi-identifiers have hierarchies: no other choice of levels satisfies the models and loses less."
    )
    preserves: ClassVar[str] = (
        "The truth of every record, coarser; counts of groups but for suppressed records. With refine, "
        "values have several levels, which a count must put together."
    )
    known_attack: ClassVar[str] = (
        "Linkage as after any recoding, but all groups satisfy the models. Who knows the models knows that finer "
        "levels break one of them for more records than may be suppressed (minimality; Wong, Fu, Wang and Pei 2007), "
        "though not of which records; with refine, that so does every finer level of each group."
    )
    missing_values: ClassVar[str] = "A missing value is a group of its own at every level, and stays missing."
    in_an_analysis: ClassVar[str] = IN_AN_ANALYSIS
    attack_measured: ClassVar[str] = NONE_OF_A_RECODING

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        if self.under is None and not self.models:
            raise ValueError("generalization needs 'under: policy' or models; by neither nothing would be asked of it")
        for field, names in (("weights", self.weights), ("levels", self.levels)):
            for name in names:
                if name not in self.columns:
                    raise ValueError(f"{field}: '{name}' is not among columns.{did_you_mean(name, self.columns)}")
        for name, weight in self.weights.items():
            if not 0 <= weight < np.inf:
                raise ValueError(f"weights: that of '{name}' must be 0 or more; got {weight:g}")
        for name, level in self.levels.items():
            if isinstance(level, int) and level < 0:
                raise ValueError(f"levels: that of '{name}' must be 0 or more; got {level}")
        asked: tuple[PrivacyModel | Objective, ...] = (*self.models, self.objective)
        asking = [each.describe() for each in asked if _asks_for_population(each)]
        if bool(asking) != (self.population is not None):
            lacks = f"{asking[0]} needs population, the path of a list" if asking else "nothing here uses a population"
            raise ValueError(lacks)
        if self.population_sha256 and not self.population:
            raise ValueError("population_sha256 is of a list, and none is named")
        if self.population and self.refine:
            raise ValueError("refine cannot count a population; leave out one of them")
        return self

    def reading(self, file_of: FileOf) -> Self:
        bound = self.model_copy()
        bound._file_of = file_of
        return bound

    def under_policy(self, rules: Rules) -> Self:
        """This step with the policy's rules, where it searches under them."""
        if self.under is None:
            return self
        bound = self.model_copy()
        bound._rules = rules
        return bound

    @property
    def is_sampling(self) -> bool:
        return self.suppressed == "removed"

    @property
    def masks_as_fitted(self) -> bool:
        return True

    def released(self, variables: Variables) -> dict[str, Variable]:
        """The groups of all levels that may be chosen are categories. Raises PlanError for levels that are not there,
        and, under a policy, for quasi-identifiers that the step does not name."""
        for name in _named(self._all_models(variables), self.objective):
            if name not in variables:
                raise PlanError(f"{self.method}: there is no variable '{name}'.", came=name, allowed=variables)
        recoded = self._levels({}, variables).released(variables)
        if self.refine:
            refuse_unrefinable(self._all_models(variables), self.objective)
            for name in self.columns:
                refuse_ambiguous(variables[name], *self._allowed(variables[name]))
        if self.suppressed != "released" or not self.suppression_limit:
            return recoded
        return with_missing(recoded, self.columns)

    def mask(self, frame: pd.DataFrame, variables: Variables, rng: np.random.Generator) -> pd.DataFrame:
        """As fitted. Raises PlanError where no levels satisfy the models; it says which model cannot be had."""
        return carried_out(self.fit(frame, variables), frame, variables, rng)

    def fit(self, frame: pd.DataFrame, variables: Variables) -> tuple[MaskingStep, ...]:
        """The levels that were found, and which records are suppressed beside. Models count people where the file names
        them, as rules do."""
        from sluice.risk.people_of_records import people_of

        self.released(variables)
        if not len(frame):
            raise PlanError(f"{self.method} needs at least one record; there is none.")
        models = tuple(
            each.of_column(frame[each.sensitive]) if isinstance(each, SensitiveModel) else each
            for each in self._all_models(variables)
        )
        allowed = {name: self._allowed(variables[name]) for name in self.columns}
        listed = None
        if self.population is not None:
            where = f"{self.method}: the population '{self.population}'"
            listed = population_list(
                self.population, variables, self.columns, where, self._file_of, self.population_sha256
            )
        keys = SearchedKeys.of(frame, [variables[name] for name in self.columns], allowed, self.weights, listed)
        sensitive = {name: _values(frame[name]) for name in _named(models, self.objective)}
        people = people_of(frame, variables)
        try:
            found = self._search(keys, models, sensitive, people)
        except InfeasibleError as error:
            raise PlanError(f"{self.method} of {', '.join(self.columns)}: {error}") from None
        refined = None
        if self.refine:
            searched = keys.keys, keys.codes, models, self.objective, found
            refined = local_recoding(
                *searched, sensitive=sensitive, people=people, suppressed=_OF_SUPPRESSED[self.suppressed]
            )
        account = LevelsFound(
            keys=tuple(keys.account(found, sensitive, people, refined)),
            objective=self.objective.describe(),
            value=found.value if refined is None else refined.value,
            before=None if refined is None else found.value,
            excess=found.excess if np.isfinite(found.excess) else None,
            checked=found.checked,
            choices=found.nodes,
            suppressed=found.suppressed,
            records=len(frame),
            left=self.suppressed == "left",
            unsearched=() if self._rules is None else self._rules.without_model(variables),
        )
        fitted = self._levels(keys.levels(found.levels), variables)
        if refined is not None:
            fitted = RefinedLevels.of(fitted, refined)
        fitted = fitted.found_by(account, variables)
        if self.suppressed == "left" or not self.suppression_limit:
            return (fitted,)
        return (fitted, SuppressedRecords.of(self.columns, self.suppressed, ~found.suppressed_records))

    def attacks(self) -> tuple[NoAttack, ...]:
        return (REPEATED,)

    def describe(self) -> str:
        asked = [model.describe() for model in self.models]
        if self.under is not None:
            asked.insert(0, "the policy's rules on groups of look-alikes")
        text = (
            f"Values of {', '.join(self.columns)} were replaced by their groups at one level of each hierarchy: the "
            f"levels that lose least ({self.objective.describe()}) of those that satisfy {' and '.join(asked)}."
        )
        if self.refine:
            text += " Groups of look-alikes that satisfy them at finer levels, too, were given at these."
        if not self.suppression_limit:
            return text
        what = {"removed": "were left out", "released": "lost these values", "left": "were left to a later step"}
        return f"{text} At most {100 * self.suppression_limit:g} % of the records {what[self.suppressed]}."

    def _all_models(self, variables: Variables) -> tuple[PrivacyModel, ...]:
        if self.under is None:
            return self.models
        if self._rules is None:
            raise PlanError(
                f"{self.method}: 'under: policy' needs a policy, which only a release has; name the models themselves."
            )
        left = [name for name in with_role(variables, Role.QUASI_IDENTIFIER) if name not in self.columns]
        if left:
            raise PlanError(
                f"{self.method}: under a policy all quasi-identifiers belong among columns, as its rules look at them "
                f"together; left out: {', '.join(left)}. Remove them before, or name them, with levels: "
                f"{{{left[0]}: 0}}."
            )
        return (*self._rules.models(variables), *self.models)

    def _levels(self, levels: Mapping[str, int], variables: Variables) -> GeneralizedLevels:
        self.refuse_unless(variables, *GENERALIZED)
        allowed = {name: self._allowed(variables[name]) for name in self.columns}
        chosen = {name: levels.get(name, low) for name, (low, _) in allowed.items()}
        return GeneralizedLevels(columns=self.columns, levels=chosen, allowed=allowed)

    def _allowed(self, variable: Variable) -> tuple[int, int]:
        top, given = depth(variable), self.levels.get(variable.name, Levels())
        if isinstance(given, int):
            given = Levels(lowest=given, highest=given)
        highest = top if given.highest is None else given.highest
        if (asked := max(highest, given.lowest)) > top:
            raise PlanError(f"levels of {self.method}: '{variable.name}' has levels from 0 to {top}; got {asked}.")
        return given.lowest, highest

    def _search(
        self,
        keys: SearchedKeys,
        models: tuple[PrivacyModel, ...],
        sensitive: Mapping[str, Codes],
        people: IntArray | None,
    ) -> Solution:
        parted = count(1)
        return search(
            keys.keys,
            keys.codes,
            models,
            self.objective,
            sensitive=sensitive,
            population=keys.population,
            people=people,
            suppression_limit=self.suppression_limit,
            suppressed=_OF_SUPPRESSED[self.suppressed],
            ended=lambda: self.effort is not None and next(parted) > self.effort,
        )


def _named(models: Sequence[PrivacyModel], objective: Objective) -> tuple[str, ...]:
    """The variables beside the keys that models and objective look at."""
    named = [getattr(model, "sensitive", None) for model in models] + [getattr(objective, "column", None)]
    return tuple(dict.fromkeys(name for name in named if name is not None))


def _asks_for_population(asked: PrivacyModel | Objective) -> bool:
    return isinstance(asked, KMapModel | DeltaPresenceModel) or getattr(asked, "intruder", "") == "journalist"


def _values(column: pd.Series) -> Codes:
    """Codes of a sensitive variable in the order of its values; BLANK where missing."""
    return np.where(column.isna().to_numpy(), BLANK, category_codes(column).astype(np.int64))
