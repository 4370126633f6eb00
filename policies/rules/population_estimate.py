"""PopulationEstimate: a rule on what the file lets one estimate of the population."""

from abc import abstractmethod
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import Field

from policies.rules.keyed_rule import KeyedRule
from sluice.ground.errors import DataError
from sluice.ground.rule import NO_ESTIMATE, AnyOf, Background, Need
from sluice.ground.variables import Role, Variables, with_role
from sluice.ground.verdict import Finding
from sluice.risk.classes.equivalence_classes import classes_of
from sluice.risk.people import once_a_person
from sluice.risk.population import individual_risk

FloatArray = NDArray[np.float64]


class PopulationEstimate(KeyedRule):
    """A rule on an estimate for the population. What cannot be estimated is UNKNOWN."""

    needs: ClassVar[str] = (
        "Declare one variable with the role weight that is more than 0 for every record, or give the rule the sampling "
        "fraction; of very few records nothing can be estimated."
    )

    weight: str | None = Field(
        default=None, description="variable with the sampling weights; the one with the role weight, when not given"
    )

    @property
    def requires(self) -> tuple[AnyOf, ...]:
        return (*super().requires, (Need.WEIGHT,)) if self.uses_weights and self.weight is None else super().requires

    @property
    def uses_weights(self) -> bool:
        """Whether the population is known by nothing but the sampling weights."""
        return True

    def judge(
        self, frame: pd.DataFrame, variables: Variables, keys: list[str], stage: str, unit: str, background: Background
    ) -> list[Finding]:
        try:
            return self.estimate(once_a_person(frame, variables, keys), variables, keys, stage, unit)
        except DataError as error:
            return [self.unknown(stage, NO_ESTIMATE(why=str(error)), len(frame))]

    @abstractmethod
    def estimate(
        self, frame: pd.DataFrame, variables: Variables, keys: list[str], stage: str, unit: str
    ) -> list[Finding]:
        """The findings; DataError says why nothing can be estimated."""

    def weights(self, frame: pd.DataFrame, variables: Variables) -> FloatArray:
        """Sampling weights, shape (n,). Raises DataError where one is missing or it is not clear which they are."""
        names = with_role(variables, Role.WEIGHT) if self.weight is None else [self.weight]
        if len(names) != 1:
            raise DataError(
                f"The file declares {'no variable' if not names else 'several variables'} with the role weight; "
                "this rule needs one that tells how many people a record stands for, or its name in 'weight'."
            )
        if names[0] not in frame or not pd.api.types.is_numeric_dtype(frame[names[0]].dtype):
            raise DataError(f"The weight '{names[0]}' is not a column of numbers in the file.")
        weights = frame[names[0]].to_numpy(np.float64, na_value=np.nan)
        if not (np.isfinite(weights) & (weights > 0)).all():
            raise DataError(f"The weight '{names[0]}' is missing or not more than 0 for some records.")
        return weights

    def risks(self, frame: pd.DataFrame, variables: Variables, keys: list[str]) -> FloatArray:
        """The individual risk of each record, shape (n,)."""
        classes = classes_of(frame, keys)
        people = individual_risk.estimated_population(classes, self.weights(frame, variables))
        return individual_risk.individual_risk(classes.sizes, people)[classes.labels]
