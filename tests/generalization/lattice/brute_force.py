"""All transformations of a small file, one after the other, judged on the frame that would be released.

Shares nothing with the search: classes and figures are those of `sluice.risk`, losses are added up record by record.
"""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from sluice.generalization.lattice.key import Key
from sluice.generalization.models.k_anonymity import KAnonymity
from sluice.generalization.models.l_diversity import DistinctLDiversity
from sluice.generalization.models.privacy_model import PrivacyModel
from sluice.generalization.models.t_closeness import EqualTCloseness
from sluice.generalization.objectives.discernibility import Discernibility
from sluice.generalization.objectives.loss import Loss
from sluice.generalization.objectives.non_uniform_entropy import NonUniformEntropy
from sluice.generalization.objectives.objective import Objective
from sluice.risk.classes import l_diversity, t_closeness
from sluice.risk.classes.equivalence_classes import EquivalenceClasses, category_codes, classes_of

_ROUNDING = 1e-9


def best(
    keys: Sequence[Key],
    codes: Sequence[np.ndarray],
    models: Sequence[PrivacyModel],
    objective: Objective,
    sensitive: Mapping[str, np.ndarray],
    limit: float,
    suppressed: str,
) -> dict[tuple[int, ...], tuple[float, int]]:
    """Loss and number of suppressed records of every transformation that satisfies the models."""
    found = {}
    for levels in product(*(range(key.depth + 1) for key in keys)):
        hidden = _hidden(released(keys, codes, levels, sensitive), keys, models, suppressed)
        if hidden.sum() > int(limit * len(hidden) + 1e-9):
            continue
        file = released(keys, codes, levels, sensitive)
        file.loc[hidden] = np.nan
        if suppressed != "released":
            file = file[~hidden]
        if len(file) and (suppressed == "ignored" or not any(breaks(model, file, keys).any() for model in models)):
            found[levels] = loss(objective, keys, codes, levels, hidden), int(hidden.sum())
    return found


def released(
    keys: Sequence[Key], codes: Sequence[np.ndarray], levels: Sequence[int], sensitive: Mapping[str, np.ndarray]
) -> pd.DataFrame:
    """The file at these levels; a missing key or value is missing."""
    columns: dict[str, Any] = {}
    for key, leaf, level in zip(keys, codes, levels, strict=True):
        shown = key.levels[level][leaf].astype(float)
        columns[key.name] = np.where(leaf == (-1 if key.missing is None else key.missing), np.nan, shown)
    columns |= {name: np.where(values < 0, np.nan, values) for name, values in sensitive.items()}
    return pd.DataFrame(columns)


def _hidden(file: pd.DataFrame, keys: Sequence[Key], models: Sequence[PrivacyModel], suppressed: str) -> np.ndarray:
    """Records of classes that break a model, then of those that do once these are gone, and so on."""
    hidden = np.zeros(len(file), dtype=bool)
    while not hidden.all():
        rest = file[~hidden]
        among = file if suppressed == "ignored" else rest
        failing = np.any([breaks(model, among, keys) for model in models], axis=0)
        if suppressed == "ignored":
            return failing
        if not failing.any():
            break
        hidden[np.flatnonzero(~hidden)[failing]] = True
    return hidden


def breaks(model: PrivacyModel, file: pd.DataFrame, keys: Sequence[Key]) -> np.ndarray:
    """For each record whether its class breaks the model."""
    classes = classes_of(file, [key.name for key in keys])
    if isinstance(model, KAnonymity):
        return classes.frequencies < model.k
    present = np.flatnonzero(file[model.sensitive].notna())
    if not len(present):
        return np.zeros(len(file), dtype=bool)
    failing = _failing(model, classes.of_records(present), category_codes(file[model.sensitive].iloc[present]))
    labels = np.unique(classes.labels[present])
    return np.isin(classes.labels, labels[failing])


def _failing(model: Any, classes: EquivalenceClasses, values: np.ndarray) -> np.ndarray:
    if isinstance(model, DistinctLDiversity):
        return l_diversity.distinct_values(classes, values) < model.l
    if isinstance(model, EqualTCloseness):
        return t_closeness.equal_distance(classes, values) > model.t + _ROUNDING
    raise NotImplementedError(type(model).__name__)


def loss(
    objective: Objective,
    keys: Sequence[Key],
    codes: Sequence[np.ndarray],
    levels: Sequence[int],
    hidden: np.ndarray,
) -> float:
    n = len(hidden)
    if isinstance(objective, Discernibility):
        groups = [key.levels[level][leaf] for key, leaf, level in zip(keys, codes, levels, strict=True)]
        shown = list(zip(*groups, strict=True))
        return float(sum(n if gone else shown.count(row) for row, gone in zip(shown, hidden, strict=True)))
    losses = []
    for key, leaf, level in zip(keys, codes, levels, strict=True):
        groups, lost, most = key.levels[level], 0.0, 0.0
        for value, gone in zip(leaf, hidden, strict=True):
            if isinstance(objective, Loss):
                width = (groups == groups[value]).sum()
                lost += 1.0 if gone else (width - 1) / max(key.values - 1, 1)
                most += 1.0
            elif isinstance(objective, NonUniformEntropy):
                alike = (leaf == value).sum()
                among = n if gone else (groups[leaf] == groups[value]).sum()
                lost += np.log2(among / alike)
                most += np.log2(n / alike)
        losses.append(lost / most if most else 0.0)
    return aggregate(losses, [key.weight for key in keys], objective.aggregate)


def aggregate(losses: Sequence[float], weights: Sequence[float], how: str) -> float:
    values, shares = np.array(losses), np.array(weights)
    if how == "sum":
        return float(values @ shares)
    if how == "maximum":
        return float((values * shares).max())
    if how == "rank":
        return float(np.sort(values * shares)[::-1] @ 1000.0 ** -np.arange(len(values)))
    if not shares.sum():
        return 0.0
    if how == "mean":
        return float(np.average(values, weights=shares))
    return float(np.exp(np.average(np.log1p(values), weights=shares)) - 1)
