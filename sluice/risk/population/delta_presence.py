"""Delta-presence: how sure anybody can be that a person is in the file.

Source: Nergiz, Atzori and Clifton (2007), Definition 2; Desfontaines (2020), "Limits of k-anonymity", for the concern.

Being in the data is itself sensitive. Of the N persons of the population with one combination of keys, n are in the
file: whoever knows the combination of a person holds it for n / N likely that the person is in it. delta_max is the
largest n / N; higher is worse.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.ground.document_parts import Share
from sluice.ground.errors import DataError
from sluice.ground.rule import AnyOf, Need
from sluice.ground.sentence import Sentences, percent
from sluice.ground.variables import Role, with_role
from sluice.ground.verdict import Finding
from sluice.risk.classes.classes_with_missing_keys import matching_records
from sluice.risk.classes.equivalence_classes import EquivalenceClasses
from sluice.risk.classes.microdata_rule import KeyedRecords
from sluice.risk.classes.privacy_model import ROUNDING, PrivacyModel, ReleasedFile
from sluice.risk.population.population_rule import PopulationRule

_SAYS = Sentences(
    "delta_presence",
    no_population="The population is not known: name its list, or one variable with sampling weights (and a missing "
    "key as a category).",
    present="Among the people with one combination of {keys:listed}, {by}, up to {share:percent} are in the file: an "
    "intruder can be that sure that a person is in it; the policy allows {limit:percent}.",
)


def presence(inside: IntArray, people: IntArray) -> NDArray[np.float64]:
    """n / N, element by element. Raises DataError where more are in the file than in the population."""
    beyond = int((inside > people).sum())
    if beyond:
        raise DataError(
            f"{beyond:,} times, keys occur more often in the file than in the population. "
            "Are the keys of both coded alike?"
        )
    return np.asarray(inside / people, dtype=np.float64)


def estimated_presence(classes: EquivalenceClasses, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same for each class where the population is known through sampling weights: N is the sum of the weights.

    weights : shape (n,), how many people of the population each record stands for
    returns : shape (c,)
    raises  : DataError if there is no record, a weight is missing or below 1: a record stands for itself at least
    cost    : O(n)
    """
    if not len(weights):
        raise DataError("delta-presence needs at least one record; got none.")
    below = int((~(weights >= 1)).sum())
    if below:
        raise DataError(f"sampling weights must be 1 or more; {below:,} are missing or smaller.")
    people = np.bincount(classes.labels, weights=weights, minlength=len(classes.sizes))
    return np.asarray(np.minimum(classes.sizes / people, 1.0), dtype=np.float64)


@dataclass(frozen=True)
class DeltaPresenceModel(PrivacyModel):
    """Of the people who show the same keys, a share from `lowest` to `highest` is in the file, both 0 to 1.

    Where the population tells of fewer people than the file, all of them are. Suppressed records might be anybody's:
    they are held to `highest` among all people, and count for nobody's lowest share, so that a `lowest` above 0 leaves
    no class of records to suppress.

    Monotone without suppression, since the share of a united class lies between those of its parts; so one that holds
    and one that does not may unite to one that does not.
    """

    highest: float
    lowest: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.lowest <= self.highest <= 1:
            raise DataError(
                "delta-presence needs 0 <= lowest <= highest <= 1; "
                f"got a lowest of {self.lowest:g} and a highest of {self.highest:g}."
            )

    monotone = True
    monotone_with_suppression = False

    def failing(self, file: ReleasedFile) -> BoolArray:
        return np.asarray(
            (file.node.sizes > 0) & (_share(file.node.sizes, file.node.people) > self.highest + ROUNDING),
            dtype=np.bool_,
        )

    def hidden_class_fails(self, file: ReleasedFile) -> bool:
        return file.hidden_class / max(file.node.everybody, file.hidden_class) > self.highest + ROUNDING

    def file_fails(self, file: ReleasedFile) -> bool:
        if not self.lowest:
            return False
        shown = np.where(file.kept, file.node.sizes, 0)
        return bool((_share(shown, file.node.people) < self.lowest - ROUNDING).any())

    def describe(self) -> str:
        return f"delta-presence from {self.lowest:g} to {self.highest:g}"


def _share(records: IntArray, people: IntArray) -> FloatArray:
    return records / np.maximum(np.maximum(people, records), 1)


class DeltaPresence(PopulationRule):
    """Nobody can be nearly sure that a person is in the file."""

    rule: Literal["delta_presence"] = "delta_presence"
    example: ClassVar[str] = "{rule: delta_presence, at_most: 0.9, population: population.csv}"
    advice: ClassVar[str] = (
        "Nearly everybody of one kind is in the file: release a random sample of the records, or recode the quasi-"
        "identifiers so that each combination also fits people who took no part."
    )
    needs: ClassVar[str] = (
        "Name a population list in the rule, or declare one variable with sampling weights; these allow no "
        "missing_matches: any."
    )
    at_most: Share = Field(gt=0, lt=1, description="largest allowed chance that a person is in the file (delta max)")
    population: str | None = Field(
        default=None,
        min_length=1,
        description="path of a CSV as for k_map; when not given, sampling weights estimate the population",
    )

    @property
    def requires(self) -> tuple[AnyOf, ...]:
        return super().requires if self.population else (*super().requires, (Need.WEIGHT, Need.POPULATION))

    def judge(self, file: KeyedRecords) -> list[Finding]:
        file = file.once_a_person
        if self.population is not None:
            any_value = self.missing_matches == "any"
            inside = matching_records(file.frame, file.keys) if any_value else file.classes.frequencies
            observed = float(presence(inside, self.in_population(self.population, file)).max())
        else:
            weights = with_role(file.variables, Role.WEIGHT)
            if len(weights) != 1 or self.missing_matches == "any":
                return [self.unknown(file.stage, _SAYS.no_population(), len(file))]
            weight = file.frame[weights[0]].to_numpy(dtype=np.float64, na_value=np.nan)
            observed = float(estimated_presence(file.classes, weight).max())
        by = "by the sampling weights" if self.population is None else "in the population"
        says = _SAYS.present(keys=file.keys, by=by, share=observed, limit=self.at_most)
        return [self.finding(file, observed <= self.at_most + ROUNDING, observed, self.at_most, says)]

    def describe(self) -> str:
        return f"Nobody is in the file with a chance above {percent(self.at_most)} (delta-presence)."
