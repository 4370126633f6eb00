"""Which records of a small file break a model, by the functions of `sluice.risk` on the released frame."""

from typing import Any

import numpy as np
from scipy.stats import poisson

from sluice.generalization.cost_benefit import NoAttack, Profitability, PublisherPayout
from sluice.ground.errors import DataError
from sluice.risk.classes.equivalence_classes import classes_of
from sluice.risk.classes.privacy_model import PrivacyModel
from sluice.risk.classes.sample_uniques import SampleUniques, sample_uniques_share
from sluice.risk.population.delta_presence import DeltaPresenceModel, presence
from sluice.risk.population.k_map import EstimatedKMap, KMapModel
from sluice.risk.population.population_rule import population_frequencies
from sluice.risk.population.population_uniques import PopulationUniquesModel, population_uniques
from sluice.risk.population.reidentification_risk import AverageRisk, HighestRisk, journalist_risk, prosecutor_risk
from tests.generalization.lattice import brute_force
from tests.generalization.objectives.record_losses import lost_payouts
from tests.generalization.small_files import SmallFile

_ROUNDING = 1e-9
FILE_MODELS = (AverageRisk, SampleUniques, PopulationUniquesModel)


def breaks(model: PrivacyModel, file: SmallFile) -> np.ndarray:
    """Shape (n,), whether the class of each record does so; False for suppressed ones."""
    shown = np.flatnonzero(~file.hidden)
    broken = np.zeros(file.n, dtype=bool)
    if len(shown) and not isinstance(model, FILE_MODELS):
        broken[shown] = _class_breaks(model, file, shown)
    return broken


def _class_breaks(model: Any, file: SmallFile, shown: np.ndarray) -> np.ndarray:
    frame = file.frame("removed")
    frequencies = classes_of(frame, file.names).frequencies
    if isinstance(model, HighestRisk):
        return _risks(model, file, frame).risks > model.most + _ROUNDING
    if isinstance(model, KMapModel):
        return people(file, frame) < model.k
    if isinstance(model, EstimatedKMap):
        return frequencies < fewest(model, file.n)
    if isinstance(model, DeltaPresenceModel):
        fits = people(file, frame)
        return presence(np.minimum(frequencies, fits), fits) > model.highest + _ROUNDING
    if isinstance(model, NoAttack):
        return _risks(model, file, frame).risks * model.amounts.gain > model.amounts.cost
    if isinstance(model, Profitability):
        lost = np.array(lost_payouts(PublisherPayout(model.amounts, model.intruder), file))[shown]
        return model.amounts.benefit - lost <= _ROUNDING * model.amounts.benefit
    return brute_force.breaks(model, frame, file.keys)


def file_breaks(model: PrivacyModel, file: SmallFile, suppressed: str) -> bool:
    """Whether the file does so, with a class of the suppressed records where these are released."""
    frame = file.frame("removed")
    if suppressed == "released" and file.hidden.any():
        unknown = int(frame[file.names].isna().all(axis=1).sum())
        if _hidden_breaks(model, int(file.hidden.sum()) + unknown, len(file.people[0])):
            return True
        frame = file.frame()
    if isinstance(model, DeltaPresenceModel) and model.lowest:
        return _least_presence(file) < model.lowest - _ROUNDING
    return isinstance(model, FILE_MODELS) and figure(model, file, frame) > model.most + _ROUNDING


def figure(model: Any, file: SmallFile, frame: Any) -> float:
    classes = classes_of(frame, file.names)
    if isinstance(model, AverageRisk):
        return _risks(model, file, frame).average.value
    if isinstance(model, SampleUniques):
        return sample_uniques_share(classes.frequencies)
    try:
        return population_uniques(classes.sizes, model.population, model.estimator)[0].value
    except DataError:
        return np.inf


def relieved(model: PrivacyModel, file: SmallFile) -> np.ndarray:
    """Shape (n,), the records in the smallest classes."""
    frame = file.frame("removed")
    of_people = isinstance(model, AverageRisk) and model.intruder == "journalist"
    crowds = classes_of(frame, file.names).frequencies
    crowds = np.maximum(crowds, people(file, frame)) if of_people else crowds
    gone = np.zeros(file.n, dtype=bool)
    gone[np.flatnonzero(~file.hidden)] = crowds == crowds.min()
    return gone


def people(file: SmallFile, frame: Any) -> np.ndarray:
    """How many people fit each record of the frame; everybody fits one without any key."""
    population = file.population()
    fits = population_frequencies(frame, population, file.names)
    return np.where(frame[file.names].isna().all(axis=1), len(population), fits)


def fewest(model: EstimatedKMap, records: int) -> int:
    mean = model.k * records / model.population
    seen = poisson.sf(0, mean) if model.distribution == "zero_truncated_poisson" else 1.0
    return next(
        m for m in range(1, model.k + 1) if m == model.k or poisson.sf(m - 1, mean) / seen <= model.significance
    )


def _risks(model: Any, file: SmallFile, frame: Any) -> Any:
    frequencies = classes_of(frame, file.names).frequencies
    if model.intruder == "prosecutor":
        return prosecutor_risk(frequencies)
    return journalist_risk(frequencies, people(file, frame))


def _hidden_breaks(model: Any, hidden: int, everybody: int) -> bool:
    if isinstance(model, HighestRisk):
        return 1 / (hidden if model.intruder == "prosecutor" else max(hidden, everybody)) > model.most + _ROUNDING
    if isinstance(model, KMapModel):
        return everybody < model.k
    if isinstance(model, EstimatedKMap):
        return model.population < model.k
    if isinstance(model, DeltaPresenceModel):
        return hidden / max(hidden, everybody) > model.highest + _ROUNDING
    return hidden < getattr(model, "k", 0)


def _least_presence(file: SmallFile) -> float:
    frame = file.frame("removed").fillna(-1)
    inside = [tuple(row) for row in frame[file.names].to_numpy()]
    population = [tuple(row) for row in file.population().fillna(-1).to_numpy()]
    nobody = (-1.0,) * len(file.names)
    return min(
        min(inside.count(row) / (len(population) if row == nobody else population.count(row)), 1.0)
        for row in set(population)
    )
